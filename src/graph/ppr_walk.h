/* Walks that stop with probability alpha at every node they come to. Private to fora. */
#ifndef QP_GRAPH_PPR_WALK_H
#define QP_GRAPH_PPR_WALK_H

#include "graph/ppr_space.h"

typedef struct ppr_walker {
    const qp_chain *chain;
    double alpha;
    qp_ppr_dangling dangling;
    const qp_seeds *seeds; /* null while walks are made for any seeds */
    qp_random random;
} ppr_walker;

ppr_walker ppr_walker_make(const ppr_run *); /* reads the run's seeds */
/* Where a walk stops that takes its first step from u for certain. */
uint32_t ppr_walk_from(ppr_walker *, uint32_t u);
/* Where one stops that has just left a dangling node. */
uint32_t ppr_walk_astray(ppr_walker *);
/* omega: walks for a residual of 1. */
double ppr_walks_wanted(const qp_chain *, double epsilon, double delta);

#endif
