#include <math.h>

#include "graph/pcst.h"

static qp_code check(const qp_pcst_graph *g, float base, qp_err *err)
{
    if (!(base > 0 && base < INFINITY))
        return qp_fail(err, QP_INPUT, "the base cost of an edge is %g; a finite one above 0 is wanted", (double)base);
    for (uint32_t e = 0; e < g->m; e++) {
        if (g->from[e] >= g->n || g->to[e] >= g->n)
            return qp_fail(err, QP_INPUT, "edge %u joins nodes %u and %u, but the graph has %u nodes", e, g->from[e],
                           g->to[e], g->n);
        if (!(g->cost[e] >= 0 && g->cost[e] < INFINITY))
            return qp_fail(err, QP_INPUT, "the reward of edge %u is %g; a finite one >= 0 is wanted", e,
                           (double)g->cost[e]);
    }
    return QP_OK;
}

qp_code qp_pcst_split_edges(const qp_pcst_graph *whole, float base, qp_pcst_split *out, qp_arena *mem, qp_err *err)
{
    uint32_t n = whole->n, m = 0, rich = 0;
    qp_code code = check(whole, base, err);
    if (code)
        return code;
    for (uint32_t e = 0; e < whole->m; e++)
        rich += whole->cost[e] > base;
    if (rich > UINT32_MAX - n || rich > UINT32_MAX - whole->m)
        return qp_fail(err, QP_INPUT, "%u edges have a reward above %g: too many nodes and edges would be made", rich,
                       (double)base);
    float *prize = qp_new(mem, float, (size_t)n + rich), *cost = qp_new(mem, float, (size_t)whole->m + rich);
    uint32_t *from = qp_new(mem, uint32_t, (size_t)whole->m + rich),
             *to = qp_new(mem, uint32_t, (size_t)whole->m + rich);
    uint32_t *edge = qp_new(mem, uint32_t, (size_t)whole->m + rich), *middle = qp_new(mem, uint32_t, rich);
    if (!prize || !cost || !from || !to || !edge || !middle)
        return qp_oom(err);
    for (uint32_t v = 0; v < n; v++)
        prize[v] = whole->prize[v];
    for (uint32_t e = 0; e < whole->m; e++) {
        float left = base - whole->cost[e];
        edge[m] = e;
        from[m] = whole->from[e];
        to[m] = whole->to[e];
        cost[m++] = left > 0 ? left : 0;
        if (left >= 0)
            continue;
        middle[n - whole->n] = e;
        prize[n] = -left;
        to[m - 1] = n;
        edge[m] = e;
        from[m] = n++;
        to[m++] = whole->to[e];
    }
    *out = (qp_pcst_split){{n, m, prize, from, to, cost}, *whole, edge, middle, base};
    return QP_OK;
}

qp_code qp_pcst_map_back(const qp_pcst_split *split, const qp_pcst *found, qp_pcst *out, qp_arena *mem, qp_err *err)
{
    const qp_pcst_graph *g = &split->whole;
    uint32_t n = 0, m = 0, *node = qp_new(mem, uint32_t, g->n), *edge = qp_new(mem, uint32_t, g->m);
    uint8_t *has_node = qp_new(mem, uint8_t, g->n), *has_edge = qp_new(mem, uint8_t, g->m);
    if (!node || !edge || !has_node || !has_edge)
        return qp_oom(err);
    for (uint32_t i = 0; i < found->n_nodes; i++) {
        if (found->node[i] < g->n)
            has_node[found->node[i]] = 1;
        else
            has_edge[split->middle[found->node[i] - g->n]] = 1;
    }
    for (uint32_t i = 0; i < found->n_edges; i++)
        has_edge[split->edge[found->edge[i]]] = 1;
    *out = (qp_pcst){.node = node, .edge = edge};
    for (uint32_t e = 0; e < g->m; e++) {
        if (!has_edge[e])
            continue;
        edge[m++] = e;
        has_node[g->from[e]] = has_node[g->to[e]] = 1;
        out->prize += (double)g->cost[e];
        out->cost += (double)split->base;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        if (!has_node[v])
            continue;
        node[n++] = v;
        out->prize += (double)g->prize[v];
    }
    out->n_nodes = n;
    out->n_edges = m;
    return QP_OK;
}
