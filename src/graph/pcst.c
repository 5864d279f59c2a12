#include "graph/pcst.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "graph/pcst_parts.h"

enum { MOST = 1 << 30 };

static qp_code check(const qp_pcst_graph *g, qp_err *err)
{
    if (g->n > MOST || g->m > MOST)
        return qp_fail(err, QP_INPUT, "a graph of at most %d nodes and edges is wanted, this one has %u and %u", MOST,
                       g->n, g->m);
    for (uint32_t v = 0; v < g->n; v++)
        if (!(g->prize[v] >= 0 && g->prize[v] < INFINITY))
            return qp_fail(err, QP_INPUT, "the prize of node %u is %g; a finite one >= 0 is wanted", v,
                           (double)g->prize[v]);
    for (uint32_t e = 0; e < g->m; e++) {
        if (g->from[e] >= g->n || g->to[e] >= g->n)
            return qp_fail(err, QP_INPUT, "edge %u joins nodes %u and %u, but the graph has %u nodes", e, g->from[e],
                           g->to[e], g->n);
        if (!(g->cost[e] >= 0 && g->cost[e] < INFINITY))
            return qp_fail(err, QP_INPUT, "edge %u costs %g; a finite cost >= 0 is wanted", e, (double)g->cost[e]);
    }
    return QP_OK;
}

/* What is kept before anything is cut: the good nodes and the edges between them. */
static bool keep_good(const qp_pcst_graph *g, const qp_pcst_forest *f, qp_pruning pruning, qp_pcst_kept *kept)
{
    kept->node = malloc((size_t)g->n + 1);
    kept->edge = malloc((size_t)f->n_merges + 1);
    if (!kept->node || !kept->edge)
        return false;
    memcpy(kept->node, f->good, g->n);
    for (uint32_t i = 0; i < f->n_merges; i++) {
        uint32_t u = g->from[f->merge[i].edge], v = g->to[f->merge[i].edge];
        kept->edge[i] = pruning == QP_PRUNE_NONE || (f->good[u] && f->good[v]);
        if (pruning == QP_PRUNE_NONE)
            kept->node[u] = kept->node[v] = 1;
    }
    return true;
}

static qp_code write_out(const qp_pcst_graph *g, const qp_pcst_forest *f, const qp_pcst_kept *kept, qp_pcst *out,
                         qp_arena *mem, qp_err *err)
{
    uint32_t n = 0, m = 0;
    *out = (qp_pcst){0};
    for (uint32_t v = 0; v < g->n; v++)
        n += kept->node[v];
    for (uint32_t i = 0; i < f->n_merges; i++)
        m += kept->edge[i];
    uint32_t *node = qp_new(mem, uint32_t, n), *edge = qp_new(mem, uint32_t, m);
    if (!node || !edge)
        return qp_oom(err);
    for (uint32_t v = 0; v < g->n; v++) {
        if (kept->node[v]) {
            node[out->n_nodes++] = v;
            out->prize += (double)g->prize[v];
        }
    }
    for (uint32_t i = 0; i < f->n_merges; i++)
        if (kept->edge[i])
            edge[out->n_edges++] = f->merge[i].edge;
    qsort(edge, m, sizeof *edge, qp_by_u32);
    for (uint32_t i = 0; i < m; i++)
        out->cost += (double)g->cost[edge[i]];
    out->node = node;
    out->edge = edge;
    return QP_OK;
}

qp_code qp_pcst_solve(const qp_pcst_graph *g, uint32_t root, uint32_t trees, qp_pruning pruning, qp_pcst *out,
                      qp_arena *mem, qp_err *err)
{
    qp_pcst_forest f;
    qp_pcst_kept kept = {0};
    qp_code code = check(g, err);
    if (code)
        return code;
    if (root != QP_NO_ROOT && root >= g->n)
        return qp_fail(err, QP_INPUT, "the root is node %u, but the graph has %u nodes", root, g->n);
    if (!trees || (root != QP_NO_ROOT && trees != 1))
        return qp_fail(err, QP_INPUT, "%u trees are wanted; with a root there is one, without one at least one", trees);
    code = qp_pcst_grow(g, root, trees, &f, err);
    if (code)
        return code;
    if (!keep_good(g, &f, pruning, &kept))
        code = qp_oom(err);
    else if (pruning == QP_PRUNE_GW)
        code = qp_pcst_prune_gw(g, &f, &kept, err);
    else if (pruning == QP_PRUNE_STRONG)
        code = qp_pcst_prune_strong(g, root, &f, &kept, err);
    if (!code)
        code = write_out(g, &f, &kept, out, mem, err);
    qp_pcst_forest_free(&f);
    free(kept.node);
    free(kept.edge);
    return code;
}
