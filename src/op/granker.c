/* O_gm: GRanker. The cross-encoder's latents of the retrieved nodes, smoothed over the edges among them.
 *
 * Readings: deg counts the nodes that reach n_j over the types walked, in the whole graph. A row of W that is all zero
 * has no neighbour to listen to: H'_i = H_i, not (1 - alpha) H_i. Departure: none in the result; a row of H' that an
 * earlier round had (the same node, the same neighbours) keeps its score, since it would be the same number.
 */
#include <math.h>

#include "base/sorted.h"
#include "op/ops.h"

typedef struct granker_opt {
    double alpha, scale;
    const char *edges, *direction;
} granker_opt;

static const qp_opt opts[] = {{"alpha", "how much a node listens to its neighbours", QP_FLOAT,
                               offsetof(granker_opt, alpha), "0.2", 0, 1, NULL},
                              {"scale", "ours: W = A / deg^scale; 0: neighbours count alike", QP_FLOAT,
                               offsetof(granker_opt, scale), "1", 0, 10, NULL},
                              QP_EDGES_HERE(granker_opt),
                              QP_DIRECTION_HERE(granker_opt),
                              {0}};

enum { ROWS = 48 }; /* of H' that go through the head at once */

typedef struct smoothing { /* one call of GRanker */
    qp_query *q;
    uint32_t n, width;
    float alpha, scale;
    const qp_id *ids;           /* N_ret, by rank */
    const float *const *latent; /* H */
    const qp_row *rows;
    const uint32_t *degree;
    qp_list by_id;       /* N_ret, by rising id; `score` is not used, `via` is the rank */
    uint32_t *neighbour; /* ranks of the row at hand's neighbours inside N_ret */
    qp_buf key;
} smoothing;

/* Row i of A (line 2): the neighbours of node i inside N_ret, in order of id, so that sums do not depend on ranks. */
static uint32_t neighbours(smoothing *s, uint32_t i)
{
    const qp_row *row = &s->rows[i];
    uint64_t at = 0;
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        const qp_hit *h = &s->by_id.at[j];
        at = qp_lower_bound_near(row->node, at, row->n, h->id);
        if (at < row->n && row->node[at] == h->id && h->id != s->ids[i])
            s->neighbour[n++] = h->via;
    }
    return n;
}

/* What the score of row i depends on, beside the question: node, alpha, scale, and neighbours with their degrees. */
static qp_str key_of(smoothing *s, uint32_t i, uint32_t n)
{
    qp_buf_clear(&s->key);
    qp_buf_add(&s->key, &s->ids[i], sizeof s->ids[i]);
    qp_buf_add(&s->key, &s->alpha, sizeof s->alpha);
    qp_buf_add(&s->key, &s->scale, sizeof s->scale);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = s->neighbour[k], pair[2] = {s->ids[j], s->degree[j]};
        qp_buf_add(&s->key, pair, sizeof pair);
    }
    if (s->key.oom)
        qp_oom(&s->q->err);
    return qp_buf_view(&s->key);
}

/* Row i of H' (lines 4 to 6): W_ij = A_ij / deg(n_j)^scale, scale 1 being the paper's, P = W with rows summing to 1, H'
 * = (1 - alpha) H + alpha P H. */
static void smooth(const smoothing *s, uint32_t i, uint32_t n, double *sum, float *out)
{
    double total = 0;
    for (uint32_t d = 0; d < s->width; d++)
        sum[d] = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = s->neighbour[k];
        double w = s->scale == 1 ? 1.0 / s->degree[j] : pow(s->degree[j], -(double)s->scale);
        total += w;
        for (uint32_t d = 0; d < s->width; d++)
            sum[d] += w * s->latent[j][d];
    }
    for (uint32_t d = 0; d < s->width; d++)
        out[d] = (float)((1 - (double)s->alpha) * s->latent[i][d] + (double)s->alpha * (sum[d] / total));
}

/* The head on the rows of H' gathered so far; each score goes to its hit, and is kept. */
static void flush(smoothing *s, const float *rows, const uint32_t *asked, uint32_t n, qp_hit *hits)
{
    float fresh[ROWS];
    qp_query *q = s->q;
    if (!n || q->err.code != QP_OK || q->ranker->head(q->ranker->self, rows, n, fresh, &q->err) != QP_OK)
        return;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = asked[k];
        hits[i].score = fresh[k];
        qp_query_keep(q, key_of(s, i, neighbours(s, i)), fresh[k]);
    }
}

/* The scores of line 7. Rows of H' without neighbours are rows of H, scored as a reranker does. */
static void score(smoothing *s, qp_hit *hits)
{
    qp_query *q = s->q;
    const float *plain = qp_query_rank(q, s->ids, s->n);
    float *rows = qp_new(q->mem, float, ROWS *(size_t)s->width);
    double *sum = qp_new(q->mem, double, s->width);
    uint32_t asked[ROWS], n_asked = 0;
    if (!plain || !rows || !sum) {
        qp_oom(&q->err);
        return;
    }
    for (uint32_t i = 0; i < s->n && q->err.code == QP_OK; i++) {
        uint32_t n = s->alpha > 0 ? neighbours(s, i) : 0;
        hits[i].score = plain[i];
        if (!n || qp_query_kept(q, key_of(s, i, n), &hits[i].score))
            continue;
        smooth(s, i, n, sum, rows + (size_t)n_asked * s->width);
        asked[n_asked++] = i;
        if (n_asked == ROWS) {
            flush(s, rows, asked, n_asked, hits);
            n_asked = 0;
        }
    }
    flush(s, rows, asked, n_asked, hits);
}

/* deg(n_j). Walked both ways a row is as long as its node's degree; else they are asked for, against the arrow. */
static const uint32_t *degrees(qp_query *q, qp_walk walk, const qp_id *ids, const qp_row *rows, uint32_t n)
{
    if (walk.direction != QP_BOTH)
        return qp_query_degrees(q, qp_walk_reversed(walk), ids, n);
    uint32_t *out = rows ? qp_new(q->mem, uint32_t, n) : NULL;
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = rows[i].n;
    return out;
}

/* N_ret in order of id: the sort by score descending, all scores being equal. */
static qp_list by_id(qp_query *q, qp_list nodes)
{
    qp_hit *ranks = qp_new(q->mem, qp_hit, nodes.n);
    if (!ranks)
        qp_oom(&q->err);
    for (uint32_t i = 0; ranks && i < nodes.n; i++)
        ranks[i] = (qp_hit){.id = nodes.at[i].id, .via = i};
    return qp_list_sorted(q, ranks, nodes.n, nodes.n);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const granker_opt *o = opt;
    qp_list nodes = in[0].nodes;
    qp_set out = in[0];
    (void)n_in;
    if (!nodes.n)
        return out;
    qp_walk walk = qp_query_walk(q, o->edges, o->direction);
    smoothing s = {
        .q = q, .n = nodes.n, .alpha = (float)o->alpha, .scale = (float)o->scale, .ids = qp_list_ids(q, nodes)};
    s.latent = s.ids ? qp_query_latents(q, s.ids, s.n) : NULL;
    s.rows = s.latent ? qp_query_rows(q, walk, s.ids, s.n) : NULL;
    s.degree = s.rows ? degrees(q, walk, s.ids, s.rows, s.n) : NULL;
    s.by_id = by_id(q, nodes);
    s.neighbour = qp_new(q->mem, uint32_t, s.n);
    qp_hit *hits = qp_list_copy(q, nodes);
    if (!s.degree || !s.neighbour || !hits) {
        qp_oom(&q->err);
        return out;
    }
    s.width = q->ranker->width;
    score(&s, hits);
    qp_buf_free(&s.key);
    out.nodes = qp_list_sorted(q, hits, nodes.n, nodes.n); /* line 8 */
    return out;
}

const qp_op qp_op_granker = {
    .name = "granker",
    .help = "sorts nodes by the cross-encoder's score of latents smoothed over the edges among them",
    .source = "FastInsight, 3.3, Algorithm 2 (O_gm)",
    .opts = opts,
    .opt_size = sizeof(granker_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_RANKER,
};

qp_set qp_granker(qp_query *q, qp_set a, float alpha, float scale)
{
    return qp_run(q, &qp_op_granker, &a, 1, &(granker_opt){.alpha = alpha, .scale = scale});
}
