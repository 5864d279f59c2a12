/* From facts to the entities they are about. */
#include "op/idmap.h"
#include "op/ops.h"

typedef struct ends_opt {
    const char *weight;
    int64_t k;
} ends_opt;

static const qp_opt opts[] = {
    {"weight", "same: all alike; mean: of their edges' scores; rare: that over the passages they stand in", QP_ENUM,
     offsetof(ends_opt, weight), "same", 0, 0, "same|mean|rare"},
    {"k", "how many stay; 0 = all", QP_INT, offsetof(ends_opt, k), "0", 0, 1e9, NULL},
    {0}};

/* The ends of all edges, their scores added up in the hits, how often each came in `times`. */
static uint32_t collect(qp_query *q, qp_list edges, qp_hit *hit, uint32_t *times)
{
    qp_idmap at = qp_idmap_in(q->mem);
    const qp_id *ids = qp_list_ids(q, edges);
    qp_link *link = qp_new(q->mem, qp_link, edges.n + 1u);
    uint32_t n = 0;
    if (!ids || !link || q->graph->link(q->graph->self, ids, edges.n, link, &q->err)) {
        qp_oom(&q->err);
        return 0;
    }
    for (uint32_t i = 0; i < edges.n; i++)
        for (int end = 0; end < 1 + (link[i].from != link[i].to); end++) {
            qp_id id = end ? link[i].to : link[i].from;
            bool added;
            const uint32_t *place = qp_idmap_put(&at, id, n, &added);
            if (!place) {
                qp_oom(&q->err);
                return 0;
            }
            if (added)
                hit[n++] = (qp_hit){id, QP_NO_ID, 0, NULL};
            hit[*place].score += edges.at[i].score;
            times[*place]++;
        }
    return n;
}

/* Divides by the number of passages that an entity stands in. */
static void by_rarity(qp_query *q, qp_hit *hit, uint32_t n)
{
    qp_id *ids = qp_new(q->mem, qp_id, n + 1u);
    qp_adj adj;
    for (uint32_t i = 0; ids && i < n; i++)
        ids[i] = hit[i].id;
    if (!ids)
        qp_oom(&q->err);
    if (!ids || q->graph->adjacent(q->graph->self, ids, n, (qp_walk){~0ull, QP_BOTH, true}, &adj, q->mem, &q->err))
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t passages = 0;
        for (uint32_t j = adj.start[i]; j < adj.start[i + 1] && adj.node[j] < q->graph->entity; j++)
            passages++;
        hit[i].score /= passages ? (float)passages : 1;
    }
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const ends_opt *o = opt;
    qp_list edges = in[0].edges;
    qp_hit *hit = qp_new(q->mem, qp_hit, 2 * (size_t)edges.n + 1);
    uint32_t *times = qp_new(q->mem, uint32_t, 2 * (size_t)edges.n + 1);
    (void)n_in;
    if (!hit || !times)
        qp_oom(&q->err);
    uint32_t n = q->err.code == QP_OK ? collect(q, edges, hit, times) : 0;
    for (uint32_t i = 0; i < n; i++)
        hit[i].score = *o->weight == 's' ? 1 : hit[i].score / (float)times[i];
    if (*o->weight == 'r')
        by_rarity(q, hit, n);
    return qp_set_of(qp_list_sorted(q, hit, n, o->k ? (uint32_t)o->k : n));
}

const qp_op qp_op_ends = {
    .name = "ends",
    .help = "the nodes at the ends of a set's edges, each once",
    .source = "AGRAG, III-C (the entities of the facts); HippoRAG 2, query to triple (rare)",
    .opts = opts,
    .opt_size = sizeof(ends_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_ends(qp_query *q, qp_set facts, const char *weight, uint32_t k)
{
    return qp_run(q, &qp_op_ends, &facts, 1, &(ends_opt){weight, k});
}
