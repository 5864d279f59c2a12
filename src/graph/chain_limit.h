/* Where a long walk ends up: the last step of making a chain. Private to chain.c. */
#ifndef QP_GRAPH_CHAIN_LIMIT_H
#define QP_GRAPH_CHAIN_LIMIT_H

#include "graph/chain.h"

/* Finds the parts, the limit of a directed graph and the hubs. What it made stands in the chain even after an error. */
qp_code chain_limit(qp_chain *, qp_err *);

#endif
