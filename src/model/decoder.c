#include "model/decoder.h"

#include <gguf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "model/linear.h"

enum { MOST_LAYERS = 256, MOST_WIDTH = 1 << 14, MOST_FLOATS = 1 << 29 }; /* floats: 2 GB of weights */

typedef struct layer {
    qp_linear qkv, out, gate_up, down; /* q, k, v and gate, up are one matrix each, one below the other */
    float *before_attention, *before_feed;
} layer;

struct qp_decoder {
    const qp_gguf *file;
    const qp_kernels *kernels;
    uint32_t width, feed, n_layers, context;
    float epsilon;
    double base; /* of the rotary angles */
    qp_heads heads;
    qp_tensor tokens; /* read where they lie: a text touches few of them */
    layer *layers;
};

/* ---- which files ---- */

static bool is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name))
        list++;
    return *list;
}

static bool knows_keys(const qp_gguf *g)
{
    static const char *const known[] = {"vocab_size",
                                        "context_length",
                                        "embedding_length",
                                        "block_count",
                                        "feed_forward_length",
                                        "attention.head_count",
                                        "attention.head_count_kv",
                                        "attention.key_length",
                                        "attention.value_length",
                                        "attention.layer_norm_rms_epsilon",
                                        "rope.dimension_count",
                                        "rope.freq_base",
                                        NULL};
    for (int64_t i = 0; i < gguf_get_n_kv(g->meta); i++) {
        const char *key = gguf_get_key(g->meta, i);
        if (!strncmp(key, "llama.", 6) && !is_among(key + 6, known))
            return false;
    }
    return true;
}

static bool knows_tensors(const qp_gguf *g)
{
    static const char *const outer[] = {"token_embd.weight", "output_norm.weight", "output.weight", NULL};
    static const char *const inner[] = {"attn_norm.weight",   "attn_q.weight",
                                        "attn_k.weight",      "attn_v.weight",
                                        "attn_q.bias",        "attn_k.bias",
                                        "attn_v.bias",        "attn_output.bias",
                                        "attn_output.weight", "ffn_norm.weight",
                                        "ffn_gate.weight",    "ffn_up.weight",
                                        "ffn_down.weight",    NULL};
    uint64_t floats = 0;
    for (int64_t i = 0; i < gguf_get_n_tensors(g->meta); i++) {
        const char *name = gguf_get_tensor_name(g->meta, i);
        unsigned at;
        int end = 0;
        qp_tensor t;
        if (!qp_gguf_tensor(g, name, &t) || !qp_tensor_is_readable(&t))
            return false;
        if (is_among(name, outer))
            continue;
        if (sscanf(name, "blk.%u.%n", &at, &end) != 1 || !end || !is_among(name + end, inner))
            return false;
        floats += (uint64_t)t.rows * t.cols;
    }
    return floats <= MOST_FLOATS;
}

bool qp_decoder_takes(const qp_gguf *g)
{
    return qp_str_eq(qp_gguf_text(g, "general.architecture"), QP_STR("llama")) && knows_keys(g) && knows_tensors(g);
}

/* ---- opening ---- */

static uint32_t number(const qp_gguf *g, const char *key, uint64_t standard)
{
    uint64_t value = standard;
    qp_gguf_uint(g, key, &value);
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static qp_code read_sizes(qp_decoder *d, qp_err *err)
{
    const qp_gguf *g = d->file;
    double epsilon = 0;
    d->width = number(g, "llama.embedding_length", 0);
    d->feed = number(g, "llama.feed_forward_length", 0);
    d->n_layers = number(g, "llama.block_count", 0);
    d->context = number(g, "llama.context_length", 0);
    d->heads.n = number(g, "llama.attention.head_count", 0);
    d->heads.kv = number(g, "llama.attention.head_count_kv", d->heads.n);
    d->heads.dim = number(g, "llama.attention.key_length", d->heads.n ? d->width / d->heads.n : 0);
    d->heads.causal = true;
    d->base = 10000;
    qp_gguf_real(g, "llama.rope.freq_base", &d->base);
    if (!qp_gguf_real(g, "llama.attention.layer_norm_rms_epsilon", &epsilon))
        return qp_fail(err, QP_MODEL, "%s: lacks the key llama.attention.layer_norm_rms_epsilon", g->path);
    d->epsilon = (float)epsilon;
    const qp_heads *h = &d->heads;
    if (!d->width || d->width > MOST_WIDTH || !d->feed || d->feed > MOST_FLOATS / d->width || !d->n_layers ||
        d->n_layers > MOST_LAYERS || !h->n || !h->kv || h->n % h->kv || !h->dim || h->dim % 2 ||
        h->dim > MOST_WIDTH / h->n || number(g, "llama.attention.value_length", h->dim) != h->dim ||
        number(g, "llama.rope.dimension_count", h->dim) != h->dim || !(d->base > 1))
        return qp_fail(err, QP_MODEL,
                       "%s: sizes make no decoder: width %u, feed-forward %u, %u layers, %u heads of %u, %u of keys",
                       g->path, d->width, d->feed, d->n_layers, h->n, h->dim, h->kv);
    return QP_OK;
}

static qp_code read_layer(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker;
    qp_decoder *d = self;
    layer *l = d->layers + i;
    const qp_heads *h = &d->heads;
    const uint32_t at = (uint32_t)i, asks = h->n * h->dim, keys = h->kv * h->dim;
    const qp_part qkv[] = {{"attn_q", asks}, {"attn_k", keys}, {"attn_v", keys}};
    const qp_part gate_up[] = {{"ffn_gate", d->feed}, {"ffn_up", d->feed}};
    const qp_part out = {"attn_output", d->width}, down = {"ffn_down", d->width};
    char name[40];
    qp_code code = qp_linear_open(&l->qkv, d->file, d->kernels, NULL, at, qkv, 3, d->width, err);
    snprintf(name, sizeof name, "blk.%u.attn_norm.weight", at);
    if (!code)
        code = qp_gguf_floats(d->file, name, 1, d->width, &l->before_attention, err);
    if (code || at + 1 == d->n_layers) /* the last one ends with its attention */
        return code;
    snprintf(name, sizeof name, "blk.%u.ffn_norm.weight", at);
    code = qp_gguf_floats(d->file, name, 1, d->width, &l->before_feed, err);
    if (!code)
        code = qp_linear_open(&l->out, d->file, d->kernels, NULL, at, &out, 1, asks, err);
    if (!code)
        code = qp_linear_open(&l->gate_up, d->file, d->kernels, NULL, at, gate_up, 2, d->width, err);
    return code ? code : qp_linear_open(&l->down, d->file, d->kernels, NULL, at, &down, 1, d->feed, err);
}

qp_code qp_decoder_open(const qp_gguf *g, int threads, qp_decoder **out, qp_err *err)
{
    qp_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return qp_oom(err);
    d->file = g;
    d->kernels = qp_kernels_best();
    qp_code code = read_sizes(d, err);
    if (!code && !(d->layers = calloc(d->n_layers, sizeof *d->layers)))
        code = qp_oom(err);
    if (!code)
        code = qp_gguf_want(g, "token_embd.weight", 0, d->width, &d->tokens, err);
    if (!code)
        code = qp_parallel(threads, d->n_layers, read_layer, d, err);
    if (code)
        qp_decoder_close(d);
    else
        *out = d;
    return code;
}

void qp_decoder_close(qp_decoder *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->layers && i < d->n_layers; i++) {
        layer *l = d->layers + i;
        qp_linear_close(&l->qkv);
        qp_linear_close(&l->out);
        qp_linear_close(&l->gate_up);
        qp_linear_close(&l->down);
        free(l->before_attention);
        free(l->before_feed);
    }
    free(d->layers);
    free(d);
}

const qp_heads *qp_decoder_heads(const qp_decoder *d)
{
    return &d->heads;
}

uint32_t qp_decoder_context(const qp_decoder *d)
{
    return d->context;
}

/* ---- workspace: of one run ---- */

typedef struct space {
    void *block;
    float *x, *normed, *qkv, *mixed, *feed; /* rows x width, width, (heads + 2 kv) dim, heads dim, 2 feed-forward */
    float *turn;                            /* longest x dim: cosine and sine of each pair's angle */
    float *half;                            /* feed-forward */
    qp_attend_space attention;
    uint32_t rows;
} space;

static void *carve(uint8_t **at, size_t bytes)
{
    void *piece = *at;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

static qp_code open_space(space *w, const qp_decoder *d, uint32_t rows, uint32_t longest, qp_err *err)
{
    const qp_heads *h = &d->heads;
    const size_t row = rows * sizeof(float), asks = (size_t)h->n * h->dim, keys = (size_t)h->kv * h->dim;
    size_t attention[3];
    qp_attend_sizes(h, d->kernels, longest, attention);
    size_t floats = row * (2 * (size_t)d->width + 2 * asks + 2 * keys + 2 * (size_t)d->feed) +
                    sizeof(float) * ((size_t)longest * h->dim + d->feed);
    uint8_t *at = w->block =
        aligned_alloc(64, (floats + attention[0] + attention[1] + attention[2] + 10 * 64 + 63) / 64 * 64);
    if (!at)
        return qp_oom(err);
    w->rows = rows;
    w->x = carve(&at, row * d->width);
    w->normed = carve(&at, row * d->width);
    w->qkv = carve(&at, row * (asks + 2 * keys));
    w->mixed = carve(&at, row * asks);
    w->feed = carve(&at, row * 2 * d->feed);
    w->turn = carve(&at, sizeof(float) * longest * h->dim);
    w->half = carve(&at, sizeof(float) * d->feed);
    w->attention.weights = carve(&at, attention[0]);
    w->attention.keys = carve(&at, attention[1]);
    w->attention.values = carve(&at, attention[2]);
    return QP_OK;
}

/* ---- running ---- */

static void norm_rows(const qp_decoder *d, const space *w, const float *gain)
{
    const float *x = w->x;
    float *y = w->normed;
    for (uint32_t i = 0; i < w->rows; i++, x += d->width, y += d->width) {
        double square = 0;
        for (uint32_t j = 0; j < d->width; j++)
            square += (double)x[j] * x[j];
        const float scale = (float)(1 / sqrt(square / d->width + (double)d->epsilon));
        for (uint32_t j = 0; j < d->width; j++)
            y[j] = x[j] * scale * gain[j];
    }
}

/* RoPE (Su et al., 2021): position p turns pair i by p base^(-2i/dim). Pairs are neighbours in this kind of file. */
static void fill_turns(const qp_decoder *d, uint32_t longest, float *turn)
{
    const uint32_t dim = d->heads.dim;
    for (uint32_t p = 0; p < longest; p++)
        for (uint32_t i = 0; i < dim; i += 2, turn += 2) {
            double angle = p * pow(d->base, -(double)i / dim);
            turn[0] = (float)cos(angle);
            turn[1] = (float)sin(angle);
        }
}

/* The queries and keys of a sequence, which stand side by side in a row. */
static void turn_rows(const qp_decoder *d, const float *turns, float *rows, uint32_t n)
{
    const qp_heads *h = &d->heads;
    for (uint32_t p = 0; p < n; p++, turns += h->dim, rows += (size_t)(h->n + 2 * h->kv) * h->dim) {
        float *x = rows;
        for (uint32_t i = 0; i < h->n + h->kv; i++, x += h->dim)
            for (uint32_t k = 0; k < h->dim; k += 2) {
                const float a = x[k], b = x[k + 1], cosine = turns[k], sine = turns[k + 1];
                x[k] = a * cosine - b * sine;
                x[k + 1] = a * sine + b * cosine;
            }
    }
}

/* silu(gate) * up of each row, put one after the other at the front. x sigmoid(x) = x/2 (1 + tanh(x/2)). */
static void gate_rows(const qp_decoder *d, const space *w)
{
    const uint32_t n = d->feed;
    float *to = w->feed;
    for (uint32_t i = 0; i < w->rows; i++, to += n) {
        const float *gate = w->feed + 2 * (size_t)i * n, *up = gate + n;
        for (uint32_t j = 0; j < n; j++)
            w->half[j] = gate[j] / 2;
        d->kernels->tanh(w->half, n);
        for (uint32_t j = 0; j < n; j++)
            to[j] = gate[j] / 2 * (1 + w->half[j]) * up[j];
    }
}

/* The last layer's is asked by each sequence's last token alone; its rows go to `out`. */
static void run_attention(const qp_decoder *d, const space *w, const layer *l, const qp_sequence *s, uint32_t n,
                          bool last, float *out)
{
    const qp_heads *h = &d->heads;
    const size_t stride = (size_t)(h->n + 2 * h->kv) * h->dim, width = (size_t)h->n * h->dim;
    float *rows = w->qkv;
    norm_rows(d, w, l->before_attention);
    qp_linear_run(&l->qkv, w->normed, w->rows, false, w->qkv, NULL);
    for (uint32_t i = 0; i < n; rows += stride * s[i++].n) {
        const uint32_t first = last ? s[i].n - 1 : 0, asks = s[i].n - first;
        turn_rows(d, w->turn, rows, s[i].n);
        qp_attend(h, d->kernels, rows, s[i].n, first, asks, &w->attention, out);
        out += asks * width;
    }
}

static void run_layer(const qp_decoder *d, const space *w, const layer *l, const qp_sequence *s, uint32_t n)
{
    run_attention(d, w, l, s, n, false, w->mixed);
    qp_linear_run(&l->out, w->mixed, w->rows, true, w->x, NULL);
    norm_rows(d, w, l->before_feed);
    qp_linear_run(&l->gate_up, w->normed, w->rows, false, w->feed, NULL);
    gate_rows(d, w);
    qp_linear_run(&l->down, w->feed, w->rows, true, w->x, NULL);
}

static qp_code embed_tokens(const qp_decoder *d, const qp_sequence *s, float *x, qp_err *err)
{
    for (uint32_t i = 0; i < s->n; i++, x += d->width) {
        if (s->ids[i] < 0 || (uint32_t)s->ids[i] >= d->tokens.rows)
            return qp_fail(err, QP_MODEL, "%s: the vocabulary gave token %d, the model has %u", d->file->path,
                           s->ids[i], d->tokens.rows);
        qp_tensor_row(&d->tokens, (uint32_t)s->ids[i], x);
    }
    return QP_OK;
}

qp_code qp_decoder_run(const qp_decoder *d, const qp_sequence *s, uint32_t n, float *out, qp_err *err)
{
    uint32_t rows = 0, longest = 0;
    space w = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (!s[i].n)
            return qp_fail(err, QP_BUG, "%s: a sequence without a token", d->file->path);
        rows += s[i].n;
        longest = s[i].n > longest ? s[i].n : longest;
    }
    qp_code code = open_space(&w, d, rows, longest, err);
    float *x = w.x;
    for (uint32_t i = 0; i < n && !code; x += (size_t)d->width * s[i++].n)
        code = embed_tokens(d, s + i, x, err);
    if (!code) {
        fill_turns(d, longest, w.turn);
        for (uint32_t i = 0; i + 1 < d->n_layers; i++)
            run_layer(d, &w, d->layers + i, s, n);
        run_attention(d, &w, d->layers + d->n_layers - 1, s, n, true, out);
    }
    free(w.block);
    return code;
}
