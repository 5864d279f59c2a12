/* The parts of PCST: growth, then pruning. Private to pcst*.c. */
#ifndef QP_GRAPH_PCST_PARTS_H
#define QP_GRAPH_PCST_PARTS_H

#include "graph/pcst.h"

typedef struct qp_pcst_merge { /* two clusters became one */
    uint32_t edge;             /* along it */
    uint32_t asleep;      /* the one that was not growing then, if one was, and was not the root's; else NO_CLUSTER */
    uint32_t asleep_node; /* the edge's end in it */
} qp_pcst_merge;

#define NO_CLUSTER UINT32_MAX

typedef struct qp_pcst_forest { /* from malloc */
    qp_pcst_merge *merge;       /* in the order of time: a forest over the nodes */
    uint32_t n_merges;
    uint32_t
        *inside;   /* 2 n: the cluster that a cluster became part of, 0: none. 0 .. n-1 are the nodes themselves, n + i
                         is what merge i made */
    uint8_t *good; /* n: in a cluster that grew to the end, or in the root's */
} qp_pcst_forest;

void qp_pcst_forest_free(qp_pcst_forest *);
qp_code qp_pcst_grow(const qp_pcst_graph *, uint32_t root, uint32_t trees, qp_pcst_forest *, qp_err *);

/* Clears keep[v] of the nodes (n; good ones are set) and keep_edge[i] of the merges (n_merges; those between good nodes are
 * set) that are cut. */
typedef struct qp_pcst_kept {
    uint8_t *node, *edge;
} qp_pcst_kept;
qp_code qp_pcst_prune_gw(const qp_pcst_graph *, const qp_pcst_forest *, qp_pcst_kept *, qp_err *);
qp_code qp_pcst_prune_strong(const qp_pcst_graph *, uint32_t root, const qp_pcst_forest *, qp_pcst_kept *, qp_err *);

#endif
