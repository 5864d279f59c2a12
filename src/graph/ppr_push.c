#include "graph/ppr_push.h"

#include "base/thread.h"

enum { AHEAD = 16, ROWS_AHEAD = 4, LOOK = 1024 };

static inline void give(ppr_push *x, uint32_t v, float r)
{
    ppr_node *y = &x->node[v];
    ppr_touch(x->run->space, v);
    y->r += r;
    if (y->r > x->epsilon * y->degree && !(y->flag & PPR_QUEUED)) {
        y->flag |= PPR_QUEUED;
        x->run->space->next[x->n_next++] = v;
    }
}

static void push(ppr_push *x, uint32_t u)
{
    const qp_chain *c = x->run->chain;
    const uint32_t *target = c->out.target;
    const float *weight = c->out.weight;
    uint64_t first = c->out.start[u], end = c->out.start[u + 1], last = c->out.start[c->out.n];
    ppr_node *from = &x->node[u];
    float r = from->r, sum = (float)qp_chain_sum(c, u), on = (1 - x->alpha) * r;
    from->r = 0;
    from->p += x->alpha * r;
    from->flag &= ~(uint32_t)PPR_QUEUED;
    x->kept += (double)x->alpha * r;
    x->run->result->arcs += end - first;
    if (!(sum > 0)) {
        x->loose += on;
        return;
    }
    on /= sum;
    for (uint64_t e = first; e < end; e++) {
        if (e + AHEAD < last)
            __builtin_prefetch(&x->node[target[e + AHEAD]], 1);
        give(x, target[e], weight ? on * weight[e] : on);
    }
}

/* What dangling nodes hold goes back to the seeds, or lies evenly on all nodes: nobody's residual grows by much then,
 * and going round them all would cost what push saves. */
static void settle_loose(ppr_push *x)
{
    double loose = x->loose;
    x->loose = 0;
    if (x->run->query->dangling == QP_PPR_UNIFORM) {
        x->spread += loose;
        return;
    }
    for (uint32_t i = 0; loose > 0 && i < x->run->seeds.n; i++)
        give(x, x->run->seeds.node[i], (float)(loose * x->run->seeds.weight[i]));
}

/* The rows of the next few nodes are asked for while this one is pushed: most rows are shorter than the way to memory. */
static qp_code round_of(ppr_push *x, uint32_t n, qp_err *err)
{
    const qp_csr *g = &x->run->chain->out;
    const uint32_t *now = x->run->space->now;
    for (uint32_t i = 0; i < n; i++) {
        if (i + 2 * ROWS_AHEAD < n)
            __builtin_prefetch(&g->start[now[i + 2 * ROWS_AHEAD]]);
        if (i + ROWS_AHEAD < n)
            __builtin_prefetch(&g->target[g->start[now[i + ROWS_AHEAD]]]);
        push(x, now[i]);
        if (i % LOOK == 0 && qp_cancelled(x->run->query->cancel))
            return ppr_stopped(err);
    }
    settle_loose(x);
    x->run->result->sweeps++;
    return QP_OK;
}

qp_code ppr_push_run(ppr_push *x, ppr_run *run, double epsilon, qp_err *err)
{
    qp_ppr_space *s = run->space;
    qp_code code = ppr_space_push(s, err);
    if (code)
        return code;
    *x = (ppr_push){.run = run, .node = s->node, .alpha = (float)run->query->alpha, .epsilon = (float)epsilon};
    for (uint32_t i = 0; i < run->seeds.n; i++)
        give(x, run->seeds.node[i], (float)run->seeds.weight[i]);
    while (code == QP_OK && x->n_next) {
        uint32_t *now = s->next, n = x->n_next;
        s->next = s->now;
        s->now = now;
        x->n_next = 0;
        code = round_of(x, n, err);
    }
    return code;
}
