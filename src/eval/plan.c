/* Which questions, contenders and metrics an evaluation has, from its options. */
#include <stdlib.h>

#include "base/file.h"
#include "base/sorted.h"
#include "base/template.h"
#include "store/snapshot.h"
#include "base/random.h"
#include "eval/evaluation.h"
#include "op/op.h"

static const qp_opt table[] = {
    {"metrics", "what is measured, as ndcg@10,recall@100; unset: what suits the task", QP_TEXT,
     offsetof(qp_plan, metrics), NULL, 0, 0, NULL},
    {"task",
     "retrieval: rankings against qrels.tsv; answers: also answer, against answers.jsonl; evidence: passages against "
     "its statements; labels: classify, against the labels there; auto: the one that all metrics want, else what is "
     "there",
     QP_ENUM, offsetof(qp_plan, task), "auto", 0, 0, "auto|retrieval|answers|graph|evidence|labels"},
    {"judge",
     "the model that judges answers (acc, cov, fs, win): a name or an address, or writer, the one that answers; "
     "unset: they are not judged",
     QP_TEXT, offsetof(qp_plan, judge), NULL, 0, 0, NULL},
    {"win_prompt",
     "a file with {question}, {first} and {second} that the judge compares answers by; unset: prompts/judge-better.txt",
     QP_TEXT, offsetof(qp_plan, win_prompt), NULL, 0, 0, NULL},
    {"extract", "answers: quote, do not write, as without --writer; labels: the best passage's, no writer", QP_BOOL,
     offsetof(qp_plan, extract), "false", 0, 0, NULL},
    {"prompt", "answers: a file that the writer is asked with instead of ours", QP_TEXT, offsetof(qp_plan, prompt),
     NULL, 0, 0, NULL},
    {"choices", "answers: the writer says one of these and nothing else, as support|counter", QP_TEXT,
     offsetof(qp_plan, choices), NULL, 0, 0, NULL},
    {"label", "labels: the field of the metadata that holds a document's label", QP_TEXT, offsetof(qp_plan, label),
     "label", 0, 0, NULL},
    {"tokens", "answers: how long the writer's may be, in tokens; 0: as in ask", QP_INT, offsetof(qp_plan, tokens), "0",
     0, 4096, NULL},
    {"split", "only one half of the questions, drawn with the seed: tune on dev, report on test", QP_ENUM,
     offsetof(qp_plan, split), "all", 0, 0, "all|dev|test"},
    {"graph", "edge types that tr and misstr look at", QP_TEXT, offsetof(qp_plan, graph), "*", 0, 0, NULL},
    {"start", "the contender whose first ten the correlations with recall start from", QP_TEXT,
     offsetof(qp_plan, start), "vector", 0, 0, NULL},
    {"by", "also report each group of questions that have the same in this field of queries.jsonl, as question_type",
     QP_TEXT, offsetof(qp_plan, by), NULL, 0, 0, NULL},
    {"compare", "differences in the report: of all pairs, or none", QP_ENUM, offsetof(qp_plan, compare), "all", 0, 0,
     "all|none"},
    {"share", "compute what several methods ask of the models once, and charge it to each", QP_BOOL,
     offsetof(qp_plan, share), "true", 0, 0, NULL},
    {"jobs", "questions at once; above 1 the times are those of a busy machine", QP_INT, offsetof(qp_plan, jobs), "1",
     1, 256, NULL},
    {0},
};

const qp_op qp_plan_options = {.name = "eval",
                               .help = "what an evaluation does",
                               .opts = table,
                               .opt_size = sizeof(qp_plan)};

static bool is_plan_option(const char *key)
{
    for (const qp_opt *o = table; o->name; o++)
        if (strcmp(o->name, key) == 0)
            return true;
    return false;
}

/* Settings that the evaluation knows are its own, the rest is for the methods. */
static qp_code part_settings(qp_evaluation *e, qp_setting **for_methods, size_t *n_methods, qp_err *err)
{
    const qp_eval_options *o = e->options;
    qp_setting *own = qp_new(e->mem, qp_setting, o->n_settings + 1),
               *rest = qp_new(e->mem, qp_setting, o->n_settings + 1);
    size_t n = 0, m = 0;

    if (!own || !rest)
        return qp_oom(err);
    for (size_t i = 0; i < o->n_settings; i++)
        if (is_plan_option(o->settings[i].key))
            own[n++] = o->settings[i];
        else
            rest[m++] = o->settings[i];
    *for_methods = rest;
    *n_methods = m;
    return qp_options_fill(&qp_plan_options, own, n, &e->plan, e->mem, err);
}

/* A run is called what its file is called, without folder and ending. */
static const char *run_name(const char *path, qp_arena *mem)
{
    static const char *const endings[] = {".txt", ".run", ".trec"};
    const char *slash = strrchr(path, '/');
    qp_str name = qp_str_of(slash ? slash + 1 : path);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (qp_str_ends(name, qp_str_of(endings[i])) && name.n > strlen(endings[i]))
            name.n -= strlen(endings[i]);
    return qp_arena_str(mem, name).at;
}

static qp_code choose_contenders(qp_evaluation *e, const qp_setting *settings, size_t n_settings, qp_err *err)
{
    const qp_eval_options *o = e->options;
    const char *methods = o->methods;
    qp_contender *all;

    if (!methods && !o->n_runs)
        methods = !e->ctx->embedder ? "bm25"
                  : e->ctx->ranker  ? "vector,bm25,hybrid,rerank,gar,fastinsight"
                                    : "vector,bm25,hybrid";
    if (methods) {
        qp_code code =
            qp_contenders_parse(methods, settings, n_settings, e->depth, &e->contenders, &e->n_methods, e->mem, err);
        if (code != QP_OK)
            return code;
    }
    all = qp_new(e->mem, qp_contender, e->n_methods + o->n_runs + 1);
    if (!all)
        return qp_oom(err);
    if (e->n_methods)
        memcpy(all, e->contenders, e->n_methods * sizeof *all);
    for (size_t i = 0; i < o->n_runs; i++) {
        qp_contender *c = &all[e->n_methods + i];

        *c = (qp_contender){.name = run_name(o->runs[i], e->mem), .method = "run", .run_file = o->runs[i]};
        if (!c->name)
            return qp_oom(err);
    }
    e->contenders = all;
    e->n_contenders = e->n_methods + (uint32_t)o->n_runs;
    if (o->run_file && !strstr(o->run_file, "%s") && e->n_methods > 1)
        return qp_fail(err, QP_INPUT, "--run %s: %u methods write here; put %%s where the method's name shall stand",
                       o->run_file, e->n_methods);
    const char *written[] = {o->run_file, o->html};
    qp_code code = QP_OK;
    for (size_t i = 0; i < 2 && !code; i++)
        code = written[i] ? qp_file_writable(written[i], err) : QP_OK;
    return code;
}

static void shuffle(uint32_t *numbers, uint32_t n, uint64_t seed)
{
    qp_random random = qp_random_seed(seed);
    qp_random_shuffle(&random, numbers, n);
}

/* Questions that can be judged; of those a sample; of that a half. Each drawn with the seed alone. */
static qp_code choose_questions(qp_evaluation *e, qp_err *err)
{
    const bool answers = strcmp(e->plan.task, "answers") == 0 || strcmp(e->plan.task, "labels") == 0,
               evidence = strcmp(e->plan.task, "evidence") == 0;

    e->asked = qp_new(e->mem, uint32_t, e->judgements.n);
    if (!e->asked)
        return qp_oom(err);
    for (uint32_t q = 0; q < e->judgements.n; q++)
        if (answers    ? e->judgements.at[q].n_answers
            : evidence ? e->judgements.at[q].n_evidence
                       : e->judgements.at[q].relevant)
            e->asked[e->n++] = q;
    if (!e->n)
        return qp_fail(err, QP_INPUT, "%s: none of %u questions has %s", e->dataset, e->judgements.n,
                       answers    ? "an answer in answers.jsonl"
                       : evidence ? "evidence in answers.jsonl"
                                  : "a relevant document in qrels.tsv");
    if (e->options->sample && e->options->sample < e->n) {
        shuffle(e->asked, e->n, e->options->seed);
        e->n = e->options->sample;
        qsort(e->asked, e->n, sizeof *e->asked, qp_by_u32);
    }
    if (strcmp(e->plan.split, "all") != 0) {
        uint32_t dev = (e->n + 1) / 2;

        if (e->n < 2)
            return qp_fail(err, QP_INPUT, "%s: one question cannot be split into dev and test", e->dataset);
        shuffle(e->asked, e->n, e->options->seed + 1);
        if (strcmp(e->plan.split, "test") == 0)
            memmove(e->asked, e->asked + dev, (e->n -= dev) * sizeof *e->asked);
        else
            e->n = dev;
        qsort(e->asked, e->n, sizeof *e->asked, qp_by_u32);
    }
    return QP_OK;
}

/* The task that makes what a measure looks at; null: any, rankings are always there. */
static const char *task_of(qp_wants wants)
{
    switch (wants) {
    case QP_WANTS_ANSWER:
    case QP_WANTS_CLASSES:
    case QP_WANTS_JUDGE:
    case QP_WANTS_RIVAL: return "answers";
    case QP_WANTS_EXPLORED: return "graph";
    case QP_WANTS_EVIDENCE: return "evidence";
    default: return NULL;
    }
}

/* Labels are answers, too; statements are looked for whatever the task, where the questions have some. */
static bool task_makes(const qp_evaluation *e, qp_wants wants)
{
    const char *task = task_of(wants);
    bool makes = !task || strcmp(task, e->plan.task) == 0;
    if (wants == QP_WANTS_ANSWER || wants == QP_WANTS_CLASSES)
        makes = makes || strcmp(e->plan.task, "labels") == 0;
    for (uint32_t q = 0; wants == QP_WANTS_EVIDENCE && q < e->n && !makes; q++)
        makes = e->judgements.at[e->asked[q]].n_evidence > 0;
    return makes;
}

/* A metric of what the task does not make would be 0 whatever the method. */
static qp_code check_metric(const qp_evaluation *e, const qp_metric *m, qp_err *err)
{
    qp_wants wants = m->measure->wants;
    bool made = task_makes(e, wants);
    if (wants >= QP_WANTS_JUDGE && !(made && e->ctx->judge))
        return qp_fail(err, QP_INPUT, "metric '%s' wants a judge of answers: give -o task=answers and -o judge=MODEL",
                       m->name);
    if (!made)
        return qp_fail(err, QP_INPUT,
                       "metric '%s' wants the task %s, this one is %s: give -o task=%s, or other metrics", m->name,
                       task_of(wants), e->plan.task, task_of(wants));
    return QP_OK;
}

/* What is measured if nobody says: as deep as the runs go. */
static qp_code choose_metrics(qp_evaluation *e, qp_err *err)
{
    const char *list = e->plan.metrics;

    if (!list && strcmp(e->plan.task, "answers") == 0)
        list = !e->plan.judge     ? "em,f1,cite_p,cite_r,cite_ok,rouge_l,rouge_l_f"
               : e->n_methods > 1 ? "em,f1,acc,cov,fs,win,rouge_l,rouge_l_f,cite_p,cite_r,cite_ok"
                                  : "em,f1,acc,cov,fs,rouge_l,rouge_l_f,cite_p,cite_r,cite_ok";
    else if (!list && strcmp(e->plan.task, "evidence") == 0)
        list = "evidence@1,evidence@5,evidence@10";
    else if (!list && strcmp(e->plan.task, "labels") == 0)
        list = "accuracy,macro_recall,macro_f1";
    else if (!list && strcmp(e->plan.task, "graph") == 0)
        list =
            "hit@1,set_hit,set_f1,recall@10,mrr@10,sub_recall,sub_f1,sub_nodes,sub_edges,sub_components,path_recall@8,"
            "path_recall@16,path_recall@32,path_recall@64,path_recall@128,path_recall@256,context_tokens";
    else if (!list && e->depth >= 100)
        list = "ndcg@10,ndcg_bin@10,recall@10,recall_cap@10,recall@100,mrr@10,map,p@10,hit@1,hit@10,tr@10,misstr@10";
    else if (!list && e->depth >= 10)
        list = "ndcg@10,ndcg_bin@10,recall@10,recall_cap@10,mrr@10,map,p@10,hit@1,hit@10,tr@10,misstr@10";
    else if (!list)
        list = "ndcg,ndcg_bin,recall,mrr,map,hit@1,hit,tr,misstr";
    qp_code code = qp_metrics_parse(list, e->depth, &e->metrics, &e->n_metrics, e->mem, err);
    for (uint32_t m = 0; !code && m < e->n_metrics; m++)
        code = check_metric(e, &e->metrics[m], err);
    return code;
}

/* The task that all the metrics want; null: there is none. A mistake in the list is told later, once the runs' depth is
 * known. */
static const char *task_of_metrics(const qp_evaluation *e)
{
    const qp_metric *metrics = NULL;
    uint32_t n = 0;
    qp_err unread = {0};
    if (!e->plan.metrics || qp_metrics_parse(e->plan.metrics, UINT32_MAX, &metrics, &n, e->mem, &unread) || !n)
        return NULL;
    const char *task = task_of(metrics[0].measure->wants);
    for (uint32_t m = 1; task && m < n; m++) {
        const char *other = task_of(metrics[m].measure->wants);
        task = other && strcmp(task, other) == 0 ? task : NULL;
    }
    return task;
}

/* What the metrics want. Else rankings where there are judgements of them; where there are only answers, those: names of
 * entities in a graph. */
static qp_code choose_task(qp_evaluation *e, qp_err *err)
{
    const char *wanted = task_of_metrics(e);
    if (wanted) {
        e->plan.task = wanted;
        return QP_OK;
    }
    char *qrels = qp_path_join(e->mem, e->dataset, "qrels.tsv");
    char *answers = qp_path_join(e->mem, e->dataset, "answers.jsonl");

    if (!qrels || !answers)
        return qp_oom(err);
    bool judged = qp_path_exists(qrels), answered = qp_path_exists(answers);
    bool graph = e->ctx->snapshot && qp_snapshot_entities(e->ctx->snapshot) && !qp_snapshot_documents(e->ctx->snapshot);
    e->plan.task = judged || !answered ? "retrieval" : graph ? "graph" : "answers";
    return QP_OK;
}

/* Settings read, contenders known. */
static qp_code prepare(qp_evaluation *e, qp_err *err)
{
    qp_setting *settings = NULL;
    size_t n_settings = 0;
    qp_code code = part_settings(e, &settings, &n_settings, err);

    if (code == QP_OK && strcmp(e->plan.task, "auto") == 0)
        code = choose_task(e, err);
    e->depth = e->options->top ? e->options->top : strcmp(e->plan.task, "graph") == 0 ? 256 : 100;
    return code == QP_OK ? choose_contenders(e, settings, n_settings, err) : code;
}

qp_code qp_evaluate_needs(const char *dataset, const qp_eval_options *options, unsigned *needs, qp_err *err)
{
    /* Which methods run by default depends on which models there are: ask for all. */
    const qp_model some = {.name = ""};
    const qp_bench_ctx all = {.embedder = &some, .ranker = &some};
    qp_evaluation e = {.ctx = &all, .options = options, .dataset = dataset, .mem = qp_arena_new()};
    qp_code code = e.mem ? prepare(&e, err) : qp_oom(err);

    *needs = 0;
    for (uint32_t c = 0; c < e.n_methods && code == QP_OK; c++)
        *needs |= qp_op_needs(e.contenders[c].op, e.contenders[c].opt);
    if (code == QP_OK && strcmp(e.plan.task, "answers") == 0) /* sentences are compared by meaning too, as in ask */
        *needs |= QP_NEEDS_EMBEDDER | (e.plan.extract ? 0 : QP_LIKES_WRITER);
    if (code == QP_OK && strcmp(e.plan.task, "labels") == 0 && !e.plan.extract)
        *needs |= QP_LIKES_WRITER;
    qp_contenders_free(e.contenders, e.n_contenders);
    qp_arena_free(e.mem);
    return code;
}

qp_code qp_evaluate_judge(const qp_eval_options *options, const char **name, qp_arena *a, qp_err *err)
{
    qp_evaluation e = {.options = options, .mem = a};
    qp_setting *rest;
    size_t n;
    qp_code code = part_settings(&e, &rest, &n, err);
    *name = e.plan.judge;
    return code;
}

/* A prompt without both answers would compare nothing, and cost as much. */
static qp_code check_win_prompt(qp_evaluation *e, qp_err *err)
{
    static const char *const fields[] = {"first", "second"};
    qp_buf text = {0};
    qp_code code =
        e->plan.win_prompt ? qp_template_read(e->plan.win_prompt, "judge-better.txt", &text, e->mem, err) : QP_OK;
    for (int i = 0; code == QP_OK && e->plan.win_prompt && i < 2; i++)
        if (!qp_template_has(qp_buf_view(&text), fields[i]))
            code =
                qp_fail(err, QP_INPUT, "%s: has no {%s}; a prompt that compares has {question}, {first} and {second}",
                        e->plan.win_prompt, fields[i]);
    qp_buf_free(&text);
    return code;
}

qp_code qp_plan_make(qp_evaluation *e, qp_err *err)
{
    qp_code code = prepare(e, err);

    if (code == QP_OK && e->ctx->quotes && !e->plan.extract && (e->plan.prompt || e->plan.choices))
        code = qp_fail(err, QP_INPUT, "-o %s is for answers that are written: name a writer with --writer",
                       e->plan.prompt ? "prompt" : "choices");
    if (code == QP_OK)
        code = check_win_prompt(e, err);

    if (code == QP_OK)
        code = choose_questions(e, err);
    if (code == QP_OK)
        code = choose_metrics(e, err);
    return code;
}
