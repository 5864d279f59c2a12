/* qp_model on our own encoder: embedders, cross-encoders, sparse encoders and attention heads of the BERT family. */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "base/vector.h"
#include "model/batches.h"
#include "model/encoder.h"
#include "model/keys.h"
#include "model/model.h"
#include "model/rank_head.h"
#include "model/splade.h"
#include "model/tokens.h"

enum { POOLING_MEAN = 1, POOLING_CLS = 2, POOLING_RANK = 4 }; /* of bert.pooling_type */
enum { BATCH_ROWS = 128 };                                    /* a batch ends with the sequence that brings it here */

typedef struct bert {
    qp_model model;
    qp_gguf file;
    char *name;
    qp_digest digest;
    qp_tokenizer tokenizer;
    qp_encoder *encoder;
    qp_pool pool;
    bool segments; /* the passage of a pair is segment 1 */
    int threads;
    qp_str query_prefix, passage_prefix;
    qp_rank_head *head;   /* of a reranker */
    qp_splade *splade;    /* of a sparse encoder */
    float *projection;    /* token_dim x width, of vectors of tokens; null: they are the encoder's */
    int32_t marker[2];    /* what stands behind [CLS] then, of a passage and of a query; -1: nothing */
    pthread_mutex_t lock; /* of the two below */
    qp_workspace **idle;  /* workspaces nobody uses now */
    uint32_t n_idle;
} bert;

/* ---- many sequences over the cores ---- */

typedef struct job job;
struct job {
    bert *b;
    qp_pool pool;
    qp_batches cut;
    qp_workspace **spaces; /* by worker */
    /* What batch i came to: its rows, or one row a sequence, as the pool is. */
    qp_code (*take)(job *, size_t i, const float *rows, qp_err *);
    float *out;        /* vectors, in the caller's order */
    qp_sparse *sparse; /* or terms; each malloc'ed, its ids behind its weights */
    int32_t marker;    /* behind [CLS]; -1: none */
    const qp_text_span *span;
    const uint32_t *spans_of; /* text i has [spans_of[i], spans_of[i + 1]) */
    float *of_spans;
    const qp_str *text;    /* of passages whose punctuation is left out; or null */
    qp_token_rows *tokens; /* each malloc'ed */
};

static qp_workspace *take_workspace(bert *b)
{
    qp_workspace *w = NULL;
    pthread_mutex_lock(&b->lock);
    if (b->n_idle)
        w = b->idle[--b->n_idle];
    pthread_mutex_unlock(&b->lock);
    return w ? w : qp_workspace_new();
}

static void give_workspace(bert *b, qp_workspace *w)
{
    pthread_mutex_lock(&b->lock);
    bool kept = b->n_idle < (uint32_t)b->threads;
    if (kept)
        b->idle[b->n_idle++] = w;
    pthread_mutex_unlock(&b->lock);
    if (!kept)
        qp_workspace_free(w);
}

static qp_code run_batch(void *self, int worker, size_t i, qp_err *err)
{
    job *j = self;
    const qp_sequence *s = j->cut.sequences + j->cut.batches[i];
    uint32_t n = j->cut.batches[i + 1] - j->cut.batches[i], rows = j->pool == QP_POOL_NONE ? 0 : n;
    if (!j->spaces[worker] && !(j->spaces[worker] = take_workspace(j->b)))
        return qp_oom(err);
    for (uint32_t k = 0; j->pool == QP_POOL_NONE && k < n; k++)
        rows += s[k].n;
    float *out = malloc((size_t)rows * qp_encoder_width(j->b->encoder) * sizeof *out);
    if (!out)
        return qp_oom(err);
    qp_code code = qp_encoder_run(j->b->encoder, j->spaces[worker], s, n, j->pool, out, err);
    if (!code)
        code = j->take(j, i, out, err);
    free(out);
    return code;
}

static qp_code take_vectors(job *j, size_t i, const float *rows, qp_err *err)
{
    const uint32_t width = qp_encoder_width(j->b->encoder);
    (void)err;
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++, rows += width)
        memcpy(j->out + (size_t)j->cut.order[at] * width, rows, width * sizeof *rows);
    return QP_OK;
}

static qp_code begin_job(job *j, uint32_t n, qp_err *err)
{
    j->spaces = calloc((size_t)j->b->threads, sizeof(qp_workspace *));
    return j->spaces ? qp_batches_begin(&j->cut, n, err) : qp_oom(err);
}

static qp_code run_job(job *j, qp_err *err)
{
    qp_code code = qp_batches_plan(&j->cut, j->b->threads, BATCH_ROWS, err);
    return code ? code : qp_parallel(j->b->threads, j->cut.n_batches, run_batch, j, err);
}

static void end_job(job *j)
{
    for (int i = 0; j->spaces && i < j->b->threads; i++)
        if (j->spaces[i])
            give_workspace(j->b, j->spaces[i]);
    free(j->spaces);
    qp_batches_end(&j->cut);
}

/* ---- embedding ---- */

static void add_text(job *j, uint32_t i, qp_str prefix, qp_str text, qp_buf *scratch)
{
    bert *b = j->b;
    if (prefix.n) {
        qp_buf_clear(scratch);
        qp_buf_str(scratch, prefix);
        qp_buf_str(scratch, text);
        text = qp_buf_view(scratch);
        j->cut.ids.oom |= scratch->oom;
    }
    j->cut.starts[i] = j->cut.ids.n;
    qp_ids_add(&j->cut.ids, b->tokenizer.begin);
    if (j->marker >= 0)
        qp_ids_add(&j->cut.ids, j->marker);
    qp_tokenizer_run(&b->tokenizer, text, b->model.max_tokens - 2 - (j->marker >= 0), &j->cut.ids);
    qp_ids_add(&j->cut.ids, b->tokenizer.end);
    j->cut.sequences[i].first = UINT32_MAX;
}

static qp_code run_texts(job *j, qp_role role, const qp_str *text, uint32_t n, qp_err *err)
{
    qp_buf scratch = {0};
    if (!n)
        return QP_OK;
    qp_code code = begin_job(j, n, err);
    for (uint32_t i = 0; i < n && !code; i++)
        add_text(j, i, role == QP_QUERY ? j->b->query_prefix : j->b->passage_prefix, text[i], &scratch);
    if (!code)
        code = run_job(j, err);
    end_job(j);
    qp_buf_free(&scratch);
    return code;
}

static qp_code bert_embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    job j = {.b = self, .marker = -1, .pool = ((bert *)self)->pool, .take = take_vectors, .out = out};
    const uint32_t width = j.b->model.dim;
    qp_code code = run_texts(&j, role, text, n, err);
    for (uint32_t i = 0; i < n && !code; i++)
        qp_make_unit(out + (size_t)i * width, width);
    return code;
}

/* Of the rows of one text those that the span's words begin in, summed as the mean of the whole is. */
static void pool_span(const job *j, qp_text_span s, const float *rows, uint32_t n, float *out)
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

static qp_code take_spans(job *j, size_t i, const float *rows, qp_err *err)
{
    const uint32_t width = j->b->model.dim;
    (void)err;
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++) {
        const uint32_t text = j->cut.order[at], n = j->cut.sequences[at].n;
        qp_rows_mean(rows, n, width, j->out + (size_t)text * width);
        qp_make_unit(j->out + (size_t)text * width, width);
        for (uint32_t k = j->spans_of[text]; k < j->spans_of[text + 1]; k++)
            pool_span(j, j->span[k], rows, n, j->of_spans + (size_t)k * width);
        rows += (size_t)n * width;
    }
    return QP_OK;
}

static qp_code bert_embed_spans(void *self, const qp_str *text, uint32_t n, const qp_text_span *span, uint32_t m,
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
    job j = {.b = self,
             .marker = -1,
             .pool = QP_POOL_NONE,
             .take = take_spans,
             .out = out,
             .span = span,
             .spans_of = spans_of,
             .of_spans = of_spans};
    j.cut.ids.words = true;
    qp_code code = run_texts(&j, QP_PASSAGE, text, n, err);
    free(spans_of);
    return code;
}

/* ---- vectors of tokens ---- */

/* A passage's marks stand for nothing that is asked about (ColBERT, 3.2). */
static bool is_mark(const job *j, uint32_t text, uint32_t word)
{
    size_t prefix = j->b->passage_prefix.n;
    return j->text && word != QP_NO_WORD && word >= prefix && ispunct((unsigned char)j->text[text].at[word - prefix]);
}

static void project(const bert *b, const float *row, float *out)
{
    const uint32_t dim = b->model.token_dim, width = qp_encoder_width(b->encoder);
    if (!b->projection)
        memcpy(out, row, dim * sizeof *out);
    for (uint32_t i = 0; b->projection && i < dim; i++)
        out[i] = qp_dot(b->projection + (size_t)i * width, row, width);
    qp_make_unit(out, dim);
}

static qp_code take_tokens(job *j, size_t i, const float *rows, qp_err *err)
{
    const uint32_t dim = j->b->model.token_dim, width = qp_encoder_width(j->b->encoder);
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++) {
        const uint32_t text = j->cut.order[at], n = j->cut.sequences[at].n,
                       *word = j->cut.ids.word + j->cut.starts[text];
        float *out = malloc((size_t)n * dim * sizeof *out), *next = out;
        if (!out)
            return qp_oom(err);
        for (uint32_t k = 0; k < n; k++, rows += width) {
            if (is_mark(j, text, word[k]))
                continue;
            project(j->b, rows, next);
            next += dim;
        }
        j->tokens[text] = (qp_token_rows){out, (uint32_t)((size_t)(next - out) / dim)};
    }
    return QP_OK;
}

static qp_code bert_tokens(void *self, qp_role role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *mem,
                           qp_err *err)
{
    job j = {.b = self,
             .pool = QP_POOL_NONE,
             .take = take_tokens,
             .marker = ((bert *)self)->marker[role == QP_QUERY],
             .text = role == QP_PASSAGE ? text : NULL,
             .tokens = calloc((size_t)n + 1, sizeof *j.tokens)};
    j.cut.ids.words = true;
    qp_code code = j.tokens ? run_texts(&j, role, text, n, err) : qp_oom(err);
    for (uint32_t i = 0; j.tokens && i < n; i++) {
        size_t floats = (size_t)j.tokens[i].n * j.b->model.token_dim;
        float *rows = code ? NULL : qp_new(mem, float, floats + 1);
        if (rows)
            memcpy(rows, j.tokens[i].at, floats * sizeof *rows);
        else if (!code)
            code = qp_oom(err);
        out[i] = (qp_token_rows){rows, j.tokens[i].n};
        free((void *)(uintptr_t)j.tokens[i].at);
    }
    free(j.tokens);
    return code;
}

/* The heads' outputs lie side by side in a row of the width. */
static qp_code bert_attend(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    job j = {.b = self, .marker = -1, .pool = ((bert *)self)->pool, .take = take_vectors, .out = out};
    return run_texts(&j, role, text, n, err);
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

static qp_code take_terms(job *j, size_t i, const float *rows, qp_err *err)
{
    const uint32_t width = qp_encoder_width(j->b->encoder), terms = qp_splade_terms(j->b->splade);
    float *weight = malloc(terms * sizeof *weight);
    qp_code code = weight ? QP_OK : qp_oom(err);
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1] && !code; at++) {
        const uint32_t n = j->cut.sequences[at].n;
        code = qp_splade_run(j->b->splade, rows, n, weight, err);
        if (!code && !gather(weight, terms, &j->sparse[j->cut.order[at]]))
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

static qp_code bert_weigh(void *self, qp_role role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *mem,
                          qp_err *err)
{
    job j = {.b = self,
             .marker = -1,
             .pool = QP_POOL_NONE,
             .take = take_terms,
             .sparse = calloc((size_t)n + 1, sizeof *j.sparse)};
    qp_code code = j.sparse ? run_texts(&j, role, text, n, err) : qp_oom(err);
    for (uint32_t i = 0; j.sparse && i < n; i++) {
        if (!code && !copy_terms(&j.sparse[i], &out[i], mem))
            code = qp_oom(err);
        free((void *)(uintptr_t)j.sparse[i].weight);
    }
    free(j.sparse);
    return code;
}

/* ---- pairs ---- */

/* The passage gives way to the query; a query that would leave it less than a quarter is itself cut. */
static qp_code bert_latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    job j = {.b = self, .marker = -1, .pool = ((bert *)self)->pool, .take = take_vectors, .out = out};
    const qp_tokenizer *t = &j.b->tokenizer;
    if (!n)
        return QP_OK;
    uint32_t room = j.b->model.max_tokens - 2 - t->between;
    qp_ids asked = {0};
    qp_tokenizer_run(t, query, room - room / 4, &asked);
    qp_code code = asked.oom ? qp_oom(err) : begin_job(&j, n, err);
    for (uint32_t i = 0; i < n && !code; i++) {
        j.cut.starts[i] = j.cut.ids.n;
        qp_ids_add(&j.cut.ids, t->begin);
        for (uint32_t k = 0; k < asked.n; k++)
            qp_ids_add(&j.cut.ids, asked.at[k]);
        for (uint32_t k = 0; k < t->between; k++)
            qp_ids_add(&j.cut.ids, t->end);
        j.cut.sequences[i].first = j.b->segments ? j.cut.ids.n - j.cut.starts[i] : UINT32_MAX;
        qp_tokenizer_run(t, text[i], room - asked.n, &j.cut.ids);
        qp_ids_add(&j.cut.ids, t->end);
    }
    if (!code)
        code = run_job(&j, err);
    end_job(&j);
    free(asked.at);
    return code;
}

static qp_code bert_head(void *self, const float *latent, uint32_t n, float *score, qp_err *err)
{
    const bert *b = self;
    return qp_rank_head_run(b->head, latent, n, score, err);
}

static qp_code bert_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    const bert *b = self;
    float *latent = malloc(((size_t)n * b->model.width + 1) * sizeof *latent);
    qp_code code = latent ? bert_latent(self, query, text, n, latent, err) : qp_oom(err);
    if (!code)
        code = bert_head(self, latent, n, score, err);
    free(latent);
    return code;
}

static qp_code bert_count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    const bert *b = self;
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

/* ---- opening ---- */

/* See model/keys.h: never a wrong score. */
static qp_code read_segments(bert *b, qp_err *err)
{
    uint64_t segment = 0;
    bool said = qp_gguf_uint(&b->file, QP_KEY_SEGMENTS, &segment);
    b->segments = said && segment == 1;
    if (said && segment > 1)
        return qp_fail(err, QP_MODEL, "%s: " QP_KEY_SEGMENTS " is %zu, wanted 0 or 1", b->file.path, (size_t)segment);
    if (said || !qp_encoder_has_segments(b->encoder) ||
        qp_str_eq(qp_gguf_text(&b->file, "general.name"), QP_STR("quipu-rerank-v0")))
        return QP_OK;
    return qp_fail(err, QP_MODEL,
                   "%s: does not say whether its passages are segment 0 or 1 (no key " QP_KEY_SEGMENTS "), and "
                   "a guess would score wrongly; `quipu model import` its safetensors with -o segments=0 or 1",
                   b->file.path);
}

static qp_code read_terms(bert *b, qp_err *err)
{
    if (!qp_str_eq(qp_gguf_text(&b->file, QP_KEY_TERMS), QP_STR("splade")))
        return qp_fail(
            err, QP_MODEL,
            "%s: a sparse encoder was wanted, and this model weights no terms; `quipu model import` one from "
            "safetensors with -o pooling=splade",
            b->file.path);
    qp_code code =
        qp_splade_open(&b->file, qp_encoder_width(b->encoder), qp_encoder_epsilon(b->encoder), &b->splade, err);
    if (code)
        return code;
    b->model.terms = qp_splade_terms(b->splade);
    b->model.weigh = bert_weigh;
    return QP_OK;
}

/* ColBERT marks passages and queries by tokens that BERT has to spare. */
static qp_code read_projection(bert *b, qp_err *err)
{
    static const char *const names[] = {"[unused1]", "[unused0]"};
    qp_tensor t;
    if (!qp_str_eq(qp_gguf_text(&b->file, QP_KEY_TOKENS), QP_STR("colbert")))
        return QP_OK;
    const uint32_t width = qp_encoder_width(b->encoder);
    qp_code code = qp_gguf_want(&b->file, "token_proj.weight", 0, width, &t, err);
    code = code ? code : qp_gguf_floats(&b->file, "token_proj.weight", t.rows, width, &b->projection, err);
    if (code)
        return code;
    b->model.token_dim = t.rows;
    for (int i = 0; i < 2; i++) {
        const uint64_t *id = qp_map_get(b->tokenizer.wordpiece.vocabulary, qp_str_of(names[i]));
        b->marker[i] = id ? (int32_t)*id : -1;
    }
    return QP_OK;
}

static qp_code read_purpose(bert *b, qp_purpose purpose, qp_err *err)
{
    uint64_t pooling = 0;
    bool ranks = qp_gguf_uint(&b->file, "bert.pooling_type", &pooling) && pooling == POOLING_RANK;
    if (purpose == QP_WRITER)
        return qp_fail(err, QP_MODEL, "%s: a BERT encoder cannot write; name a model that generates", b->file.path);
    if (purpose == QP_SPARSE)
        return read_terms(b, err);
    if (purpose == QP_ATTENTION) {
        b->pool = QP_POOL_HEADS;
        b->model.heads = qp_encoder_heads(b->encoder);
        b->model.head_dim = qp_encoder_width(b->encoder) / b->model.heads;
        b->model.attend = bert_attend;
        return QP_OK;
    }
    if (purpose == QP_RANKER) {
        b->pool = QP_POOL_FIRST;
        b->model.width = qp_encoder_width(b->encoder);
        b->model.latent = bert_latent;
        b->model.head = bert_head;
        b->model.rank = bert_rank;
        qp_code code = qp_rank_head_open(&b->file, b->model.width, &b->head, err);
        return code ? code : read_segments(b, err);
    }
    if (ranks || qp_gguf_has(&b->file, QP_KEY_TERMS))
        return qp_fail(err, QP_MODEL, "%s: is a %s, an embedder was wanted", b->file.path,
                       ranks ? "reranker" : "sparse encoder");
    if (pooling != POOLING_MEAN && pooling != POOLING_CLS)
        return qp_fail(err, QP_MODEL,
                       "%s: does not say how to pool (bert.pooling_type is %zu; 1 mean or 2 [CLS] was wanted)",
                       b->file.path, (size_t)pooling);
    b->pool = pooling == POOLING_CLS ? QP_POOL_FIRST : QP_POOL_MEAN;
    b->model.dim = qp_encoder_width(b->encoder);
    b->model.embed = bert_embed;
    if (b->tokenizer.llama) /* llama.cpp's does not say where a token stands */
        return QP_OK;
    b->model.token_dim = b->model.dim;
    b->model.tokens = bert_tokens;
    if (b->pool == QP_POOL_MEAN)
        b->model.embed_spans = bert_embed_spans;
    return read_projection(b, err);
}

static qp_code read_limits(bert *b, qp_err *err)
{
    uint64_t most = qp_encoder_positions(b->encoder), said;
    if (qp_gguf_uint(&b->file, "bert.context_length", &said) && said < most)
        most = said;
    if (qp_gguf_uint(&b->file, QP_KEY_MAX_TOKENS, &said) && said < most)
        most = said;
    if (most < 16)
        return qp_fail(err, QP_MODEL, "%s: takes %zu tokens at most, 16 are the least that is useful", b->file.path,
                       (size_t)most);
    b->model.max_tokens = (uint32_t)most;
    b->query_prefix = qp_gguf_text(&b->file, QP_KEY_QUERY_PREFIX);
    b->passage_prefix = qp_gguf_text(&b->file, QP_KEY_PASSAGE_PREFIX);
    return QP_OK;
}

static void bert_close(void *self)
{
    bert *b = self;
    while (b->n_idle)
        qp_workspace_free(b->idle[--b->n_idle]);
    free(b->idle);
    qp_encoder_close(b->encoder);
    qp_tokenizer_close(&b->tokenizer);
    qp_gguf_close(&b->file);
    pthread_mutex_destroy(&b->lock);
    qp_splade_close(b->splade);
    qp_rank_head_close(b->head);
    free(b->projection);
    free(b->name);
    free(b);
}

qp_code qp_model_open_bert(const char *path, qp_purpose purpose, int threads, qp_model **out, qp_err *err)
{
    bert *b = calloc(1, sizeof *b);
    if (!b)
        return qp_oom(err);
    pthread_mutex_init(&b->lock, NULL);
    b->threads = threads > 0 ? threads : qp_cores();
    b->model.self = b;
    b->model.count = bert_count;
    b->model.close = bert_close;
    b->marker[0] = b->marker[1] = -1;
    b->name = qp_model_file_name(path);
    b->idle = calloc((size_t)b->threads, sizeof(qp_workspace *));
    qp_code code = b->name && b->idle ? qp_gguf_open(path, &b->file, err) : qp_oom(err);
    if (!code)
        code = qp_encoder_open(&b->file, threads, &b->encoder, err);
    if (!code)
        code = qp_tokenizer_open(&b->file, &b->tokenizer, err);
    if (!code)
        code = read_purpose(b, purpose, err);
    if (!code)
        code = read_limits(b, err);
    if (code) {
        bert_close(b);
        return code;
    }
    static const char *const settings[] = {
        [QP_EMBEDDER] = "embedder", [QP_RANKER] = "ranker", [QP_SPARSE] = "sparse", [QP_ATTENTION] = "attention"};
    b->digest = qp_gguf_digest(&b->file, qp_str_of(settings[purpose]));
    b->model.name = b->name;
    b->model.digest = b->digest.hex;
    *out = &b->model;
    return QP_OK;
}
