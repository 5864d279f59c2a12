#include "graph/components.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sorted.h"
#include "graph/sets.h"

qp_code qp_components(const qp_csr *g, uint32_t **component, uint32_t *count, qp_arena *mem, qp_err *err)
{
    uint32_t *set = qp_new(mem, uint32_t, g->n);
    if (!set)
        return qp_oom(err);
    qp_sets_begin(set, g->n);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++)
            qp_sets_unite(set, v, g->target[a]);
    /* A root is the smallest of its set, so it comes first, and what points at it from above finds its number: from
     * here on set[v] is a number for all below v, and a parent, itself below v, for the others. */
    *count = 0;
    for (uint32_t v = 0; v < g->n; v++)
        set[v] = set[v] == v ? (*count)++ : set[set[v]];
    *component = set;
    return QP_OK;
}

qp_code qp_distinct(const qp_csr *g, const uint32_t *node, uint32_t *n, uint32_t **out, qp_arena *mem, qp_err *err)
{
    uint32_t *at = qp_new(mem, uint32_t, *n), kept = 0;
    if (!at)
        return qp_oom(err);
    for (uint32_t i = 0; i < *n; i++) {
        if (node[i] >= g->n)
            return qp_fail(err, QP_INPUT, "node %u is wanted, but the graph has %u nodes", node[i], g->n);
        at[i] = node[i];
    }
    qsort(at, *n, sizeof *at, qp_by_u32);
    for (uint32_t i = 0; i < *n; i++)
        if (!i || at[i] != at[i - 1])
            at[kept++] = at[i];
    *n = kept;
    *out = at;
    return QP_OK;
}

typedef struct found {
    uint64_t *arc;
    size_t n, cap;
} found;

static bool add(found *f, uint64_t arc)
{
    uint64_t *at = qp_array_room(f->arc, f->n, &f->cap, sizeof *at);
    if (!at)
        return false;
    f->arc = at;
    at[f->n++] = arc;
    return true;
}

/* The arcs of v into the chosen nodes: both rise, so the shorter list's members are looked up in what is left of the
 * longer one. */
static bool meet(const qp_csr *g, uint32_t v, const uint32_t *node, uint32_t n, found *f)
{
    uint64_t a = g->start[v], end = g->start[v + 1];
    if (end - a < n) {
        for (uint64_t i = 0; a < end && i < n; a++) {
            i = qp_lower_bound_near(node, i, n, g->target[a]);
            if (i < n && node[i] == g->target[a] && !add(f, a))
                return false;
        }
        return true;
    }
    for (uint32_t i = 0; i < n && a < end; i++)
        for (a = qp_lower_bound_near(g->target, a, end, node[i]); a < end && g->target[a] == node[i]; a++)
            if (!add(f, a))
                return false;
    return true;
}

static qp_code fill(const qp_csr *g, const found *f, uint64_t *start, qp_induced *out, qp_arena *mem, qp_err *err)
{
    uint32_t n = out->graph.n, *target = qp_new(mem, uint32_t, f->n);
    uint64_t *arc = qp_new(mem, uint64_t, f->n);
    float *weight = g->weight ? qp_new(mem, float, f->n) : NULL;
    if (!target || !arc || (g->weight && !weight))
        return qp_oom(err);
    for (uint64_t i = 0; i < f->n; i++) {
        arc[i] = f->arc[i];
        target[i] = (uint32_t)qp_lower_bound(out->node, 0, n, g->target[arc[i]]);
        if (weight)
            weight[i] = g->weight[arc[i]];
    }
    out->graph = (qp_csr){n, start, target, weight};
    out->arc = arc;
    return QP_OK;
}

qp_code qp_induce(const qp_csr *g, const uint32_t *node, uint32_t n, qp_induced *out, qp_arena *mem, qp_err *err)
{
    found f = {0};
    uint32_t *at = NULL;
    qp_code code = qp_distinct(g, node, &n, &at, mem, err);
    if (code)
        return code;
    *out = (qp_induced){.graph.n = n, .node = at};
    uint64_t *start = qp_new(mem, uint64_t, (size_t)n + 1);
    bool room = start != NULL;
    for (uint32_t i = 0; room && i < n; i++) {
        room = meet(g, at[i], at, n, &f);
        start[i + 1] = f.n;
    }
    code = room ? fill(g, &f, start, out, mem, err) : qp_oom(err);
    free(f.arc);
    return code;
}
