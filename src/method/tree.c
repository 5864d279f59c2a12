#include "method/tree.h"

#include "graph/pcst.h"

typedef struct arcs { /* edges of the walk between nodes that may be returned */
    uint32_t *from, *to;
    qp_id *edge;
    float *reward;
    uint32_t m;
} arcs;

static bool allowed(const qp_query *q, qp_id v)
{
    return !q->allow || q->allow[v / 64] >> (v % 64) & 1;
}

/* Every edge once, out of the rows of its smaller end. */
static bool read_edges(qp_query *q, arcs *w)
{
    const qp_view *g = q->graph;
    enum { ROWS = 4096 };
    qp_id ids[ROWS];
    *w = (arcs){qp_new(q->mem, uint32_t, g->edges + 1u), qp_new(q->mem, uint32_t, g->edges + 1u),
                qp_new(q->mem, qp_id, g->edges + 1u), qp_new(q->mem, float, g->edges + 1u), 0};
    if (!w->from || !w->to || !w->edge || !w->reward) {
        qp_oom(&q->err);
        return false;
    }
    for (qp_id at = 0; at < g->nodes && !qp_query_over(q, "tree");) {
        uint32_t n = 0;
        qp_adj rows;
        for (; n < ROWS && at < g->nodes; at++)
            if (allowed(q, at))
                ids[n++] = at;
        if (g->incident(g->self, ids, n, (qp_walk){q->walk.types, QP_BOTH, q->walk.across}, &rows, q->mem, &q->err))
            break;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = rows.start[i]; j < rows.start[i + 1]; j++)
                if (rows.node[j] > ids[i] && allowed(q, rows.node[j])) {
                    w->from[w->m] = ids[i];
                    w->to[w->m] = rows.node[j];
                    w->edge[w->m++] = rows.edge[j];
                }
    }
    return q->err.code == QP_OK;
}

/* Rewards by edge id; the rest is 0. */
static bool reward_edges(qp_query *q, arcs *w, qp_list edges)
{
    float *of = qp_new(q->mem, float, q->graph->edges + 1u);
    if (!of) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < edges.n; i++)
        of[edges.at[i].id] = edges.at[i].score > 0 ? edges.at[i].score : 0;
    for (uint32_t e = 0; e < w->m; e++)
        w->reward[e] = of[w->edge[e]];
    return true;
}

static qp_list hits(qp_query *q, const uint32_t *id, uint32_t n, const qp_id *of)
{
    qp_hit *out = qp_new(q->mem, qp_hit, n + 1u);
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = (qp_hit){of ? of[id[i]] : id[i], QP_NO_ID, 0, NULL};
    return qp_list_sorted(q, out, out ? n : 0, n);
}

qp_set qp_reward_tree(qp_query *q, qp_list nodes, qp_list edges, double c)
{
    arcs w;
    float *prize = q->err.code == QP_OK ? qp_new(q->mem, float, q->graph->nodes + 1u) : NULL;
    qp_pcst_split split;
    qp_pcst found, tree;
    if (!prize || !read_edges(q, &w) || !reward_edges(q, &w, edges)) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    for (uint32_t i = 0; i < nodes.n; i++)
        prize[nodes.at[i].id] = nodes.at[i].score > 0 ? nodes.at[i].score : 0;
    const qp_pcst_graph whole = {q->graph->nodes, w.m, prize, w.from, w.to, w.reward};
    if (qp_pcst_split_edges(&whole, (float)c, &split, q->mem, &q->err) ||
        qp_pcst_solve(&split.graph, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &found, q->mem, &q->err) ||
        qp_pcst_map_back(&split, &found, &tree, q->mem, &q->err))
        return (qp_set){0};
    return (qp_set){.nodes = hits(q, tree.node, tree.n_nodes, NULL), .edges = hits(q, tree.edge, tree.n_edges, w.edge)};
}
