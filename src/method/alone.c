/* The writer alone, without the graph: the baselines that GEAR and LEGO-GraphRAG are compared with. It answers at once
 * (zero-shot), or thinks step by step first (chain of thought: Wei and others, NeurIPS 2022).
 *
 * Its answers are lines; those that name an entity of the graph are what is found, so that they are measured as any
 * other method's. Reading: a line that names none is left out there, and stands in the answer.
 */
#include "method/first.h"
#include "method/method.h"
#include "method/methods.h"
#include "op/describe.h"
#include "op/ops.h"
#include "op/prompt.h"

typedef struct alone_opt {
    const char *prompt;
    int64_t tokens, seed, top;
} alone_opt;

#define ALONE_OPTIONS(FILE, TOKENS)                                                                                    \
    {                                                                                                                  \
        {"prompt", "a file with {question}; not set: prompts/" FILE, QP_TEXT, offsetof(alone_opt, prompt), NULL, 0, 0, \
         NULL},                                                                                                        \
            {"tokens", "longest answer", QP_INT, offsetof(alone_opt, tokens), TOKENS, 1, 4096, NULL},                  \
            {"seed", "of the writer", QP_INT, offsetof(alone_opt, seed), "0", 0, 1e15, NULL},                          \
            QP_TOP_OPTION(alone_opt),                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static qp_set answered(qp_query *q, const alone_opt *o, qp_str lines)
{
    q->answer = qp_str_trim(lines);
    qp_list found = qp_link_lines(q, q->answer);
    found.n = qp_min(found.n, o->top);
    return qp_set_of(found);
}

static qp_str write(qp_query *q, const alone_opt *o, const char *standard)
{
    qp_str prompt = qp_prompt(q, o->prompt, standard, &(qp_field){"question", q->text}, 1);
    if (q->err.code != QP_OK)
        return (qp_str){"", 0};
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = (uint32_t)o->tokens, .seed = (uint64_t)o->seed});
    q->prompt_tokens = qp_tokens(q, prompt);
    q->answer_tokens = qp_tokens(q, said);
    return said;
}

static qp_set run_zero_shot(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    (void)in, (void)n_in;
    return answered(q, opt, write(q, opt, "zero-shot.txt"));
}

/* What stands behind the last "Answers:"; where there is none, the last line. */
static qp_str concluded(qp_str said)
{
    static const char mark[] = "Answers:";
    const size_t n = sizeof mark - 1;
    size_t from = said.n;
    while (from && said.at[from - 1] != '\n')
        from--;
    for (size_t i = 0; i + n <= said.n; i++)
        if (!memcmp(said.at + i, mark, n))
            from = i + n;
    return qp_str_slice(said, from, said.n);
}

static qp_set run_cot(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    (void)in, (void)n_in;
    return answered(q, opt, concluded(write(q, opt, "cot.txt")));
}

static const qp_opt zero_shot_opts[] = ALONE_OPTIONS("zero-shot.txt", "128"),
                    cot_opts[] = ALONE_OPTIONS("cot.txt", "384");

const qp_op qp_method_zero_shot = {
    .name = "zero-shot",
    .help = "the writer answers by itself, nothing is retrieved; without --writer the default one",
    .source = "the baseline of GEAR and LEGO-GraphRAG",
    .opts = zero_shot_opts,
    .opt_size = sizeof(alone_opt),
    .run = run_zero_shot,
    .needs = QP_NEEDS_WRITER,
};

const qp_op qp_method_cot = {
    .name = "cot",
    .help = "the writer thinks step by step, then answers; nothing is retrieved; without --writer the default one",
    .source = "the baseline of GEAR; Wei and others, NeurIPS 2022",
    .opts = cot_opts,
    .opt_size = sizeof(alone_opt),
    .run = run_cot,
    .needs = QP_NEEDS_WRITER,
};

bool qp_method_writes(const qp_op *op)
{
    return op == &qp_method_zero_shot || op == &qp_method_cot;
}
