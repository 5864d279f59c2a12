/* A graph in memory that stands in for a store, and models whose numbers can be worked out by hand. Everything is given
 * by plain arrays; every function is the shortest way to say what the contract in quipu_op.h says.
 */
#ifndef QP_TESTS_FAKE_VIEW_H
#define QP_TESTS_FAKE_VIEW_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/random.h"
#include "op/op.h"

enum { FAKE_NODES = 64, FAKE_EDGES = 512, FAKE_DIM = 8 };

typedef struct fake_graph {
    uint32_t n, m;
    struct {
        qp_id from, to;
        int type;
    } edge[FAKE_EDGES];
    float vector[FAKE_NODES][FAKE_DIM];
    float lexical[FAKE_NODES];     /* what node.bm25 says; 0: no term of the question */
    uint32_t document[FAKE_NODES]; /* chunks of one stand side by side */
    uint32_t calls;                /* round trips */
    qp_view view;
} fake_graph;

static inline bool fake_joins(const fake_graph *g, uint32_t e, qp_id a, qp_id b, qp_walk w)
{
    if (!(w.types >> g->edge[e].type & 1) || a == b)
        return false;
    return (w.direction != QP_IN && g->edge[e].from == a && g->edge[e].to == b) ||
           (w.direction != QP_OUT && g->edge[e].to == a && g->edge[e].from == b);
}

/* The smallest edge by which b is reached from a, or QP_NO_ID. */
static inline qp_id fake_edge(const fake_graph *g, qp_id a, qp_id b, qp_walk w)
{
    for (uint32_t e = 0; e < g->m; e++)
        if (fake_joins(g, e, a, b, w))
            return e;
    return QP_NO_ID;
}

static inline uint32_t fake_degree_of(const fake_graph *g, qp_id a, qp_walk w)
{
    uint32_t n = 0;
    for (qp_id b = 0; b < g->n; b++)
        n += fake_edge(g, a, b, w) != QP_NO_ID;
    return n;
}

static inline float fake_dot(const float *a, const float *b)
{
    float sum = 0;
    for (int d = 0; d < FAKE_DIM; d++)
        sum += a[d] * b[d];
    return sum;
}

static inline int fake_best_first(const void *a, const void *b)
{
    const qp_hit *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static inline qp_code fake_search(void *self, const char *index, const qp_probe *p, uint32_t k, qp_list *out,
                                  qp_arena *mem, qp_err *err)
{
    fake_graph *g = self;
    bool dense = strcmp(index, "node.dense") == 0;
    qp_hit *hits = qp_new(mem, qp_hit, g->n);
    uint32_t n = 0;
    g->calls++;
    if (!dense && strcmp(index, "node.bm25") != 0)
        return qp_fail(err, QP_INPUT, "no index '%s'", index);
    for (qp_id i = 0; i < g->n; i++)
        if ((!p->allow || (p->allow[i / 64] >> (i % 64) & 1)) && (dense || g->lexical[i] != 0))
            hits[n++] = (qp_hit){i, QP_NO_ID, dense ? fake_dot(p->vector, g->vector[i]) : g->lexical[i], NULL};
    qsort(hits, n, sizeof *hits, fake_best_first);
    *out = (qp_list){hits, n < k ? n : k};
    return QP_OK;
}

static inline qp_code fake_adjacent(void *self, const qp_id *ids, uint32_t n, qp_walk w, qp_adj *out, qp_arena *mem,
                                    qp_err *err)
{
    fake_graph *g = self;
    uint32_t *start = qp_new(mem, uint32_t, n + 1), at = 0;
    qp_id *node = qp_new(mem, qp_id, (size_t)n * g->n), *edge = qp_new(mem, qp_id, (size_t)n * g->n);
    (void)err;
    g->calls++;
    for (uint32_t i = 0; i < n; i++) {
        for (qp_id b = 0; b < g->n; b++) {
            qp_id e = fake_edge(g, ids[i], b, w);
            if (e != QP_NO_ID) {
                node[at] = b;
                edge[at++] = e;
            }
        }
        start[i + 1] = at;
    }
    *out = (qp_adj){n, start, node, edge};
    return QP_OK;
}

static inline qp_code fake_degree(void *self, const qp_id *ids, uint32_t n, qp_walk w, uint32_t *out, qp_err *err)
{
    fake_graph *g = self;
    (void)err;
    g->calls++;
    for (uint32_t i = 0; i < n; i++)
        out[i] = fake_degree_of(g, ids[i], w);
    return QP_OK;
}

static inline qp_code fake_text(void *self, qp_kind kind, const qp_id *ids, uint32_t n, qp_str *out, qp_arena *mem,
                                qp_err *err)
{
    (void)self, (void)kind, (void)err;
    for (uint32_t i = 0; i < n; i++)
        out[i] = qp_arena_fmt(mem, "%u", ids[i]);
    return QP_OK;
}

static inline qp_code fake_vectors(void *self, const char *index, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    fake_graph *g = self;
    (void)index, (void)err;
    g->calls++;
    for (uint32_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * FAKE_DIM, g->vector[ids[i]], sizeof g->vector[0]);
    return QP_OK;
}

/* Edges that lead away, each. */
static inline qp_code fake_incident(void *self, const qp_id *ids, uint32_t n, qp_walk w, qp_adj *out, qp_arena *mem,
                                    qp_err *err)
{
    fake_graph *g = self;
    uint32_t *start = qp_new(mem, uint32_t, n + 1), at = 0;
    qp_id *node = qp_new(mem, qp_id, (size_t)n * g->m + 1), *edge = qp_new(mem, qp_id, (size_t)n * g->m + 1);
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t e = 0; e < g->m; e++)
            if (w.direction == QP_OUT && g->edge[e].from == ids[i] && g->edge[e].to != ids[i]) {
                node[at] = g->edge[e].to;
                edge[at++] = e;
            }
        start[i + 1] = at;
    }
    *out = (qp_adj){n, start, node, edge};
    return QP_OK;
}

static inline qp_code fake_between(void *self, const qp_id *ids, uint32_t n, qp_walk w, qp_id **edge, uint32_t *m,
                                   qp_arena *mem, qp_err *err)
{
    const fake_graph *g = self;
    bool *in = qp_new(mem, bool, g->n);
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        in[ids[i]] = true;
    *m = 0;
    *edge = qp_new(mem, qp_id, g->m + 1u);
    for (uint32_t e = 0; e < g->m; e++)
        if (in[g->edge[e].from] && in[g->edge[e].to] && g->edge[e].from != g->edge[e].to &&
            w.types >> g->edge[e].type & 1)
            (*edge)[(*m)++] = e;
    return QP_OK;
}

static inline qp_code fake_edge_link(void *self, const qp_id *ids, uint32_t n, qp_link *out, qp_err *err)
{
    const fake_graph *g = self;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        out[i] =
            (qp_link){.from = g->edge[ids[i]].from, .to = g->edge[ids[i]].to, .type = QP_STR("cites"), .weight = 1};
    return QP_OK;
}

static inline qp_code fake_about(void *self, const qp_id *ids, uint32_t n, qp_about *out, qp_arena *mem, qp_err *err)
{
    const fake_graph *g = self;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        out[i] = (qp_about){.document = qp_arena_fmt(mem, "d%u", g->document[ids[i]])};
    return QP_OK;
}

/* Types are the letters a to e. */
static inline qp_code fake_types(void *self, const char *names, uint64_t *bits, qp_err *err)
{
    (void)self;
    *bits = 0;
    for (const char *c = names; *c; c++) {
        if (*c == ',')
            continue;
        if (*c < 'a' || *c > 'e')
            return qp_fail(err, QP_INPUT, "no edge type '%c' (a, b, c, d, e)", *c);
        *bits |= 1ull << (*c - 'a');
    }
    return QP_OK;
}

static inline void fake_ready(fake_graph *g)
{
    g->view = (qp_view){.self = g,
                        .nodes = g->n,
                        .entity = g->n,
                        .incident = fake_incident,
                        .between = fake_between,
                        .link = fake_edge_link,
                        .about = fake_about,
                        .edges = g->m,
                        .dim = FAKE_DIM,
                        .search = fake_search,
                        .adjacent = fake_adjacent,
                        .degree = fake_degree,
                        .text = fake_text,
                        .vectors = fake_vectors,
                        .types = fake_types};
}

static inline void fake_link(fake_graph *g, qp_id a, qp_id b, int type)
{
    g->edge[g->m].from = a;
    g->edge[g->m].to = b;
    g->edge[g->m++].type = type;
}

/* Random: parallel edges, self-loops, nodes without edges, and scores that are often equal. */
static inline void fake_random(fake_graph *g, qp_random *r)
{
    memset(g, 0, sizeof *g);
    g->n = 1 + (uint32_t)qp_random_below(r, 40);
    uint32_t m = (uint32_t)qp_random_below(r, 3 * g->n);
    for (uint32_t e = 0; e < m; e++)
        fake_link(g, (qp_id)qp_random_below(r, g->n), (qp_id)qp_random_below(r, g->n), (int)qp_random_below(r, 3));
    for (uint32_t i = 0; i < g->n; i++) {
        g->document[i] = i;
        g->lexical[i] = (float)qp_random_below(r, 4);
        for (int d = 0; d < FAKE_DIM; d++)
            g->vector[i][d] = (float)qp_random_below(r, 5) / 4 - .5f;
    }
    fake_ready(g);
}

/* ---- models ---- */
typedef struct fake_model {
    uint32_t passes; /* texts encoded */
    qp_model model;
} fake_model;

/* Of any question: the same vector. */
static inline qp_code fake_embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self, (void)role, (void)text, (void)err;
    for (uint32_t i = 0; i < n; i++)
        for (int d = 0; d < FAKE_DIM; d++)
            out[i * FAKE_DIM + (uint32_t)d] = d == 0 ? .75f : d == 1 ? .5f : 0; /* inner products are exact */
    return QP_OK;
}

enum { FAKE_WIDTH = 3 };

/* The latent of node i: three numbers that repeat with different periods. */
static inline void fake_latent_of(qp_id i, float *out)
{
    out[0] = (float)(i * 7 % 11) / 11;
    out[1] = (float)(i * 5 % 13) / 13 - .5f;
    out[2] = (float)(i % 3) - 1;
}

static inline float fake_head_of(const float *h)
{
    return tanhf(h[0] + h[1]) * 2 + tanhf(h[2] - h[0]) + h[1];
}

static inline qp_code fake_latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    fake_model *m = self;
    (void)query, (void)err;
    m->passes += n;
    for (uint32_t i = 0; i < n; i++)
        fake_latent_of((qp_id)strtoul(text[i].at, NULL, 10), out + (size_t)i * FAKE_WIDTH);
    return QP_OK;
}

static inline qp_code fake_head(void *self, const float *latent, uint32_t n, float *score, qp_err *err)
{
    (void)self, (void)err;
    for (uint32_t i = 0; i < n; i++)
        score[i] = fake_head_of(latent + (size_t)i * FAKE_WIDTH);
    return QP_OK;
}

static inline void fake_models(fake_model *embedder, fake_model *ranker)
{
    *embedder =
        (fake_model){.model = {.self = embedder, .name = "fake", .digest = "0", .dim = FAKE_DIM, .embed = fake_embed}};
    *ranker = (fake_model){.model = {.self = ranker,
                                     .name = "fake",
                                     .digest = "0",
                                     .width = FAKE_WIDTH,
                                     .latent = fake_latent,
                                     .head = fake_head}};
}

/* A question about g; ended with qp_query_end. */
static inline qp_query fake_query(const fake_graph *g, const fake_model *embedder, const fake_model *ranker)
{
    qp_query q;
    if (qp_query_begin(&q, QP_STR("question"), NULL) != QP_OK)
        abort();
    q.graph = &g->view;
    q.embedder = &embedder->model;
    q.ranker = &ranker->model;
    return q;
}

#endif
