/* AGRAG's hybrid retrieval: HS = (cos(q, t) + BM25(q, t)) / 2. Reading: BM25 over its largest value of any passage, or
 * the sum would be BM25 alone. */
#include "op/ops.h"

typedef struct blend_opt {
    int64_t k, depth;
} blend_opt;

static const qp_opt opts[] = {{"k", "how many nodes", QP_INT, offsetof(blend_opt, k), "5", 1, 1e9, NULL},
                              {"depth", "of each ranking that is looked at", QP_INT, offsetof(blend_opt, depth), "1000",
                               1, 1e6, NULL},
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const blend_opt *o = opt;
    uint32_t depth = (uint32_t)(o->depth > o->k ? o->depth : o->k);
    qp_set lexical = qp_search(q, "node.bm25", depth), dense = qp_search(q, "node.dense", depth);
    float largest = lexical.nodes.n ? lexical.nodes.at[0].score : 0;
    (void)in, (void)n_in;
    if (lexical.nodes.n == depth) /* else the rest has no word of the question */
        lexical = qp_join(q, lexical, qp_search_among(q, "node.bm25", qp_minus(q, dense, lexical).nodes));
    qp_set all = qp_join(q, lexical, qp_minus(q, dense, lexical));
    const qp_id *ids = qp_list_ids(q, all.nodes);
    const float *cosine = ids && all.nodes.n ? qp_query_dots(q, ids, all.nodes.n) : NULL;
    qp_hit *hit = cosine ? qp_list_copy(q, all.nodes) : NULL;
    for (uint32_t i = 0; hit && i < all.nodes.n; i++)
        hit[i].score = (cosine[i] + (i < lexical.nodes.n && largest > 0 ? hit[i].score / largest : 0)) / 2;
    return qp_set_of(qp_list_sorted(q, hit, hit ? all.nodes.n : 0, (uint32_t)o->k));
}

const qp_op qp_op_blend = {
    .name = "blend",
    .help = "the best nodes by (cosine + BM25 / largest BM25) / 2",
    .source = "AGRAG, III-D, equation 19",
    .opts = opts,
    .opt_size = sizeof(blend_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_blend(qp_query *q, uint32_t k)
{
    return qp_run(q, &qp_op_blend, NULL, 0, &(blend_opt){k, 1000});
}
