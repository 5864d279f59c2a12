/* Files: whole reads, maps, and writes that are either there whole or not at all. */
#ifndef QP_BASE_FILE_H
#define QP_BASE_FILE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* A file of at most `limit` bytes (0: 4 GiB) read into buf. QP_INPUT if it cannot be read or is longer. */
qp_code qp_file_read(const char *path, size_t limit, qp_buf *, qp_err *);

/* A file written beside its place, synced, renamed over it, and its folder synced: after QP_OK it survives a power
 * cut; after an error the old one is there or, if only the folder could not be synced, the new one, whole. What is no
 * plain file (/dev/stdout, a pipe) is written to as it is. */
qp_code qp_file_write(const char *path, qp_str bytes, qp_err *);
/* QP_INPUT where no file can be written: to be said before the long work whose result it takes. */
qp_code qp_file_writable(const char *path, qp_err *);
/* The last step alone, for a file somebody wrote at `temporary`: fsync file, rename, fsync folder. */
qp_code qp_file_publish(const char *temporary, const char *path, qp_err *);

typedef struct {
    const uint8_t *at;
    size_t n;
    int place; /* among those watched; private */
} qp_mapped;
qp_code qp_file_map(const char *path, qp_mapped *, qp_err *); /* read only, shared */
void qp_file_unmap(qp_mapped *);                              /* takes {0} */
/* Did a page of it go away while it was read (cut short by somebody, a bad disk)? Such pages read as zeros. Any
 * thread. */
bool qp_file_is_lost(const qp_mapped *);

qp_code qp_dir_make(const char *path, qp_err *); /* with its parents; fine if it exists */
bool qp_path_exists(const char *path);
bool qp_path_is_dir(const char *path);
qp_str qp_path_name(qp_str path); /* what stands behind the last '/', or all of it; a part of what was given */
char *qp_path_join(qp_arena *, const char *folder, const char *name); /* null without memory */

#endif
