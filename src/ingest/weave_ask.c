/* Questions to a writer about relations; see ingest/weave.h. The text is data: the prompt says so, the grammar lets
 * nothing through but relations of the entities it was given, and what a writer without grammar says besides is dropped
 * and counted. */
#include "base/template.h"
#include "ingest/weave_parts.h"
#include "ingest/writing.h"

enum { MOST_ENTITIES = 48, MOST_LINES = 12, MOST_RELATION = 80 };

static void add_quoted(qp_buf *out, qp_str name)
{
    qp_buf_char(out, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.at[i] == '"' || name.at[i] == '\\')
            qp_buf_char(out, '\\');
        qp_buf_char(out, name.at[i]);
    }
    qp_buf_char(out, '"');
}

void qp_weave_grammar(const qp_weave_work *w, const struct question *q, qp_buf *out)
{
    qp_buf_fmt(out, "root ::= (e \" | \" r \" | \" e \"\\n\"){0,%d}\nr ::= [^|\\n\\r]{1,%d}\ne ::= ", MOST_LINES,
               MOST_RELATION);
    for (size_t i = 0; i < q->n; i++) {
        qp_buf_text(out, i ? " | " : "");
        add_quoted(out, qp_map_key(w->names, q->entity[i]));
    }
    qp_buf_char(out, '\n');
}

/* ---- answers ---- */

static uint32_t number_of(const qp_weave_work *w, const struct question *q, qp_str name)
{
    for (size_t i = 0; i < q->n; i++)
        if (qp_str_eq(qp_map_key(w->names, q->entity[i]), name))
            return q->entity[i];
    return UINT32_MAX;
}

static qp_code take_line(qp_weave_work *w, const struct question *q, qp_str line, qp_err *err)
{
    qp_str tail = {0}, rest = {0}, head = qp_str_trim(qp_str_split(line, '|', &rest));
    qp_str relation = rest.at ? qp_str_trim(qp_str_split(rest, '|', &tail)) : rest;
    uint32_t from = number_of(w, q, head), to = tail.at ? number_of(w, q, qp_str_trim(tail)) : UINT32_MAX;
    if (from == UINT32_MAX || to == UINT32_MAX || from == to || !relation.n || relation.n > 4 * MOST_RELATION) {
        w->counts.dropped++;
        return QP_OK;
    }
    return qp_weave_fact(w, from, relation, to, (struct place){0}, (struct place){0}, err);
}

qp_code qp_weave_take(qp_weave_work *w, const struct question *q, qp_str said, qp_err *err)
{
    qp_code code = QP_OK;
    for (qp_str rest = said; !code && rest.at && rest.n;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        if (line.n)
            code = take_line(w, q, line, err);
    }
    return code;
}

/* ---- questions ---- */

/* About the chunk at hand; its strings are there until the next is worded. */
static qp_code word_question(qp_weave_work *w, struct question *q, qp_err *err)
{
    qp_buf entities = {0};
    *q = (struct question){.entity = w->here, .n = w->n_here < MOST_ENTITIES ? w->n_here : MOST_ENTITIES};
    for (size_t i = 0; i < q->n; i++) {
        qp_buf_str(&entities, qp_map_key(w->names, q->entity[i]));
        qp_buf_char(&entities, '\n');
    }
    const qp_field fields[] = {{"text", qp_buf_view(&w->text)}, {"entities", qp_buf_view(&entities)}};
    qp_buf_clear(&w->wording);
    qp_template_fill(&w->wording, qp_buf_view(&w->prompt), fields, 2);
    q->prompt = qp_buf_view(&w->wording);
    q->key = qp_digest_of(q->prompt);
    qp_code code = entities.oom || w->wording.oom ? qp_oom(err) : QP_OK;
    qp_buf_free(&entities);
    return code;
}

/* What the writer said before, else what it will. A chunk like one of the round has that one's answer. */
static qp_code look_up(qp_weave_work *w, const struct question *q, qp_err *err)
{
    qp_buf said = {0};
    bool found = false;
    qp_code code = qp_weave_waits(w, q->key) ? qp_weave_round(w, err) : QP_OK;
    code = code ? code : qp_store_said(w->store, q->key, w->how->writer->digest, &said, &found, err);
    w->counts.remembered += found;
    if (!code)
        code = found ? qp_weave_take(w, q, qp_buf_view(&said), err) : qp_weave_wait(w, q, err);
    qp_buf_free(&said);
    return code;
}

qp_code qp_weave_ask(qp_weave_work *w, qp_err *err)
{
    struct question q;
    if (w->n_here < 2)
        return QP_OK;
    qp_code code = word_question(w, &q, err);
    code = code ? code : qp_writing_count(w->how->writer, q.prompt, &w->counts.prompt_tokens, err);
    if (code || !w->how->ask_nothing)
        return code ? code : look_up(w, &q, err);
    w->counts.asked++;
    return QP_OK;
}
