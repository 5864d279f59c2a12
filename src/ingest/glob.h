/* Path patterns as .gitignore has them. Any thread. */
#ifndef QP_INGEST_GLOB_H
#define QP_INGEST_GLOB_H

#include "base/str.h"

/* Does the whole path match? "*" and "?" stop at "/", "**" does not, "[a-z]" and "[!a-z]" are sets, "\" takes the next
 * character as it is. Time is O(pattern x path). */
bool qp_glob(qp_str pattern, qp_str path);

/* One line of an ignore file against a path below that file's folder. -1: it says nothing, 0: "!", keep it; 1:
 * ignore. */
int qp_ignore_line(qp_str line, qp_str path, bool is_dir);

/* A comma-separated list of patterns ("*.md,docs/x*"): one without "/" is for file names, others for whole paths. */
bool qp_glob_list(qp_str patterns, qp_str path);

#endif
