#include "graph/rwr.h"

#include <stdlib.h>

#include "base/thread.h"
#include "graph/seeds.h"

typedef struct walk {
    const qp_chain *chain;
    const qp_rwr_query *query;
    qp_seeds seeds;
    uint32_t *visits; /* a node each; pages with none visited are never there */
    uint32_t *met;    /* in the order of the first visit */
    uint32_t n_met;
} walk;

static void visit(walk *w, uint32_t v)
{
    if (!w->visits[v])
        w->met[w->n_met++] = v;
    w->visits[v] += w->visits[v] < UINT32_MAX;
}

static qp_code go(walk *w, qp_err *err)
{
    enum { LOOK = 1 << 16 };
    qp_random random = qp_random_seed(w->query->random);
    uint32_t at = qp_seeds_draw(&w->seeds, &random);
    for (uint64_t i = 0; i < w->query->steps; i++) {
        if (i % LOOK == 0 && qp_cancelled(w->query->cancel))
            return qp_fail(err, QP_STOPPED, "the random walk was cancelled");
        visit(w, at);
        if (qp_random_unit(&random) < w->query->alpha || !(qp_chain_sum(w->chain, at) > 0))
            at = qp_seeds_draw(&w->seeds, &random);
        else
            at = qp_chain_step(w->chain, at, &random);
    }
    return QP_OK;
}

static qp_code rank(const walk *w, qp_arena *mem, qp_rwr_result *result, qp_err *err)
{
    qp_rank best;
    uint32_t top = w->query->top;
    qp_code code = qp_rank_init(&best, top && top < w->n_met ? top : w->n_met, mem, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < w->n_met; i++)
        qp_rank_add(&best, w->met[i], (double)w->visits[w->met[i]] / (double)w->query->steps);
    qp_rank_sort(&best);
    *result = (qp_rwr_result){best.at, (uint32_t)best.n};
    return QP_OK;
}

qp_code qp_rwr(const qp_chain *c, const qp_rwr_query *q, qp_arena *mem, qp_rwr_result *result, qp_err *err)
{
    *result = (qp_rwr_result){0};
    if (!(q->alpha > 0 && q->alpha < 1) || !q->steps)
        return qp_fail(err, QP_USAGE, "rwr: alpha %g, steps %llu: wanted alpha above 0 and below 1, and a step",
                       q->alpha, (unsigned long long)q->steps);
    walk w = {.chain = c, .query = q};
    qp_code code = qp_seeds_make(q->seed, q->weight, q->n_seeds, c->out.n, mem, &w.seeds, err);
    if (code)
        return code;
    w.visits = calloc(c->out.n, sizeof *w.visits);
    w.met = qp_new(mem, uint32_t, c->out.n < q->steps ? c->out.n : q->steps);
    code = w.visits && w.met ? go(&w, err) : qp_oom(err);
    if (code == QP_OK)
        code = rank(&w, mem, result, err);
    free(w.visits);
    return code;
}
