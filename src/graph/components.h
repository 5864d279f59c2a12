/* Parts of a graph: its components, and what is left of it among some nodes.
 *
 * All results are in the arena. Any thread, each with its own arena.
 */
#ifndef QP_GRAPH_COMPONENTS_H
#define QP_GRAPH_COMPONENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/csr.h"

/* Connected components, arcs read as undirected (weakly connected, for a directed graph). component[v] < *count,
 * numbered by their smallest nodes. Of a node subset: induce it first. */
qp_code qp_components(const qp_csr *, uint32_t **component, uint32_t *count, qp_arena *, qp_err *);

typedef struct qp_induced {
    qp_csr graph;         /* over 0 .. n-1: node i is the i-th of those chosen; weights where the graph has them */
    const uint32_t *node; /* n: its number in the whole graph, rising */
    const uint64_t *arc;  /* graph.start[n]: its number in the whole graph */
} qp_induced;

/* The graph among the chosen nodes, in any order, repeated or not: all arcs with both ends there, self-loops too. It
 * costs what the chosen nodes' rows, or the pairs of chosen nodes, take to go through, whichever is less; nothing of
 * the size of the whole graph. QP_INPUT: no such node. */
qp_code qp_induce(const qp_csr *, const uint32_t *node, uint32_t n, qp_induced *, qp_arena *, qp_err *);

/* The *n chosen nodes sorted, each once; *n then says how many. QP_INPUT: no such node. */
qp_code qp_distinct(const qp_csr *, const uint32_t *node, uint32_t *n, uint32_t **out, qp_arena *, qp_err *);

#endif
