/* How much an index holds: nodes, edges, documents are numbered in 32 bits, and the last number is QP_NO_ID. */
#ifndef QP_STORE_LIMIT_H
#define QP_STORE_LIMIT_H

#include <stdint.h>

#include "base/err.h"

#define QP_LIMIT (UINT32_MAX - 1) /* of each */

/* Is there a number for one more than these n? Else QP_INPUT, which says so of `what`: "nodes". */
qp_code qp_limit_look(uint64_t n, const char *what, qp_err *);

#endif
