/* Push, and a tail for what the residual still holds.
 *
 * pi = p + sum over u of r(u) pi_u, and pi_u is alpha at u and otherwise where longer walks from u are. On a graph that
 * mixes, that is near the chain's limit l, so
 *     s(v) = p(v) + alpha r(v) + (1 - alpha) R l(v),   R = the sum of r in v's part,
 * over the nodes touched and the part's hubs, where the tail is large: without it the ranking of hubs, decided by what
 * the residual holds, needs a thousand times the pushes. Mass that dangling nodes spread evenly is one more residual. */
#include <stdlib.h>

#include "graph/ppr_push.h"

enum { AHEAD = 16 };

typedef struct part_left {
    uint32_t part;
    double left;
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
    return t->n == 1 ? t->of : bsearch(&key, t->of, t->n, sizeof key, by_part);
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

static inline double score(const tail *t, const ppr_node *x, uint32_t v)
{
    double here = x->p + t->alpha * x->r + t->even;
    if (t->by_degree >= 0)
        return here + t->by_degree * x->degree;
    return here + (1 - t->alpha) * find_part(t, t->chain->part[v])->left * qp_chain_limit(t->chain, v);
}

/* A part's hubs stand best first, so that once the list is full and one is below its last, so are the others. */
static void rank_hubs(const tail *t, const qp_ppr_space *s, const part_left *part, qp_rank *best)
{
    const qp_chain *c = t->chain;
    uint32_t end = c->hub_start[part->part + 1];
    qp_rank_cut(best);
    for (uint32_t j = c->hub_start[part->part]; part->left > 0 && j < end; j++) {
        const ppr_node *x = &s->node[c->hub[j]];
        double value = t->even + (1 - t->alpha) * part->left * c->hub_limit[j];
        if (value < best->least.score)
            break;
        if (j + AHEAD < end)
            __builtin_prefetch(&s->node[c->hub[j + AHEAD]]);
        if (!x->flag)
            qp_rank_add(best, c->hub[j], value);
    }
}

qp_code ppr_fast(ppr_run *run, qp_err *err)
{
    const qp_ppr_space *s = run->space;
    const qp_chain *c = run->chain;
    ppr_push x;
    tail t;
    qp_rank best;
    qp_code code = ppr_push_run(&x, run, run->tolerance, err);
    if (code == QP_OK)
        code = make_tail(&t, &x, err);
    if (code)
        return code;
    uint64_t most = s->n_touched;
    for (uint32_t i = 0; i < t.n; i++)
        most += c->hub_start[t.of[i].part + 1] - c->hub_start[t.of[i].part];
    code = ppr_rank(run, &best, most < c->out.n ? (uint32_t)most : c->out.n, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < s->n_touched; i++) {
        if (i + AHEAD < s->n_touched)
            __builtin_prefetch(&s->node[s->touched[i + AHEAD]]);
        qp_rank_add(&best, s->touched[i], score(&t, &s->node[s->touched[i]], s->touched[i]));
    }
    for (uint32_t i = 0; i < t.n; i++)
        rank_hubs(&t, s, &t.of[i], &best);
    ppr_answer(run, &best);
    return QP_OK;
}
