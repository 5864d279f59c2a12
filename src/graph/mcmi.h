/* The subgraph that explains an answer: minimum cost, maximum influence (AGRAG, III-C, Definition 1 and Algorithm 3).
 *
 * A Steiner tree through the terminals (Mehlhorn, steiner.h), then growth: again and again the neighbour with the
 * largest influence for its cost joins, with all its edges that pay, as long as it is above what the subgraph's edges
 * give on average: r = sum over its edges (s_u + s_v) / (2 c |E|), equation 16.
 *
 * So that all is connected, every passage is joined to a pseudo node, which is in no result and never grows: where
 * nothing else joins parts of the subgraph, each that has passages is taken to hang from it by the first of them.
 *
 * Edges are asked for a node at a time, and only of the few nodes that are come to: their costs may be dear to compute.
 */
#ifndef QP_GRAPH_MCMI_H
#define QP_GRAPH_MCMI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "graph/csr.h"

typedef struct qp_mcmi_row { /* the edges of one node, n; loops are not among them */
    const uint32_t *node;    /* at the other end, rising; a neighbour as often as an edge leads there */
    const uint32_t *edge;    /* its number: the same from both ends; of one neighbour rising */
    const float *cost;       /* finite and above 0; the same from both ends */
    uint32_t n;
} qp_mcmi_row;

typedef struct qp_mcmi_graph {
    qp_csr arcs;        /* neighbours, each once, in both rows; weights are not read */
    uint32_t passages;  /* the nodes below it */
    double pseudo_cost; /* of an edge to the pseudo node; the paper: 10, above any real path of few edges */
    /* The row of a node, perhaps not for the first time; it lives until the call that asked returns. */
    qp_code (*row)(void *ctx, uint32_t node, qp_mcmi_row *, qp_err *);
    void *ctx;
} qp_mcmi_graph;

typedef struct qp_mcmi_edge {
    uint32_t edge, from, to;
    float cost;
} qp_mcmi_edge;

typedef struct qp_mcmi {  /* arrays in the arena */
    const uint32_t *node; /* n_nodes, each once: of a tree rising, those that grew after it in order */
    uint32_t n_nodes;
    const qp_mcmi_edge *edge; /* n_edges, in the same way */
    uint32_t n_edges;
    uint32_t hanging; /* of the parts, how many hang from the pseudo node: none or at least 2 */
    double cost;      /* of the edges, with those to the pseudo node */
    double ratio;     /* r of the whole; 0 of a tree */
} qp_mcmi;

/* The tree: distinct nodes through which all terminals are joined as cheaply as the approximation finds; its cost is at
 * most 2 (1 - 1/l) times the least, l the leaves of the best one, where no real path costs more than two pseudo edges.
 * What neither edges nor passages join stays apart. QP_INPUT: no such terminal, a cost that is none. Any thread. */
qp_code qp_mcmi_tree(const qp_mcmi_graph *, const uint32_t *terminal, uint32_t n, qp_mcmi *, qp_arena *, qp_err *);

typedef struct qp_mcmi_growth {
    const float *influence; /* s of each node of the graph, from 0 up */
    bool before;   /* Algorithm 3, line 13, as it stands: r is computed before a node joins, so it is one node late */
    uint32_t most; /* nodes at most; 0: no limit */
} qp_mcmi_growth;

/* Grows a subgraph: `start`'s nodes and edges (edges of distinct numbers, their ends among the nodes). Without an edge
 * there is no r, and nothing grows. QP_INPUT: a cost that is none. Any thread. */
qp_code qp_mcmi_grow(const qp_mcmi_graph *, const qp_mcmi *start, const qp_mcmi_growth *, qp_mcmi *, qp_arena *,
                     qp_err *);

#endif
