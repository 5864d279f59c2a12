/* Random walk with restart, walked: how often each node is come to. Its mean is pi of ppr.h; what differs is chance. */
#ifndef QP_GRAPH_RWR_H
#define QP_GRAPH_RWR_H

#include "graph/chain.h"
#include "graph/rank.h"

typedef struct qp_rwr_query {
    const uint32_t *seed; /* n_seeds nodes, as in ppr.h */
    const float *weight;  /* null: all alike */
    uint32_t n_seeds;
    double alpha;               /* probability of starting again, before each step, in (0, 1) */
    uint64_t steps;             /* visits counted, at least 1 */
    uint32_t top;               /* 0: all that were visited */
    uint64_t random;            /* seed: the same walk for the same seed */
    volatile const int *cancel; /* may be null */
} qp_rwr_query;

typedef struct qp_rwr_result {
    const qp_scored *at; /* best first; score: share of all visits. In the arena */
    uint32_t n;
} qp_rwr_result;

/* At a dangling node the walk starts again. Any thread; the chain is only read. QP_USAGE, QP_INPUT, QP_STOPPED as
 * qp_ppr. Takes 4 bytes of address space a node, memory for what is visited. */
qp_code qp_rwr(const qp_chain *, const qp_rwr_query *, qp_arena *, qp_rwr_result *, qp_err *);

#endif
