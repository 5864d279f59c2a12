#include "eval/measure.h"

static double hit(const qp_outcome *o, uint32_t k)
{
    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (o->grade[i] > 0)
            return 1;
    return 0;
}

const qp_measure qp_measure_hit = {
    .name = "hit",
    .help = "is there a relevant document at all",
    .definition = "1 if g(i) > 0 for an i <= k, else 0",
    .citation = "trec_eval's success",
    .cut = true,
    .of = hit,
};
