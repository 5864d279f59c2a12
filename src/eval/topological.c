#include <math.h>

#include "eval/measure.h"

/* u of one relevant document: how far the first k ranks are from it (FastInsight, Definition 7). */
static double uncertainty(const qp_outcome *o, uint32_t relevant, uint32_t k)
{
    const double *row = o->distance + (size_t)relevant * o->n;
    double least = INFINITY;

    for (uint32_t i = 0; i < qp_outcome_depth(o, k); i++)
        if (row[i] < least)
            least = row[i];
    return least;
}

/* Credit 1 / (1 + u): 1 for a document that was retrieved (u = 0), 0 for one that cannot be reached (u infinite). */
static double topological_recall(const qp_outcome *o, uint32_t k)
{
    double credit = 0;

    for (uint32_t r = 0; o->distance && r < o->relevant; r++)
        credit += 1 / (1 + uncertainty(o, r, k));
    return o->relevant ? credit / o->relevant : 0;
}

/* Corollary 1: the part of TR that documents not retrieved bring. */
static double missing_part(const qp_outcome *o, uint32_t k)
{
    double credit = 0;

    for (uint32_t r = 0; o->distance && r < o->relevant; r++) {
        double u = uncertainty(o, r, k);

        if (u > 0)
            credit += 1 / (1 + u);
    }
    return o->relevant ? credit / o->relevant : 0;
}

const qp_measure qp_measure_tr = {
    .name = "tr",
    .help = "Topological Recall: recall with part credit for being near in the graph",
    .definition =
        "mean over relevant r of 1 / (1 + u(r)); u(r) = min over the first k documents d of the sum of "
        "ln(1 + deg(v)) over a shortest path d..r without r; ties in hops: the smaller sum; no path: credit 0",
    .citation = "FastInsight, Definition 7",
    .wants = QP_WANTS_GRAPH,
    .cut = true,
    .of = topological_recall,
};

const qp_measure qp_measure_misstr = {
    .name = "misstr",
    .help = "the part of tr that documents not retrieved bring",
    .definition = "tr - recall",
    .citation = "FastInsight, Corollary 1",
    .wants = QP_WANTS_GRAPH,
    .cut = true,
    .of = missing_part,
};
