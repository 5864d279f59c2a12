/* Forward push on the 16-byte nodes: what fast and fora begin with. Private to them. */
#ifndef QP_GRAPH_PPR_PUSH_H
#define QP_GRAPH_PPR_PUSH_H

#include "graph/ppr_space.h"

typedef struct ppr_push {
    ppr_run *run;
    ppr_node *node;
    float alpha, epsilon;
    uint32_t n_next;
    double kept;   /* sum of p */
    double loose;  /* of dangling nodes, not yet given to the seeds */
    double spread; /* of dangling nodes, lying evenly on all */
} ppr_push;

/* Pushes from the run's seeds, a round at a time, until no residual is above epsilon x degree. */
qp_code ppr_push_run(ppr_push *, ppr_run *, double epsilon, qp_err *);

/* Makes a node known; its mass is 0 until then. */
static inline void ppr_touch(qp_ppr_space *s, uint32_t v)
{
    if (!(s->node[v].flag & PPR_TOUCHED)) {
        s->node[v].flag |= PPR_TOUCHED;
        s->touched[s->n_touched++] = v;
    }
}

#endif
