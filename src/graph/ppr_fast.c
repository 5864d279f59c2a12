/* Push, one step more for the hubs, what comes straight back, and a tail for what the residual then still holds.
 *
 * pi = p + sum over u of r(u) pi_u, and pi_u is alpha at u and otherwise where longer walks from u are. On a graph that
 * mixes, that is near the chain's limit l, so
 *     s(v) = p(v) + alpha r(v) + (1 - alpha) R l(v),   R = the sum of r in v's part,
 * over the nodes touched and the part's hubs, where the tail is large: without it the ranking of hubs, decided by what
 * the residual holds, needs a thousand times the pushes. Mass that dangling nodes spread evenly is one more residual.
 *
 * What is wrong with a hub's tail is mostly its first step, into which hub's row the largest residuals lead: chance, that
 * falls with the root of what a push costs. So those above a tenth of the pushes' bound, S in sum, take that step once
 * more, to hubs alone (chain.h's `beside`: a third of the arcs, into a table that the nearest cache holds), T(v) in sum:
 *     s(v) = p(v) + alpha r(v) + alpha (1 - alpha) T(v) + (1 - alpha) (R - alpha S) l(v).
 *
 * On a sparse graph mass also comes straight back: a hub beside the source holds a residual too small for its degree to be
 * pushed and hundreds of times its tail, and of that b(v), the chance to be at v again after two steps (chain.h's `back`),
 * returns, again and again. So alpha r(v) / (1 - (1 - alpha)^2 b(v)) stands for alpha r(v), and the tail holds less by what
 * that adds. At 100M nodes and 300M edges hubs were 4 % low without it. */
#include <stdlib.h>

#include "graph/ppr_push.h"

enum { AHEAD = 16, FINER = 10 };

typedef struct part_left {
    uint32_t part;
    double left;    /* R */
    double stepped; /* S */
    double back;    /* what came back, for good */
    uint32_t n_hubs;
    double *here; /* n_hubs: p + alpha r, and what is the same for all */
    float *came;  /* n_hubs: T */
} part_left;

typedef struct tail {
    const qp_chain *chain;
    double alpha, even; /* even: what spread mass leaves at every node at once */
    part_left *of;      /* parts of the seeds, rising: no residual is elsewhere */
    uint32_t n;
    double by_degree; /* one part, no weights: the tail of a node for each of its arcs; else below 0 */
} tail;

static int by_part(const void *left, const void *right)
{
    const part_left *a = left, *b = right;
    return (a->part > b->part) - (a->part < b->part);
}

static part_left *find_part(const tail *t, uint32_t part)
{
    part_left key = {.part = part};
    return bsearch(&key, t->of, t->n, sizeof key, by_part);
}

static inline part_left *part_at(const tail *t, uint32_t v)
{
    return t->n == 1 ? t->of : find_part(t, t->chain->part[v]); /* one part needs no way to memory */
}

static void gather_parts(tail *t, const ppr_run *run)
{
    for (uint32_t i = 0; i < run->seeds.n; i++)
        t->of[i].part = t->chain->part[run->seeds.node[i]];
    qsort(t->of, run->seeds.n, sizeof *t->of, by_part);
    for (uint32_t i = 0; i < run->seeds.n; i++)
        if (!t->n || t->of[t->n - 1].part != t->of[i].part)
            t->of[t->n++] = t->of[i];
}

/* What is left in each part. With one part it is what has not been kept; spread mass is shared out by volume. */
static void sum_parts(tail *t, const ppr_push *x)
{
    const qp_ppr_space *s = x->run->space;
    double volume = 0;
    if (t->n == 1) {
        t->of[0].left = 1 - x->kept;
        return;
    }
    for (uint32_t i = 0; i < s->n_touched; i++) {
        part_left *at = find_part(t, t->chain->part[s->touched[i]]);
        at->left += s->node[s->touched[i]].r;
    }
    for (uint32_t i = 0; i < t->n; i++)
        volume += t->chain->part_volume[t->of[i].part];
    for (uint32_t i = 0; volume > 0 && i < t->n; i++)
        t->of[i].left += x->spread * t->chain->part_volume[t->of[i].part] / volume;
}

static qp_code make_tail(tail *t, const ppr_push *x, qp_err *err)
{
    ppr_run *run = x->run;
    const qp_chain *c = run->chain;
    *t = (tail){.chain = c, .alpha = run->query->alpha, .of = qp_new(run->mem, part_left, run->seeds.n)};
    if (!t->of)
        return qp_oom(err);
    gather_parts(t, run);
    sum_parts(t, x);
    t->even = t->alpha * x->spread / c->out.n;
    double volume = c->part_volume[t->of[0].part];
    bool plain = t->n == 1 && !c->limit && !c->sum && volume > 0;
    t->by_degree = plain ? (1 - t->alpha) * t->of[0].left / volume : -1;
    return QP_OK;
}

static qp_code make_hubs(const tail *t, part_left *at, qp_arena *mem, qp_err *err)
{
    const qp_chain *c = t->chain;
    at->n_hubs = c->hub_start[at->part + 1] - c->hub_start[at->part];
    at->here = qp_new(mem, double, at->n_hubs + 1u);
    at->came = qp_new(mem, float, at->n_hubs + 1u);
    for (uint32_t j = 0; at->here && j < at->n_hubs; j++)
        at->here[j] = t->even;
    return at->here && at->came ? QP_OK : qp_oom(err);
}

/* A node's score; a hub's waits for the step. */
static inline void look_at(const tail *t, const ppr_node *x, uint32_t v, qp_rank *best)
{
    const double on = (1 - t->alpha) * (1 - t->alpha) * ppr_back(x), back = t->alpha * x->r * on / (1 - on);
    double here = x->p + t->alpha * x->r + back + t->even;
    part_left *at = part_at(t, v);
    at->back += back;
    if (x->flag >= PPR_HUB)
        at->here[x->flag / PPR_HUB - 1] = here;
    else if (t->by_degree >= 0)
        qp_rank_add(best, v, here + t->by_degree * x->degree);
    else
        qp_rank_add(best, v, here + (1 - t->alpha) * at->left * qp_chain_limit(t->chain, v));
}

/* All that were touched; gives those that take one step more, in `from`. */
static uint32_t look_at_all(const tail *t, const ppr_push *x, uint32_t *from, qp_rank *best)
{
    const qp_ppr_space *s = x->run->space;
    const float least = x->epsilon / FINER;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t v = s->touched[i];
        if (i + AHEAD < s->n_touched)
            __builtin_prefetch(&s->node[s->touched[i + AHEAD]]);
        from[n] = v;
        n += s->node[v].r > least * s->node[v].degree;
        look_at(t, &s->node[v], v, best);
    }
    return n;
}

static void step_from(const tail *t, const ppr_node *x, uint32_t u)
{
    const qp_chain *c = t->chain;
    part_left *at = part_at(t, u);
    double sum = qp_chain_sum(c, u);
    if (!(sum > 0))
        return;
    float on = (float)(x->r / sum);
    for (uint32_t j = c->beside_start[u]; j < c->beside_start[u + 1]; j++)
        at->came[c->beside[j]] += c->beside_weight ? on * c->beside_weight[j] : on;
    at->stepped += x->r;
}

static void step_to_hubs(const tail *t, const qp_ppr_space *s, const uint32_t *from, uint32_t n)
{
    const qp_chain *c = t->chain;
    for (uint32_t i = 0; i < n; i++) {
        if (i + 2 * AHEAD < n)
            __builtin_prefetch(&c->beside_start[from[i + 2 * AHEAD]]);
        if (i + AHEAD < n)
            __builtin_prefetch(&c->beside[c->beside_start[from[i + AHEAD]]]);
        step_from(t, &s->node[from[i]], from[i]);
    }
}

static void rank_hubs(const tail *t, const part_left *at, qp_rank *best)
{
    const qp_chain *c = t->chain;
    const double alpha = t->alpha, rest = (1 - alpha) * (at->left - alpha * at->stepped) - at->back;
    uint32_t first = c->hub_start[at->part];
    for (uint32_t j = 0; j < at->n_hubs; j++) {
        double value = at->here[j] + alpha * (1 - alpha) * at->came[j] + rest * c->hub_limit[first + j];
        if (value > 0)
            qp_rank_add(best, c->hub[first + j], value);
    }
}

qp_code ppr_fast(ppr_run *run, qp_err *err)
{
    qp_ppr_space *s = run->space;
    const qp_chain *c = run->chain;
    ppr_push x;
    tail t;
    qp_rank best;
    qp_code code = ppr_push_run(&x, run, run->tolerance, err);
    if (code == QP_OK)
        code = make_tail(&t, &x, err);
    uint64_t most = s->n_touched;
    for (uint32_t i = 0; code == QP_OK && i < t.n; i++) {
        code = make_hubs(&t, &t.of[i], run->mem, err);
        most += t.of[i].n_hubs;
    }
    if (code == QP_OK)
        code = ppr_rank(run, &best, most < c->out.n ? (uint32_t)most : c->out.n, err);
    if (code)
        return code;
    uint32_t *from = s->next, n = look_at_all(&t, &x, from, &best); /* the queue is empty by now */
    if (c->beside_start)
        step_to_hubs(&t, s, from, n);
    for (uint32_t i = 0; i < t.n; i++)
        rank_hubs(&t, &t.of[i], &best);
    ppr_answer(run, &best);
    return QP_OK;
}
