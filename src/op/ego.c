/* O_gs: the contextual subgraphs of a set's nodes, each the node, its neighbours, and the edges among them. */
#include "op/idmap.h"
#include "op/ops.h"
#include "op/sub.h"

typedef struct ego_opt {
    int64_t most;
    const char *of, *edges;
} ego_opt;

static const qp_opt opts[] = {{"most", "neighbours of a node that are taken, the first of the second set; 0 = all",
                               QP_INT, offsetof(ego_opt, most), "8", 0, 1e6, NULL},
                              {"of", "whose edges: the index's, or the second set's own, as lesegr leaves them",
                               QP_ENUM, offsetof(ego_opt, of), "index", 0, 0, "index|set"},
                              QP_EDGES_HERE(ego_opt),
                              {0}};

/* Of the node's neighbours the first `most` in the order of the pool. */
static qp_list around(qp_query *q, const qp_hit *node, qp_row row, qp_list pool, uint32_t most)
{
    qp_idmap near = qp_idmap_in(q->mem);
    qp_hit *out = qp_new(q->mem, qp_hit, row.n + 1u);
    uint32_t n = 1;
    for (uint32_t i = 0; out && i < row.n; i++)
        if (!qp_idmap_put(&near, row.node[i], i, NULL))
            out = NULL;
    if (!out) {
        qp_oom(&q->err);
        return (qp_list){0};
    }
    out[0] = *node;
    for (uint32_t i = 0; i < pool.n && n <= row.n && (!most || n <= most); i++) {
        const uint32_t *at = qp_idmap_get(&near, pool.at[i].id);
        if (at)
            out[n++] = (qp_hit){pool.at[i].id, row.edge[*at], pool.at[i].score, node};
    }
    return (qp_list){out, n};
}

/* Without a pool, neighbours in order of id. */
static qp_list all_of(qp_query *q, qp_row row)
{
    qp_hit *out = qp_new(q->mem, qp_hit, row.n + 1u);
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; out && i < row.n; i++)
        out[i] = (qp_hit){row.node[i], QP_NO_ID, 0, NULL};
    return (qp_list){out, out ? row.n : 0};
}

typedef struct given { /* the second set's own edges */
    qp_list edges;
    const qp_link *link;
} given;

static qp_row row_of(qp_query *q, const given *g, qp_id node)
{
    qp_id *near = qp_new(q->mem, qp_id, g->edges.n + 1u), *edge = qp_new(q->mem, qp_id, g->edges.n + 1u);
    uint32_t n = 0;
    if (!near || !edge)
        return qp_oom(&q->err), (qp_row){0};
    for (uint32_t i = 0; i < g->edges.n; i++)
        if (g->link[i].from == node || g->link[i].to == node) {
            near[n] = g->link[i].from == node ? g->link[i].to : g->link[i].from;
            edge[n++] = g->edges.at[i].id;
        }
    return (qp_row){near, edge, n};
}

/* Those with both ends in the list. */
static qp_list among(qp_query *q, const given *g, qp_list nodes)
{
    qp_idmap in = qp_idmap_in(q->mem);
    qp_hit *out = qp_new(q->mem, qp_hit, g->edges.n + 1u);
    uint32_t n = 0;
    for (uint32_t i = 0; out && i < nodes.n; i++)
        if (!qp_idmap_put(&in, nodes.at[i].id, i, NULL))
            out = NULL;
    if (!out)
        return qp_oom(&q->err), (qp_list){0};
    for (uint32_t i = 0; i < g->edges.n; i++)
        if (qp_idmap_get(&in, g->link[i].from) && qp_idmap_get(&in, g->link[i].to))
            out[n++] = g->edges.at[i];
    return (qp_list){out, n};
}

static qp_set by_set(qp_query *q, qp_set chosen, qp_set pool, uint32_t most)
{
    const given g = {pool.edges, qp_list_links(q, pool.edges)};
    for (uint32_t i = 0; g.link && i < chosen.nodes.n; i++) {
        const qp_hit *node = &chosen.nodes.at[i];
        qp_list near = around(q, node, row_of(q, &g, node->id), pool.nodes, most);
        chosen = qp_join(q, chosen, (qp_set){.edges = among(q, &g, near)});
    }
    return chosen;
}

static qp_set by_index(qp_query *q, qp_set chosen, const qp_set *pool, qp_walk walk, uint32_t most)
{
    qp_list nodes = chosen.nodes;
    const qp_id *ids = qp_list_ids(q, nodes);
    const qp_row *rows = ids && nodes.n ? qp_query_rows(q, walk, ids, nodes.n) : NULL;
    for (uint32_t i = 0; rows && i < nodes.n; i++) {
        qp_sub sub;
        qp_list near = around(q, &nodes.at[i], rows[i], pool ? pool->nodes : all_of(q, rows[i]), most);
        if (!qp_sub_make(q, qp_set_of(near), walk, &sub))
            return (qp_set){0};
        chosen = qp_join(q, chosen, (qp_set){.edges = qp_sub_set(q, &sub).edges});
    }
    return chosen;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const ego_opt *o = opt;
    uint32_t most = (uint32_t)o->most;
    if (*o->of != 's')
        return by_index(q, in[0], n_in > 1 ? &in[1] : NULL, qp_query_walk(q, o->edges, NULL), most);
    if (n_in > 1)
        return by_set(q, in[0], in[1], most);
    qp_fail(&q->err, QP_INPUT, "ego: of=set wants a second set, whose edges are meant");
    return (qp_set){0};
}

const qp_op qp_op_ego = {
    .name = "ego",
    .help = "adds to a set the edges between each of its nodes and that node's neighbours, and among those",
    .source = "CG-RAG, 4.4, equation 18",
    .opts = opts,
    .opt_size = sizeof(ego_opt),
    .in_min = 1,
    .in_max = 2,
    .run = run,
};

qp_set qp_ego_set(qp_query *q, qp_set chosen, qp_set pool, const char *of, uint32_t most)
{
    return qp_run(q, &qp_op_ego, (qp_set[]){chosen, pool}, 2, &(ego_opt){.most = most, .of = of});
}
