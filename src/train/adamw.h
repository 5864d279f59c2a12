/* AdamW (Loshchilov, Hutter, 2019), as PyTorch has it: the decay is of the weights, not in the gradient. */
#ifndef QP_TRAIN_ADAMW_H
#define QP_TRAIN_ADAMW_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct qp_adamw {
    size_t n;
    float *mean, *square; /* n each */
    uint64_t steps;
    double rate, decay; /* beta are .9 and .999, epsilon 1e-8 */
} qp_adamw;

/* n weights, no step taken yet. rate > 0, 0 <= decay <= 1. Takes 8 bytes a weight. */
qp_code qp_adamw_open(qp_adamw *, size_t n, double rate, double decay, qp_err *);
void qp_adamw_close(qp_adamw *); /* takes a zeroed one */
/* One step of all n weights against the gradient (their Algorithm 2); one thread. */
void qp_adamw_step(qp_adamw *, float *weights, const float *gradient);

#endif
