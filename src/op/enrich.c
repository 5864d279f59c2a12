/* AGRAG's minimum cost, maximum influence subgraph, grown from a tree and the facts that it joins. */
#include <stdlib.h>

#include "base/sorted.h"
#include "op/fare.h"
#include "op/ops.h"

typedef struct enrich_opt {
    qp_fare_opt fare;
    const char *bar;
    int64_t most;
} enrich_opt;

static const qp_opt opts[] = {QP_FARE_OPTIONS(enrich_opt),
                              {"bar",
                               "when the mean is computed again: after a node joined (the text), or before it "
                               "(Algorithm 3, line 13)",
                               QP_ENUM, offsetof(enrich_opt, bar), "after", 0, 0, "after|before"},
                              {"most", "nodes at most; 0: as many as pay", QP_INT, offsetof(enrich_opt, most), "0", 0,
                               1e9, NULL},
                              {0}};

/* The set as a subgraph: its nodes and the ends of its edges, each once. */
static bool begin(qp_query *q, qp_fares *f, qp_set set, qp_mcmi *out)
{
    uint32_t m = set.edges.n, n = 0, kept = 0;
    const qp_id *id = qp_list_ids(q, set.edges);
    qp_link *link = qp_new(q->mem, qp_link, m + 1u);
    float *cost = qp_new(q->mem, float, m + 1u);
    qp_mcmi_edge *edge = qp_new(q->mem, qp_mcmi_edge, m + 1u);
    qp_id *node = qp_new(q->mem, qp_id, set.nodes.n + 2 * (size_t)m + 1);
    if (!id || !link || !cost || !edge || !node)
        return !qp_oom(&q->err);
    if (q->graph->link(q->graph->self, id, m, link, &q->err) || !qp_fares_of(f, id, m, cost))
        return false;
    for (uint32_t i = 0; i < set.nodes.n; i++)
        node[n++] = set.nodes.at[i].id;
    for (uint32_t i = 0; i < m; i++) {
        edge[i] = (qp_mcmi_edge){id[i], link[i].from, link[i].to, cost[i]};
        node[n++] = link[i].from;
        node[n++] = link[i].to;
    }
    if (n)
        qsort(node, n, sizeof *node, qp_by_u32);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || node[i] != node[kept - 1])
            node[kept++] = node[i];
    *out = (qp_mcmi){.node = node, .n_nodes = kept, .edge = edge, .n_edges = m};
    return true;
}

/* Of nodes that are in no set, nothing; without a second set all nodes are worth the same. */
static const float *influence_of(qp_query *q, const qp_set *in, int n_in)
{
    float *out = qp_new(q->mem, float, q->graph->nodes + 1u);
    if (!out)
        qp_oom(&q->err);
    for (uint32_t v = 0; out && n_in < 2 && v < q->graph->nodes; v++)
        out[v] = 1;
    for (uint32_t i = 0; out && n_in > 1 && i < in[1].nodes.n; i++)
        out[in[1].nodes.at[i].id] = in[1].nodes.at[i].score > 0 ? in[1].nodes.at[i].score : 0;
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const enrich_opt *o = opt;
    const float *influence = influence_of(q, in, n_in);
    qp_fares *f = influence ? qp_fares_new(q, &o->fare) : NULL;
    const qp_mcmi_growth how = {influence, *o->bar == 'b', (uint32_t)o->most};
    qp_mcmi sub, grown;
    if (!f || !begin(q, f, in[0], &sub) || qp_mcmi_grow(qp_fares_graph(f), &sub, &how, &grown, q->mem, &q->err))
        return (qp_set){0};
    return qp_fares_set(q, &grown, influence);
}

const qp_op qp_op_enrich = {
    .name = "enrich",
    .help =
        "a subgraph, grown by neighbours whose influence (the second set's scores; none: all alike) is worth more than "
        "their edges cost",
    .source = "AGRAG, III-C, Algorithm 3, lines 11 to 16",
    .opts = opts,
    .opt_size = sizeof(enrich_opt),
    .in_min = 1,
    .in_max = 2,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_enrich(qp_query *q, qp_set sub, const qp_set *influence, uint32_t most)
{
    qp_set in[2] = {sub};
    if (influence)
        in[1] = *influence;
    return qp_run(q, &qp_op_enrich, in, influence ? 2 : 1, &(enrich_opt){QP_FARE_STANDARD, "after", most});
}
