/* Relations by a writer; see ingest/weave.h. The text is data: the prompt says so, the grammar lets nothing through but
 * relations of the entities it was given, and what a writer without grammar says besides is dropped and counted. */
#include "base/template.h"
#include "ingest/weave_parts.h"

enum { MOST_ENTITIES = 48, MOST_LINES = 12, MOST_RELATION = 80, ANSWER_TOKENS = 400 };

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

/* Up to MOST_LINES of "entity | relation | entity". */
static void write_grammar(const qp_weave_work *w, size_t n, qp_buf *out)
{
    qp_buf_fmt(out, "root ::= (e \" | \" r \" | \" e \"\\n\"){0,%d}\nr ::= [^|\\n\\r]{1,%d}\ne ::= ", MOST_LINES,
               MOST_RELATION);
    for (size_t i = 0; i < n; i++) {
        qp_buf_text(out, i ? " | " : "");
        add_quoted(out, qp_map_key(w->names, w->here[i]));
    }
    qp_buf_char(out, '\n');
}

static uint32_t number_here(const qp_weave_work *w, size_t n, qp_str name)
{
    for (size_t i = 0; i < n; i++)
        if (qp_str_eq(qp_map_key(w->names, w->here[i]), name))
            return w->here[i];
    return UINT32_MAX;
}

static qp_code take_line(qp_weave_work *w, size_t n, qp_str line, qp_err *err)
{
    qp_str tail = {0}, rest = {0}, head = qp_str_trim(qp_str_split(line, '|', &rest));
    qp_str relation = rest.at ? qp_str_trim(qp_str_split(rest, '|', &tail)) : rest;
    uint32_t from = number_here(w, n, head), to = tail.at ? number_here(w, n, qp_str_trim(tail)) : UINT32_MAX;
    if (from == UINT32_MAX || to == UINT32_MAX || from == to || !relation.n || relation.n > 4 * MOST_RELATION) {
        w->counts.dropped++;
        return QP_OK;
    }
    return qp_weave_fact(w, from, relation, to, (struct place){0}, (struct place){0}, err);
}

static qp_code take_answer(qp_weave_work *w, size_t n, qp_str said, qp_err *err)
{
    qp_code code = QP_OK;
    for (qp_str rest = said; !code && rest.at && rest.n;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        if (line.n)
            code = take_line(w, n, line, err);
    }
    return code;
}

static qp_code ask(qp_weave_work *w, size_t n, qp_digest key, qp_str prompt, qp_buf *said, qp_err *err)
{
    const qp_model *m = w->how->writer;
    const qp_message message = {"user", prompt};
    qp_buf grammar = {0};
    qp_arena *mem = qp_arena_new();
    qp_str out = {0};
    write_grammar(w, n, &grammar);
    qp_buf_char(&grammar, 0);
    qp_code code = !mem || grammar.oom ? qp_oom(err) : QP_OK;
    const qp_sampling how = {.max_tokens = ANSWER_TOKENS, .grammar = grammar.at};
    code = code ? code : m->generate(m->self, &message, 1, &how, &out, mem, err);
    code = code ? code : qp_store_say(w->store, key, m->digest, out, err);
    qp_buf_str(said, out);
    w->counts.asked++;
    qp_arena_free(mem);
    qp_buf_free(&grammar);
    return !code && said->oom ? qp_oom(err) : code;
}

static qp_code count_tokens(qp_weave_work *w, qp_str prompt, qp_err *err)
{
    const qp_model *m = w->how->writer;
    uint32_t tokens = (uint32_t)(prompt.n / 4); /* where the model does not say */
    qp_code code = m->count ? m->count(m->self, &prompt, 1, &tokens, err) : QP_OK;
    w->counts.prompt_tokens += tokens;
    return code;
}

qp_code qp_weave_ask(qp_weave_work *w, qp_err *err)
{
    size_t n = w->n_here < MOST_ENTITIES ? w->n_here : MOST_ENTITIES;
    qp_buf entities = {0}, prompt = {0}, said = {0};
    bool found = false;
    if (n < 2)
        return QP_OK;
    for (size_t i = 0; i < n; i++) {
        qp_buf_str(&entities, qp_map_key(w->names, w->here[i]));
        qp_buf_char(&entities, '\n');
    }
    const qp_field fields[] = {{"text", qp_buf_view(&w->text)}, {"entities", qp_buf_view(&entities)}};
    qp_template_fill(&prompt, qp_buf_view(&w->prompt), fields, 2);
    qp_code code = entities.oom || prompt.oom ? qp_oom(err) : count_tokens(w, qp_buf_view(&prompt), err);
    if (!code && !w->how->ask_nothing) {
        qp_digest key = qp_digest_of(qp_buf_view(&prompt));
        code = qp_store_said(w->store, key, w->how->writer->digest, &said, &found, err);
        w->counts.remembered += found;
        if (!code && !found)
            code = ask(w, n, key, qp_buf_view(&prompt), &said, err);
        code = code ? code : take_answer(w, n, qp_buf_view(&said), err);
    } else if (!code) {
        w->counts.asked++;
    }
    qp_buf_free(&entities);
    qp_buf_free(&prompt);
    qp_buf_free(&said);
    return code;
}
