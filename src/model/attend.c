#include "model/attend.h"

#include <math.h>
#include <string.h>

enum { ASKS = 48 }; /* rows that ask at a time: a multiple of each kernel's tile */

/* A row of weights is as long as the panels of keys are wide, so that none is cut at its end. */
static uint32_t whole_panels(const qp_kernels *kernels, uint32_t n)
{
    return (n + kernels->width - 1) / kernels->width * kernels->width;
}

void qp_attend_sizes(const qp_heads *h, const qp_kernels *kernels, uint32_t longest, size_t bytes[3])
{
    bytes[0] = (size_t)ASKS * whole_panels(kernels, longest) * sizeof(float);
    bytes[1] = qp_packed_size(kernels, longest, h->dim) * kernels->item;
    bytes[2] = qp_packed_size(kernels, h->dim, longest) * kernels->item;
}

/* Softmax of what token `at` may see of n; the rest weighs nothing. */
static void weigh(const qp_heads *h, const qp_kernels *kernels, float *weights, uint32_t n, uint32_t at)
{
    const uint32_t seen = h->causal ? at + 1 : n;
    kernels->softmax(weights, seen, 1 / sqrtf((float)h->dim));
    memset(weights + seen, 0, (n - seen) * sizeof *weights);
}

void qp_attend(const qp_heads *h, const qp_kernels *kernels, const float *qkv, uint32_t n, uint32_t first,
               uint32_t n_asks, const qp_attend_space *space, float *out)
{
    const size_t stride = (size_t)(h->n + 2 * h->kv) * h->dim, width = (size_t)h->n * h->dim;
    const uint32_t share = h->n / h->kv, row = whole_panels(kernels, n);
    for (uint32_t i = 0; i < h->n; i++) {
        const float *q = qkv + (size_t)i * h->dim;
        const float *k = qkv + (size_t)(h->n + i / share) * h->dim, *v = k + (size_t)h->kv * h->dim;
        if (i % share == 0) {
            kernels->pack(space->keys, k, stride, 1, n, h->dim);
            kernels->pack(space->values, v, 1, stride, h->dim, n);
        }
        for (uint32_t from = 0, asks; from < n_asks; from += asks) {
            asks = n_asks - from < ASKS ? n_asks - from : ASKS;
            kernels->gemm(q + (first + from) * stride, stride, asks, space->keys, row, h->dim, NULL, false,
                          space->weights, row);
            for (uint32_t a = 0; a < asks; a++)
                weigh(h, kernels, space->weights + (size_t)a * row, n, first + from + a);
            kernels->gemm(space->weights, row, asks, space->values, h->dim, n, NULL, false,
                          out + from * width + (size_t)i * h->dim, width);
        }
    }
}
