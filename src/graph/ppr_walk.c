#include "graph/ppr_walk.h"

#include <math.h>
#include <stdlib.h>

#include "base/thread.h"

ppr_walker ppr_walker_make(const ppr_run *run)
{
    const qp_ppr_query *q = run->query;
    return (ppr_walker){run->chain, q->alpha, q->dangling, &run->seeds, qp_random_seed(q->random)};
}

/* A node to go on from. */
static uint32_t draw(ppr_walker *w)
{
    if (w->dangling == QP_PPR_UNIFORM)
        return (uint32_t)qp_random_below(&w->random, w->chain->out.n);
    return qp_seeds_draw(w->seeds, &w->random);
}

uint32_t ppr_walk_from(ppr_walker *w, uint32_t u)
{
    do {
        if (qp_chain_sum(w->chain, u) > 0)
            u = qp_chain_step(w->chain, u, &w->random);
        else if (w->seeds)
            u = draw(w);
        else
            return QP_PPR_ASTRAY;
    } while (qp_random_unit(&w->random) >= w->alpha);
    return u;
}

uint32_t ppr_walk_astray(ppr_walker *w)
{
    uint32_t u = draw(w);
    return qp_random_unit(&w->random) < w->alpha ? u : ppr_walk_from(w, u);
}

double ppr_walks_wanted(const qp_chain *c, double epsilon, double delta)
{
    return (2 * epsilon / 3 + 2) * log(2.0 * c->out.n) / (epsilon * epsilon * delta);
}

/* ---- walks made beforehand ---- */

typedef struct maker {
    const qp_chain *chain;
    double alpha;
    uint64_t seed;
    const uint64_t *start;
    uint32_t *stop;
} maker;

enum { BATCH = 1024 };

/* Every node has random numbers of its own, so that who walks from it does not matter. */
static qp_code make_batch(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    (void)err;
    const maker *m = ctx;
    uint64_t end = (i + 1) * BATCH < m->chain->out.n ? (i + 1) * BATCH : m->chain->out.n;
    for (uint64_t v = i * BATCH; v < end; v++) {
        ppr_walker w = {.chain = m->chain,
                        .alpha = m->alpha,
                        .random = qp_random_seed(m->seed ^ (v * 0x9e3779b97f4a7c15u))};
        for (uint64_t j = m->start[v]; j < m->start[v + 1]; j++)
            m->stop[j] = ppr_walk_from(&w, (uint32_t)v);
    }
    return QP_OK;
}

/* After pushing, r(v) is at most r_max d(v), and needs (1 - alpha) r_max d(v) omega walks, with delta = 1/n. */
qp_code qp_ppr_walks_make(const qp_chain *c, double alpha, double epsilon, uint64_t seed, int threads,
                          qp_ppr_walks *made, qp_err *err)
{
    *made = (qp_ppr_walks){0};
    if (!(alpha > 0 && alpha < 1) || !(epsilon > 0 && epsilon < 1))
        return qp_fail(err, QP_USAGE, "walks: alpha %g and epsilon %g: wanted above 0 and below 1", alpha, epsilon);
    uint32_t n = c->out.n;
    double omega = ppr_walks_wanted(c, epsilon, 1.0 / n),
           each = (1 - alpha) * sqrt(omega / ((double)c->out.start[n] + 1));
    uint64_t *start = malloc(((size_t)n + 1) * sizeof *start);
    if (!start)
        return qp_oom(err);
    start[0] = 0;
    for (uint32_t v = 0; v < n; v++)
        start[v + 1] = start[v] + (uint64_t)ceil(each * (double)(c->out.start[v + 1] - c->out.start[v]));
    uint32_t *stop = malloc((start[n] + 1) * sizeof *stop);
    *made = (qp_ppr_walks){alpha, epsilon, n, start, stop};
    if (!stop) {
        qp_ppr_walks_free(made);
        return qp_oom(err);
    }
    maker m = {c, alpha, seed, start, stop};
    return qp_parallel(threads, ((size_t)n + BATCH - 1) / BATCH, make_batch, &m, err);
}

void qp_ppr_walks_free(qp_ppr_walks *w)
{
    free((void *)w->start);
    free((void *)w->stop);
    *w = (qp_ppr_walks){0};
}
