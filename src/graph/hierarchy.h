/* Communities within communities: Leiden on the whole graph, and again inside every community that is larger than
 * wanted, as GraphRAG's index has them (graspologic's hierarchical_leiden).
 *
 * One thread; the same for the same seed.
 */
#ifndef QP_GRAPH_HIERARCHY_H
#define QP_GRAPH_HIERARCHY_H

#include "graph/leiden.h"

#define QP_NO_COMMUNITY UINT32_MAX

typedef struct qp_community {
    uint32_t parent;   /* QP_NO_COMMUNITY at level 0 */
    uint32_t level;    /* 0: of the whole graph */
    uint32_t from, to; /* its nodes: member[from] .. member[to - 1]; its parts share them out */
} qp_community;

typedef struct qp_hierarchy {
    uint32_t n, n_at;
    const qp_community *at; /* level by level, each behind its parent */
    const uint32_t *member; /* n */
    const uint32_t *leaf;   /* n: the smallest community of each node */
} qp_hierarchy;

/* Of an undirected graph; `largest`: communities of more nodes are parted again, as far as they can be; at least 1. In
 * the arena. Errors as qp_leiden's. */
qp_code qp_hierarchy_make(const qp_csr *, uint32_t largest, const qp_leiden_options *, qp_arena *, qp_hierarchy *,
                          qp_err *);

#endif
