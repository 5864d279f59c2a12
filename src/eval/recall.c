#include "eval/measure.h"

static uint32_t found(const qp_outcome *o, uint32_t k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        n += o->grade[i] > 0;
    return n;
}

static double recall(const qp_outcome *o, uint32_t k)
{
    return o->relevant ? (double)found(o, k) / o->relevant : 0;
}

static double recall_cap(const qp_outcome *o, uint32_t k)
{
    return o->relevant ? (double)found(o, k) / (o->relevant < k ? o->relevant : k) : 0;
}

const qp_measure qp_measure_recall = {
    .name = "recall",
    .help = "share of the relevant documents that was found",
    .definition = "|{i <= k : g(i) > 0}| / R, R relevant documents",
    .citation = "trec_eval's recall",
    .cut = true,
    .of = recall,
};

const qp_measure qp_measure_recall_cap = {
    .name = "recall_cap",
    .help = "the same, of the most that k ranks can hold",
    .definition = "|{i <= k : g(i) > 0}| / min(k, R)",
    .citation = "FastInsight 4.3.1 (its R@k), after BEIR",
    .cut = true,
    .of = recall_cap,
};
