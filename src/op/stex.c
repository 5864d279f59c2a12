/* O_vgs: STeX. Neighbours of the retrieved nodes, by place in the graph and by likeness to the question.
 *
 * Readings: deg(n) counts the nodes that could reach n over the types walked, parallel edges once, self-loops none.
 * beta = inf is the paper's ablation without vectors: the structural part alone. Each candidate remembers its
 * best-ranked retrieved neighbour and the edge to it.
 */
#include <math.h>

#include "op/idmap.h"
#include "op/ops.h"

typedef struct stex_opt {
    double beta;
    const char *edges, *direction;
} stex_opt;

static const qp_opt opts[] = {{"beta", "weight of structure against likeness; inf: structure alone", QP_FLOAT,
                               offsetof(stex_opt, beta), "1", 0, INFINITY, NULL},
                              QP_EDGES_HERE(stex_opt),
                              QP_DIRECTION_HERE(stex_opt),
                              {0}};

typedef struct candidates { /* N_STeX, line 1 */
    qp_hit *hit;            /* from: the best-ranked retrieved neighbour; score: not yet */
    uint32_t *best, *count; /* r_best, from 1, and |A(n)| */
    uint32_t n;
} candidates;

static bool make_room(qp_query *q, const qp_row *rows, uint32_t n, candidates *c)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most += rows[i].n;
    if (most > q->graph->nodes)
        most = q->graph->nodes;
    c->hit = qp_new(q->mem, qp_hit, most);
    c->best = qp_new(q->mem, uint32_t, most);
    c->count = qp_new(q->mem, uint32_t, most);
    return c->hit && c->best && c->count;
}

/* Rows are read by rank, so the retrieved neighbour met first is the best-ranked one. */
static bool gather(qp_query *q, qp_list ret, const qp_row *rows, candidates *c)
{
    qp_idmap inside = qp_idmap_in(q->mem), at = qp_idmap_in(q->mem);
    if (!make_room(q, rows, ret.n, c))
        return false;
    for (uint32_t i = 0; i < ret.n; i++)
        if (!qp_idmap_put(&inside, ret.at[i].id, 0, NULL))
            return false;
    for (uint32_t i = 0; i < ret.n; i++) {
        for (uint32_t j = 0; j < rows[i].n; j++) {
            qp_id id = rows[i].node[j];
            if (qp_idmap_get(&inside, id) || !qp_query_allows(q, id))
                continue;
            bool added;
            const uint32_t *slot = qp_idmap_put(&at, id, c->n, &added);
            if (!slot)
                return false;
            if (added) {
                c->hit[c->n] = (qp_hit){id, rows[i].edge[j], 0, &ret.at[i]};
                c->best[c->n++] = i + 1;
            }
            c->count[*slot]++;
        }
    }
    return true;
}

/* I_struct, lines 3 to 12. */
static double structure(uint32_t best, uint32_t count, uint32_t degree, uint32_t ret)
{
    double sum = 0;
    uint32_t most = degree < ret ? degree : ret; /* C_max */
    if (ret > 1)
        sum += 1 - (best - 1.0) / (ret - 1.0);
    if (most > 1)
        sum += (count - 1.0) / (most - 1.0);
    return sum;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const stex_opt *o = opt;
    qp_list ret = in[0].nodes;
    qp_walk walk = qp_query_walk(q, o->edges, o->direction);
    double beta = (float)o->beta;
    candidates c = {0};
    (void)n_in;
    const qp_id *ids = qp_list_ids(q, ret);
    const qp_row *rows = ids && ret.n ? qp_query_rows(q, walk, ids, ret.n) : NULL;
    if (!rows)
        return (qp_set){0};
    if (!gather(q, ret, rows, &c)) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    ids = qp_list_ids(q, (qp_list){c.hit, c.n});
    const float *dot = ids ? qp_query_dots(q, ids, c.n) : NULL;
    const uint32_t *degree = dot ? qp_query_degrees(q, qp_walk_reversed(walk), ids, c.n) : NULL;
    for (uint32_t i = 0; degree && i < c.n; i++) {
        double place = structure(c.best[i], c.count[i], degree[i], ret.n);
        c.hit[i].score = (float)(isinf(beta) ? place : dot[i] + beta * place); /* line 14 */
    }
    return qp_set_of(qp_list_sorted(q, c.hit, c.n, c.n));
}

const qp_op qp_op_stex = {
    .name = "stex",
    .help = "unseen neighbours of a set, by inner product plus beta times their place in the graph",
    .source = "FastInsight, 3.4, Algorithm 3 (O_vgs)",
    .opts = opts,
    .opt_size = sizeof(stex_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_stex(qp_query *q, qp_set a, float beta)
{
    return qp_run(q, &qp_op_stex, &a, 1, &(stex_opt){.beta = beta});
}
