/* PowerPush (Wu, Gan, Wei and Zhang, "Unifying the Global and Local Approaches", SIGMOD 2021), with a guaranteed residual.
 *
 * Throughout pi = p + sum over u of r(u) pi_u. A push of u keeps alpha r(u) and sends the rest along u's arcs. As pi_u
 * has alpha at u itself, p + alpha r is below pi by (1 - alpha) |r| in l1, exactly: that is the bound reported.
 * Departures: nodes are pushed in sweeps over those touched so far, not in a queue, because whether a node's residual is
 * large is then asked once a sweep and not once an arc; once a quarter of the graph is touched the sweep runs over all
 * nodes in the order of memory, which is the paper's second phase. */
#include <math.h>

#include "base/thread.h"
#include "graph/ppr_space.h"

enum { EPOCHS = 8, AHEAD = 16 };

typedef struct bounded {
    ppr_run *run;
    const qp_chain *chain;
    ppr_mass *mass;
    double alpha, threshold; /* residual over arcs above which a node is pushed */
    double left;             /* sum of r */
    double loose;            /* of dangling nodes, part of left, not yet given on */
    bool all;                /* every node counts as touched */
} bounded;

/* What is missing from p + alpha r; of loose mass nothing has been kept yet. */
static double missing(const bounded *b)
{
    return (1 - b->alpha) * b->left + b->alpha * b->loose;
}

static void give(bounded *b, uint32_t v, double r)
{
    ppr_mass *m = &b->mass[v];
    if (!b->all && m->r == 0 && m->p == 0)
        b->run->space->touched[b->run->space->n_touched++] = v;
    m->r += r;
}

static void touch_all(bounded *b)
{
    qp_ppr_space *s = b->run->space;
    for (uint32_t v = 0; v < b->chain->out.n; v++)
        s->touched[v] = v;
    s->n_touched = b->chain->out.n;
    b->all = true;
}

static void push(bounded *b, uint32_t u)
{
    const qp_csr *g = &b->chain->out;
    double sum = qp_chain_sum(b->chain, u), r = b->mass[u].r, on = (1 - b->alpha) * r;
    uint64_t end = g->start[u + 1], last = g->start[g->n];
    b->mass[u].p += b->alpha * r;
    b->mass[u].r = 0;
    if (!(sum > 0)) {
        b->loose += on;
        return;
    }
    for (uint64_t e = g->start[u]; e < end; e++) {
        if (e + AHEAD < last)
            __builtin_prefetch(&b->mass[g->target[e + AHEAD]], 1);
        double share = on / sum * (g->weight ? g->weight[e] : 1);
        if (share > 0)
            give(b, g->target[e], share);
    }
    b->run->result->arcs += end - g->start[u];
}

/* Loose mass goes where dangling nodes send it; to all nodes only when it is worth the sweep. */
static void settle_loose(bounded *b, double worth)
{
    double loose = b->loose;
    if (b->run->query->dangling == QP_PPR_RESTART) {
        b->loose = 0;
        for (uint32_t i = 0; i < b->run->seeds.n; i++)
            give(b, b->run->seeds.node[i], loose * b->run->seeds.weight[i]);
    } else if (loose > worth) {
        b->loose = 0;
        touch_all(b);
        for (uint32_t v = 0; v < b->chain->out.n; v++)
            b->mass[v].r += loose / b->chain->out.n;
    }
}

static qp_code sweep(bounded *b, double bound, qp_err *err)
{
    qp_ppr_space *s = b->run->space;
    const qp_csr *g = &b->chain->out;
    if (!b->all && s->n_touched > g->n / 4)
        touch_all(b);
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t u = s->touched[i];
        double r = b->mass[u].r;
        if (r > 0 && r >= b->threshold * (double)(g->start[u + 1] - g->start[u]))
            push(b, u);
        if (i % 4096 == 4095 && qp_cancelled(b->run->query->cancel))
            return ppr_stopped(err);
    }
    settle_loose(b, bound / 4);
    b->left = b->loose;
    for (uint32_t i = 0; i < s->n_touched; i++)
        b->left += b->mass[s->touched[i]].r;
    b->run->result->sweeps++;
    return qp_cancelled(b->run->query->cancel) ? ppr_stopped(err) : QP_OK;
}

static double lower(const bounded *b, uint32_t v)
{
    return b->mass[v].p + b->alpha * b->mass[v].r;
}

/* How far the truth can be above lower(v). On an undirected graph, sum over u of r(u) pi_u(v) <=
 * max (r/d) sum d(u) pi_u(v) = max (r/d) d(v) sum pi_v(u) = max (r/d) d(v), since d(u) pi_u(v) = d(v) pi_v(u). */
static double slack(const bounded *b, uint32_t v, double most)
{
    double own = (1 - b->alpha) * most * qp_chain_sum(b->chain, v) + b->loose;
    return b->chain->undirected ? fmin(missing(b), own) : missing(b);
}

static bool is_settled(const bounded *b, const qp_rank *best)
{
    const qp_ppr_space *s = b->run->space;
    if (best->n < best->k)
        return false;
    double most = 0;
    qp_scored last = best->at[best->n - 1];
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t v = s->touched[i];
        double sum = qp_chain_sum(b->chain, v);
        if (b->mass[v].r > 0)
            most = sum > 0 ? fmax(most, b->mass[v].r / sum) : INFINITY;
    }
    for (uint32_t i = 0; i < s->n_touched; i++) {
        qp_scored one = {lower(b, s->touched[i]), s->touched[i]};
        if (qp_scored_before(last, one) && one.score + slack(b, one.node, most) > last.score)
            return false;
    }
    /* of those that nothing has come to yet, none can have more than all that is left */
    return s->n_touched == b->chain->out.n || missing(b) <= last.score;
}

static qp_code rank(bounded *b, uint32_t n, qp_rank *best, qp_err *err)
{
    const qp_ppr_space *s = b->run->space;
    qp_code code = qp_rank_init(best, n, b->run->mem, err);
    best->below = b->run->query->below ? b->run->query->below : UINT32_MAX;
    for (uint32_t i = 0; code == QP_OK && i < s->n_touched; i++)
        if (lower(b, s->touched[i]) > 0)
            qp_rank_add(best, s->touched[i], lower(b, s->touched[i]));
    return code;
}

static qp_code look(bounded *b, qp_err *err)
{
    qp_rank best;
    qp_code code = rank(b, b->run->query->top, &best, err);
    if (code)
        return code;
    qp_rank_sort(&best);
    b->run->result->settled = is_settled(b, &best);
    return QP_OK;
}

static qp_code run_epochs(bounded *b, qp_err *err)
{
    const qp_ppr_query *q = b->run->query;
    double volume = (double)(b->chain->out.start[b->chain->out.n] + 1);
    qp_code code = QP_OK;
    for (int e = 1; code == QP_OK && e <= EPOCHS && !b->run->result->settled; e++) {
        double bound = pow(b->run->tolerance, (double)e / EPOCHS);
        b->threshold = bound / 2 / volume;
        while (code == QP_OK && missing(b) > bound)
            code = sweep(b, bound, err);
        if (code == QP_OK && q->settle && q->top)
            code = look(b, err);
    }
    return code;
}

qp_code ppr_bounded(ppr_run *run, qp_err *err)
{
    qp_code code = ppr_space_mass(run->space, err);
    if (code)
        return code;
    bounded b = {.run = run, .chain = run->chain, .mass = run->space->mass, .alpha = run->query->alpha, .left = 1};
    for (uint32_t i = 0; i < run->seeds.n; i++)
        give(&b, run->seeds.node[i], run->seeds.weight[i]);
    code = run_epochs(&b, err);
    if (code)
        return code;
    uint32_t top = run->query->top, n = run->space->n_touched;
    qp_rank best;
    code = rank(&b, top && top < n ? top : n, &best, err);
    if (code)
        return code;
    run->result->error = missing(&b);
    ppr_answer(run, &best);
    return QP_OK;
}
