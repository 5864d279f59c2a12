/* The evaluation from its options to its report. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "eval/evaluation.h"
#include "eval/titles.h"
#include "store/snapshot.h"

/* Numbers the index's documents in its own order; a node without one is known by its name. */
static qp_code number_documents(qp_evaluation *e, qp_err *err)
{
    const qp_snapshot *s = e->ctx->snapshot;
    const qp_view *view = qp_snapshot_view(s);
    qp_about about;

    e->documents = qp_map_new();
    e->document_of = qp_new(e->mem, uint32_t, (size_t)view->nodes + 1);
    if (!e->documents || !e->document_of)
        return qp_oom(err);
    for (uint32_t d = 0; d < qp_snapshot_documents(s); d++)
        if (qp_document_number(e->documents, qp_snapshot_document_key(s, d)) == QP_NO_ID)
            return qp_oom(err);
    for (qp_id node = 0; node < view->nodes; node++) {
        uint32_t document = qp_snapshot_document_of(s, node);

        if (document == QP_NO_ID) {
            qp_code code = view->about(view->self, &node, 1, &about, e->mem, err);

            if (code != QP_OK)
                return code;
            document = qp_document_number(e->documents, about.name);
        }
        if (document == QP_NO_ID)
            return qp_oom(err);
        e->document_of[node] = document;
    }
    return QP_OK;
}

static void warn(const qp_evaluation *e, const char *line)
{
    if (e->options->watch.warn)
        e->options->watch.warn(e->options->watch.user, line);
}

/* Run files into the trials of their contenders. */
static qp_code read_runs(qp_evaluation *e, qp_err *err)
{
    qp_ranking *of = qp_new(e->mem, qp_ranking, e->judgements.n);
    qp_code code = of ? QP_OK : qp_oom(err);

    for (uint32_t c = e->n_methods; c < e->n_contenders && code == QP_OK; c++) {
        uint64_t strangers;

        code = qp_rankings_read(e->contenders[c].run_file, &e->judgements, e->documents, e->depth, of, &strangers,
                                e->mem, err);
        for (uint32_t q = 0; q < e->n && code == QP_OK; q++)
            qp_trial_of(e, q, c)->ranking = of[e->asked[q]];
        if (code == QP_OK && strangers) {
            qp_str line = qp_arena_fmt(e->mem, "%s: %llu lines are of questions that %s does not have: left out",
                                       e->contenders[c].run_file, (unsigned long long)strangers, e->dataset);
            warn(e, line.at ? line.at : "");
        }
    }
    return code;
}

static qp_code make_topology(qp_evaluation *e, qp_err *err)
{
    const qp_view *view = qp_snapshot_view(e->ctx->snapshot);
    qp_walk walk = {~0ull, QP_BOTH, false};
    qp_code code = view->types(view->self, e->plan.graph, &walk.types, err);

    if (code == QP_OK)
        code = qp_topology_make(view, walk, e->document_of, (uint32_t)qp_map_size(e->documents), &e->topology, err);
    return code;
}

static void report_progress(const qp_evaluation *e, uint32_t done, double start, double *last)
{
    double now = qp_now_ms();

    if (!e->options->watch.progress || (done < e->n && now - *last < 100))
        return;
    *last = now;
    e->options->watch.progress(e->options->watch.user, &(qp_progress){.stage = "evaluate",
                                                                      .done = done,
                                                                      .total = e->n,
                                                                      .seconds = (now - start) / 1000});
}

typedef struct crew {
    qp_bench *bench[256];
    uint32_t from; /* first question of the block at hand */
} crew;

static qp_code run_one(void *ctx, int worker, size_t i, qp_err *err)
{
    crew *c = ctx;

    return qp_bench_run(c->bench[worker], c->from + (uint32_t)i, err);
}

/* In blocks, so that the caller's thread can tell how far it is. */
static qp_code run_all(qp_evaluation *e, crew *c, qp_err *err)
{
    int jobs = (int)e->plan.jobs;
    uint32_t block = jobs == 1 ? 1 : 8 * (uint32_t)jobs;
    double start = qp_now_ms(), last = 0;
    qp_code code = QP_OK;

    for (c->from = 0; c->from < e->n && code == QP_OK; c->from += block) {
        uint32_t n = e->n - c->from < block ? e->n - c->from : block;

        if (qp_cancelled(e->options->watch.cancel))
            return qp_fail(err, QP_STOPPED, "stopped after %u of %u questions", c->from, e->n);
        code = qp_parallel(jobs, n, run_one, c, err);
        report_progress(e, c->from + n, start, &last);
    }
    return code;
}

static qp_code run_trials(qp_evaluation *e, crew *c, qp_err *err)
{
    size_t columns = (size_t)e->n_contenders * e->n_metrics;
    qp_code code = QP_OK;

    e->trials = qp_new(e->mem, qp_trial, (size_t)e->n * e->n_contenders);
    e->value = qp_new(e->mem, double, e->n *columns);
    if (!e->trials || !e->value)
        return qp_oom(err);
    code = read_runs(e, err);
    if (code == QP_OK && qp_evaluation_wants(e, QP_WANTS_GRAPH))
        code = make_topology(e, err);
    for (int64_t w = 0; w < e->plan.jobs && code == QP_OK; w++)
        if (!(c->bench[w] = qp_bench_new(e)))
            code = qp_oom(err);
    return code == QP_OK ? run_all(e, c, err) : code;
}

/* One TREC run a method; "%s" in the name is the method's. */
static qp_code write_runs(qp_evaluation *e, qp_err *err)
{
    const char *name = e->options->run_file, *hole = name ? strstr(name, "%s") : NULL;
    qp_ranking *of = qp_new(e->mem, qp_ranking, e->judgements.n);
    qp_code code = of ? QP_OK : qp_oom(err);

    for (uint32_t c = 0; name && c < e->n_methods && code == QP_OK; c++) {
        qp_str path = hole ? qp_arena_fmt(e->mem, "%.*s%s%s", (int)(hole - name), name, e->contenders[c].name, hole + 2)
                           : qp_str_of(name);

        for (uint32_t q = 0; q < e->n; q++)
            of[e->asked[q]] = qp_trial_of(e, q, c)->ranking;
        code = path.at ? qp_rankings_write(path.at, e->contenders[c].name, &e->judgements, e->documents, of, err)
                       : qp_oom(err);
    }
    return code;
}

static qp_code read_judgements(qp_evaluation *e, qp_err *err)
{
    qp_titles *titles = NULL;
    qp_code code = QP_OK;

    if (!qp_str_ends(qp_str_of(e->dataset), QP_STR(".json")))
        return qp_judgements_read(e->dataset, NULL, qp_snapshot_entities(e->ctx->snapshot) > 0, e->documents, e->mem,
                                  &e->judgements, err);
    code = qp_titles_make(e->ctx->snapshot, &titles, e->mem, err);
    if (code == QP_OK)
        code = qp_judgements_read(e->dataset, &(qp_titled){qp_titles_find, titles}, false, e->documents, e->mem,
                                  &e->judgements, err);
    qp_titles_free(titles);
    return code;
}

/* Zeros everywhere are the mark of another data set's index. Documents below `indexed` are in it. */
static void warn_of_strangers(qp_evaluation *e, size_t indexed)
{
    const qp_judgements *j = &e->judgements;
    bool judged = false, here = false;
    qp_str line = {0};

    for (uint32_t q = 0; q < j->n && !here; q++)
        for (uint32_t i = 0; i < j->at[q].relevant && !here; i++) {
            judged = true;
            here = j->at[q].gold[i] < indexed;
        }
    if (judged && !here)
        line = qp_arena_fmt(e->mem, "%s: none of its relevant documents is in the index: was it made of this data set?",
                            e->dataset);
    if (line.n)
        warn(e, line.at);
}

static qp_code run(qp_evaluation *e, crew *c, char **json, qp_err *err)
{
    const qp_eval_options *o = e->options;
    const uint32_t draws = o->bootstrap ? o->bootstrap : 10000;
    qp_code code = number_documents(e, err);
    size_t indexed = code == QP_OK ? qp_map_size(e->documents) : 0;

    if (code == QP_OK)
        code = read_judgements(e, err);
    if (code == QP_OK)
        warn_of_strangers(e, indexed);
    if (code == QP_OK && e->judgements.strangers) {
        qp_str line =
            qp_arena_fmt(e->mem, "%s: %llu judgements are of questions that queries.jsonl does not have: left out",
                         e->dataset, (unsigned long long)e->judgements.strangers);
        warn(e, line.at ? line.at : "");
    }
    if (code == QP_OK)
        code = qp_plan_make(e, err);
    if (code == QP_OK)
        code = qp_groups_make(e, err);
    if (code == QP_OK)
        code = run_trials(e, c, err);
    if (code == QP_OK)
        code = qp_classes_measure(e, err);
    if (code == QP_OK)
        code = qp_draws_make(e->value, e->n, e->n_contenders * e->n_metrics, draws, o->seed, e->ctx->threads, &e->draws,
                             e->mem, err);
    if (code == QP_OK)
        code = qp_groups_draw(e, draws, err);
    if (code == QP_OK)
        code = write_runs(e, err);
    if (code == QP_OK && o->html)
        code = qp_report_page(e, o->html, err);
    if (code == QP_OK && !(*json = qp_report_json(e, err)))
        code = err && err->code ? err->code : QP_BUG;
    return code;
}

qp_code qp_evaluate(const qp_bench_ctx *ctx, const char *dataset, const qp_eval_options *options, char **json,
                    qp_err *err)
{
    qp_evaluation e = {.ctx = ctx, .options = options, .dataset = dataset, .mem = qp_arena_new()};
    crew c = {0};
    qp_code code = e.mem ? run(&e, &c, json, err) : qp_oom(err);

    for (size_t w = 0; w < sizeof c.bench / sizeof *c.bench; w++)
        qp_bench_free(c.bench[w]);
    qp_contenders_free(e.contenders, e.n_contenders);
    qp_topology_free(&e.topology);
    qp_judgements_free(&e.judgements);
    qp_map_free(e.documents);
    qp_arena_free(e.mem);
    return code;
}
