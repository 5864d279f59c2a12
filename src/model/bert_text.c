/* What a BERT makes of a text by itself: a vector, vectors of spans or tokens, attention heads' outputs, learned
 * terms. */
#include <ctype.h>
#include <stdlib.h>

#include "base/vector.h"
#include "model/bert_model.h"

qp_code qp_bert_embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_bert_job j = {.b = self, .pool = ((qp_bert *)self)->pool, .take = qp_bert_take_vectors, .to = out};
    const uint32_t width = j.b->model.dim;
    qp_code code = qp_bert_texts(&j, role, text, n, err);
    for (uint32_t i = 0; i < n && !code; i++)
        qp_make_unit(out + (size_t)i * width, width);
    return code;
}

/* ---- spans ---- */

struct pooled {
    const qp_text_span *span;
    const uint32_t *spans_of; /* text i has [spans_of[i], spans_of[i + 1]) */
    float *of_texts, *of_spans;
};

/* Of the rows of one text those that the span's words begin in, summed as the mean of the whole is. */
static void pool_span(const qp_bert_job *j, qp_text_span s, const float *rows, uint32_t n, float *out)
{
    const uint32_t width = j->b->model.dim, *word = j->cut.ids.word + j->cut.starts[s.text];
    uint32_t first = 0, end, prefix = (uint32_t)j->b->passage_prefix.n;
    while (first < n && (word[first] == QP_NO_WORD || word[first] < prefix + s.from))
        first++;
    for (end = first; end < n && word[end] < prefix + s.to;)
        end++;
    if (end > first)
        qp_rows_mean(rows + (size_t)first * width, end - first, width, out);
    else
        memset(out, 0, width * sizeof *out);
    qp_make_unit(out, width);
}

static qp_code take_spans(const qp_bert_job *j, size_t i, const float *rows, qp_err *err)
{
    const struct pooled *to = j->to;
    const uint32_t width = j->b->model.dim;
    (void)err;
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++) {
        const uint32_t text = j->cut.order[at], n = j->cut.sequences[at].n;
        qp_rows_mean(rows, n, width, to->of_texts + (size_t)text * width);
        qp_make_unit(to->of_texts + (size_t)text * width, width);
        for (uint32_t k = to->spans_of[text]; k < to->spans_of[text + 1]; k++)
            pool_span(j, to->span[k], rows, n, to->of_spans + (size_t)k * width);
        rows += (size_t)n * width;
    }
    return QP_OK;
}

qp_code qp_bert_embed_spans(void *self, const qp_str *text, uint32_t n, const qp_text_span *span, uint32_t m,
                            float *out, float *of_spans, qp_err *err)
{
    uint32_t *spans_of = malloc(((size_t)n + 1) * sizeof *spans_of), k = 0;
    if (!spans_of)
        return qp_oom(err);
    for (uint32_t i = 0; i <= n; i++) {
        while (k < m && span[k].text < i)
            k++;
        spans_of[i] = k;
    }
    struct pooled to = {span, spans_of, out, of_spans};
    qp_bert_job j = {.b = self, .pool = QP_POOL_NONE, .take = take_spans, .to = &to};
    j.cut.ids.words = true;
    qp_code code = qp_bert_texts(&j, QP_PASSAGE, text, n, err);
    free(spans_of);
    return code;
}

/* ---- vectors of tokens ---- */

struct rows_of {
    qp_token_rows *at;  /* of each text; malloc'ed */
    const qp_str *text; /* of passages, whose marks are left out; or null */
};

/* A passage's marks stand for nothing that is asked about (ColBERT, 3.2). */
static bool is_mark(const qp_bert *b, qp_str passage, uint32_t word)
{
    size_t prefix = b->passage_prefix.n;
    return word != QP_NO_WORD && word >= prefix && ispunct((unsigned char)passage.at[word - prefix]);
}

static void project(const qp_bert *b, const float *row, float *out)
{
    const uint32_t dim = b->model.token_dim, width = qp_encoder_width(b->encoder);
    if (!b->projection)
        memcpy(out, row, dim * sizeof *out);
    for (uint32_t i = 0; b->projection && i < dim; i++)
        out[i] = qp_dot(b->projection + (size_t)i * width, row, width);
    qp_make_unit(out, dim);
}

static qp_code take_tokens(const qp_bert_job *j, size_t i, const float *rows, qp_err *err)
{
    const struct rows_of *to = j->to;
    const uint32_t dim = j->b->model.token_dim, width = qp_encoder_width(j->b->encoder);
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++) {
        const uint32_t text = j->cut.order[at], n = j->cut.sequences[at].n,
                       *word = j->cut.ids.word + j->cut.starts[text];
        float *out = malloc((size_t)n * dim * sizeof *out), *next = out;
        if (!out)
            return qp_oom(err);
        for (uint32_t k = 0; k < n; k++, rows += width) {
            if (to->text && is_mark(j->b, to->text[text], word[k]))
                continue;
            project(j->b, rows, next);
            next += dim;
        }
        to->at[text] = (qp_token_rows){out, (uint32_t)((size_t)(next - out) / dim)};
    }
    return QP_OK;
}

qp_code qp_bert_tokens(void *self, qp_role role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *mem,
                       qp_err *err)
{
    qp_bert *b = self;
    struct rows_of to = {calloc((size_t)n + 1, sizeof *to.at), role == QP_PASSAGE ? text : NULL};
    qp_bert_job j = {
        .b = b, .pool = QP_POOL_NONE, .take = take_tokens, .to = &to, .marker = &b->marker[role == QP_QUERY]};
    j.cut.ids.words = true;
    qp_code code = to.at ? qp_bert_texts(&j, role, text, n, err) : qp_oom(err);
    for (uint32_t i = 0; to.at && i < n; i++) {
        size_t floats = (size_t)to.at[i].n * b->model.token_dim;
        float *rows = code ? NULL : qp_new(mem, float, floats + 1);
        if (rows)
            memcpy(rows, to.at[i].at, floats * sizeof *rows);
        else if (!code)
            code = qp_oom(err);
        out[i] = (qp_token_rows){rows, to.at[i].n};
        free((void *)(uintptr_t)to.at[i].at);
    }
    free(to.at);
    return code;
}

/* ---- heads ---- */

/* The heads' outputs lie side by side in a row of the width. */
qp_code qp_bert_attend(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_bert_job j = {.b = self, .pool = ((qp_bert *)self)->pool, .take = qp_bert_take_vectors, .to = out};
    return qp_bert_texts(&j, role, text, n, err);
}

/* ---- learned terms ---- */

/* The terms above 0, in one piece of memory: weights, then ids. */
static bool gather(const float *weight, uint32_t terms, qp_sparse *out)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < terms; t++)
        n += weight[t] > 0;
    float *weights = malloc((n + 1) * (sizeof(float) + sizeof(uint32_t)));
    if (!weights)
        return false;
    uint32_t *ids = (uint32_t *)(weights + n);
    *out = (qp_sparse){ids, weights, n};
    for (uint32_t t = 0; t < terms; t++)
        if (weight[t] > 0) {
            *ids++ = t;
            *weights++ = weight[t];
        }
    return true;
}

static qp_code take_terms(const qp_bert_job *j, size_t i, const float *rows, qp_err *err)
{
    qp_sparse *to = j->to; /* each malloc'ed, its ids behind its weights */
    const uint32_t width = qp_encoder_width(j->b->encoder), terms = qp_splade_terms(j->b->splade);
    float *weight = malloc(terms * sizeof *weight);
    qp_code code = weight ? QP_OK : qp_oom(err);
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1] && !code; at++) {
        const uint32_t n = j->cut.sequences[at].n;
        code = qp_splade_run(j->b->splade, rows, n, weight, err);
        if (!code && !gather(weight, terms, &to[j->cut.order[at]]))
            code = qp_oom(err);
        rows += (size_t)n * width;
    }
    free(weight);
    return code;
}

static bool copy_terms(const qp_sparse *from, qp_sparse *to, qp_arena *mem)
{
    uint32_t *term = qp_new(mem, uint32_t, from->n + 1);
    float *weight = qp_new(mem, float, from->n + 1);
    if (!term || !weight)
        return false;
    memcpy(term, from->term, from->n * sizeof *term);
    memcpy(weight, from->weight, from->n * sizeof *weight);
    *to = (qp_sparse){term, weight, from->n};
    return true;
}

qp_code qp_bert_weigh(void *self, qp_role role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *mem,
                      qp_err *err)
{
    qp_sparse *found = calloc((size_t)n + 1, sizeof *found);
    qp_bert_job j = {.b = self, .pool = QP_POOL_NONE, .take = take_terms, .to = found};
    qp_code code = found ? qp_bert_texts(&j, role, text, n, err) : qp_oom(err);
    for (uint32_t i = 0; found && i < n; i++) {
        if (!code && !copy_terms(&found[i], &out[i], mem))
            code = qp_oom(err);
        free((void *)(uintptr_t)found[i].weight);
    }
    free(found);
    return code;
}

/* ---- counting ---- */

qp_code qp_bert_count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    const qp_bert *b = self;
    qp_ids ids = {0};
    for (uint32_t i = 0; i < n; i++) {
        ids.n = 0;
        qp_tokenizer_run(&b->tokenizer, text[i], UINT32_MAX, &ids);
        tokens[i] = ids.n;
    }
    qp_code code = ids.oom ? qp_oom(err) : QP_OK;
    free(ids.at);
    return code;
}
