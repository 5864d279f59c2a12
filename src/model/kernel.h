/* The arithmetic of an encoder, once per instruction set, chosen when the program runs.
 *
 * A weight matrix stands in memory as panels of `width` output columns, k-major, so that the inner loop reads it front
 * to back. Sums run over k in rising order whatever the number of rows, so a text's result does not depend on the batch
 * it was in, nor on the number of threads.
 */
#ifndef QP_MODEL_KERNEL_H
#define QP_MODEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct qp_kernels {
    const char *name;
    uint32_t width;       /* columns of a panel */
    size_t item;          /* bytes of one weight in a panel */
    bool (*usable)(void); /* does this processor have the instructions? */
    /* W (n x k; element (i, j) at i * row + j * column) into panels; qp_packed_size items, aligned to 64 bytes. */
    void (*pack)(void *out, const float *w, size_t row, size_t column, uint32_t n, uint32_t k);
    /* C (m x n, row stride ldc) = [C if add] + bias + A W^T; bias is null or has n floats. */
    void (*gemm)(const float *a, size_t lda, uint32_t m, const void *w, uint32_t n, uint32_t k, const float *bias,
                 bool add, float *c, size_t ldc);
    void (*norm)(float *x, uint32_t n, const float *gain, const float *bias, float epsilon); /* layer norm, in place */
    /* exact: by erf */
    void (*gelu)(float *x, size_t n);
    void (*tanh)(float *x, size_t n);
    void (*softmax)(float *x, uint32_t n, float scale); /* of scale * x */
} qp_kernels;

/* Items that W of n x k takes: rounded up to whole panels. */
size_t qp_packed_size(const qp_kernels *, uint32_t n, uint32_t k);

/* All that were compiled in, fastest first; ends with null. The last runs everywhere. */
const qp_kernels *const *qp_kernels_all(void);
/* The first that this processor runs. Any thread. */
const qp_kernels *qp_kernels_best(void);

#endif
