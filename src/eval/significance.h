/* How sure a mean or a difference is: bootstrap intervals and a paired randomisation test, for all columns at once.
 *
 * Both are a weighted sum of the rows of a table (questions x columns), drawn again and again: bootstrap weights say
 * how often a question was drawn (with replacement), randomisation weights are +1 or -1 (the labels of the two methods
 * kept or swapped). Because the sum is linear, the draws of a difference are the difference of the draws, so every pair
 * of columns is compared on the same draws. Draw r depends on (seed, r) alone, never on the number of threads.
 */
#ifndef QP_EVAL_SIGNIFICANCE_H
#define QP_EVAL_SIGNIFICANCE_H

#include "base/arena.h"
#include "base/err.h"

typedef struct qp_interval {
    double mean, low, high; /* 95% */
} qp_interval;

typedef struct qp_draws {
    const double *value; /* the table: questions x columns; borrowed */
    uint32_t questions, columns, n;
    const double *boot; /* columns x n: mean of each column in each bootstrap draw */
    const double *flip; /* columns x n: mean of the column under random signs */
} qp_draws;

/* n draws of both kinds, n at least 1, on up to `threads` threads. */
qp_code qp_draws_make(const double *value, uint32_t questions, uint32_t columns, uint32_t n, uint64_t seed, int threads,
                      qp_draws *, qp_arena *, qp_err *);

double qp_draws_average(const qp_draws *, uint32_t column);
/* Mean of a column and the 2.5% and 97.5% points of its bootstrap means. `scratch`: n doubles. */
qp_interval qp_draws_mean(const qp_draws *, uint32_t column, double *scratch);
/* The same of the difference a - b. */
qp_interval qp_draws_difference(const qp_draws *, uint32_t a, uint32_t b, double *scratch);
/* Two-sided p of the paired randomisation test of a = b: (1 + draws at least as far from 0) / (1 + n). */
double qp_draws_p(const qp_draws *, uint32_t a, uint32_t b);

/* Holm's correction of n p-values in place: a bound on the chance of one false alarm among all of them. */
void qp_holm(double *p, uint32_t n);

/* Pearson's correlation; NaN where one of the two does not vary. */
double qp_pearson(const double *x, const double *y, uint32_t n);

#endif
