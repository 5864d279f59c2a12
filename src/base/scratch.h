/* Bytes that are written one behind the other and read back from any place: in memory until a buffer is full, beyond it
 * in a temporary file without a name, which goes away with it, also when the process is killed. One thread.
 */
#ifndef QP_BASE_SCRATCH_H
#define QP_BASE_SCRATCH_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_scratch qp_scratch;

/* `folder`: of the file; it is only written to when the buffer of that size is full. */
qp_code qp_scratch_open(const char *folder, size_t buffer, qp_scratch **, qp_err *);
void qp_scratch_close(qp_scratch *); /* takes null */

/* QP_STORE: the folder cannot be written to, or its disk is full. */
qp_code qp_scratch_add(qp_scratch *, const void *bytes, size_t n, qp_err *);
/* The n bytes from place `at`, all of which were added. QP_STORE: they cannot be read back. */
qp_code qp_scratch_read(const qp_scratch *, uint64_t at, void *bytes, size_t n, qp_err *);

uint64_t qp_scratch_size(const qp_scratch *);    /* bytes added */
uint64_t qp_scratch_on_disk(const qp_scratch *); /* of them in the file */

#endif
