/* How far retrieved documents are from relevant ones in the graph: the uncertainty u of FastInsight's Definition 7. */
#ifndef QP_EVAL_TOPOLOGY_H
#define QP_EVAL_TOPOLOGY_H

#include "base/err.h"
#include "graph/csr.h"
#include "quipu_op.h"

/* A graph of documents as plain arrays: chunks of one document are one vertex, edges are undirected, parallel ones
 * once, self-loops none. Read-only after it was made: any thread. */
typedef struct qp_topology {
    qp_csr graph;
    uint64_t *start;
    uint32_t *target;
} qp_topology;

/* vertex_of maps the view's nodes to [0, vertices). */
qp_code qp_topology_make(const qp_view *, qp_walk, const uint32_t *vertex_of, uint32_t vertices, qp_topology *,
                         qp_err *);
void qp_topology_free(qp_topology *);

/* Work space of one thread for a graph of n vertices. */
typedef struct qp_reach {
    double *u; /* after qp_reach_to: u[v] of every vertex v, infinite where there is no path */
    uint32_t *hops, *queue;
} qp_reach;
qp_code qp_reach_make(uint32_t n, qp_reach *, qp_err *);
void qp_reach_free(qp_reach *);

/* u[v] = sum of ln(1 + deg) over the vertices of a shortest path v..gold, gold left out; among shortest paths (in
 * hops) the smallest sum. u[gold] = 0. O(n + arcs). */
void qp_reach_to(const qp_csr *, uint32_t gold, qp_reach *);

#endif
