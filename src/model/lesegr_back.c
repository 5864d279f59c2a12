/* The way back through LeSeGR's encoder: what forward did, last line first. */
#include <stdlib.h>
#include <math.h>

#include "base/vector.h"
#include "model/lesegr_parts.h"

typedef struct way_back {
    const qp_lesegr *m;
    const qp_candidates *c;
    const qp_lesegr_pass *p;
    float *gradient;                    /* of the weights */
    float *h, *next;                    /* n x dim: of what came out of a layer, of what went in */
    float *query, *key, *value, *units; /* n x hidden */
    float *left, *right;                /* n x heads */
    float *scale;                       /* arcs: of s_ij */
    float *share;                       /* heads x the longest row */
    float *panels, *turned;             /* for products over the nodes */
} way_back;

static float *gradient_of(const way_back *b, const float *weights)
{
    return b->gradient + (weights - b->m->weights);
}

static void add_scaled(float *to, const float *from, float by, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] += by * from[i];
}

/* gradient of W += D^T X, where Y = X W^T and D is of Y */
static void add_product(way_back *b, const matrix *w, const float *d, const float *x)
{
    const qp_kernels *k = b->m->kernels;
    uint32_t n = b->c->graph.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < w->rows; r++)
            b->turned[(size_t)r * n + i] = d[(size_t)i * w->rows + r];
    k->pack(b->panels, x, 1, w->cols, w->cols, n);
    k->gemm(b->turned, n, w->rows, b->panels, w->cols, n, NULL, true, gradient_of(b, w->w), w->cols);
}

/* D of X += D of Y times W */
static void add_back(way_back *b, const matrix *w, const float *d, float *of_x)
{
    b->m->kernels->gemm(d, w->rows, b->c->graph.n, w->backward, w->cols, w->rows, NULL, true, of_x, w->cols);
}

static void add_rows(float *to, const float *d, uint32_t n, uint32_t cols)
{
    for (uint32_t i = 0; i < n; i++)
        add_scaled(to, d + (size_t)i * cols, 1, cols);
}

/* From the sums o_i to values, shares and s_ij of node i's arcs; b->share is then of a_ij. */
static void back_from_sum(way_back *b, const layer_pass *p, uint32_t i)
{
    const qp_csr *g = &b->c->graph;
    const qp_lesegr_shape *shape = &b->m->shape;
    uint32_t heads = shape->heads, hidden = shape->hidden, width = hidden / heads;
    for (uint32_t a = 0; a < row_size(g, i); a++) {
        size_t arc = loop(g, i) + a;
        uint32_t j = end_of(g, i, a);
        float s = delta_of(b->c, j) * b->p->alpha[arc];
        for (uint32_t head = 0; head < heads; head++) {
            const float *d = b->units + (size_t)i * hidden + (size_t)head * width;
            size_t of_value = (size_t)j * hidden + (size_t)head * width;
            float share = p->share[arc * heads + head], dot = qp_dot(d, p->value + of_value, width);
            add_scaled(b->value + of_value, d, share * s, width);
            b->scale[arc] += share * dot;
            b->share[(size_t)a * heads + head] = s * dot;
        }
    }
}

static void back_from_logit_gt(way_back *b, const layer *l, const layer_pass *p, uint32_t i, uint32_t a, uint32_t head,
                               float d)
{
    const qp_csr *g = &b->c->graph;
    const qp_lesegr_shape *shape = &b->m->shape;
    uint32_t hidden = shape->hidden, width = hidden / shape->heads, j = end_of(g, i, a);
    size_t arc = loop(g, i) + a, from = (size_t)head * width;
    const float *key = p->key + (size_t)b->p->slot[j] * hidden + from;
    const float *query = p->query + (size_t)b->p->slot[i] * hidden + from;
    float own = delta_of(b->c, i), s = delta_of(b->c, j) * b->p->alpha[arc];
    d /= sqrtf((float)width);
    b->scale[arc] += d * (own * qp_dot(query, key, width) + qp_dot(l->query_bias + from, key, width));
    add_scaled(b->query + (size_t)i * hidden + from, key, d * s * own, width);
    add_scaled(gradient_of(b, l->query_bias) + from, key, d * s, width);
    add_scaled(b->key + (size_t)j * hidden + from, query, d * s * own, width);
    add_scaled(b->key + (size_t)j * hidden + from, l->query_bias + from, d * s, width);
}

static void back_from_logit_gat(way_back *b, const layer_pass *p, uint32_t i, uint32_t a, uint32_t head, float d)
{
    const qp_csr *g = &b->c->graph;
    uint32_t heads = b->m->shape.heads, j = end_of(g, i, a);
    size_t arc = loop(g, i) + a, at_i = (size_t)i * heads + head, at_j = (size_t)j * heads + head;
    float own = delta_of(b->c, i), s = delta_of(b->c, j) * b->p->alpha[arc];
    if (own * p->left[at_i] + s * p->right[at_j] <= 0)
        d *= .2f;
    b->left[at_i] += d * own;
    b->right[at_j] += d * s;
    b->scale[arc] += d * p->right[at_j]; /* own is delta_qi: no weight is in it */
}

/* Through the softmax of node i's arcs. */
static void back_from_shares(way_back *b, const layer *l, const layer_pass *p, uint32_t i)
{
    const qp_csr *g = &b->c->graph;
    uint32_t heads = b->m->shape.heads, n = row_size(g, i);
    const float *share = p->share + loop(g, i) * heads;
    for (uint32_t head = 0; head < heads && n > 1; head++) { /* of one it is 1, whatever went in */
        float mean = 0;
        for (uint32_t a = 0; a < n; a++)
            mean += share[(size_t)a * heads + head] * b->share[(size_t)a * heads + head];
        for (uint32_t a = 0; a < n; a++) {
            float d = share[(size_t)a * heads + head] * (b->share[(size_t)a * heads + head] - mean);
            if (b->m->shape.kind == QP_LESEGR_GT)
                back_from_logit_gt(b, l, p, i, a, head, d);
            else
                back_from_logit_gat(b, p, i, a, head, d);
        }
    }
}

/* GAT's l and r, whose products with V h were taken once a node. */
static void back_from_ends(way_back *b, const layer *l, const layer_pass *p)
{
    uint32_t heads = b->m->shape.heads, width = b->m->shape.hidden / heads;
    float *left = gradient_of(b, l->left), *right = gradient_of(b, l->right);
    for (size_t i = 0; i < (size_t)b->c->graph.n * heads; i++) {
        size_t from = i % heads * width;
        add_scaled(left + from, p->value + i * width, b->left[i], width);
        add_scaled(right + from, p->value + i * width, b->right[i], width);
        add_scaled(b->value + i * width, l->left + from, b->left[i], width);
        add_scaled(b->value + i * width, l->right + from, b->right[i], width);
    }
}

static void clear(float *at, size_t n)
{
    memset(at, 0, n * sizeof *at);
}

/* From b->h, of what came out of the layer, to b->next, of what went in. */
static void back_layer(way_back *b, const layer *l, const layer_pass *p)
{
    const qp_lesegr_shape *shape = &b->m->shape;
    uint32_t n = b->c->graph.n, hidden = shape->hidden, dim = shape->dim;
    bool gt = shape->kind == QP_LESEGR_GT, gat = shape->kind == QP_LESEGR_GAT;
    clear(b->next, (size_t)n * dim);
    clear(b->units, (size_t)n * hidden);
    clear(b->value, (size_t)n * hidden);
    clear(b->query, gt ? (size_t)n * hidden : 0);
    clear(b->key, gt ? (size_t)n * hidden : 0);
    clear(b->left, (size_t)n * shape->heads);
    clear(b->right, (size_t)n * shape->heads);
    add_rows(gradient_of(b, l->out_bias), b->h, n, dim);
    add_product(b, &l->out, b->h, p->units);
    add_back(b, &l->out, b->h, b->units);
    for (size_t u = 0; u < (size_t)n * hidden; u++)
        b->units[u] = p->units[u] > 0 ? b->units[u] : 0;
    add_rows(gradient_of(b, l->value_bias), b->units, n, hidden);
    for (uint32_t i = 0; i < n; i++) {
        back_from_sum(b, p, i);
        if (gt || gat)
            back_from_shares(b, l, p, i);
        add_scaled(b->next + (size_t)i * dim, b->h + (size_t)i * dim, delta_of(b->c, i), dim);
    }
    if (gat)
        back_from_ends(b, l, p);
    const matrix *of[] = {&l->value, gt ? &l->query : NULL, gt ? &l->key : NULL};
    const float *d[] = {b->value, b->query, b->key};
    for (int i = 0; i < 3; i++)
        if (of[i]) {
            add_product(b, of[i], d[i], p->h);
            add_back(b, of[i], d[i], b->next);
        }
}

/* alpha's MLP; its first layer's product was taken once a node. */
static void back_alpha(way_back *b)
{
    const qp_lesegr *m = b->m;
    const qp_csr *g = &b->c->graph;
    uint32_t mlp = m->shape.mlp;
    float *first_bias = gradient_of(b, m->first_bias), *second = gradient_of(b, m->second),
          *second_bias = gradient_of(b, m->second_bias), *of = b->units; /* n x mlp */
    clear(of, (size_t)g->n * mlp);
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t a = 1; a < row_size(g, i); a++) {
            size_t arc = loop(g, i) + a;
            uint32_t j = end_of(g, i, a);
            float alpha = b->p->alpha[arc], d = delta_of(b->c, j) * b->scale[arc] * alpha * (1 - alpha);
            const float *x = b->p->projected + (size_t)i * mlp, *y = b->p->projected + (size_t)j * mlp;
            *second_bias += d;
            for (uint32_t u = 0; u < mlp; u++) {
                float unit = x[u] - y[u] + m->first_bias[u];
                if (unit <= 0)
                    continue;
                second[u] += d * unit;
                first_bias[u] += d * m->second[u];
                of[(size_t)i * mlp + u] += d * m->second[u];
                of[(size_t)j * mlp + u] -= d * m->second[u];
            }
        }
    add_product(b, &m->first, of, b->c->vector);
}

static bool make_room(way_back *b, qp_arena *mem)
{
    const qp_lesegr_shape *s = &b->m->shape;
    const qp_csr *g = &b->c->graph;
    uint32_t widest = s->hidden > s->mlp ? s->hidden : s->mlp, longest = 1;
    widest = s->dim > widest ? s->dim : widest;
    for (uint32_t i = 0; i < g->n; i++)
        longest = row_size(g, i) > longest ? row_size(g, i) : longest;
    size_t wide = (size_t)g->n * widest + 1, narrow = (size_t)g->n * s->heads + 1;
    b->h = qp_new(mem, float, wide);
    b->next = qp_new(mem, float, wide);
    b->query = qp_new(mem, float, wide);
    b->key = qp_new(mem, float, wide);
    b->value = qp_new(mem, float, wide);
    b->units = qp_new(mem, float, wide);
    b->left = qp_new(mem, float, narrow);
    b->right = qp_new(mem, float, narrow);
    b->scale = qp_new(mem, float, arcs(g) + 1);
    b->share = qp_new(mem, float, (size_t)longest * s->heads);
    b->turned = qp_new(mem, float, wide);
    b->panels = qp_new(mem, float, qp_packed_size(b->m->kernels, widest, g->n) + 16);
    if (b->panels) /* to 64 bytes, as kernels want it */
        b->panels = (float *)(((uintptr_t)b->panels + 63) / 64 * 64);
    return b->h && b->next && b->query && b->key && b->value && b->units && b->left && b->right && b->scale &&
           b->share && b->turned && b->panels;
}

qp_code qp_lesegr_backward(const qp_lesegr *m, const qp_candidates *c, qp_lesegr_pass *p, const float *of_score,
                           float *gradient, qp_arena *mem, qp_err *err)
{
    way_back b = {.m = m, .c = c, .p = p, .gradient = gradient};
    uint32_t dim = m->shape.dim;
    if (!make_room(&b, mem))
        return qp_oom(err);
    for (uint32_t i = 0; i < c->graph.n; i++)
        for (uint32_t d = 0; d < dim; d++)
            b.h[(size_t)i * dim + d] = of_score[i] * c->query[d];
    for (uint32_t k = m->shape.layers; k-- > 0;) {
        back_layer(&b, &m->layer[k], &p->layer[k]);
        float *swap = b.h;
        b.h = b.next;
        b.next = swap;
    }
    if (!c->flat)
        back_alpha(&b);
    return QP_OK;
}
