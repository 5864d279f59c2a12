/* Everything within k hops, under limits. */
#ifndef QP_GRAPH_HOP_H
#define QP_GRAPH_HOP_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "graph/csr.h"

typedef struct qp_hop_query {
    const uint32_t *seed; /* n_seeds nodes; one given twice stands once */
    uint32_t n_seeds;
    uint32_t hops;      /* 0: the seeds alone */
    uint32_t per_node;  /* new nodes a node may bring, the first of its row; 0: no limit */
    uint32_t most;      /* nodes in all, seeds included; 0: no limit */
    const qp_csr *back; /* the transpose, to walk against the arcs too, after those of the row; null: along them only */
    volatile const int *cancel; /* may be null */
} qp_hop_query;

typedef struct qp_hop_node {
    uint32_t node;
    uint32_t hops; /* from the nearest seed, under these limits */
    uint32_t from; /* place in the list of the node that brought it; a seed's own */
} qp_hop_node;

typedef struct qp_hop_result {
    const qp_hop_node *at; /* in the order they were found: seeds as given, then a hop after the other. In the arena */
    uint32_t n;
    uint64_t cut; /* nodes a row had beyond per_node or most; those found by another way are counted, too */
} qp_hop_result;

/* Breadth first. Any thread. QP_INPUT: no seeds, or one that is not there; QP_STOPPED. */
qp_code qp_hop_from(const qp_csr *, const qp_hop_query *, qp_arena *, qp_hop_result *, qp_err *);

#endif
