/* The random walk that a query's walk means, over the whole graph. */
#ifndef QP_OP_CHAIN_H
#define QP_OP_CHAIN_H

#include "graph/chain.h"
#include "graph/rank.h"
#include "op/op.h"

/* Freed with qp_chain_free; null after an error. */
qp_chain *qp_query_chain(qp_query *, qp_walk);
/* Scored nodes as a list, without those the query does not allow. */
qp_list qp_query_scored(qp_query *, const qp_scored *, uint32_t n);

#endif
