/* A subgraph as a prize-collecting Steiner tree with rewards on nodes and edges: what GEAR's Fusion-PCST and
 * G-Retriever share. Private to src/method. */
#ifndef QP_METHOD_TREE_H
#define QP_METHOD_TREE_H

#include "op/op.h"

/* Over the whole graph of the query's walk. `nodes` and `edges` are the rewarded ones, their scores the rewards (those
 * below 0 count as 0); c: base cost of an edge. Nodes and edges of one tree; empty after an error. */
qp_set qp_reward_tree(qp_query *, qp_list nodes, qp_list edges, double c);

#endif
