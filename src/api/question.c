#include "api/index.h"
#include "api/result.h"
#include "base/clock.h"
#include "method/method.h"

enum { LONGEST_QUESTION = 64 << 10 };

/* One question's way through: what it holds is let go in one place. */
typedef struct question {
    qp_index *index;
    const qp_ask_options *options;
    qp_held *held;
    const qp_op *method;
    bool method_owned, preset;
    qp_query query;
    qp_setting *settings; /* the caller's, and top from -k */
    size_t n_settings;
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

/* What a question without a method is asked with: the shipped reranker alone orders worse than the hybrid it is given
 * (models/README.md), mixed with it as well. */
static const qp_setting own_preset[] = {{"first", "hybrid"}, {"mix", "0.75"}};
enum { N_PRESET = sizeof own_preset / sizeof *own_preset };

/* The default is FastInsight; where its reranker is not on this machine, hybrid search, and that is said. A reranker
 * that was asked for by name must be there. */
static qp_code choose_method(question *x, qp_err *err)
{
    const char *name = x->options->method;
    if (name)
        return qp_method_find(name, &x->method, &x->method_owned, err);
    qp_err why = {0};
    const qp_model *ranker = NULL;
    name = "fastinsight";
    if (qp_index_model(x->index, QP_RANKER, &ranker, &why) && qp_index_names(x->index, QP_RANKER))
        return qp_fail(err, why.code, "%s", why.message);
    x->preset = ranker != NULL;
    if (!ranker) {
        name = *qp_snapshot_embedder(qp_held_snapshot(x->held)) ? "hybrid" : "bm25";
        if (x->options->watch.warn) {
            qp_buf line = {0};
            qp_buf_fmt(&line, "no reranker (%s): using -m %s", *why.message ? why.message : "configured as none", name);
            if (line.at)
                x->options->watch.warn(x->options->watch.user, line.at);
            qp_buf_free(&line);
        }
    }
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

/* -k is the method's `top`; -o is above it, and above the preset. */
static qp_code settle(question *x, qp_err *err)
{
    const qp_ask_options *o = x->options;
    x->settings = qp_new(x->query.mem, qp_setting, o->n_settings + N_PRESET + 1);
    if (!x->settings)
        return qp_oom(err);
    if (has_option(x->method, "top"))
        set(x, (qp_setting){"top", qp_arena_fmt(x->query.mem, "%u", o->top ? o->top : 10).at});
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
    qp_code code = accept(text, err);
    if (!code)
        code = qp_query_begin(&x->query, qp_str_trim(qp_str_of(text)), err);
    if (!code)
        code = qp_index_hold(x->index, &x->held, err);
    if (!code && o->where)
        code = qp_snapshot_where(qp_held_snapshot(x->held), o->where, &x->query.allow, x->query.mem, err);
    if (!code)
        code = choose_method(x, err);
    if (!code)
        code = settle(x, err);
    if (!code)
        code = qp_index_equip(x->index, qp_held_snapshot(x->held), x->method->needs, &x->query, err);
    if (code)
        return code;
    qp_query *q = &x->query;
    q->graph = qp_snapshot_view(qp_held_snapshot(x->held));
    q->trace = qp_trace_new();
    q->cancel = o->watch.cancel;
    q->deadline = o->deadline_ms > 0 ? x->began + o->deadline_ms : 0;
    x->load_ms = qp_now_ms() - x->began;
    return q->trace ? QP_OK : qp_oom(err);
}

static void end(question *x)
{
    if (x->method_owned)
        qp_pipeline_free(x->method);
    qp_trace_free(x->query.trace);
    qp_query_end(&x->query);
    qp_held_release(x->held);
}

static qp_code find(question *x, qp_set *found, qp_err *err)
{
    qp_query *q = &x->query;
    void *options = qp_options_new(x->method, x->settings, x->n_settings, q->mem, err);
    if (!options)
        return err->code;
    *found = qp_run(q, x->method, NULL, 0, options);
    if (!has_option(x->method, "top"))
        *found = qp_top(q, *found, x->options->top ? x->options->top : 10);
    if (q->err.code)
        return qp_fail(err, q->err.code, "%s", q->err.message);
    if (!found->nodes.n && !found->edges.n && !found->paths.n)
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
    if (!o->extract && qp_index_names(x->index, QP_WRITER)) {
        qp_code code = qp_index_model(x->index, QP_WRITER, &q->writer, err);
        if (code)
            return code;
    }
    if (!q->embedder && *qp_snapshot_embedder(qp_held_snapshot(x->held))) {
        qp_code code = qp_index_equip(x->index, qp_held_snapshot(x->held), QP_NEEDS_EMBEDDER, q, err);
        if (code)
            return code;
    }
    x->load_ms += qp_now_ms() - began;
    qp_answer_options how = {.extract = o->extract || !q->writer,
                             .context_tokens = o->context_tokens,
                             .answer_tokens = o->answer_tokens,
                             .token = o->token,
                             .user = o->watch.user};
    return qp_answer_make(q, found, &how, answer, err);
}

static qp_code run(qp_index *index, const char *text, bool answered, const qp_ask_options *options, char **json,
                   qp_err *err)
{
    static const qp_ask_options standard = {0};
    qp_err unread = {0};
    if (!err)
        err = &unread;
    question x = {.index = index, .options = options ? options : &standard};
    qp_set found = {0};
    qp_answer answer = {0};
    qp_code code = begin(&x, text, err);
    if (!code)
        code = find(&x, &found, err);
    if (!code && answered)
        code = write_answer(&x, found, &answer, err);
    if (!code) {
        qp_result r = result_of(&x, found);
        if (answered) {
            r.answer = &answer;
            r.writer = answer.extracted || !x.query.writer ? NULL : x.query.writer->name;
        }
        code = qp_result_json(&x.query, &r, json, err);
    }
    end(&x);
    return code;
}

qp_code qp_index_retrieve(qp_index *index, const char *text, const qp_ask_options *options, char **json, qp_err *err)
{
    return run(index, text, false, options, json, err);
}

qp_code qp_index_ask(qp_index *index, const char *text, const qp_ask_options *options, char **json, qp_err *err)
{
    return run(index, text, true, options, json, err);
}
