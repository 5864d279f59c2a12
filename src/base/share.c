#include "base/share.h"

#include <stdlib.h>

#include "base/file.h"

char *qp_share_find(qp_arena *arena, const char *name)
{
    const char *folders[] = {getenv("QUIPU_SHARE"), QP_DATA_DIR, QP_SOURCE_DIR};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = folders[i] && *folders[i] ? qp_path_join(arena, folders[i], name) : NULL;
        if (path && qp_path_exists(path))
            return path;
    }
    return NULL;
}
