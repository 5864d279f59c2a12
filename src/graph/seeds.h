/* The nodes a walk starts from, and starts again from. */
#ifndef QP_GRAPH_SEEDS_H
#define QP_GRAPH_SEEDS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/random.h"

typedef struct qp_seeds {
    const uint32_t *node; /* n, distinct and rising, so that sums do not depend on the order in which they were given */
    const double *weight; /* n, above 0, of sum 1 */
    const double *up_to;  /* n: its weight and those before it */
    uint32_t n;
} qp_seeds;

/* n nodes of a graph with `nodes` of them, with weights from 0 up (null: all alike); one given twice counts twice.
 * In the arena. QP_INPUT: none given, a node that is not there, a weight that is negative or not finite, or all 0. */
qp_code qp_seeds_make(const uint32_t *node, const float *weight, uint32_t n, uint32_t nodes, qp_arena *, qp_seeds *,
                      qp_err *);
/* One of them, by weight. */
uint32_t qp_seeds_draw(const qp_seeds *, qp_random *);

#endif
