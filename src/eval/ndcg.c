#include <math.h>

#include "eval/measure.h"

/* The discount of rank i, from 0: trec_eval's log2(rank + 1). */
static double discounted(double gain, uint32_t i)
{
    return gain / log2(i + 2.0);
}

static double ndcg(const qp_outcome *o, uint32_t k)
{
    double got = 0, best = 0;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (o->grade[i] > 0)
            got += discounted(o->grade[i], i);
    for (uint32_t i = 0; i < o->relevant && i < k; i++)
        best += discounted(o->ideal[i], i);
    return best > 0 ? got / best : 0;
}

static double ndcg_bin(const qp_outcome *o, uint32_t k)
{
    double got = 0, best = 0;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (o->grade[i] > 0)
            got += discounted(1, i);
    for (uint32_t i = 0; i < o->relevant && i < k; i++)
        best += discounted(1, i);
    return best > 0 ? got / best : 0;
}

const qp_measure qp_measure_ndcg = {
    .name = "ndcg",
    .help = "normalised discounted cumulative gain, the grade being the gain",
    .definition = "sum over i <= k of max(g(i), 0) / log2(i + 1), over the same sum of the ideal ranking",
    .citation = "Jarvelin and Kekalainen 2002; gain and discount as trec_eval's ndcg_cut",
    .cut = true,
    .of = ndcg,
};

const qp_measure qp_measure_ndcg_bin = {
    .name = "ndcg_bin",
    .help = "the same with gain 1 for every relevant document",
    .definition = "ndcg after g(i) > 0 became 1",
    .citation = "Jarvelin and Kekalainen 2002",
    .cut = true,
    .of = ndcg_bin,
};
