/* What a method on a knowledge graph looked at and came to: the subgraph, the paths, and the answers read off them. */
#ifndef QP_EVAL_EXPLORED_H
#define QP_EVAL_EXPLORED_H

#include "eval/measure.h"
#include "op/op.h"

/* The outcome in `mem`: `gold` are the documents (entities' names) that are right, `document_of` numbers nodes. Null
 * without memory, or after an error of the view. */
qp_explored *qp_explored_make(qp_query *, qp_set found, const uint32_t *gold, uint32_t n_gold,
                              const uint32_t *document_of, qp_arena *mem, qp_err *);

#endif
