/* A matrix of weights out of a GGUF file, packed for the kernels: y = W x + b. Immutable once open: any thread. */
#ifndef QP_MODEL_LINEAR_H
#define QP_MODEL_LINEAR_H

#include "model/gguf.h"
#include "model/int8.h"
#include "model/kernel.h"

typedef struct qp_linear {
    const qp_kernels *kernels;
    const qp_int8 *int8; /* null: of floats */
    void *panels;
    float *bias; /* n, zeros where the file has none */
    uint32_t n, k;
} qp_linear;

typedef struct qp_part { /* a tensor "blk.LAYER.NAME.weight", and ".bias" if it is there */
    const char *name;
    uint32_t rows;
} qp_part;

/* The parts one below the other; k columns. int8: null, or W and x are rounded for it. QP_MODEL if a part is missing,
 * of another shape or no numbers; what was opened till then is for qp_linear_close. */
qp_code qp_linear_open(qp_linear *, const qp_gguf *, const qp_kernels *, const qp_int8 *, uint32_t layer,
                       const qp_part *, uint32_t parts, uint32_t k, qp_err *);
void qp_linear_close(qp_linear *); /* takes a zeroed one */
/* m rows of k floats at a to m rows of n at c; add: to what is there. space: qp_int8_rows_size(m, k) bytes aligned to 64,
 * null where the weights are floats. */
void qp_linear_run(const qp_linear *, const float *a, uint32_t m, bool add, float *c, void *space);

#endif
