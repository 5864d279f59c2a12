/* From entities to the passages they stand in. */
#include "op/idmap.h"
#include "op/ops.h"

typedef struct gather_opt {
    int64_t k;
} gather_opt;

static const qp_opt opts[] = {{"k", "how many passages stay; 0 = all", QP_INT, offsetof(gather_opt, k), "0", 0, 1e9,
                               NULL},
                              {0}};

static qp_list entities_of(qp_query *q, qp_list nodes)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, nodes.n + 1u);
    uint32_t n = 0;
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < nodes.n; i++)
        if (nodes.at[i].id >= q->graph->entity)
            hit[n++] = nodes.at[i];
    return (qp_list){hit, n};
}

/* A passage is reached from the best of its entities, which comes first. */
static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const gather_opt *o = opt;
    qp_list from = entities_of(q, in[0].nodes);
    const qp_id *ids = qp_list_ids(q, from);
    qp_idmap at = qp_idmap_in(q->mem);
    qp_adj adj = {0};
    uint32_t n = 0;
    (void)n_in;
    if (!ids || q->graph->incident(q->graph->self, ids, from.n, (qp_walk){~0ull, QP_BOTH, true}, &adj, q->mem, &q->err))
        return (qp_set){0};
    qp_hit *hit = qp_new(q->mem, qp_hit, adj.start[from.n] + 1u);
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < from.n; i++)
        for (uint32_t j = adj.start[i]; j < adj.start[i + 1] && adj.node[j] < q->graph->entity; j++) {
            bool added, again = j > adj.start[i] && adj.node[j] == adj.node[j - 1];
            if (again || !qp_query_allows(q, adj.node[j]))
                continue;
            const uint32_t *place = qp_idmap_put(&at, adj.node[j], n, &added);
            if (!place) {
                qp_oom(&q->err);
                return (qp_set){0};
            }
            if (added)
                hit[n++] = (qp_hit){adj.node[j], adj.edge[j], 0, &from.at[i]};
            hit[*place].score += from.at[i].score;
        }
    return qp_set_of(qp_list_sorted(q, hit, n, o->k ? (uint32_t)o->k : n));
}

const qp_op qp_op_gather = {
    .name = "gather",
    .help = "the passages that a set's entities stand in, by the sum of the entities' scores",
    .source = "Fast-GraphRAG (Circlemind), chunk scores",
    .opts = opts,
    .opt_size = sizeof(gather_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_gather(qp_query *q, qp_set entities, uint32_t k)
{
    return qp_run(q, &qp_op_gather, &entities, 1, &(gather_opt){k});
}
