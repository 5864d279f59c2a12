#include <stdio.h>

#include "api/index.h"
#include "eval/eval.h"

static void warn(const qp_eval_options *o, const char *what, const qp_err *why)
{
    char line[sizeof why->message + 64];
    snprintf(line, sizeof line, "%s%s%s%s: using -m bm25", what, *why->message ? " (" : "", why->message,
             *why->message ? ")" : "");
    if (o->watch.warn)
        o->watch.warn(o->watch.user, line);
}

/* The standard methods: those that rerank only where a reranker is, those that compare meanings only where the index
 * has vectors and their embedder is to be had; else BM25, and that is told, as in a question. */
static qp_code drop_what_is_away(qp_index *index, const qp_snapshot *snapshot, const qp_eval_options *o,
                                 unsigned *needs, qp_err *err)
{
    const qp_model *model = NULL;
    qp_err why = {0};
    qp_code code = qp_index_optional(index, QP_RANKER, &model, &why, err);
    if (!code && !model)
        *needs &= ~(unsigned)QP_NEEDS_RANKER;
    why = (qp_err){0};
    model = NULL;
    bool vectors = *qp_snapshot_embedder(snapshot);
    if (!code && vectors)
        code = qp_index_optional(index, QP_EMBEDDER, &model, &why, err);
    if (code || model)
        return code;
    *needs &= ~(unsigned)(QP_NEEDS_EMBEDDER | QP_NEEDS_RANKER);
    warn(o, vectors ? "no embedder" : "indexed without an embedder", &why);
    return QP_OK;
}

qp_code qp_index_eval(qp_index *index, const char *dataset, const qp_eval_options *options, char **json, qp_err *err)
{
    static const qp_eval_options standard = {0};
    const qp_eval_options *o = options ? options : &standard;
    unsigned needs = 0;
    qp_held *held = NULL;
    qp_query models = {0}; /* only the models' places are used */
    const char *judge = NULL;
    qp_model *opened = NULL;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_evaluate_needs(dataset, o, &needs, err) : qp_oom(err);
    if (!code)
        code = qp_evaluate_judge(o, &judge, mem, err);
    if (!code && judge && strcmp(judge, "writer") == 0)
        needs |= QP_NEEDS_WRITER;
    else if (!code && judge)
        code = qp_model_open(QP_WRITER, judge, qp_index_threads(index), &opened, err);
    if (!code)
        code = qp_index_hold(index, &held, err);
    if (!code && !o->methods && !o->n_runs)
        code = drop_what_is_away(index, qp_held_snapshot(held), o, &needs, err);
    if (!code)
        code = qp_index_equip(index, qp_held_snapshot(held), needs, &models, err);
    if (!code) {
        qp_bench_ctx ctx = {.snapshot = qp_held_snapshot(held),
                            .embedder = models.embedder,
                            .ranker = models.ranker,
                            .writer = models.writer,
                            .judge = opened  ? opened
                                     : judge ? models.writer
                                             : NULL,
                            .sparse = models.sparse,
                            .attention = models.attention,
                            .quotes = !qp_index_names(index, QP_WRITER),
                            .trained = qp_index_trained(index),
                            .threads = qp_index_threads(index)};
        code = qp_evaluate(&ctx, dataset, o, json, err);
    }
    qp_held_release(held);
    qp_model_close(opened);
    qp_arena_free(mem);
    return code;
}
