/* Backward search (Andersen et al., WAW 2007; Wang et al., KDD 2020 for pi(s,t) of one t and all s).
 *
 * Throughout pi(s,t) = p(s) + sum over v of pi(s,v) r(v), and as pi(s,.) sums to 1 the sum is at most max r. */
#include "base/thread.h"
#include "graph/ppr_push.h"

typedef struct backward {
    qp_ppr_space *space;
    const qp_chain *chain;
    volatile const int *cancel;
    double alpha, threshold;
    uint32_t n_next;
    qp_ppr_result *result;
} backward;

static void give(backward *b, uint32_t v, float r)
{
    ppr_node *x = &b->space->node[v];
    ppr_touch(b->space, v);
    x->r += r;
    if (x->r > b->threshold && !(x->flag & PPR_QUEUED)) {
        x->flag |= PPR_QUEUED;
        b->space->next[b->n_next++] = v;
    }
}

static void pull(backward *b, uint32_t v)
{
    const qp_csr *in = &b->chain->in;
    ppr_node *x = &b->space->node[v];
    double r = x->r;
    x->p += (float)(b->alpha * r);
    x->r = 0;
    x->flag &= ~(uint32_t)PPR_QUEUED;
    if (b->chain->undirected && !(qp_chain_sum(b->chain, v) > 0)) { /* a node alone: the walk is always there */
        x->p = 1;
        return;
    }
    for (uint64_t e = in->start[v]; e < in->start[v + 1]; e++) {
        uint32_t u = in->target[e];
        double w = in->weight ? in->weight[e] : 1;
        if (w > 0)
            give(b, u, (float)((1 - b->alpha) * r * w / qp_chain_sum(b->chain, u)));
    }
    b->result->arcs += in->start[v + 1] - in->start[v];
}

static qp_code search(backward *b, uint32_t target, qp_err *err)
{
    qp_ppr_space *s = b->space;
    qp_code code = ppr_space_push(s, err);
    if (code)
        return code;
    give(b, target, 1);
    while (b->n_next) {
        uint32_t *now = s->next, n = b->n_next;
        s->next = s->now;
        s->now = now;
        b->n_next = 0;
        for (uint32_t i = 0; i < n; i++) {
            pull(b, now[i]);
            if (i % 1024 == 0 && qp_cancelled(b->cancel))
                return ppr_stopped(err);
        }
        b->result->sweeps++;
    }
    return QP_OK;
}

qp_code ppr_backward(ppr_run *run, qp_err *err)
{
    const qp_ppr_query *q = run->query;
    const qp_ppr_space *s = run->space;
    backward b = {run->space, run->chain, q->cancel, q->alpha, run->tolerance, 0, run->result};
    uint32_t seed = run->seeds.node[0];
    double own = qp_chain_sum(run->chain, seed);
    qp_rank best;
    if (!(own > 0) && q->dangling == QP_PPR_UNIFORM)
        return qp_fail(err, QP_USAGE, "ppr: backward cannot spread the mass of seed %u, which has no edge: use exact",
                       seed);
    qp_code code = search(&b, seed, err);
    if (code == QP_OK)
        code = ppr_rank(run, &best, s->n_touched, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t v = s->touched[i];
        double p = v == seed ? s->node[v].p : s->node[v].p * qp_chain_sum(run->chain, v) / own;
        if (p > 0)
            qp_rank_add(&best, v, p);
    }
    ppr_answer(run, &best);
    return QP_OK;
}

qp_code qp_ppr_target(qp_ppr_space *s, uint32_t target, double alpha, double tolerance, uint32_t top,
                      volatile const int *cancel, qp_arena *mem, qp_ppr_result *result, qp_err *err)
{
    const qp_chain *c = s->chain;
    *result = (qp_ppr_result){.engine = QP_PPR_BACKWARD, .error = -1};
    if (!(alpha > 0 && alpha < 1) || !(tolerance >= 0 && tolerance < 1))
        return qp_fail(err, QP_USAGE, "ppr: alpha %g, tolerance %g: wanted both below 1, alpha above 0", alpha,
                       tolerance);
    if (target >= c->out.n)
        return qp_fail(err, QP_INPUT, "ppr: target %u is not there: the graph has %u nodes", target, c->out.n);
    if (!c->undirected && c->n_dangling)
        return qp_fail(err, QP_USAGE,
                       "ppr: to search back from a target, every node needs a way on: %u have none; ask by source, or "
                       "give them a loop",
                       c->n_dangling);
    backward b = {s, c, cancel, alpha, tolerance > 0 ? tolerance : 1e-6, 0, result};
    qp_rank best;
    qp_code code = search(&b, target, err);
    if (code == QP_OK)
        code = qp_rank_init(&best, top && top < s->n_touched ? top : s->n_touched, mem, err);
    for (uint32_t i = 0; code == QP_OK && i < s->n_touched; i++)
        if (s->node[s->touched[i]].p > 0)
            qp_rank_add(&best, s->touched[i], s->node[s->touched[i]].p);
    if (code == QP_OK) {
        qp_rank_sort(&best);
        result->at = best.at;
        result->n = (uint32_t)best.n;
    }
    ppr_space_reset(s);
    return code;
}
