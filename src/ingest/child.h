/* Another program as a reader: a child process without a shell, so that a crash of it stays outside. Any thread. */
#ifndef QP_INGEST_CHILD_H
#define QP_INGEST_CHILD_H

#include "base/arena.h"
#include "base/err.h"

/* Runs argv (found by PATH, ended by NULL) with nothing to read, and appends what it writes to *out. QP_INPUT: it is
 * not installed (the message ends with `install`), it crashed, it failed before it wrote anything, it wrote more than 1
 * GiB or took longer than five minutes; then it is killed. */
qp_code qp_child_output(char *const argv[], const char *install, qp_buf *out, qp_err *);

#endif
