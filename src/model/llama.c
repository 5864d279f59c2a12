/* qp_model on llama.cpp: embedders, rerankers and attention heads of other families than BERT, and writers. One context per core, one
 * sequence per encode: attention over a batch of sequences is wasted work. */
#include "model/llama_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/thread.h"
#include "model/keys.h"

enum {
    LEAST_TOKENS = 16,
    MOST_TOKENS = 2048
};                   /* of an input, where the file does not say: contexts take memory by it */
enum { PART = 512 }; /* tokens that a decoder computes at once */

void qp_llama_tokens(const qp_llama *m, qp_str text, bool add_special, bool special, qp_ids *ids)
{
    int32_t bytes = text.n < INT32_MAX / 2 ? (int32_t)text.n : INT32_MAX / 2;
    if (!qp_ids_room(ids, 16 + (uint32_t)bytes / 2))
        return;
    int32_t n =
        llama_tokenize(m->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), add_special, special);
    if (n < 0 && n != INT32_MIN && qp_ids_room(ids, (uint32_t)-n))
        n = llama_tokenize(m->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), add_special,
                           special);
    if (n > 0)
        ids->n += (uint32_t)n;
}

/* ---- contexts ---- */

static void free_context(qp_context *c)
{
    if (c->llama)
        llama_free(c->llama);
    free(c);
}

static qp_context *new_context(const qp_llama *m)
{
    struct llama_context_params p = llama_context_default_params();
    qp_context *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    p.n_ctx = p.n_batch = p.n_ubatch = m->model.max_tokens;
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
        qp_fail(err, QP_MODEL, "%s: no context of %u tokens can be made: %s", m->path, m->model.max_tokens,
                qp_ggml_reason());
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

/* Cut to what the model takes, keeping the token that closes the input. */
static void cut(const qp_llama *m, qp_ids *ids)
{
    const uint32_t most = m->model.max_tokens;
    if (ids->n <= most)
        return;
    int32_t last = ids->at[ids->n - 1];
    ids->n = most;
    if (last == llama_vocab_eos(m->vocab) || last == llama_vocab_sep(m->vocab))
        ids->at[most - 1] = last;
}

/* What is longer than its share of the context is cut before it is tokenised, so that a book costs no more than a page. */
static qp_str slice_for(const qp_llama *m, qp_str text)
{
    return qp_str_slice(text, 0, (size_t)m->model.max_tokens * 64);
}

static void add_text(const job *j, qp_str text, qp_ids *ids)
{
    qp_buf whole = {0};
    qp_buf_str(&whole, j->prefix);
    qp_buf_str(&whole, slice_for(j->m, text));
    ids->oom |= whole.oom;
    qp_llama_tokens(j->m, qp_buf_view(&whole), true, false, ids);
    cut(j->m, ids);
    qp_buf_free(&whole);
}

/* A reranker's template has {query} and {document}; both are read as plain text, whatever they spell. */
static void add_template(const job *j, const char *template, qp_str text, qp_ids *ids)
{
    const uint32_t most = j->m->model.max_tokens;
    qp_ids tail = {0};
    for (qp_str rest = qp_str_of(template); rest.n;) {
        const char *brace = memchr(rest.at, '{', rest.n);
        bool query = brace && qp_str_starts(qp_str_slice(rest, (size_t)(brace - rest.at), rest.n), QP_STR("{query}"));
        bool document =
            brace && qp_str_starts(qp_str_slice(rest, (size_t)(brace - rest.at), rest.n), QP_STR("{document}"));
        size_t plain = brace ? (size_t)(brace - rest.at) + !(query || document) : rest.n;
        qp_llama_tokens(j->m, qp_str_slice(rest, 0, plain), false, true, ids);
        rest = qp_str_slice(rest, plain + (query ? 7 : document ? 10 : 0), rest.n);
        if (query) {
            qp_llama_tokens(j->m, slice_for(j->m, j->query), false, false, ids);
            ids->n = ids->n > most * 3 / 4 ? most * 3 / 4 : ids->n;
        } else if (document) { /* what follows it must fit */
            qp_llama_tokens(j->m, rest, false, true, &tail);
            qp_llama_tokens(j->m, slice_for(j->m, text), false, false, ids);
            if (ids->n + tail.n > most)
                ids->n = most > tail.n ? most - tail.n : 0;
        }
    }
    ids->oom |= tail.oom;
    free(tail.at);
}

/* How a pair is joined where a file brings no template, as the families were trained: BERT's and ModernBERT's are
 * [CLS] query [SEP] document [SEP]; RoBERTa's <s> query </s></s> document </s>, which llama.cpp's flags say. */
static void add_pair(const job *j, qp_str text, qp_ids *ids)
{
    const qp_llama *m = j->m;
    const char *template = llama_model_chat_template(m->llama, "rerank");
    if (template) {
        add_template(j, template, text, ids);
        return;
    }
    const bool bert = llama_vocab_type(m->vocab) == LLAMA_VOCAB_TYPE_WPM || m->modern_bert;
    const int32_t separator = llama_vocab_sep(m->vocab), eos = llama_vocab_eos(m->vocab);
    const int32_t end = bert || eos < 0 ? separator : eos;
    const bool ends = bert || llama_vocab_get_add_eos(m->vocab);
    const uint32_t room = m->model.max_tokens - 4;
    if (llama_vocab_get_add_bos(m->vocab))
        qp_ids_add(ids, llama_vocab_bos(m->vocab));
    qp_llama_tokens(m, slice_for(m, j->query), false, false, ids);
    ids->n = ids->n > room * 3 / 4 ? room * 3 / 4 : ids->n;
    if (ends)
        qp_ids_add(ids, end);
    if (!bert && llama_vocab_get_add_sep(m->vocab))
        qp_ids_add(ids, separator);
    qp_llama_tokens(m, slice_for(m, text), false, false, ids);
    ids->n = ids->n > room ? room : ids->n;
    if (ends)
        qp_ids_add(ids, end);
}

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
        add_pair(j, j->text[i], &ids);
    else
        add_text(j, j->text[i], &ids);
    qp_code code = ids.oom ? qp_oom(err) : QP_OK;
    if (!code && ids.n > j->m->model.max_tokens) /* llama.cpp would abort */
        code =
            qp_fail(err, QP_MODEL, "%s: its rerank template makes %u tokens where the model takes %u; use another file",
                    j->m->path, ids.n, j->m->model.max_tokens);
    if (!code && !ids.n) /* an empty text in a vocabulary that adds nothing of its own */
        qp_ids_add(&ids, llama_vocab_eos(j->m->vocab) >= 0 ? llama_vocab_eos(j->m->vocab) : 0);
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
static qp_code read_file(qp_llama *m, qp_purpose purpose, qp_err *err)
{
    qp_gguf g;
    qp_code code = qp_gguf_open(m->path, &g, err);
    if (code)
        return code;
    uint64_t most = 0;
    m->model.max_tokens = qp_gguf_uint(&g, QP_KEY_MAX_TOKENS, &most) && most < INT32_MAX ? (uint32_t)most : 0;
    m->query_prefix = copy_text(qp_gguf_text(&g, QP_KEY_QUERY_PREFIX));
    m->passage_prefix = copy_text(qp_gguf_text(&g, QP_KEY_PASSAGE_PREFIX));
    m->modern_bert = qp_str_eq(qp_gguf_text(&g, "general.architecture"), QP_STR("modern-bert"));
    m->digest = qp_gguf_digest(&g, purpose == QP_ATTENTION ? QP_STR("llama attention") : QP_STR("llama"));
    if (!m->query_prefix || !m->passage_prefix)
        code = qp_oom(err);
    if (!code && !qp_gguf_texts(&g, "tokenizer.ggml.tokens"))
        code = qp_fail(err, QP_MODEL, "%s: has no vocabulary, so it is not a language model", m->path);
    qp_gguf_close(&g);
    return code;
}

static qp_code load(qp_llama *m, qp_err *err)
{
    struct llama_model_params p = llama_model_default_params();
    p.n_gpu_layers = 0;
    qp_ggml_quiet();
    if (!(m->llama = llama_model_load_from_file(m->path, p)))
        return qp_fail(err, QP_MODEL, "%s: llama.cpp cannot load it: %s", m->path, qp_ggml_reason());
    m->vocab = llama_model_get_vocab(m->llama);
    return QP_OK;
}

static qp_code read_length(qp_llama *m, qp_err *err)
{
    uint32_t trained = (uint32_t)llama_model_n_ctx_train(m->llama);
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

static qp_code set_purpose(qp_llama *m, qp_purpose purpose, qp_err *err)
{
    if (purpose == QP_WRITER)
        return qp_generator_open(m, err);
    qp_code code = read_length(m, err);
    if (!code)
        code = purpose == QP_ATTENTION ? qp_tap_probe(m->llama, m->path, &m->attention, err)
                                       : read_pooling(m, purpose, err);
    if (purpose == QP_ATTENTION) {
        m->model.heads = m->attention.heads;
        m->model.head_dim = m->attention.head_dim;
        m->model.attend = llama_vectors;
    } else if (purpose == QP_EMBEDDER) {
        m->model.dim = (uint32_t)llama_model_n_embd_out(m->llama);
        m->model.embed = llama_vectors;
    } else {
        m->model.rank = llama_rank;
    }
    return code;
}

qp_code qp_model_open_llama(const char *path, qp_purpose purpose, int threads, qp_model **out, qp_err *err)
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
    qp_code code = m->path && m->name && m->idle ? read_file(m, purpose, err) : qp_oom(err);
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
