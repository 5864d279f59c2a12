/* G-Retriever: the k nodes and edges nearest to the question get the prizes k, k-1, ..., 1, and a prize-collecting
 * Steiner tree joins them (He et al., NeurIPS 2024; FastInsight's Example 4). */
#include "method/first.h"
#include "method/methods.h"
#include "method/tree.h"
#include "op/describe.h"
#include "op/ops.h"

typedef struct retriever_opt {
    int64_t k, k_edges, top;
    double c;
    const char *edges;
} retriever_opt;

static const qp_opt opts[] = {{"k", "nodes that get a prize", QP_INT, offsetof(retriever_opt, k), "3", 0, 10000, NULL},
                              {"k_edges", "relations that get a prize; all edges of one share it", QP_INT,
                               offsetof(retriever_opt, k_edges), "5", 0, 10000, NULL},
                              {"c", "cost of an edge", QP_FLOAT, offsetof(retriever_opt, c), "0.5", 1e-6, 1e6, NULL},
                              QP_EDGES_OPTION(retriever_opt),
                              {"top", "how many nodes, and edges, are returned", QP_INT, offsetof(retriever_opt, top),
                               "10", 1, 1e6, NULL},
                              {0}};

/* k, k - 1, ..., 1 down the list. */
static qp_list prizes(qp_query *q, qp_list list, uint32_t k)
{
    qp_hit *hit = qp_list_copy(q, list);
    for (uint32_t i = 0; hit && i < list.n; i++)
        hit[i].score = i < k ? (float)(k - i) : 0;
    return (qp_list){hit, hit ? list.n : 0};
}

/* The edges of the k nearest relations; those of one relation share its prize, as in the authors' code: divided among
 * them, so that a frequent relation does not drown the rest. */
static qp_list relation_prizes(qp_query *q, uint32_t k)
{
    qp_set all = qp_search(q, "edge.dense", q->graph->edges);
    qp_hit *hit = qp_list_copy(q, all.edges);
    uint32_t rank = 0, n = 0;
    for (uint32_t from = 0, to; hit && from < all.edges.n && rank < k; from = to, rank++) {
        for (to = from; to < all.edges.n && all.edges.at[to].score == all.edges.at[from].score; to++)
            ;
        for (; n < to; n++)
            hit[n].score = (float)(k - rank) / (float)(to - from);
    }
    return (qp_list){hit, n};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const retriever_opt *o = opt;
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_list nodes = o->k ? prizes(q, qp_search(q, "entity.dense", (uint32_t)o->k).nodes, (uint32_t)o->k) : (qp_list){0};
    qp_list edges = o->k_edges ? relation_prizes(q, (uint32_t)o->k_edges) : (qp_list){0};
    qp_set out = q->err.code == QP_OK ? qp_reward_tree(q, nodes, edges, o->c) : (qp_set){0};
    q->extracted = out;
    q->context_tokens = qp_tokens(q, qp_describe(q, out));
    out.nodes = qp_score(q, qp_set_of(out.nodes)).nodes;
    out.nodes.n = qp_min(out.nodes.n, o->top);
    out.edges.n = qp_min(out.edges.n, o->top);
    q->walk = outer;
    return out;
}

const qp_op qp_method_g_retriever = {
    .name = "g-retriever",
    .help = "prizes for the nearest nodes and relations, joined by a prize-collecting Steiner tree",
    .source = "G-Retriever (He et al., NeurIPS 2024), sections 5.2 and 5.3; GEAR's baseline",
    .opts = opts,
    .opt_size = sizeof(retriever_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
