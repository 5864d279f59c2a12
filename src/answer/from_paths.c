#include "answer/from_paths.h"

#include "answer/grammar.h"
#include "answer/naming.h"
#include "op/describe.h"
#include "op/prompt.h"
#include "op/answers.h"
#include "op/eem.h"

enum { PATHS = 32 };

typedef struct shown {
    qp_query *q;
    qp_set found;
} shown;

/* The first path that has a node of this name; empty: none has. */
static qp_str path_to(void *self, qp_str name, qp_id *node)
{
    const shown *t = self;
    for (uint32_t i = 0; i < t->found.paths.n; i++)
        for (const qp_hit *h = &t->found.paths.at[i]; h; h = h->from) {
            qp_about about;
            if (t->q->graph->about(t->q->graph->self, &h->id, 1, &about, t->q->mem, &t->q->err))
                return (qp_str){0};
            if (qp_str_eq(about.name, name)) {
                *node = h->id;
                return qp_path_text(t->q, &t->found.paths.at[i]);
            }
        }
    return (qp_str){0};
}

static void read_off(const shown *t, qp_naming *names)
{
    uint32_t predicted;
    qp_list ends = qp_path_answers(t->q, t->found, &predicted);
    for (uint32_t i = 0; i < predicted && t->q->err.code == QP_OK; i++) {
        qp_about about;
        if (!t->q->graph->about(t->q->graph->self, &ends.at[i].id, 1, &about, t->q->mem, &t->q->err))
            qp_naming_add(names, about.name);
    }
}

static qp_str paths_as_lines(const shown *t)
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

static qp_str prompt_of(const shown *t, const qp_answer_options *o)
{
    const qp_field read[] = {{"question", t->q->text}, {"items", paths_as_lines(t)}};
    const qp_field own[] = {{"question", t->q->text}, {"answer", t->q->answer}};
    return t->q->answer.n ? qp_prompt(t->q, NULL, "choice.txt", own, 2)
                          : qp_prompt(t->q, o->prompt, "lego-reason.txt", read, 2);
}

/* What a method has written itself is the answer; where it must be one of a few, the writer reads it and chooses (as of
 * thoughts: Kojima et al., NeurIPS 2022, "Therefore, the answer is"). */
static qp_str write(const shown *t, const qp_answer_options *o, qp_answer *answer)
{
    qp_str prompt = {0}, said = t->q->answer;
    if (!said.n || o->choices) {
        const char *grammar = qp_answer_grammar(t->q, o);
        prompt = prompt_of(t, o);
        said =
            qp_write(t->q, prompt, (qp_sampling){.max_tokens = o->answer_tokens, .seed = o->seed, .grammar = grammar});
    }
    answer->prompt_tokens = t->q->prompt_tokens + qp_tokens(t->q, prompt);
    answer->answer_tokens = t->q->answer_tokens + (prompt.n ? qp_tokens(t->q, said) : 0);
    return said;
}

qp_code qp_answer_from_paths(qp_query *q, qp_set evidence, const qp_answer_options *o, qp_answer *answer, qp_err *err)
{
    shown t = {q, evidence};
    qp_naming *names = qp_naming_new(q, path_to, &t);
    bool written = q->answer.n || (!o->extract && q->writer && q->writer->generate);
    *answer = (qp_answer){.extracted = !written};
    if (names && written)
        qp_naming_add_lines(names, write(&t, o, answer));
    else if (names)
        read_off(&t, names);
    if (names)
        qp_naming_end(names, answer);
    return q->err.code == QP_OK ? QP_OK : qp_fail(err, q->err.code, "%s", q->err.message);
}
