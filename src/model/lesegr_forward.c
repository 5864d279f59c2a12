/* Forward through LeSeGR's encoder, a stretch of nodes a thread. */
#include <math.h>

#include "base/thread.h"
#include "base/vector.h"
#include "model/lesegr_parts.h"

float qp_lesegr_share(const qp_csr *g, uint32_t i, uint32_t j)
{
    return 1 / sqrtf((float)row_size(g, i) * (float)row_size(g, j));
}

/* What a thread needs of a pass; each writes the rows of its own nodes alone. */
typedef struct work {
    const qp_lesegr *m;
    const qp_candidates *c;
    qp_lesegr_pass *pass;
    const layer *l; /* at hand */
    layer_pass *p;
    float *out;          /* what comes out of it; null in the last layer where scores alone are wanted */
    const float *folded; /* there: hidden, W' v_q */
    float offset;        /* v_q . b' */
    uint32_t block;      /* nodes that a thread takes at a time */
} work;

static void block_of(const work *w, size_t block, uint32_t *from, uint32_t *to)
{
    *from = (uint32_t)block * w->block;
    *to = w->c->graph.n - *from < w->block ? w->c->graph.n : *from + w->block;
}

static qp_code project(void *ctx, int worker, size_t block, qp_err *err)
{
    const work *w = ctx;
    uint32_t from, to, dim = w->m->shape.dim, mlp = w->m->shape.mlp;
    (void)worker, (void)err;
    block_of(w, block, &from, &to);
    times(w->m->kernels, &w->m->first, w->c->vector + (size_t)from * dim, to - from, NULL,
          w->pass->projected + (size_t)from * mlp);
    return QP_OK;
}

/* alpha of the arcs of these nodes: W1 (c_i - c_j) is W1 c_i - W1 c_j, a product a node and not an arc. */
static qp_code attend(void *ctx, int worker, size_t block, qp_err *err)
{
    const work *w = ctx;
    const qp_lesegr *m = w->m;
    const qp_csr *g = &w->c->graph;
    uint32_t mlp = m->shape.mlp, from, to;
    (void)worker, (void)err;
    block_of(w, block, &from, &to);
    for (uint32_t i = from; i < to; i++)
        for (uint32_t a = 0; a < row_size(g, i); a++) {
            const float *x = w->pass->projected + (size_t)i * mlp;
            const float *y = w->pass->projected + (size_t)end_of(g, i, a) * mlp;
            float sum = *m->second_bias;
            for (uint32_t u = 0; u < mlp && a && !w->c->flat; u++) {
                float unit = x[u] - y[u] + m->first_bias[u];
                sum += unit > 0 ? unit * m->second[u] : 0;
            }
            w->pass->alpha[loop(g, i) + a] = a && !w->c->flat ? 1 / (1 + expf(-sum)) : 1;
        }
    return QP_OK;
}

/* e_ij of one head, before the softmax. */
static float logit(const work *w, uint32_t i, uint32_t j, uint32_t head, float own, float s)
{
    const qp_lesegr *m = w->m;
    const layer_pass *p = w->p;
    uint32_t heads = m->shape.heads, width = m->shape.hidden / heads;
    if (m->shape.kind == QP_LESEGR_GAT) {
        float x = own * p->left[(size_t)i * heads + head] + s * p->right[(size_t)j * heads + head];
        return x > 0 ? x : .2f * x;
    }
    const float *q = p->query + (size_t)w->pass->slot[i] * m->shape.hidden + (size_t)head * width;
    const float *k = p->key + (size_t)w->pass->slot[j] * m->shape.hidden + (size_t)head * width;
    return s * (own * qp_dot(q, k, width) + qp_dot(w->l->query_bias + (size_t)head * width, k, width)) /
           sqrtf((float)width);
}

/* a_ij of the arcs of node i. */
static void weigh(const work *w, uint32_t i)
{
    const qp_csr *g = &w->c->graph;
    uint32_t heads = w->m->shape.heads, n = row_size(g, i);
    float *share = w->p->share + loop(g, i) * heads, own = delta_of(w->c, i);
    bool gcn = w->m->shape.kind == QP_LESEGR_GCN;
    for (uint32_t head = 0; head < heads; head++) {
        float top = -INFINITY, total = 0;
        for (uint32_t a = 0; a < n; a++) {
            uint32_t j = end_of(g, i, a);
            float *e = &share[(size_t)a * heads + head];
            *e = gcn      ? qp_lesegr_share(g, i, j)
                 : n == 1 ? 0 /* softmax of one */
                          : logit(w, i, j, head, own, delta_of(w->c, j) * w->pass->alpha[loop(g, i) + a]);
            top = *e > top ? *e : top;
        }
        for (uint32_t a = 0; a < n && !gcn; a++)
            total += share[(size_t)a * heads + head] = expf(share[(size_t)a * heads + head] - top);
        for (uint32_t a = 0; a < n && !gcn; a++)
            share[(size_t)a * heads + head] /= total;
    }
}

static void add_scaled(float *to, const float *from, float by, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] += by * from[i];
}

/* The messages of node i's arcs, weighted and added up. */
static void gather(const work *w, uint32_t i)
{
    const qp_csr *g = &w->c->graph;
    const layer_pass *p = w->p;
    uint32_t heads = w->m->shape.heads, hidden = w->m->shape.hidden, width = hidden / heads;
    float *units = p->units + (size_t)i * hidden;
    memcpy(units, w->l->value_bias, hidden * sizeof *units);
    for (uint32_t a = 0; a < row_size(g, i); a++) {
        uint32_t j = end_of(g, i, a);
        float s = delta_of(w->c, j) * w->pass->alpha[loop(g, i) + a];
        for (uint32_t head = 0; head < heads && s != 0; head++)
            add_scaled(units + (size_t)head * width, p->value + (size_t)j * hidden + (size_t)head * width,
                       s * p->share[(loop(g, i) + a) * heads + head], width);
    }
    for (uint32_t u = 0; u < hidden; u++)
        units[u] = units[u] > 0 ? units[u] : 0;
}

/* Q h and K h of those among the nodes that have neighbours. */
static void multiply_joined(const work *w, uint32_t from, uint32_t to)
{
    const uint32_t *slot = w->pass->slot, dim = w->m->shape.dim;
    size_t first = slot[from], hidden = w->m->shape.hidden;
    float *met = w->p->met;
    for (uint32_t i = from; i < to; i++)
        if (slot[i + 1] > slot[i])
            memcpy(met + (size_t)slot[i] * dim, w->p->h + (size_t)i * dim, dim * sizeof *met);
    uint32_t n = slot[to] - slot[from];
    times(w->m->kernels, &w->l->query, met + first * dim, n, NULL, w->p->query + first * hidden);
    times(w->m->kernels, &w->l->key, met + first * dim, n, NULL, w->p->key + first * hidden);
}

/* Q h, K h and V h of these nodes. */
static qp_code multiply(void *ctx, int worker, size_t block, qp_err *err)
{
    const work *w = ctx;
    const qp_kernels *k = w->m->kernels;
    const layer *l = w->l;
    layer_pass *p = w->p;
    uint32_t from, to, heads = w->m->shape.heads, hidden = w->m->shape.hidden, width = hidden / heads;
    (void)worker, (void)err;
    block_of(w, block, &from, &to);
    const float *h = p->h + (size_t)from * w->m->shape.dim;
    times(k, &l->value, h, to - from, NULL, p->value + (size_t)from * hidden);
    if (w->m->shape.kind == QP_LESEGR_GT)
        multiply_joined(w, from, to);
    for (size_t i = (size_t)from * heads; i < (size_t)to * heads && w->m->shape.kind == QP_LESEGR_GAT; i++) {
        p->left[i] = qp_dot(l->left + i % heads * width, p->value + i * width, width);
        p->right[i] = qp_dot(l->right + i % heads * width, p->value + i * width, width);
    }
    return QP_OK;
}

/* v_q . h_i' is delta_i v_q . h_i + W' v_q . units_i + v_q . b': a product with W for the question, none for a node. */
static void score_node(const work *w, uint32_t i)
{
    uint32_t hidden = w->m->shape.hidden, dim = w->m->shape.dim;
    w->pass->score[i] = delta_of(w->c, i) * qp_dot(w->c->query, w->p->h + (size_t)i * dim, dim) +
                        qp_dot(w->folded, w->p->units + (size_t)i * hidden, hidden) + w->offset;
}

static void receive_node(const work *w, uint32_t i)
{
    uint32_t dim = w->m->shape.dim;
    weigh(w, i);
    gather(w, i);
    if (!w->out) {
        score_node(w, i);
        return;
    }
    float *out = w->out + (size_t)i * dim;
    memcpy(out, w->l->out_bias, dim * sizeof *out);
    add_scaled(out, w->p->h + (size_t)i * dim, delta_of(w->c, i), dim);
}

/* The messages to these nodes, and what the layer makes of them. */
static qp_code receive(void *ctx, int worker, size_t block, qp_err *err)
{
    const work *w = ctx;
    uint32_t from, to, hidden = w->m->shape.hidden, dim = w->m->shape.dim;
    (void)worker, (void)err;
    block_of(w, block, &from, &to);
    for (uint32_t i = from; i < to; i++)
        receive_node(w, i);
    if (w->out)
        w->m->kernels->gemm(w->p->units + (size_t)from * hidden, hidden, to - from, w->l->out.forward, dim, hidden,
                            NULL, true, w->out + (size_t)from * dim, dim);
    return QP_OK;
}

/* Slots of the nodes that have neighbours, or are some node's. */
static bool count_joined(const qp_csr *g, qp_lesegr_pass *p, qp_arena *mem)
{
    uint32_t *slot = p->slot = qp_new(mem, uint32_t, g->n + 1u);
    for (uint32_t i = 0; slot && i < g->n; i++)
        for (uint64_t a = g->start[i]; a < g->start[i + 1]; a++)
            slot[i + 1] = slot[g->target[a] + 1] = 1;
    for (uint32_t i = 0; slot && i < g->n; i++)
        slot[i + 1] += slot[i];
    return slot;
}

static bool make_room(const qp_lesegr *m, const qp_csr *g, qp_lesegr_pass *p, qp_arena *mem)
{
    const qp_lesegr_shape *s = &m->shape;
    bool gt = s->kind == QP_LESEGR_GT, all = count_joined(g, p, mem);
    if (!all)
        return false;
    size_t joined = gt ? p->slot[g->n] : 0;
    p->projected = qp_new(mem, float, (size_t)g->n * s->mlp + 1);
    p->alpha = qp_new(mem, float, arcs(g) + 1);
    p->score = qp_new(mem, float, g->n + 1u);
    for (uint32_t k = 0; k < s->layers; k++) {
        layer_pass *l = &p->layer[k];
        size_t wide = (size_t)g->n * s->hidden + 1;
        *l = (layer_pass){.h = k ? qp_new(mem, float, (size_t)g->n * s->dim + 1) : NULL,
                          .met = qp_new(mem, float, joined * s->dim + 1),
                          .query = qp_new(mem, float, joined * s->hidden + 1),
                          .key = qp_new(mem, float, joined * s->hidden + 1),
                          .value = qp_new(mem, float, wide),
                          .left = qp_new(mem, float, (size_t)g->n * s->heads + 1),
                          .right = qp_new(mem, float, (size_t)g->n * s->heads + 1),
                          .share = qp_new(mem, float, arcs(g) * s->heads + 1),
                          .units = qp_new(mem, float, wide)};
        all &= (l->h || !k) && l->met && l->query && l->key && l->value && l->left && l->right && l->share && l->units;
    }
    p->h = qp_new(mem, float, (size_t)g->n * s->dim + 1);
    return all && p->projected && p->alpha && p->score && p->h;
}

static bool fold(work *w, const layer *last, qp_arena *mem)
{
    float *folded = qp_new(mem, float, w->m->shape.hidden);
    uint32_t hidden = w->m->shape.hidden, dim = w->m->shape.dim;
    for (uint32_t d = 0; folded && d < dim; d++)
        add_scaled(folded, last->out.w + (size_t)d * hidden, w->c->query[d], hidden);
    w->folded = folded;
    w->offset = qp_dot(w->c->query, last->out_bias, dim);
    return folded;
}

/* All layers; the last one's vectors too, or the scores right away. */
static qp_code go_through(work *w, int threads, bool vectors, qp_arena *mem, qp_err *err)
{
    const qp_lesegr *m = w->m;
    qp_lesegr_pass *p = w->pass;
    uint32_t n = w->c->graph.n, last = m->shape.layers - 1;
    if (!make_room(m, &w->c->graph, p, mem) || (!vectors && !fold(w, &m->layer[last], mem)))
        return qp_oom(err);
    p->layer[0].h = (float *)(uintptr_t)w->c->vector;
    w->block = n / (uint32_t)(threads > 1 ? threads : 1) + 1;
    size_t blocks = (n + w->block - 1) / w->block;
    qp_code code = w->c->flat ? QP_OK : qp_parallel(threads, blocks, project, w, err);
    code = code ? code : qp_parallel(threads, blocks, attend, w, err);
    for (uint32_t k = 0; !code && k <= last; k++) {
        w->l = &m->layer[k];
        w->p = &p->layer[k];
        w->out = k < last ? p->layer[k + 1].h : vectors ? p->h : NULL;
        code = qp_parallel(threads, blocks, multiply, w, err);
        code = code ? code : qp_parallel(threads, blocks, receive, w, err);
    }
    return code;
}

qp_code qp_lesegr_score(const qp_lesegr *m, const qp_candidates *c, int threads, const float **score, qp_arena *mem,
                        qp_err *err)
{
    qp_lesegr_pass p = {0};
    qp_code code = go_through(&(work){.m = m, .c = c, .pass = &p}, threads, false, mem, err);
    *score = p.score;
    return code;
}

qp_code qp_lesegr_forward(const qp_lesegr *m, const qp_candidates *c, int threads, qp_lesegr_pass **out,
                          const float **score, qp_arena *mem, qp_err *err)
{
    qp_lesegr_pass *p = qp_new(mem, qp_lesegr_pass, 1);
    qp_code code = p ? go_through(&(work){.m = m, .c = c, .pass = p}, threads, true, mem, err) : qp_oom(err);
    if (code)
        return code;
    for (uint32_t i = 0; i < c->graph.n; i++)
        p->score[i] = qp_dot(c->query, p->h + (size_t)i * m->shape.dim, m->shape.dim);
    *out = p;
    *score = p->score;
    return QP_OK;
}
