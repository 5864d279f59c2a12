#include "api/index.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <yyjson.h>

/* Bytes of the files in the index folder; it has no folders inside. */
static uint64_t bytes_in(const char *folder)
{
    uint64_t sum = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat info;
        if (fstatat(dirfd(dir), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            sum += (uint64_t)info.st_size;
    }
    if (dir)
        closedir(dir);
    return sum;
}

qp_code qp_index_stats(qp_index *index, char **json, qp_err *err)
{
    qp_held *held = NULL;
    qp_code code = qp_index_hold(index, &held, err);
    if (code)
        return code;
    const qp_snapshot *snapshot = qp_held_snapshot(held);
    const qp_view *view = qp_snapshot_view(snapshot);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_uint(doc, root, "documents", qp_snapshot_documents(snapshot));
    yyjson_mut_obj_add_uint(doc, root, "chunks", view->nodes);
    yyjson_mut_obj_add_uint(doc, root, "edges", view->edges);
    yyjson_mut_obj_add_uint(doc, root, "dimension", view->dim);
    yyjson_mut_obj_add_str(doc, root, "embedder", qp_snapshot_embedder(snapshot));
    yyjson_mut_obj_add_uint(doc, root, "snapshot", qp_snapshot_number(snapshot));
    yyjson_mut_obj_add_uint(doc, root, "bytes", bytes_in(qp_index_folder(index)));
    *json = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    qp_held_release(held);
    return *json ? QP_OK : qp_oom(err);
}
