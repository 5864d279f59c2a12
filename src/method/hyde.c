/* HyDE (Gao, Ma, Lin, Callan, ACL 2023): dense search with the vector of passages that a writer makes up for the
 * question. v = (f(q) + f(d_1) + ... + f(d_n)) / (n + 1), their equation 8; unit length again, as the index's vectors
 * are. Reading: n = 1, one passage a question (the authors' code draws 8, at the same temperature).
 */
#include <math.h>

#include "base/clock.h"
#include "base/vector.h"
#include "method/first.h"
#include "method/methods.h"
#include "op/prompt.h"

typedef struct hyde_opt {
    int64_t n, tokens, seed, top;
    double temperature;
    const char *prompt;
} hyde_opt;

static const qp_opt opts[] = {{"n", "passages made up (the authors' code: 8)", QP_INT, offsetof(hyde_opt, n), "1", 1,
                               64, NULL},
                              {"tokens", "longest passage", QP_INT, offsetof(hyde_opt, tokens), "128", 1, 4096, NULL},
                              {"temperature", "of the writer", QP_FLOAT, offsetof(hyde_opt, temperature), "0.7", 0, 2,
                               NULL},
                              {"seed", "of the writer", QP_INT, offsetof(hyde_opt, seed), "0", 0, 1e15, NULL},
                              {"prompt", "a file with {question}; not set: prompts/hyde.txt", QP_TEXT,
                               offsetof(hyde_opt, prompt), NULL, 0, 0, NULL},
                              QP_TOP_OPTION(hyde_opt),
                              {0}};

static qp_str *make_up(qp_query *q, const hyde_opt *o)
{
    qp_str *passage = qp_new(q->mem, qp_str, (size_t)o->n);
    qp_str prompt = qp_prompt(q, o->prompt, "hyde.txt", &(qp_field){"question", q->text}, 1);
    if (!passage)
        qp_oom(&q->err);
    for (int64_t i = 0; i < o->n && q->err.code == QP_OK; i++)
        passage[i] = qp_write(q, prompt,
                              (qp_sampling){.max_tokens = (uint32_t)o->tokens,
                                            .seed = (uint64_t)(o->seed + i),
                                            .temperature = (float)o->temperature});
    return q->err.code == QP_OK ? passage : NULL;
}

/* The mean of the question's vector and the passages', of unit length; null after an error. */
static const float *mean(qp_query *q, const float *v, const qp_str *passage, uint32_t n)
{
    uint32_t dim = q->graph->dim;
    float *rows = qp_new(q->mem, float, (size_t)n *dim), *out = qp_new(q->mem, float, dim);
    if (!rows || !out) {
        qp_oom(&q->err);
        return NULL;
    }
    double start = qp_now_ms();
    qp_code code = q->embedder->embed(q->embedder->self, QP_PASSAGE, passage, n, rows, &q->err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
    if (code != QP_OK)
        return NULL;
    memcpy(out, v, dim * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0; d < dim; d++)
            out[d] += rows[(size_t)i * dim + d];
    float length = sqrtf(qp_dot(out, out, dim));
    for (uint32_t d = 0; d < dim; d++)
        out[d] = length > 0 ? out[d] / length : v[d];
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const hyde_opt *o = opt;
    const float *v = qp_query_vector(q);
    qp_str *passage = v ? make_up(q, o) : NULL;
    (void)in, (void)n_in;
    q->vector = passage ? mean(q, v, passage, (uint32_t)o->n) : v;
    qp_set found = qp_search(q, "node.dense", (uint32_t)o->top);
    q->vector = v;
    return found;
}

const qp_op qp_method_hyde = {
    .name = "hyde",
    .help = "dense search with a passage that the writer makes up for the question",
    .source = "FastInsight, 4.1.1 (HyDE); Gao et al., ACL 2023, equation 8",
    .opts = opts,
    .opt_size = sizeof(hyde_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_NEEDS_WRITER,
};
