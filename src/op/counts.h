/* How long the texts of an index are, in tokens: a node's is counted once for as long as the view keeps things. */
#ifndef QP_OP_COUNTS_H
#define QP_OP_COUNTS_H

#include "op/op.h"

/* Tokens of the texts of n nodes, or of edges as triples, by the query's writer if it counts, else by its embedder, else
 * by words. False after an error. */
bool qp_query_counts(qp_query *, qp_kind, const qp_id *, uint32_t n, uint32_t *tokens);

#endif
