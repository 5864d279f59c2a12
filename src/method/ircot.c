/* IRCoT (Trivedi, Balasubramanian, Khot, Sabharwal, ACL 2023): search with the question, let the writer think one
 * sentence about it and what was found, search with that sentence. Two steps of five nodes, as FastInsight compares
 * with it. What a step finds again counts once.
 */
#include "method/first.h"
#include "method/methods.h"
#include "op/prompt.h"
#include "text/sentence.h"
#include "text/utf8.h"

typedef struct ircot_opt {
    int64_t steps, k, tokens, top;
    const char *first, *prompt;
} ircot_opt;

static const qp_opt opts[] = {{"steps", "searches", QP_INT, offsetof(ircot_opt, steps), "2", 1, 20, NULL},
                              {"k", "nodes found in each", QP_INT, offsetof(ircot_opt, k), "5", 1, 1e6, NULL},
                              {"tokens", "longest thought", QP_INT, offsetof(ircot_opt, tokens), "64", 1, 4096, NULL},
                              {"prompt", "a file with {passages}, {question}, {thoughts}; not set: prompts/ircot.txt",
                               QP_TEXT, offsetof(ircot_opt, prompt), NULL, 0, 0, NULL},
                              QP_FIRST_OPTION(ircot_opt),
                              QP_TOP_OPTION(ircot_opt),
                              {0}};

enum { PASSAGE = 1200 }; /* bytes of each passage that the writer reads */

/* The texts of what was found, cut so that ten of them fit a small writer. */
static qp_str passages(qp_query *q, qp_list found)
{
    qp_buf out = {0};
    const qp_id *ids = qp_list_ids(q, found);
    qp_str *text = ids ? qp_new(q->mem, qp_str, found.n) : NULL;
    if (text && q->graph->text(q->graph->self, QP_NODE, ids, found.n, text, q->mem, &q->err) == QP_OK) {
        for (uint32_t i = 0; i < found.n; i++) {
            qp_buf_str(&out, qp_str_slice(text[i], 0, qp_utf8_floor(text[i], PASSAGE)));
            qp_buf_text(&out, "\n\n");
        }
    }
    qp_str all = qp_arena_str(q->mem, qp_buf_view(&out));
    if (!text || out.oom || all.n != out.n)
        qp_oom(&q->err);
    qp_buf_free(&out);
    return all;
}

/* The first sentence, whatever the writer went on to say. */
static qp_str first_sentence(qp_str s)
{
    qp_str rest, line = qp_str_split(s, '\n', &rest);
    qp_span first;
    size_t at = 0;
    return qp_sentence_next(line, &at, &first) ? qp_str_slice(line, first.from, first.to) : line;
}

static qp_str think(qp_query *q, const ircot_opt *o, qp_str question, qp_list found, qp_str thoughts)
{
    static const char *const stop[] = {"\n"};
    qp_field fields[] = {{"passages", passages(q, found)}, {"question", question}, {"thoughts", thoughts}};
    qp_str prompt = qp_prompt(q, o->prompt, "ircot.txt", fields, 3);
    return first_sentence(
        qp_write(q, prompt, (qp_sampling){.max_tokens = (uint32_t)o->tokens, .stop = stop, .n_stop = 1}));
}

static bool is_answer(qp_str thought)
{
    return thought.n && memmem(thought.at, thought.n, "answer is", 9);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const ircot_opt *o = opt;
    qp_str question = q->text, thoughts = {"", 0};
    qp_set ret = qp_first(q, o->first, (uint32_t)o->k);
    const float *vector = q->vector; /* the question's, made by the first search */
    (void)in, (void)n_in;
    for (int64_t step = 1; step < o->steps && q->err.code == QP_OK; step++) {
        qp_str thought = think(q, o, question, ret.nodes, thoughts);
        if (!thought.n || is_answer(thought))
            break;
        thoughts = qp_arena_fmt(q->mem, "%.*s%.*s\n", (int)thoughts.n, thoughts.at, (int)thought.n, thought.at);
        if (!thoughts.at)
            qp_oom(&q->err);
        q->text = thought;
        q->vector = NULL;
        ret = qp_join(q, ret, qp_first(q, o->first, (uint32_t)o->k));
    }
    q->text = question;
    q->vector = vector;
    return qp_top(q, ret, (uint32_t)o->top);
}

const qp_op qp_method_ircot = {
    .name = "ircot",
    .help = "searches, lets the writer think a sentence, searches with that",
    .source = "FastInsight, 5.2.2 (IRCoT); Trivedi et al., ACL 2023",
    .opts = opts,
    .opt_size = sizeof(ircot_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_NEEDS_WRITER,
};
