#include "eval/measure.h"

static double reciprocal(const qp_outcome *o, uint32_t k)
{
    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (o->grade[i] > 0)
            return 1.0 / (i + 1);
    return 0;
}

const qp_measure qp_measure_mrr = {
    .name = "mrr",
    .help = "reciprocal rank of the first relevant document",
    .definition = "1 / min{i <= k : g(i) > 0}, 0 without one; its mean over questions is MRR",
    .citation = "trec_eval's recip_rank",
    .cut = true,
    .of = reciprocal,
};
