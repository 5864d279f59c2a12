#include "op/beam.h"

#include <math.h>

#include "op/eem.h"
#include "op/ops.h"
#include "op/sub.h"

typedef struct beam {
    qp_query *q;
    const qp_beam_how *how;
    const qp_sub *sub;
    qp_hit *kept; /* the paths of all rounds so far */
    uint32_t n, cap;
} beam;

static bool passes(const qp_hit *path, qp_id node)
{
    for (; path; path = path->from)
        if (path->id == node)
            return true;
    return false;
}

/* Every path of the round one arc longer; hits point at copies that stay. */
static qp_hit *extend(beam *b, qp_list round, uint32_t *n)
{
    const qp_csr *g = &b->sub->graph;
    uint64_t room = 0;
    for (uint32_t i = 0; i < round.n; i++) {
        uint32_t v = qp_sub_place(b->sub, round.at[i].id);
        room += g->start[v + 1] - g->start[v];
    }
    qp_hit *out = qp_new(b->q->mem, qp_hit, room + 1);
    *n = 0;
    if (!out) {
        qp_oom(&b->q->err);
        return NULL;
    }
    for (uint32_t i = 0; i < round.n; i++) {
        uint32_t v = qp_sub_place(b->sub, round.at[i].id);
        for (uint64_t arc = g->start[v]; arc < g->start[v + 1]; arc++) {
            qp_id to = b->sub->node[g->target[arc]];
            if (!b->how->simple || !passes(&round.at[i], to))
                out[(*n)++] = (qp_hit){to, b->sub->edge[arc], 0, &round.at[i]};
        }
    }
    return out;
}

/* How many of a sorted list stay: those whose score, brought to 0..1, is above the mean or the percentile. */
static uint32_t above(const beam *b, qp_list list)
{
    const qp_beam_how *how = b->how;
    uint32_t n = 0;
    float best = list.at[0].score, worst = list.at[list.n - 1].score, span = best - worst;
    double sum = 0;
    for (uint32_t i = 0; i < list.n; i++)
        sum += span > 0 ? (list.at[i].score - worst) / span : 1;
    double bar = *how->prune == 'm' ? sum / list.n
                                    : (list.at[(uint32_t)((1 - how->percentile) * (list.n - 1) + 1e-9)].score - worst) /
                                          (span > 0 ? span : 1);
    while (n < list.n && n < how->widest && (span > 0 ? (list.at[n].score - worst) / span : 1) >= bar)
        n++;
    return n ? n : 1;
}

/* The best of a round's candidates. */
static qp_list choose(beam *b, qp_hit *candidate, uint32_t n, bool *go_on)
{
    float *score = qp_new(b->q->mem, float, n + 1u);
    uint32_t left = 0;
    if (!score) {
        qp_oom(&b->q->err);
        return (qp_list){0};
    }
    *go_on = b->how->judge(b->q, b->how->ctx, candidate, n, score);
    for (uint32_t i = 0; i < n; i++)
        if (score[i] > -INFINITY) {
            candidate[left] = candidate[i];
            candidate[left++].score = score[i];
        }
    qp_list all = qp_list_sorted(b->q, candidate, left, left);
    if (!all.n)
        return all;
    uint32_t keep = *b->how->prune == 'n' ? b->how->width : above(b, all);
    all.n = keep < all.n ? keep : all.n;
    return all;
}

static bool keep(beam *b, qp_list round)
{
    if (b->n + round.n > b->cap) {
        uint32_t cap = 2 * (b->n + round.n) + 64;
        qp_hit *more = qp_new(b->q->mem, qp_hit, cap);
        if (!more) {
            qp_oom(&b->q->err);
            return false;
        }
        if (b->n)
            memcpy(more, b->kept, b->n * sizeof *more);
        b->kept = more;
        b->cap = cap;
    }
    if (round.n)
        memcpy(b->kept + b->n, round.at, round.n * sizeof *round.at);
    b->n += round.n;
    return true;
}

static void search_from(beam *b, const qp_hit *start)
{
    qp_hit *first = qp_new(b->q->mem, qp_hit, 1);
    if (!first) {
        qp_oom(&b->q->err);
        return;
    }
    *first = (qp_hit){start->id, QP_NO_ID, start->score, NULL};
    qp_list round = {first, 1};
    bool go_on = true;
    for (uint32_t hop = 0; hop < b->how->hops && round.n && go_on && !qp_query_over(b->q, "beam"); hop++) {
        uint32_t n;
        qp_hit *candidate = extend(b, round, &n);
        if (!candidate || !n)
            break;
        round = choose(b, candidate, n, &go_on);
        if (b->q->err.code != QP_OK || !keep(b, round))
            break;
    }
}

qp_list qp_beam_search(qp_query *q, qp_list starts, qp_set set, qp_walk walk, const qp_beam_how *how)
{
    qp_sub sub;
    if (!qp_sub_make(q, set, walk, &sub))
        return (qp_list){0};
    beam b = {.q = q, .how = how, .sub = &sub};
    for (uint32_t i = 0; i < starts.n; i++)
        if (qp_sub_place(&sub, starts.at[i].id) != QP_NO_PLACE)
            search_from(&b, &starts.at[i]);
    return qp_list_sorted(q, b.kept, b.n, b.n);
}

/* ---- the operator: judged by a semantic model ---- */

typedef struct beam_opt {
    int64_t width, hops, widest;
    bool simple;
    const char *score, *eem, *item, *prune, *edges;
    double percentile;
} beam_opt;

static const qp_opt opts[] = {
    {"width", "paths kept in a round", QP_INT, offsetof(beam_opt, width), "8", 1, 10000, NULL},
    {"hops", "rounds: the longest path", QP_INT, offsetof(beam_opt, hops), "4", 1, 16, NULL},
    {"score", "what is scored: the whole path, or its last triple alone", QP_ENUM, offsetof(beam_opt, score), "path", 0,
     0, "path|triple"},
    QP_EEM_OPTION(beam_opt),
    QP_ITEM_OPTION(beam_opt),
    {"simple", "no node twice in a path", QP_BOOL, offsetof(beam_opt, simple), "true", 0, 0, NULL},
    {"prune", "keep those above the mean, or a percentile, instead of `width`", QP_ENUM, offsetof(beam_opt, prune),
     "none", 0, 0, "none|mean|percentile"},
    {"percentile", "which, of the scores", QP_FLOAT, offsetof(beam_opt, percentile), "0.9", 0, 1, NULL},
    {"widest", "paths kept at most where prune decides", QP_INT, offsetof(beam_opt, widest), "64", 1, 10000, NULL},
    QP_EDGES_HERE(beam_opt),
    {0}};

bool qp_judge_paths(qp_query *q, const char *eem, const char *item, bool whole, const qp_hit *path, uint32_t n,
                    float *score)
{
    qp_str *text = qp_new(q->mem, qp_str, n + 1u);
    qp_id *edge = qp_new(q->mem, qp_id, n + 1u);
    if (!text || !edge) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        edge[i] = path[i].via;
        if (whole)
            text[i] = qp_path_text(q, &path[i]);
    }
    const float *made = whole ? qp_eem_texts(q, eem, text, n) : qp_eem_edges(q, eem, item, edge, n);
    if (made)
        memcpy(score, made, n * sizeof *score);
    return made;
}

static bool judge(qp_query *q, void *ctx, const qp_hit *path, uint32_t n, float *score)
{
    const beam_opt *o = ctx;
    return qp_judge_paths(q, o->eem, o->item, *o->score == 'p', path, n, score);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const beam_opt *o = opt;
    const qp_beam_how how = {.width = (uint32_t)o->width,
                             .hops = (uint32_t)o->hops,
                             .simple = o->simple,
                             .prune = o->prune,
                             .percentile = o->percentile,
                             .widest = (uint32_t)o->widest,
                             .judge = judge,
                             .ctx = (void *)(uintptr_t)opt};
    qp_set out = in[1];
    (void)n_in;
    out.paths = qp_beam_search(q, in[0].nodes, in[1], qp_query_walk(q, o->edges, NULL), &how);
    return out;
}

const qp_op qp_op_beam = {
    .name = "beam",
    .help = "paths from the first set's nodes through the second set's subgraph, grown arc by arc, the best kept in "
            "each round",
    .source = "LEGO-GraphRAG, Algorithm 1 (ISAR)",
    .opts = opts,
    .opt_size = sizeof(beam_opt),
    .in_min = 2,
    .in_max = 2,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
