#include "graph/paths.h"

#include <math.h>
#include <string.h>

/* Trails as they come, and the ends among them; made into a result when all are there. */
typedef struct maker {
    qp_trail *at;
    size_t n, cap;
    uint32_t *end;
    size_t n_ends, ends_cap;
} maker;

static qp_code add(maker *m, qp_trail t, qp_err *err)
{
    qp_trail *at = qp_array_room(m->at, m->n, &m->cap, sizeof *at);
    if (!at)
        return qp_oom(err);
    m->at = at;
    if (m->n >= QP_NO_TRAIL)
        return qp_fail(err, QP_INPUT, "the paths have over %u steps; ask for fewer", QP_NO_TRAIL);
    at[m->n++] = t;
    return QP_OK;
}

static qp_code add_end(maker *m, uint32_t trail, qp_err *err)
{
    uint32_t *end = qp_array_room(m->end, m->n_ends, &m->ends_cap, sizeof *end);
    if (!end)
        return qp_oom(err);
    m->end = end;
    end[m->n_ends++] = trail;
    return QP_OK;
}

static qp_trail start_of(uint32_t node)
{
    return (qp_trail){.node = node, .from = QP_NO_TRAIL, .arc = QP_NO_ARC};
}

/* Moves what was made to the arena, if nothing went wrong. */
static qp_code finish(maker *m, qp_code code, qp_trails *out, qp_arena *mem, qp_err *err)
{
    qp_trail *at = code ? NULL : qp_new(mem, qp_trail, m->n);
    uint32_t *end = code ? NULL : qp_new(mem, uint32_t, m->n_ends);
    if (!code && (!at || !end))
        code = qp_oom(err);
    if (!code) {
        if (m->n)
            memcpy(at, m->at, m->n * sizeof *at);
        if (m->n_ends)
            memcpy(end, m->end, m->n_ends * sizeof *end);
        *out = (qp_trails){.at = at, .n = (uint32_t)m->n, .end = end, .n_ends = (uint32_t)m->n_ends};
    }
    free(m->at);
    free(m->end);
    return code;
}

/* ---- shortest paths ---- */

/* The trail of v, whose predecessor on the way from its start has one: trail_of[node] is 1 + its number. */
static qp_code add_step(maker *m, const qp_wave *w, uint32_t v, uint32_t *trail_of, qp_err *err)
{
    const qp_spot *s = &w->at[v];
    qp_trail t = start_of(v);
    if (s->arc != QP_NO_ARC) {
        uint32_t from = trail_of[s->from] - 1;
        t = (qp_trail){v, from, s->arc, s->cost, m->at[from].hops + 1};
    }
    qp_code code = add(m, t, err);
    trail_of[v] = (uint32_t)m->n;
    return code;
}

qp_code qp_paths_shortest(const qp_csr *g, const float *cost, const uint32_t *start, uint32_t n, double most,
                          qp_trails *out, qp_arena *mem, qp_err *err)
{
    qp_wave w;
    maker m = {0};
    qp_code code = qp_wave_begin(&w, g, cost, err);
    if (code)
        return code;
    uint32_t *trail_of = calloc((size_t)g->n + 1, sizeof *trail_of);
    if (!trail_of)
        code = qp_oom(err);
    for (uint32_t i = 0; !code && i < n; i++)
        code = qp_wave_start(&w, start[i], 0, err);
    for (uint32_t v; !code && qp_wave_next(&w, &v) && w.at[v].cost <= most;) {
        code = add_step(&m, &w, v, trail_of, err);
        if (!code && w.at[v].arc != QP_NO_ARC)
            code = add_end(&m, (uint32_t)m.n - 1, err);
        if (!code)
            code = qp_wave_spread(&w, v, err);
    }
    qp_wave_end(&w);
    free(trail_of);
    return finish(&m, code, out, mem, err);
}

/* ---- all simple paths ---- */

static bool visits(const maker *m, uint32_t trail, uint32_t node)
{
    for (; trail != QP_NO_TRAIL; trail = m->at[trail].from)
        if (m->at[trail].node == node)
            return true;
    return false;
}

/* Could the path go on by one of its end's arcs from `a` on? */
static bool goes_on(const qp_csr *g, const maker *m, uint32_t trail, uint64_t a)
{
    for (uint64_t end = g->start[m->at[trail].node + 1]; a < end; a++)
        if (!visits(m, trail, g->target[a]))
            return true;
    return false;
}

/* Extends the path by each of its end's arcs while the budget lasts; *cut grows if it does not. */
static qp_code extend(maker *m, const qp_csr *g, uint32_t trail, uint32_t budget, uint32_t *cut, qp_err *err)
{
    const qp_trail here = m->at[trail];
    for (uint64_t a = g->start[here.node]; a < g->start[here.node + 1]; a++) {
        if (m->n_ends >= budget) {
            *cut += goes_on(g, m, trail, a);
            return QP_OK;
        }
        if (visits(m, trail, g->target[a]))
            continue;
        qp_code code = add(m, (qp_trail){g->target[a], trail, a, here.cost + 1, here.hops + 1}, err);
        if (!code)
            code = add_end(m, (uint32_t)m->n - 1, err);
        if (code)
            return code;
    }
    return QP_OK;
}

qp_code qp_paths_simple(const qp_csr *g, const uint32_t *start, uint32_t n, uint32_t max_hop, uint32_t budget,
                        qp_trails *out, qp_arena *mem, qp_err *err)
{
    maker m = {0};
    uint32_t cut = 0;
    qp_code code = QP_OK;
    for (uint32_t i = 0; !code && i < n; i++) {
        bool again = false;
        if (start[i] >= g->n)
            code = qp_fail(err, QP_INPUT, "a start is node %u, but the graph has %u nodes", start[i], g->n);
        for (uint32_t j = 0; j < i; j++)
            again = again || start[j] == start[i];
        if (!code && !again)
            code = add(&m, start_of(start[i]), err);
    }
    /* The list is its own queue: what is appended is one arc longer than what it extends, so lengths rise. */
    for (size_t i = 0; !code && i < m.n && m.at[i].hops < max_hop; i++)
        code = extend(&m, g, (uint32_t)i, budget, &cut, err);
    code = finish(&m, code, out, mem, err);
    if (!code)
        out->cut = cut;
    return code;
}
