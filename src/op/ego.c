/* O_gs: the contextual subgraphs of a set's nodes, each the node, its neighbours, and the edges among them. */
#include "op/idmap.h"
#include "op/ops.h"
#include "op/sub.h"

typedef struct ego_opt {
    int64_t most;
    const char *edges;
} ego_opt;

static const qp_opt opts[] = {{"most", "neighbours of a node that are taken, the first of the second set; 0 = all",
                               QP_INT, offsetof(ego_opt, most), "8", 0, 1e6, NULL},
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

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const ego_opt *o = opt;
    qp_walk walk = qp_query_walk(q, o->edges, NULL);
    qp_list nodes = in[0].nodes;
    const qp_id *ids = qp_list_ids(q, nodes);
    const qp_row *rows = ids && nodes.n ? qp_query_rows(q, walk, ids, nodes.n) : NULL;
    qp_set out = in[0];
    for (uint32_t i = 0; rows && i < nodes.n; i++) {
        qp_list pool = n_in > 1 ? in[1].nodes : all_of(q, rows[i]);
        qp_sub sub;
        if (!qp_sub_make(q, qp_set_of(around(q, &nodes.at[i], rows[i], pool, (uint32_t)o->most)), walk, &sub))
            return (qp_set){0};
        out = qp_join(q, out, (qp_set){.edges = qp_sub_set(q, &sub).edges});
    }
    return out;
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

qp_set qp_ego_set(qp_query *q, qp_set chosen, qp_set pool, uint32_t most)
{
    return qp_run(q, &qp_op_ego, (qp_set[]){chosen, pool}, 2, &(ego_opt){.most = most});
}
