#include "eval/measure.h"

/* Ranks that the ranking does not fill count as wrong, as in trec_eval. */
static double precision(const qp_outcome *o, uint32_t k)
{
    uint32_t found = 0, over = k == UINT32_MAX ? o->n : k;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        found += o->grade[i] > 0;
    return over ? (double)found / over : 0;
}

const qp_measure qp_measure_p = {
    .name = "p",
    .help = "share of the ranks that hold a relevant document",
    .definition = "|{i <= k : g(i) > 0}| / k",
    .citation = "trec_eval's P",
    .cut = true,
    .of = precision,
};
