/* Exact PPR on an undirected graph, by conjugate gradients (Hestenes and Stiefel, 1952). With z = x / weight of the row,
 * what each unit of weight carries away, x = alpha s + (1 - alpha) P' x is (D - (1 - alpha) A) z = alpha s: symmetric and
 * positive definite. With D as preconditioner an iteration is one sweep over the arcs, as one of power iteration is, and
 * each gets as near as any sum of the sweeps before it could: 11 of them where that took 16 (musique's graph of entities
 * and passages, alpha .5, 1e-6), 23 for 28 on a graph that mixes fast (R-MAT, 1M nodes and 10M edges, .15, 1e-9).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "graph/ppr_space.h"

/* LANES: sums beside each other in a pass over vectors; SIDE: rows that are read side by side; SMALL: nodes and arcs whose
 * vectors stay in a core's cache, so that rows may be read in any order. */
enum { LANES = 8, SIDE = 4, LONG = 256, SMALL = 1 << 19, MOST_SWEEPS = 100000 };

typedef struct part { /* of a block, its share of three sums */
    double along;     /* p q: how steep it is along p */
    double residual;  /* |r|, l1 */
    double square;    /* r r / weight */
} part;

typedef struct conjugate {
    const qp_chain *chain;
    const uint32_t *order; /* n: rows of one length together; null: as they stand */
    void *vector[5];       /* share, z, r, p, q */
    double keep;           /* 1 - alpha */
    double step, turn;     /* along p; of p, what the next direction keeps */
    ppr_blocks blocks;
    part part[PPR_BLOCKS];
} conjugate;

static double weight_of(const qp_chain *c, uint32_t v)
{
    double sum = qp_chain_sum(c, v);
    return sum > 0 ? sum : 1; /* a dangling node of an undirected graph is alone: any weight will do */
}

static uint32_t length_of(const qp_csr *g, uint32_t v)
{
    uint64_t arcs = g->start[v + 1] - g->start[v];
    return arcs < LONG ? (uint32_t)arcs : LONG;
}

/* The next SIDE rows, of `left`, are short and of one length: so is all that is between the first and the last. */
static bool are_alike(const qp_csr *g, const uint32_t *row, uint32_t left)
{
    return left >= SIDE && length_of(g, row[0]) < LONG && length_of(g, row[0]) == length_of(g, row[SIDE - 1]);
}

#define REAL double
#define SUFFIX _f64
#include "graph/ppr_conjugate_body.h"
#undef REAL
#undef SUFFIX
#define REAL float
#define SUFFIX _f32
#include "graph/ppr_conjugate_body.h"
#undef REAL
#undef SUFFIX

/* The shorter rows first, once for all queries of a space. A loop whose length is as before is foreseen, and four sums
 * do not wait for each other: at 18,000 nodes and 118,000 arcs a sweep takes a third of the time. */
static qp_code order_rows(conjugate *x, qp_ppr_space *space, qp_err *err)
{
    const qp_csr *g = &x->chain->out;
    if (g->n + g->start[g->n] <= SMALL && !space->order) {
        uint32_t at[LONG + 2] = {0};
        space->order = malloc(((size_t)g->n + 1) * sizeof *space->order);
        if (!space->order)
            return qp_oom(err);
        for (uint32_t v = 0; v < g->n; v++)
            at[length_of(g, v) + 1]++;
        for (int i = 1; i <= LONG; i++)
            at[i] += at[i - 1];
        for (uint32_t v = 0; v < g->n; v++)
            space->order[at[length_of(g, v)]++] = v;
    }
    x->order = space->order;
    return QP_OK;
}

/* What starts at the nodes, in the place of alpha s: dangling nodes hold what starts there, give it away, and get their
 * part of it again. `seeds` is for each of the seeds by its weight, `even` for every node. */
static void starts(const ppr_run *run, double *seeds, double *even)
{
    const qp_chain *c = run->chain;
    double alpha = run->query->alpha, keep = 1 - alpha, on_dangling = 0;
    for (uint32_t i = 0; c->n_dangling && i < run->seeds.n; i++)
        on_dangling += qp_chain_sum(c, run->seeds.node[i]) > 0 ? 0 : run->seeds.weight[i];
    bool uniform = run->query->dangling == QP_PPR_UNIFORM;
    double again = uniform ? (double)c->n_dangling / c->out.n : on_dangling;
    double loose = keep * alpha * on_dangling / (1 - keep * again);
    *seeds = alpha + (uniform ? 0 : loose);
    *even = uniform ? loose / c->out.n : 0;
}

static qp_code pass(conjugate *x, int threads, qp_code (*of)(void *, int, size_t, qp_err *), part *sum, qp_err *err)
{
    qp_code code = qp_parallel(threads, PPR_BLOCKS, of, x, err);
    *sum = (part){0};
    for (int i = 0; i < PPR_BLOCKS; i++) {
        sum->along += x->part[i].along;
        sum->residual += x->part[i].residual;
        sum->square += x->part[i].square;
    }
    return code;
}

/* One step along p, then a new p; `last` and `now` are sums before and after it. */
static qp_code iterate(conjugate *x, ppr_run *run, int threads, part last, part *now, qp_err *err)
{
    bool single = run->query->single;
    part sum;
    qp_code code = pass(x, threads, single ? sweep_f32 : sweep_f64, &sum, err);
    run->result->arcs += x->chain->out.start[x->chain->out.n];
    run->result->sweeps++;
    x->step = sum.along > 0 ? last.square / sum.along : 0;
    if (!code)
        code = pass(x, threads, single ? step_f32 : step_f64, now, err);
    x->turn = last.square > 0 ? now->square / last.square : 0;
    return code ? code : pass(x, threads, single ? turn_f32 : turn_f64, &sum, err);
}

/* x is at most |r| / alpha from the fixed point, in l1: a step of the walk shrinks distances by 1 - alpha. */
qp_code ppr_conjugate(ppr_run *run, qp_err *err)
{
    const qp_ppr_query *q = run->query;
    uint32_t n = run->chain->out.n;
    size_t bytes = (((size_t)n * (q->single ? sizeof(float) : sizeof(double))) + 63) / 64 * 64;
    conjugate x = {.chain = run->chain, .keep = 1 - q->alpha};
    qp_code code = ppr_space_dense(run->space, 5 * bytes, err);
    if (code)
        return code;
    for (int i = 0; i < 5; i++)
        x.vector[i] = (char *)run->space->dense + (size_t)i * bytes;
    ppr_blocks_cut(&run->chain->out, &x.blocks);
    code = order_rows(&x, run->space, err);
    double seeds, even;
    starts(run, &seeds, &even);
    part now = (q->single ? prepare_f32 : prepare_f64)(&x, &run->seeds, seeds, even);
    int threads = ppr_threads(run);
    while (!code && now.residual > run->tolerance && run->result->sweeps < MOST_SWEEPS)
        code = qp_cancelled(q->cancel) ? ppr_stopped(err) : iterate(&x, run, threads, now, &now, err);
    if (code)
        return code;
    run->result->error = now.residual / q->alpha;
    return (q->single ? collect_f32 : collect_f64)(&x, run, err);
}
