#include "op/fare.h"

#include <math.h>

#include "base/vector.h"
#include "op/eem.h"
#include "op/idmap.h"

enum { BLOCK = 64 };

typedef enum fact { RELATION, MENTION, PAIR } fact;

struct qp_fares {
    qp_query *q;
    qp_walk walk;
    bool as_text, kept; /* kept: the index has vectors of triples */
    float least;
    const float *asked; /* the question's vector */
    float *row;         /* 2 * BLOCK * dim */
    qp_idmap rows;      /* node -> place in `of` */
    qp_mcmi_row *of;
    uint32_t n, cap;
    qp_idmap passages; /* passage -> bits of its cosine: the same for all its mentions */
    qp_mcmi_graph graph;
};

/* ---- cosines, of at most BLOCK edges ---- */

static bool vectors_of(qp_fares *f, const char *index, const qp_id *ids, uint32_t n, float *out)
{
    const qp_view *g = f->q->graph;
    return !n || !g->vectors(g->self, index, ids, n, out, &f->q->err);
}

static bool by_text(qp_fares *f, const qp_id *edge, const uint32_t *at, uint32_t n, float *cosine)
{
    const qp_view *g = f->q->graph;
    qp_str text[BLOCK];
    if (!n)
        return true;
    if (g->text(g->self, QP_TRIPLE, edge, n, text, f->q->mem, &f->q->err))
        return false;
    const float *score = qp_eem_texts(f->q, "embed", text, n);
    for (uint32_t i = 0; score && i < n; i++)
        cosine[at[i]] = score[i];
    return score;
}

static bool relations(qp_fares *f, const qp_id *edge, const uint32_t *at, uint32_t n, float *cosine)
{
    uint32_t dim = f->q->graph->dim;
    if (!vectors_of(f, "triple.dense", edge, n, f->row))
        return false;
    for (uint32_t i = 0; i < n; i++)
        cosine[at[i]] = qp_dot(f->asked, f->row + (size_t)i * dim, dim);
    return true;
}

static bool mentions(qp_fares *f, const qp_id *passage, const uint32_t *at, uint32_t n, float *cosine)
{
    uint32_t dim = f->q->graph->dim;
    for (uint32_t i = 0; i < n; i++) {
        bool added;
        uint32_t *bits = qp_idmap_put(&f->passages, passage[i], 0, &added);
        if (!bits)
            return !qp_oom(&f->q->err);
        if (added) {
            if (!vectors_of(f, "node.dense", &passage[i], 1, f->row))
                return false;
            float dot = qp_dot(f->asked, f->row, dim);
            memcpy(bits, &dot, sizeof dot);
        }
        memcpy(&cosine[at[i]], bits, sizeof *cosine);
    }
    return true;
}

/* cos(q, (u + v) / |u + v|); of two vectors that cancel out, 0. */
static bool pairs(qp_fares *f, const qp_id *from, const qp_id *to, const uint32_t *at, uint32_t n, float *cosine)
{
    uint32_t dim = f->q->graph->dim;
    float *u = f->row, *v = f->row + (size_t)BLOCK * dim;
    if (!vectors_of(f, "node.dense", from, n, u) || !vectors_of(f, "node.dense", to, n, v))
        return false;
    for (uint32_t i = 0; i < n; i++, u += dim, v += dim) {
        double square = qp_dot(u, u, dim) + qp_dot(v, v, dim) + 2 * (double)qp_dot(u, v, dim);
        double dot = (double)qp_dot(f->asked, u, dim) + (double)qp_dot(f->asked, v, dim);
        cosine[at[i]] = square > 1e-12 ? (float)(dot / sqrt(square)) : 0;
    }
    return true;
}

static fact kind_of(const qp_fares *f, const qp_link *l)
{
    bool from = l->from < f->q->graph->entity, to = l->to < f->q->graph->entity;
    if (from != to)
        return MENTION;
    return from || qp_str_eq(l->type, QP_STR(QP_SYNONYM)) ? PAIR : RELATION;
}

static bool cosines(qp_fares *f, const qp_id *edge, uint32_t n, float *cosine)
{
    const qp_view *g = f->q->graph;
    qp_link link[BLOCK];
    uint32_t at[4][BLOCK], m[4] = {0};
    enum { TEXT = PAIR + 1 };
    qp_id id[4][BLOCK], other[BLOCK];
    if (g->link(g->self, edge, n, link, &f->q->err))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        fact kind = kind_of(f, &link[i]);
        uint32_t k = kind == RELATION && !f->kept ? PAIR : kind;
        k = kind != RELATION && f->as_text ? TEXT : k;
        uint32_t place = m[k]++;
        bool backward = kind == MENTION && link[i].from >= g->entity;
        at[k][place] = i;
        id[k][place] = k == RELATION || k == TEXT ? edge[i] : backward ? link[i].to : link[i].from;
        if (k == PAIR)
            other[place] = link[i].to;
    }
    return relations(f, id[RELATION], at[RELATION], m[RELATION], cosine) &&
           mentions(f, id[MENTION], at[MENTION], m[MENTION], cosine) &&
           pairs(f, id[PAIR], other, at[PAIR], m[PAIR], cosine) && by_text(f, id[TEXT], at[TEXT], m[TEXT], cosine);
}

bool qp_fares_of(qp_fares *f, const qp_id *edge, uint32_t n, float *cost)
{
    for (uint32_t from = 0, some; from < n; from += some) {
        some = n - from < BLOCK ? n - from : BLOCK;
        if (qp_query_over(f->q, "fares") || !cosines(f, edge + from, some, cost + from))
            return false;
        for (uint32_t i = from; i < from + some; i++) {
            float c = (1 - cost[i]) / 2; /* a damaged vector's product may be no number */
            cost[i] = c >= f->least ? fminf(c, 1) : isnan(c) ? 1 : f->least;
        }
    }
    return true;
}

/* ---- the graph ---- */

static bool make_row(qp_fares *f, qp_id v, qp_mcmi_row *row)
{
    qp_query *q = f->q;
    qp_adj adj;
    if (q->graph->incident(q->graph->self, &v, 1, f->walk, &adj, q->mem, &q->err))
        return false;
    uint32_t m = adj.start[1], n = 0;
    float *cost = qp_new(q->mem, float, m + 1u);
    qp_id *node = (qp_id *)(uintptr_t)adj.node, *edge = (qp_id *)(uintptr_t)adj.edge; /* made for us */
    if (!cost)
        return !qp_oom(&q->err);
    for (uint32_t i = 0; i < m; i++) {
        bool allowed = !q->allow || (q->allow[node[i] / 64] >> (node[i] % 64) & 1);
        node[n] = node[i];
        edge[n] = edge[i];
        n += allowed;
    }
    *row = (qp_mcmi_row){node, edge, cost, n};
    return qp_fares_of(f, edge, n, cost);
}

static qp_code row_of(void *ctx, uint32_t v, qp_mcmi_row *row, qp_err *err)
{
    qp_fares *f = ctx;
    qp_query *q = f->q;
    bool added;
    uint32_t *at = qp_idmap_put(&f->rows, v, f->n, &added);
    if (at && added && f->n == f->cap) {
        qp_mcmi_row *more = qp_new(q->mem, qp_mcmi_row, 2 * (size_t)f->cap + 64);
        if (more && f->n)
            memcpy(more, f->of, f->n * sizeof *more);
        f->cap = 2 * f->cap + 64;
        f->of = more;
    }
    if (!at || !f->of)
        return qp_oom(err);
    if (added && !make_row(f, v, &f->of[f->n++]))
        return qp_fail(err, q->err.code, "%s", q->err.message);
    *row = f->of[*at];
    return QP_OK;
}

/* Without the nodes that the query does not allow. */
static bool leave_out(qp_query *q, qp_csr *g)
{
    uint64_t *start = qp_new(q->mem, uint64_t, (size_t)g->n + 1), n = 0;
    uint32_t *target = qp_new(q->mem, uint32_t, g->start[g->n] + 1);
    if (!start || !target)
        return !qp_oom(&q->err);
    for (uint32_t v = 0; v < g->n; v++) {
        start[v] = n;
        for (uint64_t a = g->start[v]; (q->allow[v / 64] >> (v % 64) & 1) && a < g->start[v + 1]; a++)
            if (q->allow[g->target[a] / 64] >> (g->target[a] % 64) & 1)
                target[n++] = g->target[a];
    }
    start[g->n] = n;
    *g = (qp_csr){g->n, start, target, NULL};
    return true;
}

qp_fares *qp_fares_new(qp_query *q, const qp_fare_opt *o)
{
    const qp_view *g = q->graph;
    const float *asked = qp_query_vector(q);
    qp_walk walk = qp_query_walk(q, o->edges, NULL);
    qp_fares *f = asked ? qp_new(q->mem, qp_fares, 1) : NULL;
    float *row = f ? qp_new(q->mem, float, 2 * (size_t)BLOCK * g->dim) : NULL;
    qp_err none = {0};
    qp_arcs arcs;
    walk.direction = QP_BOTH;
    walk.across = true;
    if (asked && !row)
        qp_oom(&q->err);
    if (q->err.code != QP_OK || g->arcs(g->self, walk, &arcs, q->mem, &q->err))
        return NULL;
    *f = (qp_fares){.q = q,
                    .walk = walk,
                    .as_text = *o->fact == 't',
                    .kept = !g->vectors(g->self, "triple.dense", NULL, 0, row, &none),
                    .least = (float)o->least,
                    .asked = asked,
                    .row = row,
                    .rows = qp_idmap_in(q->mem),
                    .passages = qp_idmap_in(q->mem)};
    f->graph = (qp_mcmi_graph){{arcs.n, arcs.start, arcs.node, NULL}, g->entity, o->pseudo, row_of, f};
    return !q->allow || leave_out(q, &f->graph.arcs) ? f : NULL;
}

const qp_mcmi_graph *qp_fares_graph(const qp_fares *f)
{
    return &f->graph;
}

qp_set qp_fares_set(qp_query *q, const qp_mcmi *m, const float *score)
{
    qp_hit *node = qp_new(q->mem, qp_hit, m->n_nodes + 1u), *edge = qp_new(q->mem, qp_hit, m->n_edges + 1u);
    if (!node || !edge) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    for (uint32_t i = 0; i < m->n_nodes; i++)
        node[i] = (qp_hit){m->node[i], QP_NO_ID, score ? score[m->node[i]] : 0, NULL};
    for (uint32_t i = 0; i < m->n_edges; i++)
        edge[i] = (qp_hit){m->edge[i].edge, QP_NO_ID, 1 - 2 * m->edge[i].cost, NULL};
    return (qp_set){.nodes = qp_list_sorted(q, node, m->n_nodes, m->n_nodes),
                    .edges = qp_list_sorted(q, edge, m->n_edges, m->n_edges)};
}
