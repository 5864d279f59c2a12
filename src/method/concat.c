/* CG-RAG's baselines that add a sparse to a dense score: clear, spar. Neither's own training is done here: the dense
 * part is the index's embedder as it is. */
#include "method/first.h"
#include "method/methods.h"

typedef struct concat_opt {
    double weight;
    int64_t depth, top;
} concat_opt;

#define DEPTH_OPTION                                                                                                   \
    {                                                                                                                  \
        "depth", "nodes of each ranking that are looked at", QP_INT, offsetof(concat_opt, depth), "1000", 1, 1e6, NULL \
    }

static const qp_opt clear_opts[] = {{"weight", "lambda: of BM25's score as it is", QP_FLOAT,
                                     offsetof(concat_opt, weight), "0.02", 0, 1e6, NULL},
                                    DEPTH_OPTION,
                                    QP_TOP_OPTION(concat_opt),
                                    {0}};

static qp_set clear(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const concat_opt *o = opt;
    (void)in, (void)n_in;
    return qp_concat(q, "bm25", o->weight, (uint32_t)o->depth, (uint32_t)o->top);
}

const qp_op qp_method_clear = {
    .name = "clear",
    .help = "lambda BM25 + inner product, CLEAR's score with an embedder that was not trained on BM25's residuals",
    .source = "CLEAR (Gao et al., ECIR 2021), section 3; CG-RAG, 5.1",
    .opts = clear_opts,
    .opt_size = sizeof(concat_opt),
    .run = clear,
    .needs = QP_NEEDS_EMBEDDER,
};

static const qp_opt spar_opts[] = {{"weight", "mu: of the term vectors", QP_FLOAT, offsetof(concat_opt, weight), "1", 0,
                                    1e6, NULL},
                                   DEPTH_OPTION,
                                   QP_TOP_OPTION(concat_opt),
                                   {0}};

static qp_set spar(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const concat_opt *o = opt;
    (void)in, (void)n_in;
    return qp_concat(q, "tfidf", o->weight, (uint32_t)o->depth, (uint32_t)o->top);
}

const qp_op qp_method_spar = {
    .name = "spar",
    .help = "inner product of dense and tf-idf vectors concatenated, after SPAR, whose dense lexical model tf-idf "
            "stands for",
    .source = "SPAR (Chen et al., 2021), section 3; CG-RAG, 5.1",
    .opts = spar_opts,
    .opt_size = sizeof(concat_opt),
    .run = spar,
    .needs = QP_NEEDS_EMBEDDER,
};
