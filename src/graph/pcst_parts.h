/* The parts of PCST: growth, then pruning. Private to pcst*.c. */
#ifndef QP_GRAPH_PCST_PARTS_H
#define QP_GRAPH_PCST_PARTS_H

#include "graph/pcst.h"

#define QP_NO_CLUSTER UINT32_MAX

typedef struct qp_pcst_merge { /* two clusters became one */
    uint32_t edge;             /* along it */
    uint32_t asleep;           /* the one that slept, if one did and it was not the root's; else QP_NO_CLUSTER */
    uint32_t asleep_node;      /* the edge's end in it */
} qp_pcst_merge;

/* From malloc. Clusters are numbered: 0 .. n-1 are the nodes, n + i is what merge i made. */
typedef struct qp_pcst_forest {
    qp_pcst_merge *merge; /* in the order of time: a forest over the nodes */
    uint32_t n_merges;
    uint32_t *inside; /* 2 n: the cluster that a cluster became part of; 0: none */
    uint8_t *good;    /* n: in a cluster that grew to the end, or in the root's */
} qp_pcst_forest;

void qp_pcst_forest_free(qp_pcst_forest *);
/* Clusters grow around all nodes until `trees` of them still do, or with a root (trees is then not looked at) none does
 * but the root's. */
qp_code qp_pcst_grow(const qp_pcst_graph *, uint32_t root, uint32_t trees, qp_pcst_forest *, qp_err *);

/* What pruning leaves: a byte for each node and for each merge. It begins with the good nodes and the merges between
 * them. */
typedef struct qp_pcst_kept {
    uint8_t *node, *edge;
} qp_pcst_kept;
/* Takes away what GW's rule, or strong pruning, does; changes *kept alone. */
qp_code qp_pcst_prune_gw(const qp_pcst_graph *, const qp_pcst_forest *, qp_pcst_kept *, qp_err *);
qp_code qp_pcst_prune_strong(const qp_pcst_graph *, uint32_t root, const qp_pcst_forest *, qp_pcst_kept *, qp_err *);

#endif
