#include "answer/compose.h"

#include <ctype.h>

#include "answer/grammar.h"
#include "answer/support.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/share.h"
#include "base/str.h"
#include "base/template.h"
#include "op/op.h"
#include "text/sentence.h"

enum { MOST_MARKS = 8, LONGEST_PROMPT = 64 << 10 };

/* ---- the prompt ---- */

/* Each line begins with "> ": nothing in a source can pass for another source, the question or us. */
static void add_quoted(qp_buf *out, qp_str text)
{
    while (text.n) {
        qp_buf_text(out, "\n> ");
        qp_buf_str(out, qp_str_split(text, '\n', &text));
    }
}

static qp_str summary_of(const qp_query *q, qp_id node)
{
    for (uint32_t i = 0; i < q->n_summary; i++)
        if (q->summary[i].node == node)
            return q->summary[i].text;
    return (qp_str){0};
}

/* A source that was summed up with what is around it is told by the summary too, or alone (CG-RAG, equation 20). */
static void add_sources(qp_buf *out, const qp_query *q, const qp_sources *s)
{
    if (s->facts.n) {
        qp_buf_text(out, "Facts of a graph drawn from the sources:");
        add_quoted(out, s->facts);
        qp_buf_text(out, "\n\n");
    }
    for (uint32_t i = 0; i < s->n; i++) {
        qp_buf_fmt(out, "%s[%u]", i ? "\n\n" : "", i + 1);
        qp_str summary = summary_of(q, s->at[i].node);
        add_quoted(out, s->at[i].about.title);
        if (!summary.n || !q->summaries_alone)
            add_quoted(out, s->at[i].text);
        if (summary.n && !q->summaries_alone)
            add_quoted(out, QP_STR("Summed up with what is around it:"));
        add_quoted(out, summary);
    }
}

/* The template with {sources} and {question} filled in; a question that holds "{sources}" is left as it is. */
static void fill(qp_buf *out, qp_str template, const qp_query *q, const qp_sources *s)
{
    while (template.n) {
        qp_str before = qp_str_split(template, '{', &template);
        qp_buf_str(out, before);
        if (!template.at)
            break;
        if (qp_str_starts(template, QP_STR("sources}"))) {
            add_sources(out, q, s);
            template = qp_str_slice(template, strlen("sources}"), template.n);
        } else if (qp_str_starts(template, QP_STR("question}"))) {
            qp_buf_str(out, q->text);
            template = qp_str_slice(template, strlen("question}"), template.n);
        } else {
            qp_buf_char(out, '{');
        }
    }
}

static qp_code prompt_of(qp_query *q, const qp_sources *s, const char *file, qp_str *prompt, qp_err *err)
{
    const char *path = file ? file : qp_share_find(q->mem, "prompts/answer.txt");
    if (!path)
        return qp_fail(err, QP_INPUT, "prompts/answer.txt was wanted and is nowhere; set QUIPU_SHARE to its folder");
    qp_buf template = {0}, text = {0};
    qp_code code = qp_file_read(path, LONGEST_PROMPT, &template, err);
    if (!code && !qp_template_has(qp_buf_view(&template), "question"))
        code = qp_fail(err, QP_INPUT,
                       "%s: has no {question}; prompts/answer.txt shows all that stands in such a prompt", path);
    if (!code) {
        fill(&text, qp_buf_view(&template), q, s);
        *prompt = qp_arena_str(q->mem, qp_buf_view(&text));
        code = text.oom || !prompt->at ? qp_oom(err) : QP_OK;
    }
    qp_buf_free(&template);
    qp_buf_free(&text);
    return code;
}

/* ---- writing ---- */

typedef struct stream {
    qp_query *q;
    void (*token)(void *user, const char *text, size_t n);
    void *user;
} stream;

static bool on_token(void *user, const char *text, size_t n)
{
    const stream *s = user;
    if (s->token)
        s->token(s->user, text, n);
    return !qp_query_over(s->q, "writer");
}

static qp_code generate(qp_query *q, qp_str prompt, const qp_answer_options *o, qp_str *text, qp_err *err)
{
    if (qp_query_over(q, "writer"))
        return qp_fail(err, q->err.code, "%s", q->err.message);
    stream s = {q, o->token, o->user};
    qp_sampling sampling = {.max_tokens = o->answer_tokens,
                            .seed = o->seed,
                            .grammar = qp_answer_grammar(q, o),
                            .token = o->token || q->deadline > 0 ? on_token : NULL,
                            .user = &s,
                            .cancel = q->cancel};
    qp_message message = {"user", prompt};
    double began = qp_now_ms();
    qp_code code = q->writer->generate(q->writer->self, &message, 1, &sampling, text, q->mem, err);
    qp_trace_add_model_ms(q, "write", qp_now_ms() - began);
    if (!code && q->err.code)
        return qp_fail(err, q->err.code, "%s", q->err.message);
    if (!code && !qp_str_trim(*text).n)
        return qp_fail(err, QP_MODEL, "%s: an answer was wanted, it wrote none; try a longer --length, or --extract",
                       q->writer->name);
    return code;
}

/* ---- checking ---- */

/* A sentence of the answer without its marks, and the sources it names. */
typedef struct claim {
    qp_str text;
    uint32_t marks[MOST_MARKS];
    uint32_t n_marks, n_leading; /* leading: of them, those before any text */
} claim;

/* Reads "[1]" or "[1, 2]" at s.at[i]; returns its length, 0 if there is none. Numbers of no source are dropped. */
static size_t read_marks(qp_str s, size_t i, uint32_t sources, claim *c)
{
    size_t at = i + 1;
    uint32_t number = 0;
    bool digits = false;
    const uint32_t before = c->n_marks;
    for (; at < s.n && s.at[at] != ']'; at++) {
        char ch = s.at[at];
        if (isdigit((unsigned char)ch) && number < 100000) {
            number = number * 10 + (uint32_t)(ch - '0');
            digits = true;
        } else if (ch != ',' && ch != ' ' && ch != ';') {
            c->n_marks = before;
            return 0;
        }
        bool ends = at + 1 < s.n && !isdigit((unsigned char)s.at[at + 1]);
        if (digits && isdigit((unsigned char)ch) && ends) {
            if (number >= 1 && number <= sources && c->n_marks < MOST_MARKS)
                c->marks[c->n_marks++] = number;
            number = 0;
        }
    }
    if (at < s.n && digits)
        return at + 1 - i;
    c->n_marks = before;
    return 0;
}

static claim claim_of(qp_query *q, qp_str sentence, uint32_t sources)
{
    claim c = {0};
    char *kept = qp_arena_alloc(q->mem, sentence.n + 1);
    size_t n = 0;
    for (size_t i = 0; kept && i < sentence.n;) {
        size_t skip = sentence.at[i] == '[' ? read_marks(sentence, i, sources, &c) : 0;
        if (skip) {
            i += skip;
            continue;
        }
        if (!n)
            c.n_leading = c.n_marks;
        if (n || sentence.at[i] != ' ')
            kept[n++] = sentence.at[i];
        i++;
    }
    if (!n)
        c.n_leading = c.n_marks;
    if (n > 1 && kept[n - 1] == '.' && kept[n - 2] == ' ') /* "word [1]." leaves "word ." */
        kept[--n - 1] = '.';
    c.text = qp_str_trim((qp_str){kept ? kept : "", n});
    return c;
}

typedef struct checked {
    qp_query *q;
    const qp_sources *sources;
    qp_support *support;
    qp_answer *answer;
    qp_citation *citations;
    qp_str *without;
    uint32_t cap;
    qp_buf text;
} checked;

static void cite(checked *k, uint32_t n, const qp_sentence *found)
{
    if (k->answer->n_citations == k->cap)
        return;
    const qp_source *source = &k->sources->at[n - 1];
    qp_citation c = {.n = n, .node = source->node, .from = source->about.from, .to = source->about.to};
    if (found) {
        c.from = found->at;
        c.to = found->at + found->text.n;
        c.quote = found->text;
        c.supported = true;
    }
    k->citations[k->answer->n_citations++] = c;
    qp_buf_fmt(&k->text, " [%u]", n);
}

/* The sources it names come first; where none of them bears it out, any source may. */
static qp_code check_claim(checked *k, const claim *c, qp_err *err)
{
    const qp_sentence *found = NULL;
    bool supported = false;
    if (k->text.n)
        qp_buf_char(&k->text, ' ');
    qp_buf_str(&k->text, c->text);
    for (uint32_t i = 0; i < c->n_marks; i++) {
        qp_code code = qp_support_find(k->support, c->text, c->marks[i] - 1, &found, err);
        if (code)
            return code;
        cite(k, c->marks[i], found);
        supported |= found != NULL;
    }
    if (!supported) {
        qp_code code = qp_support_find(k->support, c->text, QP_NO_ID, &found, err);
        if (code)
            return code;
        if (found)
            cite(k, found->source + 1, found);
        else if (k->answer->unsupported++ < QP_WITHOUT_MAX)
            k->without[k->answer->unsupported - 1] = c->text;
    }
    return QP_OK;
}

/* Marks that stand behind a full stop open the next sentence, and belong to the one before. */
static void give_back_leading(claim *before, claim *c)
{
    for (uint32_t m = 0; m < c->n_leading && before->n_marks < MOST_MARKS; m++)
        before->marks[before->n_marks++] = c->marks[m];
    c->n_marks -= c->n_leading;
    memmove(c->marks, c->marks + c->n_leading, c->n_marks * sizeof *c->marks);
}

static qp_code check(checked *k, qp_str written, qp_err *err)
{
    qp_code code = QP_OK;
    qp_span span;
    claim before = {0};
    for (size_t at = 0; !code && qp_sentence_next(written, &at, &span);) {
        claim c = claim_of(k->q, qp_str_slice(written, span.from, span.to), k->sources->n);
        if (before.text.n)
            give_back_leading(&before, &c);
        if (!c.text.n)
            continue;
        if (before.text.n)
            code = check_claim(k, &before, err);
        before = c;
    }
    return before.text.n && !code ? check_claim(k, &before, err) : code;
}

qp_code qp_answer_compose(qp_query *q, const qp_sources *s, const qp_answer_options *o, qp_answer *answer, qp_err *err)
{
    enum { MOST_CITATIONS = 256 };
    qp_str prompt = {0}, written = {0};
    qp_code code = prompt_of(q, s, o->prompt, &prompt, err);
    if (!code)
        code = generate(q, prompt, o, &written, err);
    if (code)
        return code;
    checked k = {.q = q,
                 .sources = s,
                 .answer = answer,
                 .cap = MOST_CITATIONS,
                 .citations = qp_new(q->mem, qp_citation, MOST_CITATIONS),
                 .without = qp_new(q->mem, qp_str, QP_WITHOUT_MAX)};
    if (!k.citations || !k.without)
        return qp_oom(err);
    answer->without = k.without;
    code = qp_support_open(q, s, &k.support, err);
    if (!code)
        code = check(&k, written, err);
    qp_support_close(k.support);
    answer->text = qp_arena_str(q->mem, qp_buf_view(&k.text));
    answer->citations = k.citations;
    if (!code && q->writer->count) {
        code = q->writer->count(q->writer->self, &prompt, 1, &answer->prompt_tokens, err);
        if (!code)
            code = q->writer->count(q->writer->self, &written, 1, &answer->answer_tokens, err);
    }
    if (!code && (k.text.oom || !answer->text.at))
        code = qp_oom(err);
    qp_buf_free(&k.text);
    return code;
}
