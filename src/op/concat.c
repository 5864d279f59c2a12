/* O_vs: the inner product of concatenated vectors, a dense one and one over terms: the sum of both products. Exact over
 * the best of either ranking, whose other score is looked up. */
#include "op/ops.h"

typedef struct concat_opt {
    const char *index;
    double weight;
    int64_t depth, k;
} concat_opt;

static const qp_opt opts[] = {
    {"index", "the other part: bm25 or tfidf", QP_ENUM, offsetof(concat_opt, index), "bm25", 0, 0, "bm25|tfidf"},
    {"weight", "of the other part's score", QP_FLOAT, offsetof(concat_opt, weight), "1", 0, 1e6, NULL},
    {"depth", "nodes of each ranking that are looked at", QP_INT, offsetof(concat_opt, depth), "1000", 1, 1e6, NULL},
    {"k", "how many nodes", QP_INT, offsetof(concat_opt, k), "10", 1, 1e9, NULL},
    {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const concat_opt *o = opt;
    const char *index = *o->index == 't' ? "node.tfidf" : "node.bm25";
    (void)in, (void)n_in;
    qp_set both = qp_join(q, qp_search(q, "node.dense", (uint32_t)o->depth), qp_search(q, index, (uint32_t)o->depth));
    qp_set with = qp_search_among(q, index, both.nodes);
    /* those with a term of the question first, as `with` has them */
    qp_set all = qp_join(q, with, both);
    const qp_id *ids = qp_list_ids(q, all.nodes);
    const float *dense = ids && all.nodes.n ? qp_query_dots(q, ids, all.nodes.n) : NULL;
    qp_hit *hits = dense ? qp_list_copy(q, all.nodes) : NULL;
    for (uint32_t i = 0; hits && i < all.nodes.n; i++)
        hits[i].score = dense[i] + (i < with.nodes.n ? (float)o->weight * hits[i].score : 0);
    return qp_set_of(qp_list_sorted(q, hits, hits ? all.nodes.n : 0, (uint32_t)o->k));
}

const qp_op qp_op_concat = {
    .name = "concat",
    .help = "the best nodes by the inner product of dense and term vectors, concatenated",
    .source = "SPAR (Chen et al., 2021); CLEAR (Gao et al., 2021)",
    .opts = opts,
    .opt_size = sizeof(concat_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_concat(qp_query *q, const char *index, double weight, uint32_t depth, uint32_t k)
{
    return qp_run(q, &qp_op_concat, NULL, 0, &(concat_opt){index, weight, depth, k});
}
