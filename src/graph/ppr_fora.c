/* FORA (Wang, Yang, Xiao, Wei and Yang, KDD 2017): push until residuals are small, then walk from what is left.
 *
 * omega = (2 epsilon / 3 + 2) ln(2 / p_f) / (epsilon^2 delta) walks stand for a residual of 1 (its Theorem 1), and pushing
 * stops at r_max = 1 / sqrt(m omega), where both halves cost about the same. p_f = 1/n. As alpha r(u) stays at u anyway,
 * walks take their first step for certain and stand for (1 - alpha) r(u): the same mean, less variance. */
#include <math.h>

#include "base/thread.h"
#include "graph/ppr_push.h"
#include "graph/ppr_walk.h"

typedef struct fora {
    ppr_push push;
    ppr_walker walker;
    double omega;
} fora;

/* r is free once the walks have begun, and small: added to p, most of a walk would be lost to rounding. */
static void arrive(fora *f, uint32_t v, float mass)
{
    ppr_touch(f->push.run->space, v);
    f->push.node[v].r += mass;
}

/* The walk of number i from u: read if it was made beforehand and did not go astray. */
static uint32_t stop_of(fora *f, uint32_t u, uint64_t i)
{
    const qp_ppr_walks *w = f->push.run->query->walks;
    if (!w || w->start[u] + i >= w->start[u + 1])
        return ppr_walk_from(&f->walker, u);
    uint32_t v = w->stop[w->start[u] + i];
    return v == QP_PPR_ASTRAY ? ppr_walk_astray(&f->walker) : v;
}

static qp_code walk_all(fora *f, qp_err *err)
{
    ppr_run *run = f->push.run;
    uint32_t n = run->space->n_touched; /* those that walks will touch have no residual */
    float *left = qp_new(run->mem, float, (size_t)n + 1);
    if (!left)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++) {
        ppr_node *x = &f->push.node[run->space->touched[i]];
        left[i] = x->r;
        x->p += f->push.alpha * x->r;
        x->r = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = run->space->touched[i];
        double mass = (1 - run->query->alpha) * left[i];
        uint64_t walks = (uint64_t)ceil(mass * f->omega);
        for (uint64_t j = 0; j < walks; j++)
            arrive(f, stop_of(f, u, j), (float)(mass / (double)walks));
        if (i % 256 == 0 && qp_cancelled(run->query->cancel))
            return ppr_stopped(err);
    }
    return QP_OK;
}

/* Mass that dangling nodes spread evenly: walks from nodes drawn at random. */
static void walk_spread(fora *f)
{
    double mass = f->push.spread;
    uint64_t walks = (uint64_t)ceil(mass * f->omega);
    for (uint64_t j = 0; j < walks; j++)
        arrive(f, ppr_walk_astray(&f->walker), (float)(mass / (double)walks));
}

static qp_code attempt(fora *f, ppr_run *run, double delta, qp_rank *best, qp_err *err)
{
    const qp_chain *c = run->chain;
    double epsilon = run->tolerance, arcs = (double)c->out.start[c->out.n] + 1;
    f->omega = ppr_walks_wanted(c, epsilon, delta);
    ppr_space_reset(run->space);
    qp_code code = ppr_push_run(&f->push, run, 1 / sqrt(arcs * f->omega), err);
    f->walker = ppr_walker_make(run);
    if (code == QP_OK)
        code = walk_all(f, err);
    if (code)
        return code;
    walk_spread(f);
    const qp_ppr_space *s = run->space;
    code = ppr_rank(run, best, s->n_touched, err);
    for (uint32_t i = 0; code == QP_OK && i < s->n_touched; i++)
        qp_rank_add(best, s->touched[i], (double)s->node[s->touched[i]].p + s->node[s->touched[i]].r);
    run->result->sweeps++;
    return code;
}

qp_code ppr_fora(ppr_run *run, qp_err *err)
{
    uint32_t n = run->chain->out.n, top = run->query->top;
    double least = 1.0 / n, delta = top && top < n ? 1.0 / top : least;
    fora f = {0};
    qp_rank best;
    for (;; delta = fmax(delta / 4, least)) {
        qp_code code = attempt(&f, run, delta, &best, err);
        if (code)
            return code;
        bool sure = best.n && best.n == top && best.at[0].score >= (1 + run->tolerance) * delta;
        if (sure || delta <= least)
            break;
    }
    ppr_answer(run, &best);
    return QP_OK;
}
