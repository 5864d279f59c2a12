#include "op/vote.h"

#include <math.h>

#include "base/vector.h"
#include "op/idmap.h"
#include "op/ops.h"
#include "op/star.h"

enum { BATCH = 512 };

static const qp_opt opts[] = {
    {"k", "how many nodes, and relations, each head names, and how many nodes and edges come out", QP_INT,
     offsetof(qp_vote_opt, k), "10", 1, 10000, NULL},
    {"a", "a head counts by the mean norm of what it names", QP_BOOL, offsetof(qp_vote_opt, a), "true", 0, 0, NULL},
    {"b", "a head counts by how far apart what it names lies", QP_BOOL, offsetof(qp_vote_opt, b), "true", 0, 0, NULL},
    {"rank", "a vote halves with each rank", QP_BOOL, offsetof(qp_vote_opt, rank), "true", 0, 0, NULL},
    {0}};

typedef struct ballot { /* of one head */
    qp_list node, edge;
    float s;
} ballot;

static qp_list named(qp_query *q, const char *index, uint32_t head, uint32_t k)
{
    qp_list found = {0};
    const qp_probe probe = {.head = q->heads + (size_t)head * q->graph->head_dim,
                            .head_number = head,
                            .allow = q->allow};
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, index, &probe, k, &found, q->mem, &q->err);
    return found;
}

/* The head's vectors of what it names, nodes first; null after an error. */
static float *vectors_of(qp_query *q, const ballot *b, uint32_t head)
{
    uint32_t dim = q->graph->head_dim, n = b->node.n + b->edge.n;
    size_t width = (size_t)q->graph->heads * dim;
    const qp_id *node = qp_list_ids(q, b->node), *edge = qp_list_ids(q, b->edge);
    float *rows = qp_new(q->mem, float, n *width + 1), *out = qp_new(q->mem, float, (size_t)n *dim + 1);
    if (!node || !edge || !rows || !out) {
        qp_oom(&q->err);
        return NULL;
    }
    if (q->graph->vectors(q->graph->self, "node.head", node, b->node.n, rows, &q->err) ||
        q->graph->vectors(q->graph->self, "edge.head", edge, b->edge.n, rows + b->node.n * width, &q->err))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * dim, rows + i * width + (size_t)head * dim, dim * sizeof *out);
    return out;
}

/* a_h: mean L2 norm; b_h: mean cosine distance over pairs x != y. */
static float importance(qp_query *q, const qp_vote_opt *o, const ballot *b, uint32_t head)
{
    uint32_t dim = q->graph->head_dim, n = b->node.n + b->edge.n;
    float *v = vectors_of(q, b, head), *norm = v ? qp_new(q->mem, float, n + 1u) : NULL;
    double a = 0, apart = 0;
    if (!norm)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        norm[i] = sqrtf(qp_dot(v + (size_t)i * dim, v + (size_t)i * dim, dim));
        a += norm[i];
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            float product = norm[i] * norm[j];
            apart += 1 - (product > 0 ? qp_dot(v + (size_t)i * dim, v + (size_t)j * dim, dim) / product : 0);
        }
    a = n ? a / n : 0;
    apart = n > 1 ? apart / (n * (n - 1.) / 2) : 0;
    return (float)((o->a ? a : 1) * (o->b ? apart : 1));
}

static ballot *cast(qp_query *q, const qp_vote_opt *o)
{
    uint32_t heads = q->graph->heads;
    ballot *out = qp_query_heads(q) ? qp_new(q->mem, ballot, heads) : NULL;
    for (uint32_t h = 0; out && h < heads && !qp_query_over(q, "vote"); h++) {
        out[h].node = named(q, "node.head", h, (uint32_t)o->k);
        out[h].edge = named(q, "edge.head", h, (uint32_t)o->k);
        out[h].s = importance(q, o, &out[h], h);
    }
    if (!out && q->err.code == QP_OK)
        qp_oom(&q->err);
    return q->err.code == QP_OK ? out : NULL;
}

static const float *shares_of(qp_query *q, const ballot *b)
{
    uint32_t heads = q->graph->heads;
    float *share = b ? qp_new(q->mem, float, heads) : NULL;
    double sum = 0;
    if (b && !share)
        qp_oom(&q->err);
    for (uint32_t h = 0; share && h < heads; h++)
        sum += b[h].s;
    for (uint32_t h = 0; share && h < heads; h++)
        share[h] = sum > 0 ? (float)(b[h].s / sum) : 1.f / (float)heads;
    return share;
}

const float *qp_head_shares(qp_query *q, const qp_vote_opt *o)
{
    return shares_of(q, cast(q, o));
}

static float cosine(const float *x, const float *y, uint32_t dim)
{
    float product = sqrtf(qp_dot(x, x, dim) * qp_dot(y, y, dim));
    return product > 0 ? qp_dot(x, y, dim) / product : 0;
}

const float *qp_head_cosines(qp_query *q, const float *share, qp_kind kind, const qp_id *ids, uint32_t n)
{
    const float *asked = qp_query_heads(q);
    size_t width = (size_t)q->graph->heads * q->graph->head_dim;
    uint32_t heads = share ? q->graph->heads : 1, dim = (uint32_t)(width / heads);
    float *rows = asked ? qp_new(q->mem, float, BATCH *width) : NULL,
          *out = asked ? qp_new(q->mem, float, n + 1u) : NULL;
    if (asked && (!rows || !out))
        qp_oom(&q->err);
    for (uint32_t from = 0, some; out && rows && from < n; from += some) {
        some = n - from < BATCH ? n - from : BATCH;
        if (q->graph->vectors(q->graph->self, kind == QP_NODE ? "node.head" : "edge.head", ids + from, some, rows,
                              &q->err))
            return NULL;
        for (uint32_t i = 0; i < some; i++)
            for (uint32_t h = 0; h < heads; h++)
                out[from + i] +=
                    (share ? share[h] : 1) * cosine(rows + i * width + (size_t)h * dim, asked + (size_t)h * dim, dim);
    }
    return q->err.code == QP_OK ? out : NULL;
}

/* ---- the operator ---- */

/* w(x) = sum over heads of s_h 2^-p, p the rank among the nodes, or the edges, that the head named. */
static qp_list count(qp_query *q, const qp_vote_opt *o, const ballot *b, bool nodes)
{
    uint32_t heads = q->graph->heads, n = 0;
    qp_hit *hit = qp_new(q->mem, qp_hit, (size_t)heads * (size_t)o->k + 1);
    qp_idmap at = qp_idmap_in(q->mem);
    for (uint32_t h = 0; hit && h < heads; h++) {
        qp_list list = nodes ? b[h].node : b[h].edge;
        for (uint32_t p = 0; p < list.n; p++) {
            bool added;
            const uint32_t *slot = qp_idmap_put(&at, list.at[p].id, n, &added);
            if (!slot) {
                qp_oom(&q->err);
                return (qp_list){0};
            }
            if (added)
                hit[n++] = (qp_hit){list.at[p].id, QP_NO_ID, 0, NULL};
            hit[*slot].score += (float)(b[h].s * (o->rank ? exp2(-(double)(p + 1)) : 1));
        }
    }
    if (!hit)
        qp_oom(&q->err);
    return qp_list_sorted(q, hit, n, (uint32_t)o->k);
}

/* Edges of one relation are equals, so the heads vote for relations, and of those the edges at voted nodes are meant:
 * by the relation's votes, then by the node's. */
static qp_list edges_of(qp_query *q, qp_list relations, qp_list nodes, uint32_t k)
{
    const qp_list at = qp_star(q, nodes);
    const qp_id *voted = qp_list_ids(q, relations), *ids = qp_list_ids(q, at);
    qp_link *name = qp_new(q->mem, qp_link, relations.n + 1u), *link = qp_new(q->mem, qp_link, at.n + 1u);
    float *score = qp_new(q->mem, float, at.n + 1u);
    if (!voted || !ids || !name || !link || !score) {
        qp_oom(&q->err);
        return (qp_list){0};
    }
    if (q->graph->link(q->graph->self, voted, relations.n, name, &q->err) ||
        q->graph->link(q->graph->self, ids, at.n, link, &q->err))
        return (qp_list){0};
    for (uint32_t i = 0; i < at.n; i++)
        for (uint32_t r = 0; r < relations.n && score[i] == 0; r++)
            if (qp_str_eq(link[i].type, name[r].type))
                score[i] = relations.at[r].score;
    return qp_star_best(q, at, score, k);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_vote_opt *o = opt;
    const ballot *b = cast(q, o);
    (void)in, (void)n_in;
    if (o->share)
        *o->share = shares_of(q, b);
    if (!b)
        return (qp_set){0};
    qp_list node = count(q, o, b, true);
    return (qp_set){.nodes = node, .edges = edges_of(q, count(q, o, b, false), node, (uint32_t)o->k)};
}

const qp_op qp_op_vote = {
    .name = "vote",
    .help = "nodes and edges that the attention heads vote for, each head by its importance",
    .source = "GEAR, section 3 (retrieval by attention heads); Multi-Head RAG",
    .opts = opts,
    .opt_size = sizeof(qp_vote_opt),
    .run = run,
    .needs = QP_NEEDS_ATTENTION,
};

qp_set qp_vote(qp_query *q, uint32_t k)
{
    return qp_run(q, &qp_op_vote, NULL, 0, &(qp_vote_opt){k, true, true, true, NULL});
}
