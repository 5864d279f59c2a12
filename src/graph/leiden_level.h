/* The steps of leiden.h, on a graph whose nodes are communities of the one below. Private to leiden*.c. */
#ifndef QP_GRAPH_LEIDEN_LEVEL_H
#define QP_GRAPH_LEIDEN_LEVEL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/random.h"
#include "graph/csr.h"

typedef struct leiden_level {
    qp_csr g;   /* an arc to itself holds what lies inside the node */
    double *k;  /* g.n: sum of the row */
    bool owned; /* its arrays are malloc's; the lowest level's are the caller's */
} leiden_level;

/* Scratch that every step uses: as long as the lowest level. */
typedef struct leiden {
    double two_m, gamma;
    double theta; /* of the refinement's draws: .01 (the paper's), for weights of mean 1 */
    qp_random random;
    volatile const int *cancel;
    double *to;        /* weight from a node to each community; all 0 between uses */
    double *total;     /* of each community, the sum of k */
    double *volume;    /* of each refined community, the same */
    uint32_t *near;    /* communities whose `to` is set */
    uint32_t *order;   /* of visits; a ring of those that wait */
    uint32_t *size;    /* of each community */
    uint32_t *refined; /* community of each node after the refinement */
    double *outward;   /* of a refined community: weight to the rest of its community */
    bool *waits;
} leiden;

/* Fast local moving (Algorithm A.2, MoveNodesFast): community[] in and out. */
qp_code leiden_move(leiden *, const leiden_level *, uint32_t *community, bool *moved, qp_err *);
/* Refinement (RefinePartition, MergeNodesSubset) after leiden_move, whose total[] it reads: fills refined[], each part
 * inside one community. */
qp_code leiden_refine(leiden *, const leiden_level *, const uint32_t *community, qp_err *);
/* Gives the communities of x[0 .. n-1] numbers from 0 in the order of their first node; how many there are. */
uint32_t leiden_number(leiden *, uint32_t *x, uint32_t n);
/* The level above, its nodes the n_parts of refined[]. Its arrays are malloc's. */
qp_code leiden_rise(leiden *, const leiden_level *, uint32_t n_parts, leiden_level *above, qp_err *);
void leiden_shuffle(leiden *, uint32_t n); /* order[0 .. n-1] */

/* to[] and near[] for v over the communities of x; the count of near. `within` (may be null): only neighbours whose
 * community there is v's. v's own arc is left out. */
uint32_t leiden_look(leiden *, const leiden_level *, uint32_t v, const uint32_t *x, const uint32_t *within);

static inline void leiden_forget(leiden *l, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        l->to[l->near[i]] = 0;
}

#endif
