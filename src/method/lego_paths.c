/* Path retrieval: shortest paths, all simple paths, simple paths scored once (OSAR), beam search (ISAR); judged by a
 * semantic model or by the writer, with what the paper tried on top of each. */
#include <math.h>

#include "op/choose.h"
#include "method/lego.h"
#include "op/beam.h"
#include "op/eem.h"
#include "op/ops.h"

static qp_str *texts_of(qp_query *q, const qp_hit *path, uint32_t n)
{
    qp_str *text = qp_new(q->mem, qp_str, n + 1u);
    if (!text)
        qp_oom(&q->err);
    for (uint32_t i = 0; text && i < n && q->err.code == QP_OK; i++)
        text[i] = qp_path_text(q, &path[i]);
    return q->err.code == QP_OK ? text : NULL;
}

static qp_list by_model(qp_query *q, const lego_opt *o, qp_list paths, uint32_t k)
{
    qp_hit *hit = qp_list_copy(q, paths);
    float *score = qp_new(q->mem, float, paths.n + 1u);
    if (!hit || !score || !qp_judge_paths(q, o->eem, o->item, *o->score == 'p', paths.at, paths.n, score))
        return (qp_list){0};
    for (uint32_t i = 0; i < paths.n; i++)
        hit[i].score = score[i];
    return qp_list_sorted(q, hit, paths.n, k);
}

/* The chosen ones in the writer's order, then, with `supplement`, the embedder's best up to k. */
static qp_list by_writer(qp_query *q, const lego_opt *o, qp_list paths, uint32_t k)
{
    uint32_t n_chosen, n = 0;
    qp_str *text = texts_of(q, paths.at, paths.n);
    const qp_choice choice = {o->paths_prompt, "lego-paths.txt", o->example, k, (uint32_t)o->window, false};
    const uint32_t *chosen = text ? qp_choose(q, &choice, text, paths.n, &n_chosen) : NULL;
    qp_hit *hit = chosen ? qp_new(q->mem, qp_hit, (size_t)k + n_chosen + 1) : NULL;
    if (!hit)
        return (qp_list){0};
    for (; n < n_chosen; n++) {
        hit[n] = paths.at[chosen[n]];
        hit[n].score = (float)(n_chosen - n);
    }
    qp_list more = o->supplement ? by_model(q, o, paths, k) : (qp_list){0};
    for (uint32_t i = 0; i < more.n && n < k; i++) {
        bool known = false;
        for (uint32_t j = 0; j < n_chosen; j++)
            known |= hit[j].id == more.at[i].id && hit[j].via == more.at[i].via && hit[j].from == more.at[i].from;
        if (!known) {
            hit[n] = more.at[i];
            hit[n++].score = -(float)i - 1;
        }
    }
    return qp_list_sorted(q, hit, n, k);
}

/* ---- one shot: all at once ---- */

/* The writer again over what it chose, `rounds` times, each time half as many; then the embedder may order them. */
static qp_list one_shot(qp_query *q, const lego_opt *o, qp_list paths, bool writer)
{
    uint32_t k = (uint32_t)o->top_k;
    if (!writer)
        return by_model(q, o, paths, k);
    if (o->prefilter && paths.n > o->prefilter)
        paths = by_model(q, o, paths, (uint32_t)o->prefilter);
    for (int64_t round = 1; round < o->rounds && paths.n > k; round++)
        paths = by_writer(q, o, paths, paths.n / 2 > k ? paths.n / 2 : k);
    qp_list out = by_writer(q, o, paths, k);
    return o->rerank ? by_model(q, o, out, k) : out;
}

/* ---- step by step ---- */

typedef struct writer_judge {
    const lego_opt *o;
    uint32_t width;
} writer_judge;

static bool enough(qp_query *q, const qp_hit *path, uint32_t n)
{
    qp_str *text = texts_of(q, path, n);
    return text && qp_agrees(q, NULL, "lego-enough.txt", text, n);
}

/* A round's extensions: the embedder may thin them out, the writer chooses, the embedder may fill up. What was dropped
 * gets -INFINITY. */
static bool judge_by_writer(qp_query *q, void *ctx, const qp_hit *path, uint32_t n, float *score)
{
    const writer_judge *w = ctx;
    qp_list all = {path, n};
    qp_hit *numbered = qp_list_copy(q, all);
    if (!numbered)
        return false;
    qp_list few = all;
    if (w->o->prefilter && n > w->o->prefilter)
        few = by_model(q, w->o, all, (uint32_t)w->o->prefilter);
    qp_list kept = by_writer(q, w->o, few, w->width);
    for (uint32_t i = 0; i < n; i++) {
        score[i] = -INFINITY;
        for (uint32_t j = 0; j < kept.n; j++)
            if (kept.at[j].id == path[i].id && kept.at[j].via == path[i].via && kept.at[j].from == path[i].from)
                score[i] = kept.at[j].score;
    }
    if (q->err.code != QP_OK)
        return false;
    return !w->o->stop || !enough(q, kept.at, kept.n);
}

static bool judge_by_model(qp_query *q, void *ctx, const qp_hit *path, uint32_t n, float *score)
{
    const writer_judge *w = ctx;
    const lego_opt *o = w->o;
    if (!qp_judge_paths(q, o->eem, o->item, *o->score == 'p', path, n, score))
        return false;
    if (!o->stop)
        return true;
    qp_hit *hit = qp_list_copy(q, (qp_list){path, n});
    for (uint32_t i = 0; hit && i < n; i++)
        hit[i].score = score[i];
    qp_list best = qp_list_sorted(q, hit, hit ? n : 0, w->width);
    return !enough(q, best.at, best.n);
}

static qp_list step_by_step(qp_query *q, const lego_opt *o, qp_set starts, qp_set sub, bool writer)
{
    writer_judge ctx = {o, (uint32_t)o->width};
    const qp_beam_how how = {.width = (uint32_t)o->width,
                             .hops = (uint32_t)o->max_hop,
                             .simple = o->simple,
                             .prune = o->prune,
                             .percentile = o->percentile,
                             .widest = 64,
                             .judge = writer ? judge_by_writer : judge_by_model,
                             .ctx = &ctx};
    qp_list paths = qp_beam_search(q, starts.nodes, sub, qp_query_walk(q, o->edges, NULL), &how);
    if (writer && paths.n) /* ranks of different rounds do not compare: the embedder orders the whole */
        paths = by_model(q, o, paths, paths.n);
    if (o->refine && paths.n)
        paths = by_writer(q, o, paths, (uint32_t)o->top_k);
    return paths;
}

lego_opt lego_predict(qp_query *q, const lego_opt *o)
{
    lego_opt out = *o;
    if (*o->hops != 'a')
        return out;
    bool one = qp_agrees(q, NULL, "lego-hops.txt", NULL, 0);
    out.prune = one ? "mean" : "none";
    out.score = one ? "path" : "triple";
    return out;
}

qp_set lego_paths(qp_query *q, const lego_opt *o, qp_set starts, qp_set sub)
{
    bool writer = qp_str_ends(qp_str_of(o->pr), QP_STR("llm"));
    qp_set out = sub;
    if (!strcmp(o->pr, "spr") || !strcmp(o->pr, "all")) {
        bool shortest = *o->pr == 's';
        return qp_paths_through(q, starts, sub, shortest ? "shortest" : "simple", (uint32_t)o->max_hop,
                                (uint32_t)o->budget);
    }
    if (*o->pr == 'i')
        out.paths = step_by_step(q, o, starts, sub, writer);
    else
        out.paths =
            one_shot(q, o, qp_paths_through(q, starts, sub, "simple", (uint32_t)o->max_hop, (uint32_t)o->budget).paths,
                     writer);
    return out;
}
