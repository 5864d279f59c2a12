#include "eval/measure.h"

static double average_precision(const qp_outcome *o, uint32_t k)
{
    uint32_t found = 0;
    double sum = 0;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (o->grade[i] > 0)
            sum += (double)++found / (i + 1);
    return o->relevant ? sum / o->relevant : 0;
}

const qp_measure qp_measure_map = {
    .name = "map",
    .help = "average precision: precision at each relevant document found",
    .definition = "(1 / R) sum over i <= k with g(i) > 0 of P@i; its mean over questions is MAP",
    .citation = "trec_eval's map, map_cut",
    .cut = true,
    .of = average_precision,
};
