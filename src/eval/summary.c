/* What an evaluation says over all its questions. */
#include <math.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "eval/evaluation.h"

double qp_evaluation_ms(const qp_evaluation *e, uint32_t contender, qp_stage stage, double p, double *scratch)
{
    uint32_t rank = (uint32_t)ceil(p * e->n);

    for (uint32_t q = 0; q < e->n; q++)
        scratch[q] = qp_trial_of(e, q, contender)->ms[stage];
    qsort(scratch, e->n, sizeof *scratch, qp_by_double);
    return scratch[rank ? rank - 1 : 0];
}

double qp_evaluation_passes(const qp_evaluation *e, uint32_t contender)
{
    double passes = 0;

    for (uint32_t q = 0; q < e->n; q++)
        passes += qp_trial_of(e, q, contender)->passes;
    return passes / e->n;
}

uint32_t qp_evaluation_failures(const qp_evaluation *e, uint32_t contender, const char **first)
{
    uint32_t n = 0;

    *first = NULL;
    for (uint32_t q = 0; q < e->n; q++) {
        const char *failure = qp_trial_of(e, q, contender)->failure;

        n += failure != NULL;
        *first = *first ? *first : failure;
    }
    return n;
}

/* ---- FastInsight 5.3.1, Table 6: does being near in the graph foretell what graph retrieval will find? ---- */
enum { START = 10, END = 100 }; /* ranks */

static bool find_contender(const qp_evaluation *e, const char *name, uint32_t *number)
{
    for (uint32_t c = 0; c < e->n_contenders; c++)
        if (strcmp(e->contenders[c].name, name) == 0) {
            *number = c;
            return true;
        }
    return false;
}

/* The value of a metric for each question; false if it was not measured. */
static bool column(const qp_evaluation *e, uint32_t contender, const qp_measure *measure, uint32_t k, double *out)
{
    for (uint32_t m = 0; m < e->n_metrics; m++)
        if (e->metrics[m].measure == measure && e->metrics[m].k == k) {
            for (uint32_t q = 0; q < e->n; q++)
                out[q] = qp_value_of(e, q, contender, m);
            return true;
        }
    return false;
}

bool qp_evaluation_correlate(const qp_evaluation *e, uint32_t contender, double *recall, double *misstr)
{
    double *start = qp_new(e->mem, double, e->n), *missing = qp_new(e->mem, double, e->n),
           *gain = qp_new(e->mem, double, e->n);
    uint32_t first;

    if (!start || !missing || !gain || !find_contender(e, e->plan.start, &first) || first == contender ||
        !column(e, first, &qp_measure_recall, START, start) || !column(e, first, &qp_measure_misstr, START, missing) ||
        !column(e, contender, &qp_measure_recall, END, gain))
        return false;
    for (uint32_t q = 0; q < e->n; q++)
        gain[q] -= start[q];
    *recall = qp_pearson(start, gain, e->n);
    *misstr = qp_pearson(missing, gain, e->n);
    return true;
}
