#include "eval/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/sorted.h"
#include "base/thread.h"

typedef struct drawing {
    const double *value;
    uint32_t questions, columns, n;
    uint64_t seed;
    double *boot, *flip; /* columns x n */
    double *sums;        /* a row of `columns` a worker */
    double *weights;     /* a row of `questions` a worker */
} drawing;

static void weigh(const drawing *d, const double *weight, double *sum)
{
    for (uint32_t c = 0; c < d->columns; c++)
        sum[c] = 0;
    for (uint32_t q = 0; q < d->questions; q++) {
        const double *row = d->value + (size_t)q * d->columns;
        double w = weight[q];

        if (w == 0) /* not drawn: 37% of the questions */
            continue;
        for (uint32_t c = 0; c < d->columns; c++)
            sum[c] += w * row[c];
    }
}

static void keep(const drawing *d, const double *sum, double *to, size_t r)
{
    for (uint32_t c = 0; c < d->columns; c++)
        to[(size_t)c * d->n + r] = sum[c] / d->questions;
}

static qp_code draw(void *ctx, int worker, size_t r, qp_err *err)
{
    const drawing *d = ctx;
    double *sum = d->sums + (size_t)worker * d->columns, *weight = d->weights + (size_t)worker * d->questions;
    qp_random random = qp_random_seed(d->seed + (r + 1) * 0x9e3779b97f4a7c15u);
    uint64_t bits = 0;

    (void)err;
    memset(weight, 0, d->questions * sizeof *weight);
    for (uint32_t q = 0; q < d->questions; q++)
        weight[qp_random_below(&random, d->questions)]++;
    weigh(d, weight, sum);
    keep(d, sum, d->boot, r);
    for (uint32_t q = 0; q < d->questions; q++, bits >>= 1) {
        if (q % 64 == 0)
            bits = qp_random_next(&random);
        weight[q] = bits & 1 ? 1 : -1;
    }
    weigh(d, weight, sum);
    keep(d, sum, d->flip, r);
    return QP_OK;
}

qp_code qp_draws_make(const double *value, uint32_t questions, uint32_t columns, uint32_t n, uint64_t seed, int threads,
                      qp_draws *out, qp_arena *mem, qp_err *err)
{
    size_t workers = (size_t)(threads > 0 ? threads : qp_cores()), all = (size_t)columns * n;
    drawing d = {
        .value = value,
        .questions = questions,
        .columns = columns,
        .n = n,
        .seed = seed,
        .boot = qp_new(mem, double, all),
        .flip = qp_new(mem, double, all),
        .sums = qp_new(mem, double, workers *columns),
        .weights = qp_new(mem, double, workers *questions),
    };
    qp_code code;

    if (!d.boot || !d.flip || !d.sums || !d.weights)
        return qp_oom(err);
    code = questions ? qp_parallel((int)workers, n, draw, &d, err) : QP_OK;
    *out = (qp_draws){value, questions, columns, n, d.boot, d.flip};
    return code;
}

double qp_draws_average(const qp_draws *d, uint32_t column)
{
    double sum = 0;

    for (uint32_t q = 0; q < d->questions; q++)
        sum += d->value[(size_t)q * d->columns + column];
    return d->questions ? sum / d->questions : 0;
}

/* The percentile interval of n sorted draws, linear between neighbours. */
static double quantile(const double *sorted, uint32_t n, double at)
{
    double place = at * (n - 1);
    uint32_t below = (uint32_t)place;

    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

static qp_interval interval(double mean, double *draws, uint32_t n)
{
    qsort(draws, n, sizeof *draws, qp_by_double);
    return (qp_interval){mean, quantile(draws, n, .025), quantile(draws, n, .975)};
}

qp_interval qp_draws_mean(const qp_draws *d, uint32_t column, double *scratch)
{
    memcpy(scratch, d->boot + (size_t)column * d->n, d->n * sizeof *scratch);
    return interval(qp_draws_average(d, column), scratch, d->n);
}

qp_interval qp_draws_difference(const qp_draws *d, uint32_t a, uint32_t b, double *scratch)
{
    const double *x = d->boot + (size_t)a * d->n, *y = d->boot + (size_t)b * d->n;

    for (uint32_t r = 0; r < d->n; r++)
        scratch[r] = x[r] - y[r];
    return interval(qp_draws_average(d, a) - qp_draws_average(d, b), scratch, d->n);
}

double qp_draws_p(const qp_draws *d, uint32_t a, uint32_t b)
{
    const double *x = d->flip + (size_t)a * d->n, *y = d->flip + (size_t)b * d->n;
    double seen = fabs(qp_draws_average(d, a) - qp_draws_average(d, b)) - 1e-12; /* equal up to the order of adding */
    uint32_t far = 0;

    for (uint32_t r = 0; r < d->n; r++)
        far += fabs(x[r] - y[r]) >= seen;
    return (1.0 + far) / (1.0 + d->n);
}

void qp_holm(double *p, uint32_t n)
{
    double worst = 0;

    /* The smallest p first, each times the number of those not yet seen, never below the one before it; what was seen
     * is marked by a negative sign. */
    for (uint32_t left = n; left > 0; left--) {
        uint32_t least = UINT32_MAX;

        for (uint32_t i = 0; i < n; i++)
            if (!signbit(p[i]) && (least == UINT32_MAX || p[i] < p[least]))
                least = i;
        worst = fmax(worst, fmin(1, p[least] * left));
        p[least] = -worst;
    }
    for (uint32_t i = 0; i < n; i++)
        p[i] = fabs(p[i]);
}

double qp_pearson(const double *x, const double *y, uint32_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

    for (uint32_t i = 0; i < n; i++) {
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / sqrt(xx * yy);
}
