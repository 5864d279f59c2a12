/* Generation: prompt, sample, stream, stop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"
#include "model/keys.h"
#include "model/llama_model.h"
#include "model/prompt.h"
#include "model/schema.h"
#include "text/utf8.h"

enum { MOST_CONTEXT = 8192, STANDARD_TOKENS = 512, BLOCK = 64 }; /* BLOCK: prompt tokens that are read at once */

struct qp_generator {
    qp_llama *m;
    pthread_mutex_t lock;
    struct llama_context *context;
    qp_ids seen;                  /* of the prompt read last, whole blocks: their keys and values are kept */
    llama_token_data *candidates; /* one for each token of the vocabulary */
    volatile const int *cancel;   /* of the call at hand, or null */
};

typedef struct draft { /* one call */
    qp_generator *w;
    const qp_sampling *s;
    struct llama_sampler *chain, *grammar; /* grammar: or null */
    qp_buf text;
    size_t whole; /* bytes of it that are known to be UTF-8 */
    size_t sent;  /* bytes of it that were streamed */
    bool done;
} draft;

/* ggml's threads spin while they wait for each other. One that finds no free core holds up all: on two cores with ten
 * other jobs an answer took 56 s with two threads and 2 s with one. So a call takes the cores that are idle as it
 * begins, by the kernel's count of runnable tasks, this one among them. */
static int free_threads(int most)
{
    unsigned running = 0;
    FILE *f = fopen("/proc/loadavg", "re");
    if (f) {
        if (fscanf(f, "%*f %*f %*f %u/", &running) != 1)
            running = 0;
        fclose(f);
    }
    int idle = qp_cores() - (running ? (int)running - 1 : 0);
    return idle < 1 ? 1 : idle < most ? idle : most;
}

/* ---- reading the prompt ---- */

static bool is_cancelled(void *self)
{
    const qp_generator *w = self;
    return qp_cancelled(w->cancel);
}

static void forget(qp_generator *w)
{
    llama_memory_clear(llama_get_memory(w->context), true);
    w->seen.n = 0;
}

static qp_code read_tokens(qp_generator *w, const int32_t *ids, uint32_t n, qp_err *err)
{
    for (uint32_t from = 0; from < n; from += BLOCK) {
        uint32_t step = n - from < BLOCK ? n - from : BLOCK;
        int failed = llama_decode(w->context, llama_batch_get_one((int32_t *)ids + from, (int32_t)step));
        if (failed || is_cancelled(w)) {
            forget(w);
            return is_cancelled(w)
                       ? qp_fail(err, QP_STOPPED, "stopped while writing")
                       : qp_fail(err, QP_MODEL, "%s: failed on %u tokens: %s", w->m->path, n, qp_ggml_reason());
        }
    }
    return QP_OK;
}

/* What the prompt has in common with the one before stays: a chat reads only its new turn, and questions with one system
 * prompt read that once. Whole blocks, each at its own place: how many tokens are read at once is seen in the last bits of
 * what comes out, and an answer must not depend on what was asked before it. */
static qp_code read_prompt(qp_generator *w, const qp_ids *ids, qp_err *err)
{
    uint32_t common = 0;
    while (common < w->seen.n && common + 1 < ids->n && w->seen.at[common] == ids->at[common])
        common++;
    common -= common % BLOCK;
    if (!llama_memory_seq_rm(llama_get_memory(w->context), 0, (llama_pos)common, -1)) {
        forget(w);
        common = 0;
    }
    w->seen.n = common;
    qp_code code = read_tokens(w, ids->at + common, ids->n - common, err);
    while (!code && w->seen.n < ids->n - ids->n % BLOCK)
        qp_ids_add(&w->seen, ids->at[w->seen.n]);
    return code || !w->seen.oom ? code : qp_oom(err);
}

/* ---- sampling ---- */

static void fill_candidates(qp_generator *w, llama_token_data_array *c)
{
    const float *logits = llama_get_logits_ith(w->context, -1);
    int32_t n = llama_vocab_n_tokens(w->m->vocab);
    for (int32_t i = 0; i < n; i++)
        w->candidates[i] = (llama_token_data){i, logits[i], 0};
    *c = (llama_token_data_array){w->candidates, (size_t)n, -1, false};
}

static bool grammar_allows(const draft *d, llama_token token)
{
    llama_token_data one = {token, 1, 0};
    llama_token_data_array c = {&one, 1, -1, false};
    llama_sampler_apply(d->grammar, &c);
    return one.logit != -INFINITY;
}

/* A grammar looks at one token where it can: at the whole vocabulary only when the first choice is against it. */
static llama_token sample(draft *d)
{
    llama_token_data_array c;
    fill_candidates(d->w, &c);
    llama_sampler_apply(d->chain, &c);
    llama_token token = c.data[c.selected].id;
    if (d->grammar && !grammar_allows(d, token)) {
        fill_candidates(d->w, &c);
        llama_sampler_apply(d->grammar, &c);
        llama_sampler_apply(d->chain, &c);
        token = c.data[c.selected].id;
    }
    if (d->grammar) {
        if (!grammar_allows(d, token)) /* nothing goes on from here */
            return LLAMA_TOKEN_NULL;
        llama_sampler_accept(d->grammar, token);
    }
    return token;
}

static qp_code make_grammar(draft *d, qp_err *err)
{
    qp_buf made = {0};
    const char *grammar = d->s->grammar;
    qp_code code = QP_OK;
    if (d->s->json_schema && !(code = qp_schema_grammar(qp_str_of(d->s->json_schema), &made, err)))
        grammar = made.at;
    if (!code && grammar && !(d->grammar = llama_sampler_init_grammar(d->w->m->vocab, grammar, "root")))
        code = qp_fail(err, QP_INPUT, "the grammar is not GBNF with a rule 'root': %s", qp_ggml_reason());
    qp_buf_free(&made);
    return code;
}

static qp_code make_chain(draft *d, qp_err *err)
{
    const qp_sampling *s = d->s;
    struct llama_sampler *parts[3] = {0};
    if (!(d->chain = llama_sampler_chain_init(llama_sampler_chain_default_params())))
        return qp_oom(err);
    if (s->temperature <= 0) {
        parts[0] = llama_sampler_init_greedy();
    } else {
        parts[0] = llama_sampler_init_top_p(s->top_p > 0 && s->top_p < 1 ? s->top_p : 1, 1);
        parts[1] = llama_sampler_init_temp(s->temperature);
        parts[2] = llama_sampler_init_dist((uint32_t)(s->seed ^ s->seed >> 32));
    }
    for (int i = 0; i < 3 && parts[i]; i++)
        llama_sampler_chain_add(d->chain, parts[i]);
    return make_grammar(d, err);
}

/* ---- text: stop words, streaming ---- */

/* Bytes at the end of text that begin a character which is not whole yet. */
static size_t half_character(const qp_buf *t)
{
    for (size_t k = 1; k <= 3 && k <= t->n; k++) {
        uint8_t c = (uint8_t)t->at[t->n - k];
        if ((c & 0xc0) != 0x80)
            return (c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1) > k ? k : 0;
    }
    return 0;
}

/* Tokens may be single bytes, and nothing makes a model put them together rightly: what can no longer become UTF-8 is
 * taken out. */
static void drop_broken(draft *d)
{
    qp_buf *t = &d->text;
    for (;;) {
        d->whole += qp_utf8_valid(qp_str_slice(qp_buf_view(t), d->whole, t->n));
        if (t->n - d->whole == half_character(t))
            return;
        memmove(t->at + d->whole, t->at + d->whole + 1, t->n - d->whole);
        t->n--;
    }
}

/* Bytes at the end of text that wait: half a character, and what may yet turn into a stop word, with that half or,
 * should it turn out broken and be taken out, without. */
static size_t held_back(const draft *d)
{
    const size_t half = half_character(&d->text), whole = d->text.n - half;
    size_t held = half;
    for (uint32_t i = 0; i < d->s->n_stop; i++) {
        const char *stop = d->s->stop[i];
        size_t n = strlen(stop);
        for (size_t k = n - (n > 0); k; k--) {
            if (k > held && k <= d->text.n && !memcmp(d->text.at + d->text.n - k, stop, k))
                held = k;
            if (k + half > held && k <= whole && !memcmp(d->text.at + whole - k, stop, k))
                held = k + half;
        }
    }
    return held;
}

static void stream(draft *d, size_t to)
{
    if (to > d->sent && d->s->token && !d->s->token(d->s->user, d->text.at + d->sent, to - d->sent))
        d->done = true;
    d->sent = to > d->sent ? to : d->sent;
}

/* Cuts the text at the stop word that begins first in what was added last. */
static void find_stop(draft *d, size_t added)
{
    for (uint32_t i = 0; i < d->s->n_stop; i++) {
        size_t n = strlen(d->s->stop[i]), back = added + n < d->text.n ? d->text.n - added - n : 0;
        const char *at = n ? memmem(d->text.at + back, d->text.n - back, d->s->stop[i], n) : NULL;
        if (at) {
            d->text.n = (size_t)(at - d->text.at);
            d->text.at[d->text.n] = 0;
            d->done = true;
        }
    }
}

static void add_piece(draft *d, llama_token token)
{
    char piece[256];
    int32_t n = llama_token_to_piece(d->w->m->vocab, token, piece, sizeof piece, 0, false);
    if (n <= 0 || n > (int32_t)sizeof piece)
        return;
    qp_buf_add(&d->text, piece, (size_t)n);
    drop_broken(d);
    find_stop(d, (size_t)n);
    stream(d, d->text.n - (d->done ? 0 : held_back(d)));
}

/* ---- one call ---- */

static qp_code write_text(draft *d, const qp_ids *ids, qp_err *err)
{
    qp_generator *w = d->w;
    uint32_t most = d->s->max_tokens ? d->s->max_tokens : STANDARD_TOKENS, room = w->m->model.max_tokens;
    if (!ids->n)
        return qp_fail(err, QP_INPUT, "%s: a prompt was wanted, an empty one was found", w->m->path);
    if (ids->n + 16 > room)
        return qp_fail(err, QP_MODEL,
                       "%s: the prompt has %u tokens, the model's context is %u; give it a smaller context", w->m->path,
                       ids->n, room);
    most = most < room - ids->n ? most : room - ids->n;
    qp_code code = read_prompt(w, ids, err);
    for (uint32_t i = 0; i < most && !code && !d->done; i++) {
        llama_token token = sample(d);
        if (token == LLAMA_TOKEN_NULL || llama_vocab_is_eog(w->m->vocab, token))
            break;
        add_piece(d, token);
        if (d->text.oom)
            code = qp_oom(err);
        else if (!d->done && i + 1 < most)
            code = read_tokens(w, &token, 1, err);
    }
    if (!code && !d->done) { /* what was held back for a stop word that did not come; half a character is dropped */
        d->text.n -= half_character(&d->text);
        stream(d, d->text.n);
    }
    return code;
}

static qp_code writer_generate(void *self, const qp_message *message, uint32_t n, const qp_sampling *s, qp_str *out,
                               qp_arena *mem, qp_err *err)
{
    qp_llama *m = self;
    qp_ids ids = {0};
    draft d = {.w = m->generator, .s = s};
    qp_ggml_quiet();
    qp_code code = qp_prompt_tokens(m, message, n, &ids, err);
    if (!code)
        code = make_chain(&d, err);
    if (!code) {
        pthread_mutex_lock(&d.w->lock);
        d.w->cancel = s->cancel;
        int threads = free_threads(m->threads);
        llama_set_n_threads(d.w->context, threads, threads);
        code = write_text(&d, &ids, err);
        d.w->cancel = NULL;
        pthread_mutex_unlock(&d.w->lock);
    }
    if (!code) {
        *out = qp_arena_str(mem, qp_buf_view(&d.text));
        code = out->at ? QP_OK : qp_oom(err);
    }
    if (d.chain)
        llama_sampler_free(d.chain);
    if (d.grammar)
        llama_sampler_free(d.grammar);
    qp_buf_free(&d.text);
    free(ids.at);
    return code;
}

/* ---- opening ---- */

static qp_code open_context(qp_generator *w, qp_err *err)
{
    qp_llama *m = w->m;
    uint32_t trained = (uint32_t)llama_model_n_ctx_train(m->llama), most = m->model.max_tokens;
    most = most ? most : MOST_CONTEXT;
    m->model.max_tokens = trained < most ? trained : most;
    struct llama_context_params p = llama_context_default_params();
    p.n_ctx = m->model.max_tokens;
    p.n_batch = p.n_ubatch = BLOCK;
    p.n_seq_max = 1;
    p.n_threads = p.n_threads_batch = m->threads;
    p.no_perf = true;
    p.abort_callback = is_cancelled;
    p.abort_callback_data = w;
    if (!(w->context = llama_init_from_model(m->llama, p)))
        return qp_fail(err, QP_MODEL, "%s: no context of %u tokens can be made: %s", m->path, p.n_ctx,
                       qp_ggml_reason());
    return QP_OK;
}

qp_code qp_generator_open(qp_llama *m, qp_err *err)
{
    if (!llama_model_has_decoder(m->llama) || llama_model_has_encoder(m->llama))
        return qp_fail(err, QP_MODEL, "%s: is an encoder, it cannot write", m->path);
    qp_generator *w = m->generator = calloc(1, sizeof *w);
    if (!w)
        return qp_oom(err);
    w->m = m;
    pthread_mutex_init(&w->lock, NULL);
    if (!(w->candidates = malloc((size_t)llama_vocab_n_tokens(m->vocab) * sizeof *w->candidates)))
        return qp_oom(err);
    m->model.generate = writer_generate;
    qp_code code = open_context(w, err);
    return code || qp_ids_room(&w->seen, m->model.max_tokens) ? code : qp_oom(err);
}

void qp_generator_close(qp_generator *w)
{
    if (!w)
        return;
    if (w->context)
        llama_free(w->context);
    pthread_mutex_destroy(&w->lock);
    free(w->candidates);
    free(w->seen.at);
    free(w);
}
