#include <stdlib.h>

#include "api/index.h"
#include "api/result.h"
#include "base/clock.h"
#include "base/thread.h"
#include "method/method.h"

enum { LONGEST_QUESTION = 64 << 10 };

/* One question's way through: what it holds is let go in one place. */
typedef enum task { RETRIEVE, ASK, CLASSIFY } task;

typedef struct question {
    task task;
    qp_index *index;
    const qp_ask_options *options;
    qp_held *held;
    const qp_op *method;
    bool method_owned, preset;
    const char *degraded; /* what was missing for the default method, or null */
    qp_query query;
    void *opt;            /* of the method */
    qp_setting *settings; /* the caller's, and top from -k */
    size_t n_settings;
    qp_patience before;    /* of whoever asked for this */
    double began, load_ms; /* load_ms: opening index and models */
} question;

static qp_code accept(const char *text, qp_err *err)
{
    qp_str s = qp_str_trim(qp_str_of(text));
    if (!s.n)
        return qp_fail(err, QP_INPUT, "a question was wanted, an empty one was found");
    if (s.n > LONGEST_QUESTION)
        return qp_fail(err, QP_INPUT,
                       "a question of at most %d bytes was wanted, one of %zu was found; index the text "
                       "and ask about it",
                       LONGEST_QUESTION, s.n);
    return QP_OK;
}

/* What a question without a method is asked with: the shipped reranker alone orders worse than the hybrid it is given,
 * mixed with it better (models/README.md, docs/results.md). */
static const qp_setting own_preset[] = {{"first", "hybrid"}, {"mix", "0.75"}};
enum { N_PRESET = sizeof own_preset / sizeof *own_preset };

/* Says what is missing, and what is done instead: as a warning, and in the result. */
static void degrade(question *x, const char *what, const qp_err *why, const char *method)
{
    const char *reason = !why ? "" : *why->message ? why->message : "configured as none";
    x->degraded = qp_arena_fmt(x->query.mem, "%s%s%s%s: using -m %s", what, *reason ? " (" : "", reason,
                               *reason ? ")" : "", method)
                      .at;
    if (x->degraded && x->options->watch.warn)
        x->options->watch.warn(x->options->watch.user, x->degraded);
}

/* Relations that can be searched, beside documents: what agrag needs. */
static bool has_facts(const qp_snapshot *s)
{
    const qp_view *g = qp_snapshot_view(s);
    qp_err none = {0};
    return qp_snapshot_documents(s) && !g->vectors(g->self, "triple.dense", NULL, 0, NULL, &none);
}

/* The default is FastInsight, on a graph without documents LEGO-GraphRAG's second instance; where FastInsight's
 * reranker is not on this machine, hybrid search, without vectors BM25, and that is said. A model that was asked for by
 * name must be there. */
static qp_code choose_method(question *x, qp_err *err)
{
    const char *name = x->options->method;
    if (name)
        return qp_method_find(name, &x->method, &x->method_owned, err);
    qp_err no_ranker = {0}, no_embedder = {0};
    const qp_model *ranker = NULL, *embedder = NULL;
    qp_code code = qp_index_optional(x->index, QP_RANKER, &ranker, &no_ranker, err);
    if (code)
        return code;
    bool vectors = *qp_snapshot_embedder(qp_held_snapshot(x->held));
    if (vectors)
        code = qp_index_optional(x->index, QP_EMBEDDER, &embedder, &no_embedder, err);
    if (code)
        return code;
    const qp_snapshot *s = qp_held_snapshot(x->held);
    bool graph = qp_snapshot_entities(s) && !qp_snapshot_documents(s);
    bool labelled = x->task == CLASSIFY && embedder && has_facts(s);
    x->preset = ranker && embedder && !graph && !labelled;
    name = labelled ? "agrag" : x->preset ? "fastinsight" : embedder ? graph ? "lego:2" : "hybrid" : "bm25";
    if (!vectors)
        degrade(x, "indexed without an embedder", NULL, name);
    else if (!embedder)
        degrade(x, "no embedder", &no_embedder, name);
    else if (!ranker && !graph && !labelled)
        degrade(x, "no reranker", &no_ranker, name);
    return qp_method_find(name, &x->method, &x->method_owned, err);
}

static bool has_option(const qp_op *op, const char *name)
{
    for (const qp_opt *o = op->opts; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

/* The later value of a key wins. */
static void set(question *x, qp_setting setting)
{
    size_t i = 0;
    while (i < x->n_settings && strcmp(x->settings[i].key, setting.key) != 0)
        i++;
    x->settings[i] = setting;
    x->n_settings += i == x->n_settings;
}

/* -k is the method's `top`, --seed its `seed`; -o is above them, and above the preset. */
static qp_code settle(question *x, qp_err *err)
{
    const qp_ask_options *o = x->options;
    x->settings = qp_new(x->query.mem, qp_setting, o->n_settings + N_PRESET + 2);
    const char *top = qp_arena_fmt(x->query.mem, "%u", o->top ? o->top : 10).at;
    if (!x->settings || !top)
        return qp_oom(err);
    if (has_option(x->method, "top"))
        set(x, (qp_setting){"top", top});
    const char *seed = qp_arena_fmt(x->query.mem, "%llu", (unsigned long long)qp_index_seed(x->index)).at;
    if (!seed)
        return qp_oom(err);
    if (qp_index_seed(x->index) && has_option(x->method, "seed"))
        set(x, (qp_setting){"seed", seed});
    for (size_t i = 0; x->preset && i < N_PRESET; i++)
        set(x, own_preset[i]);
    for (size_t i = 0; i < o->n_settings; i++)
        set(x, o->settings[i]);
    return QP_OK;
}

static qp_code begin(question *x, const char *text, qp_err *err)
{
    const qp_ask_options *o = x->options;
    x->began = qp_now_ms();
    const qp_patience p = {o->deadline_ms > 0 ? x->began + o->deadline_ms : 0, o->watch.cancel};
    x->before = qp_patience_set(p);
    qp_code code = accept(text, err);
    if (!code)
        code = qp_query_begin(&x->query, qp_str_trim(qp_str_of(text)), err);
    x->query.deadline = p.deadline;
    x->query.cancel = p.cancel;
    if (!code)
        code = qp_index_hold(x->index, &x->held, err);
    if (!code && o->where)
        code = qp_snapshot_where(qp_held_snapshot(x->held), o->where, &x->query.allow, x->query.mem, err);
    if (!code)
        code = choose_method(x, err);
    if (!code && o->extract && qp_method_writes(x->method))
        code = qp_fail(err, QP_INPUT,
                       "%s is the writer alone and has nothing to quote: leave out --extract, or ask with -m hybrid",
                       x->method->name);
    if (!code)
        code = settle(x, err);
    if (!code && !(x->opt = qp_options_new(x->method, x->settings, x->n_settings, x->query.mem, err)))
        code = err->code;
    if (!code)
        code = qp_index_equip(x->index, qp_held_snapshot(x->held), qp_op_needs(x->method, x->opt), &x->query, err);
    qp_query *q = &x->query;
    if (!code) {
        q->graph = qp_snapshot_view(qp_held_snapshot(x->held));
        q->trained = qp_index_trained(x->index);
        q->threads = qp_index_threads(x->index) ? qp_index_threads(x->index) : qp_cores();
        q->entities = o->entities;
        q->n_entities = (uint32_t)o->n_entities;
        code = qp_query_in_scope(q, qp_str_of(o->id ? o->id : ""), err);
    }
    if (code)
        return code;
    q->trace = qp_trace_new();
    x->load_ms = qp_now_ms() - x->began;
    return q->trace ? QP_OK : qp_oom(err);
}

static void end(question *x)
{
    qp_patience_set(x->before);
    if (x->method_owned)
        qp_pipeline_free(x->method);
    qp_trace_free(x->query.trace);
    qp_query_end(&x->query);
    qp_held_release(x->held);
}

/* How many results there may be: -k, and -o top above it. */
static uint32_t top_of(const question *x)
{
    for (size_t i = 0; i < x->n_settings; i++)
        if (strcmp(x->settings[i].key, "top") == 0)
            return (uint32_t)strtoul(x->settings[i].value, NULL, 10);
    return x->options->top ? x->options->top : 10;
}

static qp_code find(question *x, qp_set *found, qp_err *err)
{
    qp_query *q = &x->query;
    const uint32_t top = top_of(x);
    *found = qp_run(q, x->method, NULL, 0, x->opt);
    if (!has_option(x->method, "top"))
        *found = qp_top(q, *found, top);
    if (found->paths.n > top) /* a pipeline's, too */
        found->paths.n = top;
    if (q->err.code)
        return qp_fail(err, q->err.code, "%s", q->err.message);
    if (q->note && x->options->watch.warn)
        x->options->watch.warn(x->options->watch.user, q->note);
    if (!found->nodes.n && !found->edges.n && !found->paths.n && !q->answer.n)
        return qp_fail(err, QP_NONE, "nothing was found%s; ask with other words, or with -m hybrid",
                       x->options->where ? " among what --where lets through" : "");
    return QP_OK;
}

static qp_result result_of(const question *x, qp_set found)
{
    return (qp_result){.id = x->options->id,
                       .method = x->method,
                       .settings = x->settings,
                       .n_settings = x->n_settings,
                       .found = found,
                       .explain = x->options->explain,
                       .degraded = x->degraded,
                       .load_ms = x->load_ms,
                       .total_ms = qp_now_ms() - x->began};
}

/* A writer writes only where one was named: a quote is never invented, and the small default one was not yet seen to
 * answer better (docs/results.md). */
static qp_code write_answer(question *x, qp_set found, qp_answer *answer, qp_err *err)
{
    const qp_ask_options *o = x->options;
    qp_query *q = &x->query;
    double began = qp_now_ms();
    bool extract = o->extract || !qp_index_names(x->index, QP_WRITER); /* also where the method took one for itself */
    if (!extract) {
        qp_code code = qp_index_model(x->index, QP_WRITER, &q->writer, err);
        if (code)
            return code;
    }
    if (!q->embedder) { /* sentences are compared by meaning too, where that can be had */
        qp_err why = {0};
        qp_code code = qp_index_equip(x->index, qp_held_snapshot(x->held), QP_NEEDS_EMBEDDER, q, &why);
        if (code && (code != QP_MODEL || qp_index_names(x->index, QP_EMBEDDER)))
            return qp_fail(err, code, "%s", why.message);
    }
    x->load_ms += qp_now_ms() - began;
    qp_answer_options how = {.extract = extract || !q->writer,
                             .context_tokens = o->context_tokens,
                             .answer_tokens = o->answer_tokens,
                             .seed = qp_index_seed(x->index),
                             .token = o->token,
                             .user = o->watch.user};
    return qp_answer_make(q, found, &how, answer, err);
}

/* A writer chooses only where one was named. */
static qp_code classify(question *x, qp_set found, qp_labelled *labels, qp_err *err)
{
    double began = qp_now_ms();
    if (qp_index_names(x->index, QP_WRITER)) {
        qp_code code = qp_index_model(x->index, QP_WRITER, &x->query.writer, err);
        if (code)
            return code;
    } else {
        x->query.writer = NULL; /* one that the method took for itself */
    }
    x->load_ms += qp_now_ms() - began;
    return qp_label_choose(&x->query, found, x->options->label, labels, err);
}

/* The result of a question that finds nothing; where it cannot be made, null. */
static void tell_nothing(question *x, char **json)
{
    static const qp_answer nothing = {.extracted = true};
    qp_result r = result_of(x, (qp_set){0});
    x->query.err = (qp_err){0}; /* what was not found is in the caller's */
    r.answer = x->task == ASK ? &nothing : NULL;
    (void)qp_result_json(&x->query, &r, json, NULL);
}

static qp_code run(qp_index *index, const char *text, task which, const qp_ask_options *options, char **json,
                   qp_err *err)
{
    static const qp_ask_options standard = {0};
    qp_err unread = {0};
    if (!err)
        err = &unread;
    question x = {.task = which, .index = index, .options = options ? options : &standard};
    qp_set found = {0};
    qp_answer answer = {0};
    qp_labelled labels = {0};
    *json = NULL;
    qp_code code = begin(&x, text, err);
    if (!code && (code = find(&x, &found, err)) == QP_NONE && which != CLASSIFY)
        tell_nothing(&x, json);
    if (!code && which == ASK)
        code = write_answer(&x, found, &answer, err);
    if (!code && which == CLASSIFY)
        code = classify(&x, found, &labels, err);
    if (!code && qp_snapshot_is_lost(qp_held_snapshot(x.held)))
        code = qp_fail(err, QP_STORE, "the index's file went away while it was read: ask again, or `quipu check`");
    if (!code) {
        qp_result r = result_of(&x, found);
        if (which == ASK) {
            r.answer = &answer;
            r.writer = answer.extracted || !x.query.writer ? NULL : x.query.writer->name;
        }
        if (which == CLASSIFY) {
            r.labels = &labels;
            r.writer = labels.written ? x.query.writer->name : NULL;
        }
        code = qp_result_json(&x.query, &r, json, err);
    }
    end(&x);
    return code;
}

qp_code qp_index_retrieve(qp_index *index, const char *text, const qp_ask_options *options, char **json, qp_err *err)
{
    return run(index, text, RETRIEVE, options, json, err);
}

qp_code qp_index_ask(qp_index *index, const char *text, const qp_ask_options *options, char **json, qp_err *err)
{
    return run(index, text, ASK, options, json, err);
}

qp_code qp_index_classify(qp_index *index, const char *text, const qp_ask_options *options, char **json, qp_err *err)
{
    return run(index, text, CLASSIFY, options, json, err);
}
