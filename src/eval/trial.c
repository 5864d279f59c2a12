/* All contenders on one question, each as if it ran alone. */
#include <math.h>
#include <stdlib.h>

#include "answer/answer.h"
#include "answer/label.h"
#include "base/clock.h"
#include "base/thread.h"
#include "eval/evaluation.h"
#include "eval/evidence.h"
#include "eval/explored.h"
#include "eval/judged.h"
#include "eval/meter.h"
#include "op/answers.h"
#include "op/op.h"
#include "store/snapshot.h"

const char *const qp_stage_names[QP_STAGES] = {"total", "embed", "rank", "write", "rest"};

struct qp_bench {
    const qp_evaluation *e;
    qp_arena *mem; /* rankings and answers: until the evaluation ends */
    qp_meter embedder, ranker, writer, sparse, attention;
    uint32_t *seen, stamp; /* by document: the last ranking that had it */
    qp_reach reach;
    qp_outcome *outcome; /* of each contender, for the question at hand */
};

qp_bench *qp_bench_new(const qp_evaluation *e)
{
    qp_bench *b = calloc(1, sizeof *b);
    uint32_t documents = (uint32_t)qp_map_size(e->documents);

    if (!b)
        return NULL;
    b->e = e;
    b->mem = qp_arena_new();
    b->seen = calloc((size_t)documents + 1, sizeof *b->seen);
    b->outcome = calloc((size_t)e->n_contenders + 1, sizeof *b->outcome);
    qp_meter_make(&b->embedder, e->ctx->embedder, e->plan.share);
    qp_meter_make(&b->ranker, e->ctx->ranker, e->plan.share);
    qp_meter_make(&b->writer, e->ctx->writer, false);
    qp_meter_make(&b->sparse, e->ctx->sparse, false);
    qp_meter_make(&b->attention, e->ctx->attention, false);
    if (b->mem && b->seen && b->outcome && qp_reach_make(documents, &b->reach, NULL) == QP_OK)
        return b;
    qp_bench_free(b);
    return NULL;
}

void qp_bench_free(qp_bench *b)
{
    if (!b)
        return;
    qp_meter_free(&b->embedder);
    qp_meter_free(&b->ranker);
    qp_meter_free(&b->writer);
    qp_meter_free(&b->sparse);
    qp_meter_free(&b->attention);
    qp_reach_free(&b->reach);
    qp_arena_free(b->mem);
    free(b->seen);
    free(b->outcome);
    free(b);
}

/* Nodes, best first, to documents, each where its best node stands. */
static qp_code keep_ranking(qp_bench *b, qp_list nodes, qp_ranking *out, qp_err *err)
{
    qp_ranked *hits = qp_new(b->mem, qp_ranked, nodes.n < b->e->depth ? nodes.n : b->e->depth);
    uint32_t n = 0;

    if (!hits)
        return qp_oom(err);
    b->stamp++;
    for (uint32_t i = 0; i < nodes.n && n < b->e->depth; i++) {
        uint32_t document = b->e->document_of[nodes.at[i].id];

        if (b->seen[document] != b->stamp)
            hits[n++] = (qp_ranked){document, nodes.at[i].score};
        b->seen[document] = b->stamp;
    }
    *out = (qp_ranking){hits, n};
    return QP_OK;
}

/* What the method would have taken alone: what went by, less what the models really took, plus what they would have. */
static void keep_times(qp_bench *b, double wall, qp_trial *t)
{
    t->ms[QP_EMBED] = b->embedder.charged_ms + b->sparse.charged_ms + b->attention.charged_ms;
    t->ms[QP_RANK] = b->ranker.charged_ms;
    t->ms[QP_WRITE] = b->writer.charged_ms;
    t->ms[QP_REST] = wall - b->embedder.spent_ms - b->ranker.spent_ms - b->writer.spent_ms - b->sparse.spent_ms -
                     b->attention.spent_ms;
    if (t->ms[QP_REST] < 0)
        t->ms[QP_REST] = 0;
    t->ms[QP_TOTAL] = t->ms[QP_EMBED] + t->ms[QP_RANK] + t->ms[QP_WRITE] + t->ms[QP_REST];
}

/* What fails on the very first question is a missing model or an option that does not fit: better said at once. Later
 * on it is that question's failure; so is one that starts from an entity which the graph does not have. */
static bool is_fatal(qp_code code, uint32_t question)
{
    return (question == 0 && code != QP_NONE) || code == QP_STOPPED || code == QP_BUG;
}

static qp_code settle(qp_bench *b, uint32_t number, const qp_contender *c, const qp_err *failed, qp_trial *t,
                      qp_err *err)
{
    if (is_fatal(failed->code, number))
        return qp_fail(err, failed->code, "%s: %s", c->name, failed->message);
    t->failure = qp_arena_cstr(b->mem, failed->message);
    return t->failure ? QP_OK : qp_oom(err);
}

/* The distinct documents that are cited, by their grade. */
static qp_code keep_cited(qp_bench *b, const qp_question *question, const qp_answer *a, qp_answered *out, qp_err *err)
{
    double *cited = qp_new(b->mem, double, a->n_citations);

    if (!cited)
        return qp_oom(err);
    b->stamp++;
    for (uint32_t i = 0; i < a->n_citations; i++) {
        uint32_t document = b->e->document_of[a->citations[i].node];

        if (b->seen[document] != b->stamp)
            cited[out->n_cited++] = qp_question_grade(question, document);
        b->seen[document] = b->stamp;
        out->supported += a->citations[i].supported;
    }
    out->cited = cited;
    out->citations = a->n_citations;
    return QP_OK;
}

/* Answers from what was found, and keeps of it what measures read. */
static qp_code answer(qp_bench *b, const qp_question *question, qp_query *q, qp_set found, qp_trial *t, qp_err *err)
{
    const qp_answer_options how = {.extract = b->e->plan.extract || b->e->ctx->quotes,
                                   .prompt = b->e->plan.prompt,
                                   .choices = b->e->plan.choices,
                                   .answer_tokens = (uint32_t)b->e->plan.tokens};
    qp_answered *out = qp_new(b->mem, qp_answered, 1);
    qp_answer a = {0};

    if (!out)
        return qp_oom(err);
    if (qp_answer_make(q, found, &how, &a, &q->err) != QP_OK)
        return QP_OK; /* the query's own error: run_method looks there */
    *out =
        (qp_answered){.text = qp_arena_str(b->mem, a.text), .gold = question->answers, .n_gold = question->n_answers};
    t->answer = out;
    return out->text.at ? keep_cited(b, question, &a, out, err) : qp_oom(err);
}

/* The label of what was found, as an answer; none found is a wrong one. */
static qp_code label(qp_bench *b, uint32_t number, qp_query *q, qp_set found, qp_trial *t, qp_err *err)
{
    const qp_question *question = &b->e->judgements.at[b->e->asked[number]];
    qp_answered *out = qp_new(b->mem, qp_answered, 1);
    qp_labelled labels;

    if (!out)
        return qp_oom(err);
    if (b->e->plan.extract || b->e->ctx->quotes)
        q->writer = NULL;
    if (!found.nodes.n)
        return QP_OK;
    if (qp_label_choose(q, found, b->e->plan.label, &labels, &q->err) != QP_OK)
        return QP_OK; /* the query's own error: run_method looks there */
    *out = (qp_answered){.text = qp_arena_str(b->mem, labels.at[0].text),
                         .gold = question->answers,
                         .n_gold = question->n_answers};
    t->answer = out;
    return out->text.at ? QP_OK : qp_oom(err);
}

/* Ranks are answers here, and what was looked at on the way is measured, too. */
static qp_code keep_explored(qp_bench *b, const qp_question *question, qp_query *q, qp_set found, qp_trial *t,
                             qp_err *err)
{
    uint32_t predicted;
    qp_list answers = qp_path_answers(q, found, &predicted);
    qp_explored *out = qp_explored_make(q, found, question->gold, question->relevant, b->e->document_of, b->mem, err);

    if (!out)
        return err->code;
    out->predicted = predicted;
    t->explored = out;
    return keep_ranking(b, answers, &t->ranking, err);
}

/* What is looked at once the method is done, and its time taken. */
static qp_code look_closer(qp_bench *b, const qp_question *question, qp_query *q, qp_set found, qp_trial *t,
                           qp_err *err)
{
    const qp_evaluation *e = b->e;
    qp_code code = QP_OK;
    if (qp_evaluation_wants(e, QP_WANTS_EVIDENCE)) {
        t->evidence = qp_evidence_find(q, found.nodes, e->depth, question->evidence, question->n_evidence, b->mem, err);
        code = t->evidence ? QP_OK : err->code;
    }
    if (!code && t->answer && qp_evaluation_wants(e, QP_WANTS_JUDGE)) {
        q->writer = e->ctx->judge;
        code = qp_judge_answer(q, found.nodes, question->evidence, question->n_evidence,
                               (qp_answered *)(uintptr_t)t->answer, err);
    }
    return code;
}

/* Each answer beside the first contender's. */
static qp_code compare(qp_bench *b, uint32_t number, qp_err *err)
{
    const qp_evaluation *e = b->e;
    const qp_answered *rival = qp_trial_of(e, number, 0)->answer;
    qp_query q;
    qp_code code = qp_query_begin(&q, e->judgements.at[e->asked[number]].text, err);

    q.writer = e->ctx->judge;
    q.cancel = e->options->watch.cancel;
    for (uint32_t c = 0; c < e->n_methods && code == QP_OK; c++) {
        qp_answered *answer = (qp_answered *)(uintptr_t)qp_trial_of(e, number, c)->answer;
        code = answer ? qp_judge_win(&q, e->plan.win_prompt, rival, answer, err) : QP_OK;
    }
    qp_query_end(&q);
    return code;
}

static qp_code run_method(qp_bench *b, uint32_t number, const qp_contender *c, qp_trial *t, qp_err *err)
{
    const qp_evaluation *e = b->e;
    qp_query q;
    qp_code code = qp_query_begin(&q, e->judgements.at[e->asked[number]].text, err);

    if (code != QP_OK)
        return code;
    q.graph = qp_snapshot_view(e->ctx->snapshot);
    q.embedder = qp_meter_model(&b->embedder);
    q.ranker = qp_meter_model(&b->ranker);
    q.writer = qp_meter_model(&b->writer);
    q.sparse = qp_meter_model(&b->sparse);
    q.attention = qp_meter_model(&b->attention);
    q.trained = e->ctx->trained;
    q.threads = e->ctx->threads > 0 ? e->ctx->threads : qp_cores();
    q.cancel = e->options->watch.cancel;
    q.entities = e->judgements.at[e->asked[number]].entities;
    q.n_entities = e->judgements.at[e->asked[number]].n_entities;
    code = qp_query_in_scope(&q, e->judgements.at[e->asked[number]].id, err);
    if (code != QP_OK) {
        qp_query_end(&q);
        return code;
    }
    qp_meter_open(&b->embedder);
    qp_meter_open(&b->ranker);
    qp_meter_open(&b->writer);
    qp_meter_open(&b->sparse);
    qp_meter_open(&b->attention);

    double start = qp_now_ms();
    qp_set found = qp_run(&q, c->op, NULL, 0, c->opt);

    if (strcmp(e->plan.task, "answers") == 0 && q.err.code == QP_OK)
        code = answer(b, &e->judgements.at[e->asked[number]], &q, found, t, err);
    else if (strcmp(e->plan.task, "labels") == 0 && q.err.code == QP_OK)
        code = label(b, number, &q, found, t, err);
    keep_times(b, qp_now_ms() - start, t);
    if (q.note && number == 0 && e->options->watch.warn) {
        qp_str line = qp_arena_fmt(b->mem, "%s: %s", c->name, q.note);
        e->options->watch.warn(e->options->watch.user, line.at ? line.at : q.note);
    }
    t->passes = q.model_passes;
    if (code == QP_OK && q.err.code == QP_OK)
        code = look_closer(b, &e->judgements.at[e->asked[number]], &q, found, t, err);
    if (code == QP_OK && q.err.code == QP_OK && strcmp(e->plan.task, "graph") == 0)
        code = keep_explored(b, &e->judgements.at[e->asked[number]], &q, found, t, err);
    else if (code == QP_OK && q.err.code == QP_OK)
        code = keep_ranking(b, found.nodes, &t->ranking, err);
    else if (code == QP_OK)
        code = settle(b, number, c, &q.err, t, err);
    qp_query_end(&q);
    return code;
}

/* The ranking as grades, what measures read. */
static qp_code judge(const qp_question *question, const qp_trial *t, bool graph, qp_outcome *out, qp_arena *mem,
                     qp_err *err)
{
    double *grade = qp_new(mem, double, t->ranking.n);
    double *distance = graph ? qp_new(mem, double, (size_t)t->ranking.n * question->relevant) : NULL;

    if (!grade || (graph && !distance))
        return qp_oom(err);
    for (uint32_t i = 0; i < t->ranking.n; i++)
        grade[i] = qp_question_grade(question, t->ranking.at[i].document);
    *out = (qp_outcome){.grade = grade,
                        .n = t->ranking.n,
                        .ideal = question->ideal,
                        .relevant = question->relevant,
                        .distance = distance,
                        .answer = t->answer,
                        .explored = t->explored,
                        .evidence = t->evidence};
    return QP_OK;
}

/* One search from each relevant document serves every contender. */
static void measure_distances(qp_bench *b, const qp_question *question, const qp_trial *trials)
{
    const qp_evaluation *e = b->e;

    for (uint32_t r = 0; r < question->relevant; r++) {
        qp_reach_to(&e->topology.graph, question->gold[r], &b->reach);
        for (uint32_t c = 0; c < e->n_contenders; c++) {
            qp_ranking ranking = trials[c].ranking;
            double *row = (double *)(uintptr_t)b->outcome[c].distance + (size_t)r * ranking.n;

            for (uint32_t i = 0; i < ranking.n; i++)
                row[i] = b->reach.u[ranking.at[i].document];
        }
    }
}

static qp_code measure(qp_bench *b, uint32_t question, qp_err *err)
{
    const qp_evaluation *e = b->e;
    const qp_question *asked = &e->judgements.at[e->asked[question]];
    double *value = e->value + (size_t)question * e->n_contenders * e->n_metrics;
    bool graph = e->topology.graph.n > 0;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? QP_OK : qp_oom(err);

    for (uint32_t c = 0; c < e->n_contenders && code == QP_OK; c++)
        code = judge(asked, qp_trial_of(e, question, c), graph, &b->outcome[c], mem, err);
    if (code == QP_OK && graph)
        measure_distances(b, asked, qp_trial_of(e, question, 0));
    for (uint32_t c = 0; c < e->n_contenders && code == QP_OK; c++)
        for (uint32_t m = 0; m < e->n_metrics; m++)
            value[qp_column_of(e, c, m)] = e->metrics[m].measure->of(&b->outcome[c], e->metrics[m].k);
    qp_arena_free(mem);
    return code;
}

qp_code qp_bench_run(qp_bench *b, uint32_t question, qp_err *err)
{
    const qp_evaluation *e = b->e;
    qp_code code = QP_OK;

    qp_meter_forget(&b->embedder);
    qp_meter_forget(&b->ranker);
    for (uint32_t c = 0; c < e->n_methods && code == QP_OK; c++)
        code = run_method(b, question, &e->contenders[c], qp_trial_of(e, question, c), err);
    if (code == QP_OK && qp_evaluation_wants(e, QP_WANTS_RIVAL))
        code = compare(b, question, err);
    return code == QP_OK ? measure(b, question, err) : code;
}
