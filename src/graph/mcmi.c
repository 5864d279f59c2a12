#include "graph/mcmi.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/sorted.h"
#include "graph/sets.h"
#include "graph/steiner.h"
#include "graph/wave.h"

#define NONE UINT32_MAX

static qp_code row_of(const qp_mcmi_graph *g, uint32_t v, qp_mcmi_row *row, qp_err *err)
{
    qp_code code = g->row(g->ctx, v, row, err);
    for (uint32_t i = 0; !code && i < row->n; i++)
        if (!(row->cost[i] > 0 && row->cost[i] < INFINITY))
            code = qp_fail(err, QP_INPUT, "edge %u of node %u costs %g; a finite cost above 0 is wanted", row->edge[i],
                           v, (double)row->cost[i]);
    return code;
}

/* A subgraph in the making. */
typedef struct sub {
    const qp_mcmi_graph *g;
    uint32_t *node;
    qp_mcmi_edge *edge;
    size_t n, node_cap, m, edge_cap;
} sub;

static qp_code add_node(sub *s, uint32_t v, qp_err *err)
{
    uint32_t *node = qp_array_room(s->node, s->n, &s->node_cap, sizeof *node);
    if (!node)
        return qp_oom(err);
    s->node = node;
    node[s->n++] = v;
    return QP_OK;
}

static qp_code add_edge(sub *s, qp_mcmi_edge e, qp_err *err)
{
    qp_mcmi_edge *edge = qp_array_room(s->edge, s->m, &s->edge_cap, sizeof *edge);
    if (!edge)
        return qp_oom(err);
    s->edge = edge;
    edge[s->m++] = e;
    return QP_OK;
}

/* Into the arena; what it was made in is freed, after an error too. */
static qp_code hand_over(sub *s, qp_code code, qp_mcmi *out, qp_arena *mem, qp_err *err)
{
    uint32_t *node = code ? NULL : qp_new(mem, uint32_t, s->n + 1);
    qp_mcmi_edge *edge = code ? NULL : qp_new(mem, qp_mcmi_edge, s->m + 1);
    if (!code && (!node || !edge))
        code = qp_oom(err);
    *out = (qp_mcmi){0};
    if (!code && s->n)
        memcpy(node, s->node, s->n * sizeof *node);
    if (!code && s->m)
        memcpy(edge, s->edge, s->m * sizeof *edge);
    if (!code)
        *out = (qp_mcmi){.node = node, .n_nodes = (uint32_t)s->n, .edge = edge, .n_edges = (uint32_t)s->m};
    for (uint32_t i = 0; i < out->n_edges; i++)
        out->cost += (double)edge[i].cost;
    free(s->node);
    free(s->edge);
    return code;
}

/* ---- the parts that real edges make of a subgraph, and what they hang from ---- */

typedef struct parts {
    uint32_t *node, *set, n; /* nodes rising, and the part of each: its first one's place */
} parts;

static uint32_t place(const parts *p, uint32_t v)
{
    const uint32_t *at = p->n ? bsearch(&v, p->node, p->n, sizeof v, qp_by_u32) : NULL;
    return at ? (uint32_t)(at - p->node) : NONE;
}

static qp_code part(const uint32_t *node, uint32_t n, const qp_mcmi_edge *edge, uint32_t m, parts *p, qp_arena *mem,
                    qp_err *err)
{
    *p = (parts){qp_new(mem, uint32_t, n + 1u), qp_new(mem, uint32_t, n + 1u), n};
    if (!p->node || !p->set)
        return qp_oom(err);
    if (n) {
        memcpy(p->node, node, n * sizeof *node);
        qsort(p->node, n, sizeof *node, qp_by_u32);
    }
    qp_sets_begin(p->set, n);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t u = place(p, edge[i].from), v = place(p, edge[i].to);
        if (u == NONE || v == NONE)
            return qp_fail(err, QP_BUG, "mcmi: edge %u has an end outside the subgraph", edge[i].edge);
        qp_sets_unite(p->set, u, v);
    }
    for (uint32_t i = 0; i < n; i++) /* a set is named by its smallest member */
        p->set[i] = qp_sets_find(p->set, i);
    return QP_OK;
}

/* The first passage of each part that has one: passages come before other nodes, so it is the part's first node. Fewer
 * than two hang from nothing. */
static uint32_t hanging(const qp_mcmi_graph *g, const parts *p, uint32_t *passage)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->set[i] == i && p->node[i] < g->passages)
            passage[n++] = p->node[i];
    return n < 2 ? 0 : n;
}

/* ---- the tree ---- */

typedef struct tolls {
    const qp_mcmi_graph *g;
    float *cost; /* of arcs, the least among parallel edges; only of rows that were asked for */
} tolls;

static qp_code toll_row(void *ctx, uint32_t v, qp_err *err)
{
    const tolls *t = ctx;
    const qp_csr *arcs = &t->g->arcs;
    qp_mcmi_row row;
    qp_code code = row_of(t->g, v, &row, err);
    uint32_t i = 0;
    for (uint64_t a = arcs->start[v]; !code && a < arcs->start[v + 1]; a++) {
        float least = INFINITY;
        if (arcs->target[a] == v) /* a loop, which no path goes by */
            least = FLT_MAX;
        for (; i < row.n && row.node[i] == arcs->target[a]; i++)
            least = row.cost[i] < least ? row.cost[i] : least;
        if (least == INFINITY)
            return qp_fail(err, QP_BUG, "mcmi: node %u has a neighbour %u without an edge", v, arcs->target[a]);
        t->cost[a] = least;
    }
    return code;
}

/* The cheapest edge between two neighbours, of equals the first. */
static qp_code join_by(sub *s, uint32_t u, uint32_t v, qp_err *err)
{
    qp_mcmi_row row;
    uint32_t best = NONE;
    qp_code code = row_of(s->g, u, &row, err);
    for (uint32_t i = 0; !code && i < row.n; i++)
        if (row.node[i] == v && (best == NONE || row.cost[i] < row.cost[best]))
            best = i;
    return code ? code : add_edge(s, (qp_mcmi_edge){row.edge[best], u, v, row.cost[best]}, err);
}

/* The way from a part without passages to the nearest one, if there is any. */
static qp_code reach_passage(sub *s, tolls *t, const parts *p, uint32_t root, qp_err *err)
{
    qp_wave w;
    uint32_t end = NONE;
    qp_code code = qp_wave_begin(&w, &s->g->arcs, t->cost, err);
    for (uint32_t i = 0; !code && i < p->n; i++)
        if (p->set[i] == root)
            code = qp_wave_start(&w, p->node[i], 0, err);
    for (uint32_t v; !code && end == NONE && qp_wave_next(&w, &v);) {
        if (v < s->g->passages)
            end = v;
        else if (!(code = toll_row(t, v, err)))
            code = qp_wave_spread(&w, v, err);
    }
    for (uint32_t v = end; !code && v != NONE && w.at[v].arc != QP_NO_ARC; v = w.at[v].from) {
        code = add_node(s, v, err);
        if (!code)
            code = join_by(s, w.at[v].from, v, err);
    }
    qp_wave_end(&w);
    return code;
}

/* Parts that nothing joins are led to passages, so that they hang from the pseudo node. */
static qp_code lead_to_passages(sub *s, tolls *t, qp_arena *mem, qp_err *err)
{
    parts p;
    qp_code code = part(s->node, (uint32_t)s->n, s->edge, (uint32_t)s->m, &p, mem, err);
    for (uint32_t i = 0; !code && i < p.n; i++)
        if (p.set[i] == i && p.node[i] >= s->g->passages)
            code = reach_passage(s, t, &p, i, err);
    return code;
}

static qp_code count_hanging(const qp_mcmi_graph *g, qp_mcmi *m, qp_arena *mem, qp_err *err)
{
    parts p;
    uint32_t *passage = qp_new(mem, uint32_t, m->n_nodes + 1u);
    qp_code code = passage ? part(m->node, m->n_nodes, m->edge, m->n_edges, &p, mem, err) : qp_oom(err);
    if (code)
        return code;
    m->hanging = hanging(g, &p, passage);
    m->cost += m->hanging * g->pseudo_cost;
    return QP_OK;
}

qp_code qp_mcmi_tree(const qp_mcmi_graph *g, const uint32_t *terminal, uint32_t n, qp_mcmi *out, qp_arena *mem,
                     qp_err *err)
{
    /* calloc: untouched pages of a large graph cost nothing */
    tolls t = {g, calloc(g->arcs.start[g->arcs.n] + 1, sizeof *t.cost)};
    const qp_toll toll = {toll_row, &t};
    sub s = {.g = g};
    qp_steiner found = {0};
    qp_code code = t.cost ? qp_steiner_tolled(&g->arcs, t.cost, &toll, terminal, n, &found, mem, err) : qp_oom(err);
    for (uint32_t i = 0; !code && i < found.n_nodes; i++)
        code = add_node(&s, found.node[i], err);
    for (uint32_t i = 0; !code && i < found.n_arcs; i++)
        code = join_by(&s, found.from[i], g->arcs.target[found.arc[i]], err);
    if (!code && found.trees > 1 && g->passages)
        code = lead_to_passages(&s, &t, mem, err);
    if (!code && s.n)
        qsort(s.node, s.n, sizeof *s.node, qp_by_u32);
    free(t.cost);
    code = hand_over(&s, code, out, mem, err);
    return code ? code : count_hanging(g, out, mem, err);
}

/* ---- growth ---- */

typedef struct growth {
    sub s;
    const float *influence;
    uint64_t *inside; /* a bit a node */
    qp_heap queue;    /* neighbours by what they give for their cost, largest first */
    double sum;       /* r = sum / edges */
    uint32_t edges;   /* those to the pseudo node among them */
} growth;

static bool is_inside(const growth *w, uint32_t v)
{
    return w->inside[v / 64] >> (v % 64) & 1;
}

static void count(growth *w, qp_mcmi_edge e)
{
    w->sum += ((double)w->influence[e.from] + (double)w->influence[e.to]) / (2 * (double)e.cost);
    w->edges++;
}

static qp_code take_in(growth *w, uint32_t v, qp_err *err)
{
    w->inside[v / 64] |= UINT64_C(1) << (v % 64);
    return add_node(&w->s, v, err);
}

/* Neighbours of v that are outside wait their turn; one that comes again may be cheaper this way. */
static qp_code look_around(growth *w, uint32_t v, qp_err *err)
{
    qp_mcmi_row row;
    qp_code code = row_of(w->s.g, v, &row, err);
    for (uint32_t i = 0; !code && i < row.n; i++) {
        double ratio = (double)w->influence[row.node[i]] / (double)row.cost[i];
        if (ratio > 0 && !is_inside(w, row.node[i]) && !qp_heap_push(&w->queue, -ratio, row.node[i], 0))
            code = qp_oom(err);
    }
    return code;
}

/* v with all its edges into the subgraph that pay. */
static qp_code join_in(growth *w, uint32_t v, double r, qp_err *err)
{
    qp_mcmi_row row;
    qp_code code = row_of(w->s.g, v, &row, err);
    for (uint32_t i = 0; !code && i < row.n; i++) {
        qp_mcmi_edge e = {row.edge[i], v, row.node[i], row.cost[i]};
        if (!is_inside(w, e.to) || !((double)w->influence[v] / (double)e.cost > r))
            continue;
        count(w, e);
        code = add_edge(&w->s, e, err);
    }
    if (!code)
        code = take_in(w, v, err);
    return code ? code : look_around(w, v, err);
}

static qp_code begin(growth *w, const qp_mcmi *start, qp_arena *mem, qp_err *err)
{
    const qp_mcmi_graph *g = w->s.g;
    parts p;
    uint32_t *passage = qp_new(mem, uint32_t, start->n_nodes + 1u);
    qp_code code = passage && w->inside ? part(start->node, start->n_nodes, start->edge, start->n_edges, &p, mem, err)
                                        : qp_oom(err);
    for (uint32_t i = 0; !code && i < start->n_nodes; i++)
        code = start->node[i] < g->arcs.n
                   ? take_in(w, start->node[i], err)
                   : qp_fail(err, QP_INPUT, "node %u of %u is to grow", start->node[i], g->arcs.n);
    for (uint32_t i = 0; !code && i < start->n_edges; i++) {
        count(w, start->edge[i]);
        code = add_edge(&w->s, start->edge[i], err);
    }
    for (uint32_t i = code ? 0 : hanging(g, &p, passage); i--;) {
        w->sum += (double)w->influence[passage[i]] / (2 * g->pseudo_cost);
        w->edges++;
    }
    for (uint32_t i = 0; !code && start->n_edges && i < start->n_nodes; i++)
        code = look_around(w, start->node[i], err);
    return code;
}

qp_code qp_mcmi_grow(const qp_mcmi_graph *g, const qp_mcmi *start, const qp_mcmi_growth *how, qp_mcmi *out,
                     qp_arena *mem, qp_err *err)
{
    growth w = {.s = {.g = g}, .influence = how->influence, .inside = calloc(g->arcs.n / 64 + 1, sizeof *w.inside)};
    qp_code code = begin(&w, start, mem, err);
    double r = w.edges ? w.sum / w.edges : 0, bar = r;
    while (!code && w.queue.n && !(how->most && w.s.n >= how->most)) {
        qp_heap_item next = qp_heap_pop(&w.queue);
        if (is_inside(&w, next.id))
            continue;
        if (!(-next.key > bar))
            break;
        code = join_in(&w, next.id, bar, err);
        bar = how->before ? r : w.sum / w.edges;
        r = w.sum / w.edges;
    }
    qp_heap_free(&w.queue);
    free(w.inside);
    code = hand_over(&w.s, code, out, mem, err);
    out->ratio = r;
    return code ? code : count_hanging(g, out, mem, err);
}
