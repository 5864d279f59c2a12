/* GAR: graph-based adaptive reranking (MacAvaney, Tonellotto, Macdonald, CIKM 2022), as FastInsight compares with it.
 *
 * Batches come by turns from the first ranking R0 and from the frontier, R0 first; the frontier is the unscored
 * neighbours of scored nodes, each worth its best scored neighbour's score. Where one has nothing left the other goes
 * on.
 */
#include "method/first.h"
#include "method/methods.h"

typedef struct gar_opt {
    int64_t batch, budget, top;
    double mix;
    const char *edges, *direction, *first;
} gar_opt;

static const qp_opt opts[] = {{"batch", "nodes encoded in each round", QP_INT, offsetof(gar_opt, batch), "10", 1, 1e6,
                               NULL},
                              {"budget", "b_max: nodes encoded in all", QP_INT, offsetof(gar_opt, budget), "100", 1,
                               1e6, NULL},
                              QP_EDGES_OPTION(gar_opt),
                              QP_DIRECTION_OPTION(gar_opt),
                              QP_FIRST_OPTION(gar_opt),
                              QP_MIX_OPTION(gar_opt),
                              QP_TOP_OPTION(gar_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const gar_opt *o = opt;
    qp_walk outer = q->walk;
    q->walk = qp_query_walk(q, o->edges, o->direction);

    qp_set pool = n_in ? (qp_set){0} : qp_pool(q, o->first, o->mix, (uint32_t)o->budget), ret = {0};
    qp_set r0 = n_in ? in[0] : qp_cut_to(q, pool, (uint32_t)o->budget);
    for (bool frontier = false; ret.nodes.n < o->budget; frontier = !frontier) {
        qp_set add = frontier ? qp_hop(q, ret, 1) : qp_minus(q, r0, ret);
        if (!add.nodes.n)
            add = frontier ? qp_minus(q, r0, ret) : qp_hop(q, ret, 1);
        if (!add.nodes.n)
            break;
        add = qp_top(q, add, qp_min(o->batch, o->budget - ret.nodes.n));
        ret = qp_rerank(q, qp_join(q, ret, add));
    }
    ret = qp_mixed(q, ret, pool, o->first, o->mix);
    q->walk = outer;
    return qp_top(q, ret, (uint32_t)o->top);
}

const qp_op qp_method_gar = {
    .name = "gar",
    .help = "reranks by turns the first ranking and the neighbours of what came out best so far",
    .source = "FastInsight, 4.1.1 (GAR); MacAvaney et al., CIKM 2022, Algorithm 1",
    .opts = opts,
    .opt_size = sizeof(gar_opt),
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_NEEDS_RANKER,
};
