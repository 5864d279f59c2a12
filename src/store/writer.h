/* A snapshot file in the making: sections one after the other. Errors stick; the caller looks at the end. */
#ifndef QP_STORE_WRITER_H
#define QP_STORE_WRITER_H

#include <stddef.h>

#include "base/err.h"
#include "store/layout.h"

typedef struct qp_writer qp_writer;

/* A file at `path`, which is replaced. QP_STORE: it cannot be written there. One thread. */
qp_code qp_writer_open(const char *path, qp_writer **, qp_err *);
/* Sections may come in any order, each once. What is added goes to the one begun last; returns its size so far. */
void qp_writer_begin(qp_writer *, qp_section);
uint64_t qp_writer_add(qp_writer *, const void *, size_t);
/* Begins and adds at once. */
void qp_writer_put(qp_writer *, qp_section, const void *, size_t);

/* Several sections can grow at once, each in a temporary file beside, until it is pasted: that begins it. Gives the
 * place in the section where these bytes lie. */
uint64_t qp_writer_aside(qp_writer *, qp_section, const void *, size_t);
void qp_writer_paste(qp_writer *, qp_section);
/* What stands aside, read back. */
qp_code qp_writer_recall(const qp_writer *, qp_section, uint64_t at, void *, size_t, qp_err *);
/* A section that was put or pasted before, mapped until close or drop. Only of what was written before the first
 * call. */
qp_code qp_writer_map(qp_writer *, qp_section, const void **, qp_err *);
/* QP_STOPPED once the flag (null: none) is set: for what takes long while a snapshot is made. */
qp_code qp_writer_stopped(volatile const int *cancel, qp_err *);
/* Writes head and table of contents. QP_STORE: the disk is full, ...; the file is then removed. Frees the writer. The
 * file is not synced: qp_file_publish does that. */
qp_code qp_writer_close(qp_writer *, qp_err *);
void qp_writer_drop(qp_writer *); /* instead of close: removes the file; takes null */

#endif
