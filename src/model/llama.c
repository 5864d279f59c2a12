/* qp_model on llama.cpp: embedders, rerankers and attention heads of other families than BERT, and writers. One context
 * per core, one sequence per encode: attention over a batch of sequences is wasted work. */
#include "model/llama_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/thread.h"
#include "model/keys.h"

enum {
    LEAST_TOKENS = 16,
    MOST_TOKENS = 2048
};                   /* of an input, where the file does not say: contexts take memory by it */
enum { PART = 512 }; /* tokens that a decoder computes at once; of a writer's input to embed, all */

/* ---- contexts ---- */

static void free_context(qp_context *c)
{
    if (c->llama)
        llama_free(c->llama);
    free(c);
}

/* A writer's context is for reading a book; what is embedded is a line. */
static uint32_t longest(const qp_llama *m)
{
    return m->generator && m->model.max_tokens > PART ? PART : m->model.max_tokens;
}

static qp_context *new_context(const qp_llama *m)
{
    struct llama_context_params p = llama_context_default_params();
    qp_context *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    p.n_ctx = p.n_batch = p.n_ubatch = longest(m);
    if (m->generator) /* the mean over tokens of the last layer */
        p.pooling_type = LLAMA_POOLING_TYPE_MEAN;
    p.n_seq_max = 1;
    p.n_threads = p.n_threads_batch = 1;
    p.embeddings = true;
    p.no_perf = true;
    if (m->attention.heads) {
        c->tap = m->attention;
        qp_tap_install(&c->tap, m->llama, &p);
        if (!m->attention.mean && p.n_ubatch > PART)
            p.n_ubatch = PART;
    }
    if (!(c->llama = llama_init_from_model(m->llama, p))) {
        free_context(c);
        return NULL;
    }
    return c;
}

static qp_context *take_context(qp_llama *m, qp_err *err)
{
    qp_context *c = NULL;
    pthread_mutex_lock(&m->lock);
    if (m->n_idle)
        c = m->idle[--m->n_idle];
    pthread_mutex_unlock(&m->lock);
    if (!c && !(c = new_context(m)))
        qp_fail(err, QP_MODEL, "%s: no context of %u tokens can be made: %s", m->path, longest(m), qp_ggml_reason());
    return c;
}

static void give_context(qp_llama *m, qp_context *c)
{
    pthread_mutex_lock(&m->lock);
    bool kept = m->n_idle < m->threads;
    if (kept)
        m->idle[m->n_idle++] = c;
    pthread_mutex_unlock(&m->lock);
    if (!kept)
        free_context(c);
}

/* ---- many inputs over the cores ---- */

typedef struct job {
    qp_llama *m;
    qp_str prefix, query; /* embed: prefix; rank: query */
    const qp_str *text;
    float *out; /* dim, or heads x head_dim, floats a text, or 1 */
    qp_context **contexts;
    int share; /* threads of a context */
    bool rank;
} job;

static qp_code take_vector(const job *j, const qp_context *c, size_t i, qp_err *err)
{
    const float *found = llama_get_embeddings_seq(c->llama, 0);
    if (!found)
        return qp_fail(err, QP_MODEL, "%s: gave no vector for text %zu", j->m->path, i);
    if (j->rank) {
        j->out[i] = found[0];
        return QP_OK;
    }
    const uint32_t dim = j->m->model.dim;
    double sum = 0;
    for (uint32_t k = 0; k < dim; k++)
        sum += (double)found[k] * found[k];
    float scale = sum > 0 ? (float)(1 / sqrt(sum)) : 0;
    for (uint32_t k = 0; k < dim; k++)
        j->out[i * dim + k] = found[k] * scale;
    return QP_OK;
}

static qp_code run_tokens(const job *j, qp_context *c, const qp_ids *ids, size_t i, qp_err *err)
{
    const qp_llama *m = j->m;
    llama_memory_t memory = llama_get_memory(c->llama);
    if (memory) /* what lies in it stays: nobody looks at it */
        llama_memory_clear(memory, false);
    if (m->attention.heads) {
        c->tap.out = j->out + i * m->attention.heads * m->attention.head_dim;
        c->tap.taken = false;
    }
    if (llama_decode(c->llama, llama_batch_get_one(ids->at, (int32_t)ids->n)))
        return qp_fail(err, QP_MODEL, "%s: failed on text %zu of %u tokens: %s", m->path, i, ids->n, qp_ggml_reason());
    if (m->attention.heads && !c->tap.taken)
        return qp_fail(err, QP_MODEL, "%s: showed no attention for text %zu", m->path, i);
    return m->attention.heads ? QP_OK : take_vector(j, c, i, err);
}

static qp_code run_text(void *self, int worker, size_t i, qp_err *err)
{
    job *j = self;
    qp_context **c = j->contexts + worker;
    qp_ids ids = {0};
    qp_ggml_quiet();
    if (!*c) {
        if (!(*c = take_context(j->m, err)))
            return QP_MODEL;
        llama_set_n_threads((*c)->llama, j->share, j->share);
    }
    if (j->rank)
        qp_llama_pair(j->m, j->query, j->text[i], &ids);
    else
        qp_llama_text(j->m, j->prefix, j->text[i], &ids);
    qp_code code = ids.oom ? qp_oom(err) : QP_OK;
    if (!j->rank && ids.n > longest(j->m))
        ids.n = longest(j->m);
    if (!code && ids.n > j->m->model.max_tokens) /* llama.cpp would abort */
        code =
            qp_fail(err, QP_MODEL, "%s: its rerank template makes %u tokens where the model takes %u; use another file",
                    j->m->path, ids.n, j->m->model.max_tokens);
    if (!code)
        code = run_tokens(j, *c, &ids, i, err);
    free(ids.at);
    return code;
}
static qp_code run_job(job *j, uint32_t n, qp_err *err)
{
    int threads = j->m->threads;
    if (!n)
        return QP_OK;
    j->share = (uint32_t)threads > n ? threads / (int)n : 1;
    if (!(j->contexts = calloc((size_t)threads, sizeof *j->contexts)))
        return qp_oom(err);
    qp_code code = qp_parallel(threads, n, run_text, j, err);
    for (int i = 0; i < threads; i++)
        if (j->contexts[i])
            give_context(j->m, j->contexts[i]);
    free(j->contexts);
    return code;
}

/* Embeddings, or attention: of whichever the contexts are. */
static qp_code llama_vectors(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_llama *m = self;
    job j = {.m = m,
             .prefix = qp_str_of(role == QP_QUERY ? m->query_prefix : m->passage_prefix),
             .text = text,
             .out = out};
    return run_job(&j, n, err);
}

static qp_code llama_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    job j = {.m = self, .query = query, .text = text, .out = score, .rank = true};
    return run_job(&j, n, err);
}

static qp_code llama_count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    qp_ids ids = {0};
    for (uint32_t i = 0; i < n; i++) {
        ids.n = 0;
        qp_llama_tokens(self, text[i], false, false, &ids);
        tokens[i] = ids.n;
    }
    qp_code code = ids.oom ? qp_oom(err) : QP_OK;
    free(ids.at);
    return code;
}

/* ---- opening ---- */

static void llama_close(void *self)
{
    qp_llama *m = self;
    qp_generator_close(m->generator);
    while (m->n_idle)
        free_context(m->idle[--m->n_idle]);
    if (m->llama)
        llama_model_free(m->llama);
    qp_decoder_close(m->decoder);
    qp_gguf_close(&m->file);
    pthread_mutex_destroy(&m->lock);
    free(m->idle);
    free(m->query_prefix);
    free(m->passage_prefix);
    free(m->path);
    free(m->name);
    free(m);
}

static char *copy_text(qp_str s)
{
    return strndup(s.at, s.n);
}

/* What the file says, read before llama.cpp loads it: the header proves that the tensors are all there. */
static qp_code read_file(qp_llama *m, qp_purpose purpose, bool ours, qp_err *err)
{
    qp_gguf *g = &m->file;
    qp_code code = qp_gguf_open(m->path, g, err);
    if (code)
        return code;
    uint64_t most = 0;
    m->model.max_tokens = qp_gguf_uint(g, QP_KEY_MAX_TOKENS, &most) && most < INT32_MAX ? (uint32_t)most : 0;
    m->query_prefix = copy_text(qp_gguf_text(g, QP_KEY_QUERY_PREFIX));
    m->passage_prefix = copy_text(qp_gguf_text(g, QP_KEY_PASSAGE_PREFIX));
    m->modern_bert = qp_str_eq(qp_gguf_text(g, "general.architecture"), QP_STR("modern-bert"));
    m->digest = qp_gguf_digest(g, qp_str_of(ours                      ? "attention"
                                            : purpose == QP_ATTENTION ? "llama attention"
                                                                      : "llama"));
    if (!m->query_prefix || !m->passage_prefix)
        code = qp_oom(err);
    if (!code && !qp_gguf_texts(g, "tokenizer.ggml.tokens"))
        code = qp_fail(err, QP_MODEL, "%s: has no vocabulary, so it is not a language model", m->path);
    if (!code && ours)
        return qp_decoder_open(g, m->threads, &m->decoder, err);
    qp_gguf_close(g);
    *g = (qp_gguf){0};
    return code;
}

static qp_code load(qp_llama *m, qp_err *err)
{
    struct llama_model_params p = llama_model_default_params();
    p.n_gpu_layers = 0;
    p.vocab_only = m->decoder != NULL;
    qp_ggml_quiet();
    if (!(m->llama = llama_model_load_from_file(m->path, p)))
        return qp_fail(err, QP_MODEL, "%s: llama.cpp cannot load it: %s", m->path, qp_ggml_reason());
    m->vocab = llama_model_get_vocab(m->llama);
    return QP_OK;
}

static qp_code read_length(qp_llama *m, qp_err *err)
{
    uint32_t trained = m->decoder ? qp_decoder_context(m->decoder) : (uint32_t)llama_model_n_ctx_train(m->llama);
    if (!m->model.max_tokens || m->model.max_tokens > trained)
        m->model.max_tokens = trained < MOST_TOKENS ? trained : MOST_TOKENS;
    if (m->model.max_tokens < LEAST_TOKENS)
        return qp_fail(err, QP_MODEL, "%s: its context of %u tokens is too short for a text", m->path,
                       m->model.max_tokens);
    return QP_OK;
}

static qp_code read_pooling(qp_llama *m, qp_purpose purpose, qp_err *err)
{
    qp_context *c = take_context(m, err);
    if (!c)
        return QP_MODEL;
    enum llama_pooling_type pooling = llama_pooling_type(c->llama);
    give_context(m, c);
    bool ranks = pooling == LLAMA_POOLING_TYPE_RANK;
    if (purpose == QP_RANKER && !ranks)
        return qp_fail(err, QP_MODEL, "%s: has no classification head, so it is no reranker", m->path);
    if (purpose == QP_EMBEDDER && ranks)
        return qp_fail(err, QP_MODEL, "%s: is a reranker, an embedder was wanted", m->path);
    if (purpose == QP_EMBEDDER && pooling == LLAMA_POOLING_TYPE_NONE)
        return qp_fail(err, QP_MODEL, "%s: does not say how to pool, so it is no embedder", m->path);
    return QP_OK;
}

static qp_code read_heads(qp_llama *m, qp_err *err)
{
    qp_code code = m->decoder ? QP_OK : qp_tap_probe(m->llama, m->path, &m->attention, err);
    m->model.heads = m->decoder ? qp_decoder_heads(m->decoder)->n : m->attention.heads;
    m->model.head_dim = m->decoder ? qp_decoder_heads(m->decoder)->dim : m->attention.head_dim;
    m->model.attend = m->decoder ? qp_llama_attend : llama_vectors;
    return code;
}

static qp_code set_purpose(qp_llama *m, qp_purpose purpose, qp_err *err)
{
    if (purpose == QP_WRITER) {
        m->model.dim = (uint32_t)llama_model_n_embd_out(m->llama);
        m->model.embed = llama_vectors;
        return qp_generator_open(m, err);
    }
    qp_code code = read_length(m, err);
    if (code || purpose == QP_ATTENTION)
        return code ? code : read_heads(m, err);
    code = read_pooling(m, purpose, err);
    if (purpose == QP_EMBEDDER) {
        m->model.dim = (uint32_t)llama_model_n_embd_out(m->llama);
        m->model.embed = llama_vectors;
    } else {
        m->model.rank = llama_rank;
    }
    return code;
}

static qp_code open_file(const char *path, qp_purpose purpose, bool ours, int threads, qp_model **out, qp_err *err)
{
    qp_llama *m = calloc(1, sizeof *m);
    if (!m)
        return qp_oom(err);
    pthread_mutex_init(&m->lock, NULL);
    m->threads = threads > 0 ? threads : qp_cores();
    m->path = strdup(path);
    m->name = qp_model_file_name(path);
    m->idle = calloc((size_t)m->threads, sizeof *m->idle);
    m->model =
        (qp_model){.self = m, .name = m->name, .digest = m->digest.hex, .count = llama_count, .close = llama_close};
    qp_code code = m->path && m->name && m->idle ? read_file(m, purpose, ours, err) : qp_oom(err);
    if (!code)
        code = load(m, err);
    if (!code)
        code = set_purpose(m, purpose, err);
    if (code)
        llama_close(m);
    else
        *out = &m->model;
    return code;
}

qp_code qp_model_open_llama(const char *path, qp_purpose purpose, int threads, qp_model **out, qp_err *err)
{
    return open_file(path, purpose, false, threads, out, err);
}

qp_code qp_model_open_decoder(const char *path, int threads, qp_model **out, qp_err *err)
{
    return open_file(path, QP_ATTENTION, true, threads, out, err);
}
