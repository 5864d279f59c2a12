#include "model/lesegr_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"

const char *const qp_lesegr_kinds[] = {"gcn", "gat", "gt", NULL};

/* ---- without weights ---- */

qp_code qp_lesegr_untrained(const qp_candidates *c, uint32_t layers, uint32_t dim, float *score, qp_arena *mem,
                            qp_err *err)
{
    const qp_csr *g = &c->graph;
    float *alpha = qp_new(mem, float, (size_t)g->start[g->n] + 1), *next = qp_new(mem, float, g->n + 1);
    if (!alpha || !next)
        return qp_oom(err);
    for (uint32_t i = 0; i < g->n; i++) {
        score[i] = qp_dot(c->query, c->vector + (size_t)i * dim, dim);
        for (uint64_t a = g->start[i]; a < g->start[i + 1]; a++) {
            float cosine =
                c->flat ? 1 : qp_dot(c->vector + (size_t)i * dim, c->vector + (size_t)g->target[a] * dim, dim);
            alpha[a] = cosine > 0 ? cosine : 0;
        }
    }
    for (uint32_t k = 0; k < layers; k++) {
        for (uint32_t i = 0; i < g->n; i++) {
            double sum = (double)delta_of(c, i) * score[i];
            for (uint64_t a = g->start[i]; a < g->start[i + 1]; a++)
                sum += (double)delta_of(c, g->target[a]) * alpha[a] * score[g->target[a]];
            next[i] = (float)(sum / row_size(g, i));
        }
        memcpy(score, next, g->n * sizeof *score);
    }
    return QP_OK;
}

/* ---- weights ---- */

/* The next part, named; null while the parts are only counted. */
static float *place(qp_lesegr *m, int in_layer, const char *name, uint32_t rows, uint32_t cols)
{
    qp_lesegr_part *p = &m->part[m->parts++];
    *p = (qp_lesegr_part){.rows = rows, .cols = cols, .at = m->n};
    if (in_layer < 0)
        snprintf(p->name, sizeof p->name, "%s", name);
    else
        snprintf(p->name, sizeof p->name, "blk.%d.%s", in_layer, name);
    m->n += (size_t)rows * cols;
    return m->weights ? m->weights + p->at : NULL;
}

static void place_matrix(qp_lesegr *m, matrix *out, int in_layer, const char *name, uint32_t rows, uint32_t cols)
{
    *out = (matrix){.w = place(m, in_layer, name, rows, cols), .rows = rows, .cols = cols};
}

static void place_all(qp_lesegr *m)
{
    const qp_lesegr_shape *s = &m->shape;
    m->parts = 0;
    m->n = 0;
    place_matrix(m, &m->first, -1, "alpha.first.weight", s->mlp, s->dim);
    m->first_bias = place(m, -1, "alpha.first.bias", 1, s->mlp);
    m->second = place(m, -1, "alpha.second.weight", 1, s->mlp);
    m->second_bias = place(m, -1, "alpha.second.bias", 1, 1);
    for (int k = 0; k < (int)s->layers; k++) {
        layer *l = &m->layer[k];
        if (s->kind == QP_LESEGR_GT) {
            place_matrix(m, &l->query, k, "query.weight", s->hidden, s->dim);
            l->query_bias = place(m, k, "query.bias", 1, s->hidden);
            place_matrix(m, &l->key, k, "key.weight", s->hidden, s->dim);
        }
        if (s->kind == QP_LESEGR_GAT) {
            l->left = place(m, k, "left", 1, s->hidden);
            l->right = place(m, k, "right", 1, s->hidden);
        }
        place_matrix(m, &l->value, k, "value.weight", s->hidden, s->dim);
        l->value_bias = place(m, k, "value.bias", 1, s->hidden);
        place_matrix(m, &l->out, k, "out.weight", s->dim, s->hidden);
        l->out_bias = place(m, k, "out.bias", 1, s->dim);
    }
}

/* Matrices uniform within sqrt(6 / (rows + cols)) (Glorot, Bengio, 2010); biases 0, and what a layer adds to a node's own message. */
static void draw(qp_lesegr *m, qp_random *random)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const qp_lesegr_part *p = &m->part[i];
        size_t n = strlen(p->name);
        bool zero = strstr(p->name, ".bias") || (n > 11 && !strcmp(p->name + n - 11, ".out.weight"));
        double limit = zero ? 0 : sqrt(6. / (p->rows + p->cols));
        for (size_t w = 0; w < (size_t)p->rows * p->cols; w++)
            m->weights[p->at + w] = zero ? 0 : (float)((2 * qp_random_unit(random) - 1) * limit);
    }
}

static bool may_be(const qp_lesegr_shape *s)
{
    enum { MOST = 1 << 16 };
    return s->kind <= QP_LESEGR_GT && s->layers >= 1 && s->layers <= LESEGR_LAYERS && s->dim >= 1 && s->dim <= MOST &&
           s->heads >= 1 && s->hidden >= s->heads && s->hidden <= MOST && s->hidden % s->heads == 0 && s->mlp >= 1 &&
           s->mlp <= MOST;
}

qp_code qp_lesegr_new(qp_lesegr_shape shape, qp_random *random, qp_lesegr **out, qp_err *err)
{
    if (!may_be(&shape))
        return qp_fail(err, QP_INPUT,
                       "a graph encoder of 1 to %d layers was wanted whose hidden width is a multiple of its heads, "
                       "not %u layers, %u numbers in %u heads",
                       LESEGR_LAYERS, shape.layers, shape.hidden, shape.heads);
    qp_lesegr *m = calloc(1, sizeof *m);
    if (!m)
        return qp_oom(err);
    m->shape = shape;
    m->kernels = qp_kernels_best();
    place_all(m);
    if (!(m->weights = malloc(m->n * sizeof *m->weights))) {
        qp_lesegr_free(m);
        return qp_oom(err);
    }
    place_all(m);
    draw(m, random);
    *out = m;
    return QP_OK;
}

static void each_matrix(qp_lesegr *m, void (*fn)(qp_lesegr *, matrix *))
{
    fn(m, &m->first);
    for (uint32_t k = 0; k < m->shape.layers; k++) {
        layer *l = &m->layer[k];
        matrix *of[] = {&l->query, &l->key, &l->value, &l->out};
        for (int i = 0; i < 4; i++)
            if (of[i]->w)
                fn(m, of[i]);
    }
}

static void unpack(qp_lesegr *m, matrix *w)
{
    (void)m;
    free(w->forward);
    free(w->backward);
    w->forward = w->backward = NULL;
}

void qp_lesegr_free(qp_lesegr *m)
{
    if (!m)
        return;
    each_matrix(m, unpack);
    free(m->weights);
    free(m);
}

static void *room_for(const qp_kernels *k, uint32_t rows, uint32_t cols)
{
    size_t bytes = qp_packed_size(k, rows, cols) * k->item;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void pack_forward(qp_lesegr *m, matrix *w)
{
    if (!w->forward)
        w->forward = room_for(m->kernels, w->rows, w->cols);
    if (w->forward)
        m->kernels->pack(w->forward, w->w, w->cols, 1, w->rows, w->cols);
}

static void pack_backward(qp_lesegr *m, matrix *w)
{
    if (!w->backward)
        w->backward = room_for(m->kernels, w->cols, w->rows);
    if (w->backward)
        m->kernels->pack(w->backward, w->w, 1, w->cols, w->cols, w->rows);
}

static bool is_packed(const matrix *w, bool training)
{
    return !w->w || (w->forward && (!training || w->backward));
}

qp_code qp_lesegr_ready(qp_lesegr *m, bool training, qp_err *err)
{
    each_matrix(m, pack_forward);
    if (training)
        each_matrix(m, pack_backward);
    bool all = is_packed(&m->first, false);
    for (uint32_t k = 0; k < m->shape.layers; k++) {
        const layer *l = &m->layer[k];
        all &= is_packed(&l->query, training) && is_packed(&l->key, training) && is_packed(&l->value, training) &&
               is_packed(&l->out, training);
    }
    return all ? QP_OK : qp_oom(err);
}

const qp_lesegr_part *qp_lesegr_parts(const qp_lesegr *m, uint32_t *n)
{
    *n = m->parts;
    return m->part;
}

float *qp_lesegr_weights(qp_lesegr *m, size_t *n)
{
    *n = m->n;
    return m->weights;
}
