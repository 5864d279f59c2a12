/* NaiveRAG: the passages nearest to the question, as many as a writer is given. What the others are compared with. */
#include "method/first.h"
#include "method/methods.h"

typedef struct naive_opt {
    int64_t k, tokens, top;
} naive_opt;

static const qp_opt opts[] = {{"k", "passages searched", QP_INT, offsetof(naive_opt, k), "60", 1, 1e6, NULL},
                              {"tokens", "of them all; 0: no limit", QP_INT, offsetof(naive_opt, tokens), "4000", 0,
                               1e9, NULL},
                              QP_TOP_OPTION(naive_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const naive_opt *o = opt;
    (void)in, (void)n_in;
    return qp_budget(q, qp_search(q, "node.dense", qp_min(o->k, o->top)), "nodes", (uint32_t)o->tokens);
}

const qp_op qp_method_naive = {
    .name = "naive",
    .help = "NaiveRAG: the passages nearest to the question, up to a number of tokens",
    .source = "LightRAG and AGRAG (their baseline)",
    .opts = opts,
    .opt_size = sizeof(naive_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
