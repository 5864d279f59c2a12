#include "model/splade.h"

#include <math.h>
#include <stdlib.h>

#include "model/kernel.h"

enum { TILE = 512 }; /* terms whose logits are made at once: a multiple of each kernel's panel */

struct qp_splade {
    const qp_kernels *kernels;
    uint32_t width, terms;
    float epsilon;
    void *dense, *words; /* W and E, packed */
    float *dense_bias, *gain, *shift, *word_bias;
};

static qp_code pack(const qp_kernels *k, const float *w, uint32_t rows, uint32_t cols, void **out, qp_err *err)
{
    size_t bytes = qp_packed_size(k, rows, cols) * k->item;
    if (!(*out = aligned_alloc(64, (bytes + 63) / 64 * 64)))
        return qp_oom(err);
    k->pack(*out, w, cols, 1, rows, cols);
    return QP_OK;
}

static qp_code read_matrix(const qp_splade *s, const qp_gguf *g, const char *name, uint32_t rows, void **out,
                           qp_err *err)
{
    float *w = NULL;
    qp_code code = qp_gguf_floats(g, name, rows, s->width, &w, err);
    if (!code)
        code = pack(s->kernels, w, rows, s->width, out, err);
    free(w);
    return code;
}

qp_code qp_splade_open(const qp_gguf *g, uint32_t width, float epsilon, qp_splade **out, qp_err *err)
{
    qp_splade *s = calloc(1, sizeof *s);
    qp_tensor words;
    if (!s)
        return qp_oom(err);
    *s = (qp_splade){.kernels = qp_kernels_best(), .width = width, .epsilon = epsilon};
    qp_code code = qp_gguf_want(g, "token_embd.weight", 0, width, &words, err);
    s->terms = code ? 0 : words.rows;
    if (!code)
        code = read_matrix(s, g, "token_embd.weight", s->terms, &s->words, err);
    if (!code)
        code = qp_gguf_floats(g, "mlm.output.bias", 1, s->terms, &s->word_bias, err);
    if (!code)
        code = read_matrix(s, g, "mlm.dense.weight", width, &s->dense, err);
    if (!code)
        code = qp_gguf_floats(g, "mlm.dense.bias", 1, width, &s->dense_bias, err);
    if (!code)
        code = qp_gguf_floats(g, "mlm.norm.weight", 1, width, &s->gain, err);
    if (!code)
        code = qp_gguf_floats(g, "mlm.norm.bias", 1, width, &s->shift, err);
    if (code)
        qp_splade_close(s);
    else
        *out = s;
    return code;
}

void qp_splade_close(qp_splade *s)
{
    if (!s)
        return;
    free(s->dense);
    free(s->words);
    free(s->dense_bias);
    free(s->gain);
    free(s->shift);
    free(s->word_bias);
    free(s);
}

uint32_t qp_splade_terms(const qp_splade *s)
{
    return s->terms;
}

/* ln(1 + relu(x)) rises, so the largest logit gives the largest weight. */
static void keep_largest(const float *logit, uint32_t rows, uint32_t n, float *weight)
{
    memcpy(weight, logit, n * sizeof *weight);
    for (uint32_t i = 1; i < rows; i++)
        for (uint32_t j = 0; j < n; j++)
            weight[j] = logit[(size_t)i * n + j] > weight[j] ? logit[(size_t)i * n + j] : weight[j];
    for (uint32_t j = 0; j < n; j++)
        weight[j] = weight[j] > 0 ? log1pf(weight[j]) : 0;
}

qp_code qp_splade_run(const qp_splade *s, const float *rows, uint32_t n, float *weight, qp_err *err)
{
    const qp_kernels *k = s->kernels;
    float *z = malloc((size_t)n * (s->width + TILE) * sizeof *z), *logit = z ? z + (size_t)n * s->width : NULL;
    if (!z)
        return qp_oom(err);
    k->gemm(rows, s->width, n, s->dense, s->width, s->width, s->dense_bias, false, z, s->width);
    k->gelu(z, (size_t)n * s->width);
    for (uint32_t i = 0; i < n; i++)
        k->norm(z + (size_t)i * s->width, s->width, s->gain, s->shift, s->epsilon);
    for (uint32_t from = 0, some; from < s->terms; from += some) {
        some = s->terms - from < TILE ? s->terms - from : TILE;
        const char *panels = (const char *)s->words + qp_packed_size(k, from, s->width) * k->item;
        k->gemm(z, s->width, n, panels, some, s->width, s->word_bias + from, false, logit, some);
        keep_largest(logit, n, some, weight + from);
    }
    free(z);
    return QP_OK;
}
