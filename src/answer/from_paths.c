#include "answer/from_paths.h"

#include "answer/grammar.h"
#include "op/prompt.h"
#include "op/answers.h"
#include "op/eem.h"

enum { MOST = 64, PATHS = 32 };

typedef struct telling {
    qp_query *q;
    qp_set found;
    qp_buf text;
    qp_citation cited[MOST];
    qp_str without[MOST];
    uint32_t n, n_without;
} telling;

/* The first path that has a node of this name; null: none has. */
static const qp_hit *path_to(telling *t, qp_str name, qp_id *node)
{
    for (uint32_t i = 0; i < t->found.paths.n; i++)
        for (const qp_hit *h = &t->found.paths.at[i]; h; h = h->from) {
            qp_about about;
            if (t->q->graph->about(t->q->graph->self, &h->id, 1, &about, t->q->mem, &t->q->err))
                return NULL;
            if (qp_str_eq(about.name, name)) {
                *node = h->id;
                return &t->found.paths.at[i];
            }
        }
    return NULL;
}

static void tell(telling *t, qp_str name)
{
    qp_id node = QP_NO_ID;
    if (!name.n || t->n == MOST || t->n_without == MOST)
        return;
    const qp_hit *path = path_to(t, name, &node);
    if (t->text.n)
        qp_buf_text(&t->text, ", ");
    qp_buf_str(&t->text, name);
    if (!path) {
        t->without[t->n_without++] = name;
        return;
    }
    qp_str quote = qp_path_text(t->q, path);
    t->cited[t->n] = (qp_citation){.n = t->n + 1, .node = node, .quote = quote, .supported = true};
    qp_buf_fmt(&t->text, " [%u]", ++t->n);
}

static void read_off(telling *t)
{
    uint32_t predicted;
    qp_list ends = qp_path_answers(t->q, t->found, &predicted);
    for (uint32_t i = 0; i < predicted && t->q->err.code == QP_OK; i++) {
        qp_about about;
        if (!t->q->graph->about(t->q->graph->self, &ends.at[i].id, 1, &about, t->q->mem, &t->q->err))
            tell(t, about.name);
    }
}

static qp_str paths_as_lines(telling *t)
{
    qp_buf lines = {0};
    if (t->q->report.n)
        qp_buf_fmt(&lines, "%.*s\n", (int)t->q->report.n, t->q->report.at);
    for (uint32_t i = 0; i < t->found.paths.n && i < PATHS; i++) {
        qp_prompt_add(&lines, qp_path_text(t->q, &t->found.paths.at[i]));
        qp_buf_char(&lines, '\n');
    }
    qp_str out = lines.oom ? (qp_str){0} : qp_arena_str(t->q->mem, lines.n ? qp_buf_view(&lines) : QP_STR(""));
    if (!out.at)
        qp_oom(&t->q->err);
    qp_buf_free(&lines);
    return out;
}

static void write(telling *t, const qp_answer_options *o, qp_answer *answer)
{
    qp_str prompt = {0}, said = t->q->answer;
    if (!said.n) {
        const qp_field fields[] = {{"question", t->q->text}, {"items", paths_as_lines(t)}};
        prompt = qp_prompt(t->q, o->prompt, "lego-reason.txt", fields, 2);
        said = qp_write(t->q, prompt,
                        (qp_sampling){.max_tokens = o->answer_tokens,
                                      .seed = o->seed,
                                      .grammar = qp_answer_grammar(t->q, o)});
    }
    if (t->q->err.code == QP_OK && prompt.n && t->q->writer->count) {
        t->q->writer->count(t->q->writer->self, &prompt, 1, &answer->prompt_tokens, &t->q->err);
        t->q->writer->count(t->q->writer->self, &said, 1, &answer->answer_tokens, &t->q->err);
    }
    for (qp_str rest = said; rest.at && rest.n && t->q->err.code == QP_OK;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        while (line.n && (*line.at == '-' || *line.at == '*' || *line.at == ' '))
            line = qp_str_slice(line, 1, line.n);
        tell(t, line);
    }
}

qp_code qp_answer_from_paths(qp_query *q, qp_set evidence, const qp_answer_options *o, qp_answer *answer, qp_err *err)
{
    telling *t = qp_new(q->mem, telling, 1);
    if (!t)
        return qp_oom(err);
    t->q = q;
    t->found = evidence;
    bool written = q->answer.n || (!o->extract && q->writer && q->writer->generate);
    *answer = (qp_answer){.extracted = !written};
    if (written)
        write(t, o, answer);
    else
        read_off(t);
    if (q->err.code == QP_OK &&
        !(answer->text =
              t->text.oom ? (qp_str){0} : qp_arena_str(q->mem, t->text.n ? qp_buf_view(&t->text) : QP_STR("")))
             .at)
        qp_oom(&q->err);
    qp_buf_free(&t->text);
    answer->citations = t->cited;
    answer->n_citations = t->n;
    answer->without = t->without;
    answer->unsupported = t->n_without;
    return q->err.code == QP_OK ? QP_OK : qp_fail(err, q->err.code, "%s", q->err.message);
}
