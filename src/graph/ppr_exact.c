/* Power iteration: x <- alpha s + (1 - alpha) P' x, from x = s, over all nodes; of an undirected graph ppr_conjugate.c
 * does better. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "graph/ppr_space.h"

enum { MOST_SWEEPS = 100000 };

typedef struct part {     /* of a block */
    double change, loose; /* l1 over its nodes; mass on dangling ones, to be given elsewhere */
} part;

typedef struct exact {
    const qp_chain *chain;
    void *vector[4];
    int turn;       /* the vector of shares that is read: 2 or 3 */
    double keep;    /* 1 - alpha */
    double restart; /* what the seeds get in this sweep: alpha, and loose mass */
    double even;    /* what every node gets */
    double loose;
    ppr_blocks blocks;
    part part[PPR_BLOCKS];
} exact;

#define REAL double
#define SUFFIX _f64
#include "graph/ppr_sweep.h"
#undef REAL
#undef SUFFIX
#define REAL float
#define SUFFIX _f32
#include "graph/ppr_sweep.h"
#undef REAL
#undef SUFFIX

static qp_code sweep(exact *x, ppr_run *run, int threads, double *change, qp_err *err)
{
    bool uniform = run->query->dangling == QP_PPR_UNIFORM;
    x->restart = run->query->alpha + (uniform ? 0 : x->loose);
    x->even = uniform ? x->loose / x->chain->out.n : 0;
    qp_code code = qp_parallel(threads, PPR_BLOCKS, run->query->single ? pull_f32 : pull_f64, x, err);
    x->turn = 5 - x->turn;
    *change = x->loose = 0;
    for (int i = 0; i < PPR_BLOCKS; i++) {
        *change += x->part[i].change;
        x->loose += x->part[i].loose;
    }
    run->result->arcs += x->chain->out.start[x->chain->out.n];
    run->result->sweeps++;
    return code;
}

/* After a sweep that moved x by d in l1, x is at most d (1 - alpha) / alpha from the fixed point: a sweep shrinks
 * distances by 1 - alpha. */
qp_code ppr_exact(ppr_run *run, qp_err *err)
{
    const qp_ppr_query *q = run->query;
    if (run->chain->undirected)
        return ppr_conjugate(run, err);
    uint32_t n = run->chain->out.n;
    size_t bytes = (((size_t)n * (q->single ? sizeof(float) : sizeof(double))) + 63) / 64 * 64;
    int threads = ppr_threads(run);
    exact x = {.chain = run->chain, .turn = 2, .keep = 1 - q->alpha};
    qp_code code = ppr_space_dense(run->space, 4 * bytes, err);
    if (code)
        return code;
    for (int i = 0; i < 4; i++)
        x.vector[i] = (char *)run->space->dense + (size_t)i * bytes;
    ppr_blocks_cut(&x.chain->in, &x.blocks);
    (q->single ? prepare_f32 : prepare_f64)(&x, run);
    double change = 1;
    while (code == QP_OK && change > run->tolerance && run->result->sweeps < MOST_SWEEPS)
        code = qp_cancelled(q->cancel) ? ppr_stopped(err) : sweep(&x, run, threads, &change, err);
    if (code)
        return code;
    run->result->error = change * (1 - q->alpha) / q->alpha;
    return (q->single ? collect_f32 : collect_f64)(&x, run, err);
}
