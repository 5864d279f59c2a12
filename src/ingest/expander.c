#include "ingest/expander.h"

#include <ctype.h>
#include <stdio.h>

#include "base/template.h"
#include "ingest/writing.h"

enum { LONGEST = 160 /* characters of a question */, TOKENS = 48 /* of one, at most */ };

static const char *const fields[] = {"text", "n", NULL};

/* ---- the key ---- */

/* The writer's digest is kept, so that a run that needs to write nothing needs no writer. */
static qp_code writer_digest(qp_store *store, const qp_model *writer, qp_str *out, qp_arena *mem, qp_err *err)
{
    if (writer && writer->generate) {
        *out = qp_str_of(writer->digest);
        return qp_store_set(store, "doc2query_writer", writer->digest, err);
    }
    qp_code code = qp_store_get(store, "doc2query_writer", out, mem, err);
    return code || out->n
               ? code
               : qp_fail(err, QP_MODEL, "-o doc2query needs a writer: name one with --writer, or leave it at 0");
}

qp_code qp_expander_open(qp_store *store, const qp_reading *r, const qp_model *writer, qp_expander *out, qp_err *err)
{
    *out = (qp_expander){.writer = writer && writer->generate ? writer : NULL, .n = (uint32_t)r->doc2query};
    if (!out->n)
        return QP_OK;
    qp_arena *mem = qp_arena_new();
    qp_str by = {0};
    char n[40];
    qp_code code = mem ? writer_digest(store, writer, &by, mem, err) : qp_oom(err);
    code = code ? code : qp_writing_prompt(r->doc2query_prompt, "doc2query.txt", fields, &out->prompt, err);
    snprintf(n, sizeof n, "doc2query 1 %u", out->n); /* a new number where answers are taken another way */
    const qp_str parts[] = {qp_str_of(n), by, qp_buf_view(&out->prompt)};
    if (!code)
        snprintf(out->digest, sizeof out->digest, "%s", qp_digest_parts(parts, 3).hex);
    qp_arena_free(mem);
    return code;
}

void qp_expander_close(qp_expander *e)
{
    qp_buf_free(&e->prompt);
}

/* ---- asking ---- */

static qp_code fill(const qp_expander *e, qp_str passage, qp_buf *out, qp_err *err)
{
    char n[12];
    snprintf(n, sizeof n, "%u", e->n);
    const qp_field values[] = {{"text", passage}, {"n", qp_str_of(n)}};
    qp_template_fill(out, qp_buf_view(&e->prompt), values, 2);
    return out->oom ? qp_oom(err) : QP_OK;
}

/* Without a list's number or bullet; empty: no question. */
static qp_str question_in(qp_str line)
{
    size_t at = 0;
    line = qp_str_trim(line);
    while (at < line.n && isdigit((unsigned char)line.at[at]))
        at++;
    bool number = at && at < line.n && (line.at[at] == '.' || line.at[at] == ')');
    if (number || (line.n && strchr("-*", line.at[0])))
        line = qp_str_trim(qp_str_slice(line, number ? at + 1 : 1, line.n));
    return line.n && line.at[line.n - 1] == ':' ? (qp_str){"", 0} : line;
}

static bool has_line(qp_str text, qp_str line)
{
    while (text.at && text.n)
        if (qp_str_eq(qp_str_split(text, '\n', &text), line))
            return true;
    return false;
}

static void take_questions(const qp_expander *e, qp_str said, qp_buf *out)
{
    uint32_t n = 0;
    for (qp_str rest = said; n < e->n && rest.at && rest.n;) {
        qp_str question = question_in(qp_str_split(rest, '\n', &rest));
        if (!question.n || has_line(qp_buf_view(out), question))
            continue;
        if (n++)
            qp_buf_char(out, '\n');
        qp_buf_str(out, question);
    }
}

qp_code qp_expander_write(const qp_expander *e, qp_str passage, qp_str *out, qp_arena *mem, qp_err *err)
{
    if (!e->writer)
        return qp_fail(err, QP_MODEL,
                       "-o doc2query=%u needs a writer for passages that have no questions yet: name one with "
                       "--writer, or leave questions out with -o doc2query=0",
                       e->n);
    qp_buf prompt = {0}, grammar = {0}, questions = {0};
    qp_str said = {0};
    qp_buf_fmt(&grammar, "root ::= (q \"\\n\"){%u}\nq ::= [^\\n\\r]{1,%d}\n", e->n, LONGEST);
    qp_code code = fill(e, passage, &prompt, err);
    code = code ? code : qp_writing_ask(e->writer, qp_buf_view(&prompt), &grammar, TOKENS * e->n, &said, mem, err);
    if (!code)
        take_questions(e, said, &questions);
    *out = qp_arena_str(mem, qp_buf_view(&questions));
    if (!code && (questions.oom || !out->at))
        code = qp_oom(err);
    qp_buf_free(&prompt);
    qp_buf_free(&grammar);
    qp_buf_free(&questions);
    return code;
}

qp_code qp_expander_count(const qp_expander *e, qp_str passage, uint64_t *tokens, qp_err *err)
{
    qp_buf prompt = {0};
    qp_code code = fill(e, passage, &prompt, err);
    code = code ? code : qp_writing_count(e->writer, qp_buf_view(&prompt), tokens, err);
    qp_buf_free(&prompt);
    return code;
}
