#include "graph/ppr.h"

#include <math.h>

#include "graph/ppr_space.h"

static const struct {
    const char *name;
    double tolerance;
    qp_code (*run)(ppr_run *, qp_err *);
} engines[QP_PPR_ENGINES] = {
    [QP_PPR_AUTO] = {"auto", 0, NULL},
    [QP_PPR_EXACT] = {"exact", 1e-9, ppr_exact},
    [QP_PPR_BOUNDED] = {"bounded", 1e-4, ppr_bounded},
    [QP_PPR_FAST] = {"fast", 1e-5, ppr_fast},
    [QP_PPR_FORA] = {"fora", .5, ppr_fora},
    [QP_PPR_BACKWARD] = {"backward", 1e-6, ppr_backward},
};

const char *qp_ppr_engine_name(qp_ppr_engine e)
{
    return e < QP_PPR_ENGINES ? engines[e].name : "?";
}

qp_code ppr_stopped(qp_err *err)
{
    return qp_fail(err, QP_STOPPED, "PPR was cancelled");
}

qp_code ppr_rank(ppr_run *run, qp_rank *rank, uint32_t n, qp_err *err)
{
    const qp_ppr_query *q = run->query;
    qp_code code = qp_rank_init(rank, q->top && q->top < n ? q->top : n, run->mem, err);
    rank->below = q->below ? q->below : UINT32_MAX;
    return code;
}

void ppr_answer(ppr_run *run, qp_rank *rank)
{
    qp_rank_sort(rank);
    run->result->at = rank->at;
    run->result->n = (uint32_t)rank->n;
}

static qp_ppr_engine choose(const qp_chain *c, const qp_ppr_query *q)
{
    uint64_t size = c->out.n + c->out.start[c->out.n];
    bool dense = q->top == 0 || q->top > QP_CHAIN_HUBS || q->n_seeds > c->out.n / 64;
    return size <= 1u << 18 || dense ? QP_PPR_EXACT : QP_PPR_FAST;
}

static qp_code check(const qp_chain *c, const qp_ppr_query *q, qp_err *err)
{
    if (!(q->alpha > 0 && q->alpha < 1))
        return qp_fail(err, QP_USAGE, "ppr: alpha (the probability of a restart) is %g: wanted above 0 and below 1",
                       q->alpha);
    if (!(q->tolerance >= 0 && q->tolerance < 1))
        return qp_fail(err, QP_USAGE, "ppr: tolerance is %g: wanted from 0 (the engine's own) to below 1",
                       q->tolerance);
    if ((unsigned)q->engine >= QP_PPR_ENGINES || (unsigned)q->dangling > QP_PPR_UNIFORM)
        return qp_fail(err, QP_USAGE, "ppr: engine %d or dangling rule %d is none", q->engine, q->dangling);
    if (q->engine == QP_PPR_BACKWARD && (!c->undirected || q->n_seeds != 1))
        return qp_fail(err, QP_USAGE, "ppr: backward wants an undirected graph and one seed, not %u%s", q->n_seeds,
                       c->undirected ? "" : " on a directed one");
    if (q->walks && (q->walks->n != c->out.n || q->walks->alpha != q->alpha))
        return qp_fail(err, QP_USAGE, "ppr: the walks are of %u nodes and alpha %g, the query of %u and %g",
                       q->walks->n, q->walks->alpha, c->out.n, q->alpha);
    return QP_OK;
}

/* Where nodes are many the first hundred stand nearer to each other: bench/large.py, 100M nodes and 300M edges, R@100 and
 * R@1000 .954 and .980 at 1e-5, .965 and .987 at 5e-6, which takes half a millisecond more. A directed graph's tail is a
 * cruder guess: 1M nodes and 10M arcs, R@1000 .979 and .982. */
static double own_tolerance(const qp_chain *c, qp_ppr_engine e)
{
    bool finer = e == QP_PPR_FAST && (c->out.n >= 1u << 24 || !c->undirected);
    return finer ? engines[e].tolerance / 2 : engines[e].tolerance;
}

qp_code qp_ppr(qp_ppr_space *space, const qp_ppr_query *q, qp_arena *mem, qp_ppr_result *result, qp_err *err)
{
    ppr_run run = {.space = space, .chain = space->chain, .query = q, .mem = mem, .result = result};
    *result = (qp_ppr_result){.error = -1, .engine = q->engine};
    qp_code code = check(space->chain, q, err);
    if (code == QP_OK)
        code = qp_seeds_make(q->seed, q->weight, q->n_seeds, space->chain->out.n, mem, &run.seeds, err);
    if (code)
        return code;
    if (q->engine == QP_PPR_AUTO)
        result->engine = choose(space->chain, q);
    run.tolerance = q->tolerance > 0 ? q->tolerance : own_tolerance(space->chain, result->engine);
    double least = result->engine == QP_PPR_EXACT && q->single ? 1e-6 : 1e-15; /* rounding moves more than that */
    run.tolerance = fmax(run.tolerance, least);
    code = engines[result->engine].run(&run, err);
    ppr_space_reset(space);
    return code;
}
