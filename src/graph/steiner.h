/* A short tree through given nodes: the Steiner tree problem, approximated by Mehlhorn's algorithm.
 *
 * K. Mehlhorn, A faster approximation algorithm for the Steiner problem in graphs, Information Processing Letters 27
 * (1988) 125-128: a minimum spanning tree of the terminals under the shortest connections between their Voronoi cells,
 * replaced by the paths these stand for. Its cost is at most 2 (1 - 1/l) times the least, l the leaves of the best
 * tree.
 */
#ifndef QP_GRAPH_STEINER_H
#define QP_GRAPH_STEINER_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/csr.h"

typedef struct qp_steiner { /* arrays in the arena */
    const uint64_t *arc;    /* n_arcs, rising: an arc for each edge of the tree, the one in its smaller end's row */
    const uint32_t *from;   /* n_arcs: that row; the other end is target[arc] */
    uint32_t n_arcs;
    const uint32_t *node; /* n_nodes, rising: terminals and what joins them */
    uint32_t n_nodes;
    uint32_t trees; /* components of the graph that hold terminals: 1, or the result is a forest; 0: no terminals */
    double cost;    /* sum over the arcs */
} qp_steiner;

/* Costs that are made as they are wanted: row(v) comes once a node, before the costs of v's arcs are read, and writes
 * them. Few rows of a large graph are ever asked for. */
typedef struct qp_toll {
    qp_code (*row)(void *ctx, uint32_t node, qp_err *);
    void *ctx;
} qp_toll;

/* The graph is undirected: each edge stands in both rows, and its two arcs cost the same. cost: parallel to the arcs,
 * finite and >= 0; null: 1 each. Terminals in any order, repeated or not; the result does not depend on their order.
 * Terminals that are not connected give one tree for each component. QP_INPUT: no such node, a cost that is none.
 *
 * Time goes with what lies nearer to a terminal than half the longest connection that the tree needs, not with the
 * graph. Where terminals are not connected, all but one of the components that hold some are searched whole; the last
 * only until its own terminals are joined. Any thread, each with its own arena. */
qp_code qp_steiner_tree(const qp_csr *, const float *cost, const uint32_t *terminal, uint32_t n, qp_steiner *,
                        qp_arena *, qp_err *);
/* The same, each row of `cost` written by the toll when it is wanted. */
qp_code qp_steiner_tolled(const qp_csr *, const float *cost, const qp_toll *, const uint32_t *terminal, uint32_t n,
                          qp_steiner *, qp_arena *, qp_err *);

#endif
