/* Attention of one sequence: softmax(Q K^T / sqrt d) V, head by head. */
#ifndef QP_MODEL_ATTEND_H
#define QP_MODEL_ATTEND_H

#include "model/kernel.h"

typedef struct qp_heads {
    uint32_t n, kv; /* of queries; of keys and values, each read by n / kv query heads in turn */
    uint32_t dim;
    bool causal; /* a token sees itself and what is before it; else all */
} qp_heads;

typedef struct qp_attend_space { /* three pieces, each aligned to 64 bytes; qp_attend_sizes says how many bytes */
    float *weights;
    void *keys, *values;
} qp_attend_space;

/* Bytes of weights, keys and values that sequences of up to `longest` tokens take. */
void qp_attend_sizes(const qp_heads *, const qp_kernels *, uint32_t longest, size_t bytes[3]);

/* qkv: the sequence's n rows of (heads + 2 kv) x dim floats: all queries, all keys, all values. Tokens [first, first +
 * n_asks) ask. out: n_asks rows of heads x dim floats. */
void qp_attend(const qp_heads *, const qp_kernels *, const float *qkv, uint32_t n, uint32_t first, uint32_t n_asks,
               const qp_attend_space *, float *out);

#endif
