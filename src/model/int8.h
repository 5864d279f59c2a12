/* Products with weights of eight bits, on processors that have instructions for them: four times as many a cycle as of
 * floats.
 *
 * Along k, the columns of W^T and the rows of A are cut into blocks of QP_INT8_BLOCK. A block holds whole numbers from
 * -127 to 127 and the float that they are multiples of: its greatest magnitude / 127. Products within a block are exact,
 * blocks are summed in rising order: a row's result does not depend on the batch it was in, nor on the number of threads.
 */
#ifndef QP_MODEL_INT8_H
#define QP_MODEL_INT8_H

#include "base/err.h"

enum { QP_INT8_BLOCK = 64 };

typedef struct qp_int8 {
    const char *name;
    uint32_t width;       /* columns of a panel */
    bool (*usable)(void); /* does this processor have the instructions? */
    /* m rows of k floats into out, qp_int8_rows_size bytes, aligned to 64. */
    void (*round)(void *out, const float *a, uint32_t m, uint32_t k);
    /* C (m x n) = [C if add] + bias + A W^T; A as round made it, W as qp_int8_pack; bias has n floats. */
    void (*gemm)(const void *a, uint32_t m, const void *w, uint32_t n, uint32_t k, const float *bias, bool add,
                 float *c);
} qp_int8;

/* The first that this processor runs; null if it runs none, or where the environment's QUIPU_PRECISION is f32. QP_INPUT
 * if that is neither f32 nor int8. Any thread. */
qp_code qp_int8_best(const qp_int8 **, qp_err *);
/* All that were compiled in, fastest first; ends with null. */
const qp_int8 *const *qp_int8_all(void);

size_t qp_int8_rows_size(uint32_t m, uint32_t k);
size_t qp_int8_packed_size(const qp_int8 *, uint32_t n, uint32_t k); /* bytes; a multiple of 64 */
/* W (n x k floats, row after row) into panels, aligned to 64 bytes. */
void qp_int8_pack(const qp_int8 *, void *out, const float *w, uint32_t n, uint32_t k);

#endif
