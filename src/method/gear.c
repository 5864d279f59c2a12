/* GEAR: the attention heads vote for seeds, and the graph around them is taken by union, by PPR, or by a
 * prize-collecting Steiner tree (papers/gear, section 3; methods.md, 2). */
#include "method/first.h"
#include "method/methods.h"
#include "method/tree.h"
#include "op/describe.h"
#include "op/eem.h"
#include "op/ops.h"
#include "op/star.h"
#include "op/vote.h"

typedef struct gear_opt {
    int64_t k, m, size, rounds, top;
    double alpha, c;
    bool a, b, rank;
    const char *plain, *edges;
} gear_opt;

#define GEAR_VOTE(type)                                                                                                \
    {"k",    "nodes, and relations, that each head names; voted nodes, and edges at them, that are seeds",             \
     QP_INT, offsetof(type, k),                                                                                        \
     "10",   1,                                                                                                        \
     10000,  NULL},                                                                                                    \
        {"size", "nodes of the subgraph", QP_INT, offsetof(type, size), "16", 1, 1e6, NULL},                           \
        {"a", "ablation: a head counts by the mean norm of what it names", QP_BOOL, offsetof(type, a), "true", 0, 0,   \
         NULL},                                                                                                        \
        {"b", "ablation: a head counts by how far apart what it names lies", QP_BOOL, offsetof(type, b), "true", 0, 0, \
         NULL},                                                                                                        \
        {"rank", "ablation: a vote halves with each rank", QP_BOOL, offsetof(type, rank), "true", 0, 0, NULL},         \
        {"plain", "ablation: one vector instead of a head's each: the heads' outputs end to end, or the embedder's",   \
         QP_ENUM, offsetof(type, plain),                                                                               \
         "no",    0,                                                                                                   \
         0,       "no|heads|embedder"},                                                                                \
        QP_EDGES_OPTION(type),                                                                                         \
    {                                                                                                                  \
        "top", "how many nodes, and edges, are returned", QP_INT, offsetof(type, top), "10", 1, 1e6, NULL              \
    }

static const qp_opt union_opts[] = {GEAR_VOTE(gear_opt),
                                    {"m", "nodes added in a round; 0: the seeds' graph alone", QP_INT,
                                     offsetof(gear_opt, m), "5", 0, 10000, NULL},
                                    {"rounds", "rounds of expansion; 1: the paper's Algorithm 3; 0: until the size",
                                     QP_INT, offsetof(gear_opt, rounds), "0", 0, 1000, NULL},
                                    {0}};
static const qp_opt ppr_opts[] = {GEAR_VOTE(gear_opt),
                                  {"alpha", "the paper's teleport factor: the walk goes on with it", QP_FLOAT,
                                   offsetof(gear_opt, alpha), "0.85", 1e-6, .999999, NULL},
                                  {0}};

static bool votes(const gear_opt *o)
{
    return *o->plain == 'n';
}

/* Of nodes or edges how near they are to the question, in the heads or in the one plain vector. */
static const float *nearness(qp_query *q, const gear_opt *o, const float *share, qp_kind kind, qp_list list)
{
    const qp_id *ids = qp_list_ids(q, list);
    if (!ids || q->err.code != QP_OK || (votes(o) && !share))
        return NULL;
    if (*o->plain != 'e')
        return qp_head_cosines(q, share, kind, ids, list.n);
    return kind == QP_NODE ? qp_query_dots(q, ids, list.n) : qp_eem_edges(q, "embed", "edge", ids, list.n);
}

/* Candidates, nearest first. */
static qp_set by_nearness(qp_query *q, const gear_opt *o, const float *share, qp_set set)
{
    const float *score = nearness(q, o, share, QP_NODE, set.nodes);
    qp_hit *hit = score ? qp_list_copy(q, set.nodes) : NULL;
    for (uint32_t i = 0; hit && i < set.nodes.n; i++)
        hit[i].score = score[i];
    return qp_set_of(qp_list_sorted(q, hit, hit ? set.nodes.n : 0, set.nodes.n));
}

static qp_list edges_by_nearness(qp_query *q, const gear_opt *o, const float *share, qp_list edges)
{
    const float *score = edges.n ? nearness(q, o, share, QP_EDGE, edges) : NULL;
    return score ? qp_list_scored(q, edges, score) : (qp_list){0};
}

/* All that the heads look at, unsorted: entities, where there are any. */
static qp_list everything(qp_query *q)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, q->graph->nodes + 1u);
    uint32_t n = 0, first = q->graph->entity < q->graph->nodes ? q->graph->entity : 0;
    if (!hit)
        qp_oom(&q->err);
    for (qp_id v = first; hit && v < q->graph->nodes; v++)
        if (qp_query_allows(q, v))
            hit[n++] = (qp_hit){v, QP_NO_ID, 0, NULL};
    return (qp_list){hit, n};
}

/* The k nearest of all nodes, and of the edges at them the k nearest: equals are more than k, and those far from any
 * such node would only be in the way. */
static qp_set nearest(qp_query *q, const gear_opt *o, const float *share)
{
    qp_list nodes = *o->plain == 'e' ? qp_search(q, "entity.dense", (uint32_t)o->k).nodes
                                     : by_nearness(q, o, share, qp_set_of(everything(q))).nodes;
    nodes.n = qp_min(nodes.n, o->k);
    const qp_list at = qp_star(q, nodes);
    return (qp_set){nodes, qp_star_best(q, at, nearness(q, o, share, QP_EDGE, at), (uint32_t)o->k), {0}};
}

/* V^ and the ends of E^. */
static qp_set seeds_of(qp_query *q, const gear_opt *o, const float **share)
{
    *share = NULL;
    qp_set seeds = votes(o) ? qp_run(q, &qp_op_vote, NULL, 0, &(qp_vote_opt){o->k, o->a, o->b, o->rank, share})
                            : nearest(q, o, NULL);
    qp_set ends = seeds.edges.n ? qp_induce_set(q, (qp_set){.edges = seeds.edges}) : (qp_set){0};
    return qp_join(q, qp_set_of(seeds.nodes), qp_set_of(ends.nodes));
}

/* The subgraph among the nodes, nodes and edges by the heads' cosine: candidates, in what a writer reads. */
static qp_set finish(qp_query *q, const gear_opt *o, const float *share, qp_set nodes)
{
    qp_set out = qp_induce_set(q, qp_set_of(nodes.nodes));
    q->extracted = out;
    q->started = (qp_list){0};
    q->context_tokens = qp_tokens(q, qp_describe(q, out));
    out.nodes = by_nearness(q, o, share, out).nodes;
    out.nodes.n = qp_min(out.nodes.n, o->top);
    out.edges = edges_by_nearness(q, o, share, out.edges);
    out.edges.n = qp_min(out.edges.n, o->top);
    return out;
}

static unsigned asks(const void *opt)
{
    return *((const gear_opt *)opt)->plain == 'e' ? QP_NEEDS_EMBEDDER : QP_NEEDS_ATTENTION;
}

static qp_set run_union(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const gear_opt *o = opt;
    const float *share;
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_set g = qp_cut_to(q, seeds_of(q, o, &share), (uint32_t)o->size);
    for (int64_t round = 0; o->m && g.nodes.n < o->size && (!o->rounds || round < o->rounds); round++) {
        qp_set c = by_nearness(q, o, share, qp_hop(q, g, 1));
        if (!c.nodes.n)
            break;
        c.nodes.n = qp_min(qp_min(c.nodes.n, o->m), o->size - g.nodes.n);
        g = qp_join(q, g, c);
    }
    g = finish(q, o, share, g);
    q->walk = outer;
    return g;
}

static qp_set run_ppr(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const gear_opt *o = opt;
    const float *share;
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_set g = qp_ppr_from(q, seeds_of(q, o, &share), 1 - o->alpha, (uint32_t)o->size);
    while (g.nodes.n && g.nodes.at[g.nodes.n - 1].score <= 1e-4f)
        g.nodes.n--;
    g = finish(q, o, share, g);
    q->walk = outer;
    return g;
}

const qp_op qp_method_gear = {
    .name = "gear",
    .help = "seeds by the votes of attention heads, grown by the neighbours that the heads find nearest (Fusion-Union)",
    .source = "GEAR, Algorithms 1 to 3",
    .opts = union_opts,
    .opt_size = sizeof(gear_opt),
    .run = run_union,
    .asks = asks,
};

const qp_op qp_method_gear_ppr = {
    .name = "gear-ppr",
    .help = "seeds by the votes of attention heads, grown by personalised PageRank (Fusion-PPR)",
    .source = "GEAR, equation 10",
    .opts = ppr_opts,
    .opt_size = sizeof(gear_opt),
    .run = run_ppr,
    .asks = asks,
};

/* ---- Fusion-PCST ---- */

static const qp_opt tree_opts[] = {
    GEAR_VOTE(gear_opt), {"c", "base cost of an edge", QP_FLOAT, offsetof(gear_opt, c), "0.5", 1e-6, 1e6, NULL}, {0}};

static qp_set run_tree(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const gear_opt *o = opt;
    qp_vote_opt vote = {o->k, o->a, o->b, o->rank, NULL};
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    const float *share = votes(o) ? qp_head_shares(q, &vote) : NULL;
    qp_set r = nearest(q, o, share);
    qp_set tree = q->err.code == QP_OK ? qp_reward_tree(q, r.nodes, r.edges, o->c) : (qp_set){0};
    qp_set out = finish(q, o, share, tree);
    if (tree.nodes.n) {
        q->extracted = tree;
        q->context_tokens = qp_tokens(q, qp_describe(q, tree));
    }
    q->walk = outer;
    return out;
}

const qp_op qp_method_gear_pcst = {
    .name = "gear-pcst",
    .help = "nodes and edges rewarded by attention heads, joined by a prize-collecting Steiner tree (Fusion-PCST)",
    .source = "GEAR, Fusion-PCST; strong pruning is our reading",
    .opts = tree_opts,
    .opt_size = sizeof(gear_opt),
    .run = run_tree,
    .asks = asks,
};
