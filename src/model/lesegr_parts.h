/* What the files of LeSeGR share; private to them. */
#ifndef QP_MODEL_LESEGR_PARTS_H
#define QP_MODEL_LESEGR_PARTS_H

#include "model/kernel.h"
#include "model/lesegr.h"

enum { LESEGR_LAYERS = 8, LESEGR_PARTS = 4 + LESEGR_LAYERS * 8 };

typedef struct matrix { /* a part, and how the kernels read it */
    const float *w;     /* rows x cols */
    uint32_t rows, cols;
    void *forward;  /* panels of W */
    void *backward; /* panels of W transposed; null: not ready for training */
} matrix;

typedef struct layer { /* what a kind has none of is null */
    matrix query, key, value, out;
    const float *query_bias, *value_bias, *out_bias; /* hidden, hidden, dim */
    const float *left, *right;                       /* hidden: gat's l and r */
} layer;

struct qp_lesegr {
    qp_lesegr_shape shape;
    const qp_kernels *kernels;
    float *weights;
    size_t n;
    qp_lesegr_part part[LESEGR_PARTS];
    uint32_t parts;
    matrix first;                                   /* W1 of alpha */
    const float *first_bias, *second, *second_bias; /* mlp, mlp, 1 */
    layer layer[LESEGR_LAYERS];
};

/* What a layer computed. Arcs are counted with the loops: of node i, its loop first, from loop(i) on. */
typedef struct layer_pass {
    float *h;            /* n x dim: what went in */
    float *value;        /* n x hidden: V h */
    float *met;          /* joined x dim: h of the nodes that have neighbours, end to end */
    float *query, *key;  /* joined x hidden: Q h, K h */
    float *left, *right; /* n x heads: l . V h, r . V h */
    float *share;        /* arcs x heads: a_ij */
    float *units;        /* n x hidden: relu(o + b) */
} layer_pass;

struct qp_lesegr_pass {
    uint32_t *slot;   /* n + 1: how many nodes before this one have neighbours; a lone node has no use for Q and K */
    float *projected; /* n x mlp: W1 c */
    float *alpha;     /* arcs */
    layer_pass layer[LESEGR_LAYERS];
    float *h; /* n x dim: what came out */
    float *score;
};

static inline uint32_t row_size(const qp_csr *g, uint32_t i) /* arcs of node i, its loop too */
{
    return (uint32_t)(g->start[i + 1] - g->start[i]) + 1;
}

static inline size_t loop(const qp_csr *g, uint32_t i) /* where node i's arcs begin: its loop */
{
    return (size_t)g->start[i] + i;
}

static inline size_t arcs(const qp_csr *g)
{
    return (size_t)g->start[g->n] + g->n;
}

/* The other end of arc `a` of node i, counted from its loop. */
static inline uint32_t end_of(const qp_csr *g, uint32_t i, uint32_t a)
{
    return a ? g->target[g->start[i] + a - 1] : i;
}

static inline float delta_of(const qp_candidates *c, uint32_t j)
{
    return c->delta ? c->delta[j] : 1;
}

/* gcn's a_ij */
float qp_lesegr_share(const qp_csr *, uint32_t i, uint32_t j);

/* Y = X W^T [+ bias] [+ Y], X of n rows */
static inline void times(const qp_kernels *k, const matrix *m, const float *x, uint32_t n, const float *bias, float *y)
{
    k->gemm(x, m->cols, n, m->forward, m->rows, m->cols, bias, false, y, m->rows);
}

#endif
