/* FastInsight, 3.2, Algorithm 1.
 *
 * Readings: with no neighbour left before the budget is spent, the next unseen nodes by vector search are added (the
 * paper leaves it open); a short list of candidates is added as it is; the loop also ends when no unseen node is left.
 */
#include <math.h>

#include "method/first.h"
#include "method/methods.h"

typedef struct fastinsight_opt {
    int64_t batch, budget, top;
    double alpha, scale, beta, mix;
    const char *edges, *direction, *first;
} fastinsight_opt;

static const qp_opt opts[] = {{"batch", "nodes added in each round", QP_INT, offsetof(fastinsight_opt, batch), "10", 1,
                               1e6, NULL},
                              {"budget", "b_max: nodes encoded in all", QP_INT, offsetof(fastinsight_opt, budget),
                               "100", 1, 1e6, NULL},
                              {"alpha", "GRanker: how much a node listens to its neighbours", QP_FLOAT,
                               offsetof(fastinsight_opt, alpha), "0.2", 0, 1, NULL},
                              {"scale", "ours: GRanker's W = A / deg^scale; 0: neighbours count alike", QP_FLOAT,
                               offsetof(fastinsight_opt, scale), "1", 0, 10, NULL},
                              {"beta", "STeX: weight of structure against likeness; inf: structure alone", QP_FLOAT,
                               offsetof(fastinsight_opt, beta), "1", 0, INFINITY, NULL},
                              QP_EDGES_OPTION(fastinsight_opt),
                              QP_DIRECTION_OPTION(fastinsight_opt),
                              QP_FIRST_OPTION(fastinsight_opt),
                              QP_MIX_OPTION(fastinsight_opt),
                              QP_TOP_OPTION(fastinsight_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const fastinsight_opt *o = opt;
    qp_walk outer = q->walk;
    q->walk = qp_query_walk(q, o->edges, o->direction);

    qp_set pool = n_in ? (qp_set){0} : qp_pool(q, o->first, o->mix, qp_min(o->batch, o->budget)), near = {0};
    qp_set ret = n_in ? qp_top(q, in[0], (uint32_t)o->budget) : qp_cut_to(q, pool, qp_min(o->batch, o->budget));
    ret = qp_granker(q, ret, (float)o->alpha, (float)o->scale);
    while (ret.nodes.n < o->budget) {
        qp_set add = qp_stex(q, ret, (float)o->beta);
        if (!add.nodes.n && !near.nodes.n)
            near = qp_search(q, "node.dense", (uint32_t)o->budget);
        if (!add.nodes.n) /* no neighbour left: the next unseen by vector search */
            add = qp_minus(q, near, ret);
        if (!add.nodes.n) /* the graph is used up, or an error stuck */
            break;
        add = qp_top(q, add, qp_min(o->batch, o->budget - ret.nodes.n));
        ret = qp_granker(q, qp_join(q, ret, add), (float)o->alpha, (float)o->scale);
    }
    ret = qp_mixed(q, ret, pool, o->first, o->mix);
    q->walk = outer;
    return qp_top(q, ret, (uint32_t)o->top);
}

const qp_op qp_method_fastinsight = {
    .name = "fastinsight",
    .help = "walks the graph from the best passages, reranking over its edges as it goes",
    .source = "FastInsight, 3.2, Algorithm 1",
    .opts = opts,
    .opt_size = sizeof(fastinsight_opt),
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_NEEDS_RANKER,
};
