/* The lines of a file or of bytes in memory, one at a time, in bounded memory. One thread. */
#ifndef QP_INGEST_LINES_H
#define QP_INGEST_LINES_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_lines qp_lines;

/* path null: of `bytes`, kept until close. `longest`: bytes of a line that are kept. */
qp_code qp_lines_open(const char *path, qp_str bytes, size_t longest, qp_lines **, qp_err *);
void qp_lines_close(qp_lines *); /* takes null */

/* The next line without its end ("\n" or "\r\n") and, in the first, without a byte order mark; valid until the next
 * call, with a NUL behind it. at null: no more. *whole false: it is longer, and this is its beginning. */
qp_code qp_lines_next(qp_lines *, qp_str *line, bool *whole, qp_err *);

uint64_t qp_lines_number(const qp_lines *); /* of the line given last, from 1 */

#endif
