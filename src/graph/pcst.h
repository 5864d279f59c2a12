/* A tree that is worth its edges: the prize-collecting Steiner tree problem, by the scheme of Goemans and Williamson.
 *
 * Given prizes of nodes and costs of edges, a tree T (or a forest) is wanted with the least
 *     cost of T's edges + prizes of the nodes that are not in T.
 * M. X. Goemans and D. P. Williamson, SIAM J. Comput. 24 (1995) 296-317; growth by parts of edges and the unrooted case
 * of several trees: C. Hegde, P. Indyk and L. Schmidt, A fast, adaptive variant of the Goemans-Williamson scheme (11th
 * DIMACS challenge, 2014); strong pruning: D. S. Johnson, M. Minkoff and S. Phillips, SODA 2000. With the last two
 * prunings what is found costs at most twice the least. G-Retriever and GEAR choose their subgraphs so, with rewards of
 * edges too: qp_pcst_split_edges().
 *
 * Any thread, each with its own arena; results depend on the arguments alone.
 */
#ifndef QP_GRAPH_PCST_H
#define QP_GRAPH_PCST_H

#include "base/arena.h"
#include "base/err.h"

#define QP_NO_ROOT UINT32_MAX

typedef struct qp_pcst_graph { /* undirected; loops and parallel edges are allowed; arrays are the caller's */
    uint32_t n, m;
    const float *prize;        /* n, finite and >= 0 */
    const uint32_t *from, *to; /* m */
    const float *cost;         /* m, finite and >= 0 */
} qp_pcst_graph;

/* What is cut from the grown forest. SIMPLE: what is not joined to a tree that lived to the end (or to the root). GW:
 * also branches that slept when the tree reached them, and that nothing later needed (the 1995 paper's). STRONG:
 * instead, every branch whose prizes do not pay for its edges; never worse than GW. */
typedef enum qp_pruning { QP_PRUNE_NONE, QP_PRUNE_SIMPLE, QP_PRUNE_GW, QP_PRUNE_STRONG } qp_pruning;

typedef struct qp_pcst {         /* arrays in the arena */
    const uint32_t *node, *edge; /* both rising */
    uint32_t n_nodes, n_edges;
    double prize, cost; /* sums over these: the objective is cost + all prizes - prize */
} qp_pcst;

/* root: a node that must be in the one tree (trees is then 1), or QP_NO_ROOT: those of the last `trees` (>= 1) clusters
 * that have prize left, each of a node at least; fewer if fewer nodes have prizes. QP_INPUT: an end that is no node, a
 * prize or a cost that is none, no tree wanted, over 2^30 nodes or edges. Memory: some 30 bytes an edge and 20 a node,
 * and 130 for each node that growth reaches. */
qp_code qp_pcst_solve(const qp_pcst_graph *, uint32_t root, uint32_t trees, qp_pruning, qp_pcst *, qp_arena *,
                      qp_err *);

/* Prizes on edges as well (G-Retriever, section 5.3; GEAR, Fusion-PCST). An edge of reward r at the base cost c becomes
 *     r <= c: an edge that costs c - r,
 *     r > c:  a node of prize r - c between its ends, joined to each by an edge that costs nothing. */
typedef struct qp_pcst_split { /* in the arena, but what it was made from is the caller's and must stay */
    qp_pcst_graph graph;       /* nodes 0 .. whole.n-1 keep their numbers, the new ones follow */
    qp_pcst_graph whole;       /* as given: prize are the nodes' rewards, cost the edges' rewards */
    const uint32_t *edge;      /* graph.m: the edge that it stands for */
    const uint32_t *middle;    /* graph.n - whole.n: the edge whose middle that node is */
    float base;
} qp_pcst_split;

/* whole.cost holds the rewards r of the edges, >= 0; base is c > 0. */
qp_code qp_pcst_split_edges(const qp_pcst_graph *whole, float base, qp_pcst_split *, qp_arena *, qp_err *);
/* What was found in split.graph, told of split.whole: an edge is chosen with its middle, and brings both its ends.
 * prize: the rewards of the nodes and edges chosen; cost: the base for each edge. */
qp_code qp_pcst_map_back(const qp_pcst_split *, const qp_pcst *found, qp_pcst *out, qp_arena *, qp_err *);

#endif
