/* Communities by Leiden (Traag, Waltman and van Eck, "From Louvain to Leiden", Sci. Rep. 2019), by modularity.
 *
 * Q = 1/2m sum over u, v of (A_uv - gamma k_u k_v / 2m) [part(u) = part(v)], A the rows as they stand, k their sums,
 * 2m = all together. Every community it returns is connected.
 *
 * One thread; the same partition for the same seed. 1M nodes and 20M arcs take some seconds. Ours rather than a
 * library's because the well-kept one, igraph, is GPL.
 */
#ifndef QP_GRAPH_LEIDEN_H
#define QP_GRAPH_LEIDEN_H

#include "base/arena.h"
#include "graph/chain.h"

typedef struct qp_leiden_options {
    double gamma;        /* resolution, above 0; 1 is modularity, more gives smaller communities */
    uint32_t iterations; /* whole runs, each from the partition of the one before; 0: until nothing moves */
    uint64_t random;
    volatile const int *cancel; /* may be null */
} qp_leiden_options;

/* A partition: parts 0 .. n_parts-1, the largest first, of equals the one with the smallest node. */
typedef struct qp_partition {
    uint32_t n, n_parts;
    const uint32_t *part;   /* n: of each node */
    const uint32_t *start;  /* n_parts + 1 */
    const uint32_t *member; /* part p has member[start[p]] .. member[start[p+1]-1], rising */
} qp_partition;

/* In the arena. QP_USAGE: a directed graph, a gamma that cannot be; QP_STOPPED. */
qp_code qp_leiden(const qp_chain *, const qp_leiden_options *, qp_arena *, qp_partition *, double *modularity,
                  qp_err *);

/* Q of any partition of an undirected graph; part ids below n. */
qp_code qp_modularity(const qp_chain *, const uint32_t *part, double gamma, double *q, qp_err *);

#endif
