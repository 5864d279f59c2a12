/* Power iteration: x <- alpha s + (1 - alpha) P' x, from x = s, over all nodes. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "graph/ppr_space.h"

enum { AHEAD = 48, BLOCKS = 64, FEW_ARCS = 1 << 17, MOST_SWEEPS = 100000 };

/* Nodes that are swept together, about as many arcs in each block. The blocks do not depend on the number of threads,
 * so neither do the sums over them. */
typedef struct block {
    uint32_t from, to;
    double change, loose; /* l1 over its nodes; mass on dangling ones, to be given elsewhere */
} block;

typedef struct exact {
    const qp_chain *chain;
    void *vector[4];
    int turn;       /* the vector of shares that is read: 2 or 3 */
    double keep;    /* 1 - alpha */
    double restart; /* what the seeds get in this sweep: alpha, and loose mass */
    double even;    /* what every node gets */
    double loose;
    block block[BLOCKS];
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

static void cut_blocks(exact *x)
{
    const qp_csr *in = &x->chain->in;
    uint64_t cost = in->start[in->n] + in->n; /* a node costs about as much as an arc */
    uint32_t v = 0;
    for (uint64_t i = 0; i < BLOCKS; i++) {
        x->block[i].from = v;
        while (v < in->n && in->start[v] + v < cost * (i + 1) / BLOCKS)
            v++;
        x->block[i].to = v = i + 1 == BLOCKS ? in->n : v;
    }
}

static qp_code sweep(exact *x, ppr_run *run, int threads, double *change, qp_err *err)
{
    bool uniform = run->query->dangling == QP_PPR_UNIFORM;
    x->restart = run->query->alpha + (uniform ? 0 : x->loose);
    x->even = uniform ? x->loose / x->chain->out.n : 0;
    qp_code code = qp_parallel(threads, BLOCKS, run->query->single ? pull_f32 : pull_f64, x, err);
    x->turn = 5 - x->turn;
    *change = x->loose = 0;
    for (int i = 0; i < BLOCKS; i++) {
        *change += x->block[i].change;
        x->loose += x->block[i].loose;
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
    uint32_t n = run->chain->out.n;
    size_t bytes = (((size_t)n * (q->single ? sizeof(float) : sizeof(double))) + 63) / 64 * 64;
    int threads = run->chain->out.start[n] < FEW_ARCS ? 1 : q->threads;
    exact x = {.chain = run->chain, .turn = 2, .keep = 1 - q->alpha};
    qp_code code = ppr_space_dense(run->space, 4 * bytes, err);
    if (code)
        return code;
    for (int i = 0; i < 4; i++)
        x.vector[i] = (char *)run->space->dense + (size_t)i * bytes;
    cut_blocks(&x);
    (q->single ? prepare_f32 : prepare_f64)(&x, run);
    double change = 1;
    while (code == QP_OK && change > run->tolerance && run->result->sweeps < MOST_SWEEPS)
        code = qp_cancelled(q->cancel) ? ppr_stopped(err) : sweep(&x, run, threads, &change, err);
    if (code)
        return code;
    run->result->error = change * (1 - q->alpha) / q->alpha;
    return (q->single ? collect_f32 : collect_f64)(&x, run, err);
}
