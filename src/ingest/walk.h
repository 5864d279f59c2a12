/* The files of a folder, for reading. One thread. */
#ifndef QP_INGEST_WALK_H
#define QP_INGEST_WALK_H

#include "base/arena.h"
#include "base/err.h"

typedef struct qp_file {
    char *path;      /* absolute */
    qp_str relative; /* below the folder, with "/" */
} qp_file;

typedef struct qp_files {
    qp_file *at; /* in byte order of `relative`; in the arena */
    size_t n;
    uint64_t unreadable; /* folders that could not be opened */
} qp_files;

/* All regular files below `root` (absolute). Left out: hidden ones, what .gitignore, .ignore and .quipuignore say (each
 * for its folder and below, later lines and deeper files deciding), what is not among `include` or is among `exclude`
 * (lists of patterns, empty: no limit). Symbolic links are followed, but never into a folder above the link: that is a
 * circle. */
qp_code qp_walk_folder(const char *root, qp_str include, qp_str exclude, const qp_watch *, qp_files *, qp_arena *,
                       qp_err *);

#endif
