/* Where a long walk ends up: the last steps of making a chain. Private to chain.c. */
#ifndef QP_GRAPH_CHAIN_LIMIT_H
#define QP_GRAPH_CHAIN_LIMIT_H

#include "graph/chain.h"

/* Finds the parts, and the limit of a directed graph. What these made stands in the chain even after an error. */
qp_code chain_limit(qp_chain *, qp_err *);
/* Then the hubs, and who stands beside them. */
qp_code chain_hubs(qp_chain *, qp_err *);
/* Of an undirected graph, who comes back. */
qp_code chain_back(qp_chain *, qp_err *);

#endif
