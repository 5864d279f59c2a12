/* Re2, retrieve then rerank: FastInsight, Example 3. */
#include "method/first.h"
#include "method/methods.h"

typedef struct rerank_opt {
    int64_t budget, top;
    double mix;
    const char *first;
} rerank_opt;

static const qp_opt opts[] = {{"budget", "how many nodes are reranked", QP_INT, offsetof(rerank_opt, budget), "100", 1,
                               1e6, NULL},
                              QP_FIRST_OPTION(rerank_opt),
                              QP_MIX_OPTION(rerank_opt),
                              QP_TOP_OPTION(rerank_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const rerank_opt *o = opt;
    qp_set pool = n_in ? (qp_set){0} : qp_pool(q, o->first, o->mix, (uint32_t)o->budget);
    qp_set found = qp_cut_to(q, n_in ? in[0] : pool, (uint32_t)o->budget);
    return qp_top(q, qp_mixed(q, qp_rerank(q, found), pool, o->first, o->mix), (uint32_t)o->top);
}

const qp_op qp_method_rerank = {
    .name = "rerank",
    .help = "the first ranking's best, sorted by the cross-encoder (Re2)",
    .source = "FastInsight, 4.1.1 (Re2), Example 3",
    .opts = opts,
    .opt_size = sizeof(rerank_opt),
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_NEEDS_RANKER,
};
