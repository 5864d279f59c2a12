/* Paths: shortest ones by hops or by cost, and all simple ones up to a length.
 *
 * They come as trails. A trail is one step that extends an earlier trail, so paths with a common beginning share it,
 * and the whole of a path is the chain of `from`: as a qp_hit has it.
 *
 * Paths follow the arcs: for an undirected graph each edge stands in both rows. Results are in the arena; order and
 * choice among equals depend on the graph and the arguments alone. Any thread, each with its own arena.
 */
#ifndef QP_GRAPH_PATHS_H
#define QP_GRAPH_PATHS_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/csr.h"
#include "graph/wave.h" /* QP_NO_ARC */

#define QP_NO_TRAIL UINT32_MAX

typedef struct qp_trail {
    uint32_t node; /* where it ends */
    uint32_t from; /* the trail that it extends, an earlier one; QP_NO_TRAIL at a start */
    uint64_t arc;  /* by which it does; QP_NO_ARC at a start */
    double cost;   /* of the path; its hops where no costs were given */
    uint32_t hops; /* arcs of the path */
} qp_trail;

typedef struct qp_trails {
    const qp_trail *at;
    uint32_t n;
    const uint32_t *end; /* the paths that were asked for: n_ends trails, the others are beginnings of theirs */
    uint32_t n_ends;
    uint32_t cut; /* qp_paths_simple: paths that are here and could go on, but the budget was spent; 0: all are here */
} qp_trails;

/* A shortest path from the nearest of the starts to every node that can be reached within `most` (hops, or cost;
 * INFINITY: all), nearest first; ends are all but the starts. cost: parallel to the arcs, finite and >= 0, or null:
 * hops. */
qp_code qp_paths_shortest(const qp_csr *, const float *cost, const uint32_t *start, uint32_t n, double most,
                          qp_trails *, qp_arena *, qp_err *);

/* All simple paths (no node twice) of 1 to max_hop arcs from the starts, each start once: shorter ones first, then as
 * the paths that they extend, then by arc. Parallel arcs make different paths. At most `budget` paths; what is left out
 * is told by `cut`. Time and memory go with the budget and the rows of the nodes on the paths. */
qp_code qp_paths_simple(const qp_csr *, const uint32_t *start, uint32_t n, uint32_t max_hop, uint32_t budget,
                        qp_trails *, qp_arena *, qp_err *);

#endif
