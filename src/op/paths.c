/* Paths from where the question starts, through a subgraph. */
#include <math.h>

#include "graph/paths.h"

#include "op/ops.h"
#include "op/sub.h"

typedef struct paths_opt {
    const char *kind, *edges;
    int64_t hops, budget;
} paths_opt;

static const qp_opt opts[] = {
    {"kind", "shortest: one to every node, the beginnings of longer ones left out; simple: all without a node twice",
     QP_ENUM, offsetof(paths_opt, kind), "shortest", 0, 0, "shortest|simple"},
    {"hops", "longest simple path", QP_INT, offsetof(paths_opt, hops), "4", 1, 16, NULL},
    {"budget", "most simple paths", QP_INT, offsetof(paths_opt, budget), "4096", 1, 1e8, NULL},
    QP_EDGES_HERE(paths_opt),
    {0}};

/* Trails as chains of hits: each trail one hit. */
static qp_hit *chains(qp_query *q, const qp_sub *sub, const qp_trails *t)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, t->n + 1u);
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < t->n; i++) {
        const qp_trail *at = &t->at[i];
        hit[i] = (qp_hit){sub->node[at->node], at->from == QP_NO_TRAIL ? QP_NO_ID : sub->edge[at->arc], 0,
                          at->from == QP_NO_TRAIL ? NULL : &hit[at->from]};
    }
    return hit;
}

/* A path's score is that of its end among the subgraph's nodes: the PageRank it came with. */
static void score_ends(qp_list nodes, const qp_sub *sub, float *score)
{
    for (uint32_t i = 0; i < nodes.n; i++) {
        uint32_t place = qp_sub_place(sub, nodes.at[i].id);
        if (place != QP_NO_PLACE)
            score[place] = nodes.at[i].score;
    }
}

static qp_list ends_of(qp_query *q, const qp_sub *sub, qp_list nodes, const qp_trails *t, bool shortest)
{
    qp_hit *hit = chains(q, sub, t), *end = qp_new(q->mem, qp_hit, t->n_ends + 1u);
    float *score = qp_new(q->mem, float, sub->n + 1u);
    uint8_t *goes_on = qp_new(q->mem, uint8_t, t->n + 1u);
    uint32_t n = 0;
    if (!hit || !end || !score || !goes_on) {
        qp_oom(&q->err);
        return (qp_list){0};
    }
    score_ends(nodes, sub, score);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->at[i].from != QP_NO_TRAIL)
            goes_on[t->at[i].from] = 1;
    for (uint32_t i = 0; i < t->n_ends; i++) {
        uint32_t at = t->end[i];
        if (shortest && goes_on[at])
            continue;
        end[n] = hit[at];
        end[n++].score = score[t->at[at].node];
    }
    return qp_list_sorted(q, end, n, n);
}

static uint32_t *places(qp_query *q, const qp_sub *sub, qp_list starts, uint32_t *n)
{
    uint32_t *out = qp_new(q->mem, uint32_t, starts.n + 1u);
    *n = 0;
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; out && i < starts.n; i++) {
        uint32_t place = qp_sub_place(sub, starts.at[i].id);
        if (place != QP_NO_PLACE)
            out[(*n)++] = place;
    }
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const paths_opt *o = opt;
    bool shortest = *o->kind == 's' && o->kind[1] == 'h';
    qp_walk walk = qp_query_walk(q, o->edges, NULL);
    qp_sub sub;
    qp_trails t = {0};
    uint32_t n;
    qp_set out = in[1];
    (void)n_in;
    out.paths = (qp_list){0};
    if (!qp_sub_make(q, in[1], walk, &sub))
        return (qp_set){0};
    const uint32_t *start = places(q, &sub, in[0].nodes, &n);
    if (!start || !n)
        return out;
    if (shortest)
        qp_paths_shortest(&sub.graph, NULL, start, n, (double)INFINITY, &t, q->mem, &q->err);
    else
        qp_paths_simple(&sub.graph, start, n, (uint32_t)o->hops, (uint32_t)o->budget, &t, q->mem, &q->err);
    q->paths_cut += t.cut;
    if (q->err.code == QP_OK)
        out.paths = ends_of(q, &sub, in[1].nodes, &t, shortest);
    return out;
}

const qp_op qp_op_paths = {
    .name = "paths",
    .help = "paths from the first set's nodes through the second set's subgraph; scored by the scores of their ends",
    .source = "LEGO-GraphRAG, SBR: shortest paths and all simple paths",
    .opts = opts,
    .opt_size = sizeof(paths_opt),
    .in_min = 2,
    .in_max = 2,
    .run = run,
};

qp_set qp_paths_through(qp_query *q, qp_set starts, qp_set sub, const char *kind, uint32_t hops, uint32_t budget)
{
    const qp_set in[] = {starts, sub};
    return qp_run(q, &qp_op_paths, in, 2, &(paths_opt){.kind = kind, .hops = hops, .budget = budget});
}
