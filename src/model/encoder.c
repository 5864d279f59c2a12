#include "model/encoder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

enum { MOST_LAYERS = 256, MOST_WIDTH = 1 << 14 };

typedef struct linear { /* y = W x + b */
    void *panels;
    float *bias;
    uint32_t n, k;
} linear;

typedef struct affine { /* of a layer norm */
    float *gain, *bias;
} affine;

typedef struct layer {
    linear qkv, out, up, down; /* q, k and v are one matrix, one below the other */
    affine after_attention, after_feed;
} layer;

struct qp_encoder {
    const qp_gguf *file;
    const qp_kernels *kernels;
    uint32_t width, feed, heads, n_layers, positions;
    float epsilon;
    qp_tensor tokens;          /* read where they lie: a text touches few of them */
    float *position, *segment; /* positions x width; 2 x width */
    bool has_segments;
    affine embedded;
    layer *layers;
};

/* ---- opening ---- */

static qp_code read_affine(const qp_gguf *g, const char *name, uint32_t n, affine *a, qp_err *err)
{
    char full[80];
    snprintf(full, sizeof full, "%s.weight", name);
    qp_code code = qp_gguf_floats(g, full, 1, n, &a->gain, err);
    snprintf(full, sizeof full, "%s.bias", name);
    return code ? code : qp_gguf_floats(g, full, 1, n, &a->bias, err);
}

/* One matrix from `parts` tensors of n / parts rows each; biases may be absent. */
static qp_code read_linear(const qp_encoder *e, uint32_t at, const char *const *names, uint32_t parts, uint32_t n,
                           uint32_t k, linear *l, qp_err *err)
{
    float *w = malloc((size_t)n * k * sizeof *w);
    *l = (linear){NULL, calloc(n, sizeof(float)), n, k};
    size_t bytes = qp_packed_size(e->kernels, n, k) * e->kernels->item;
    l->panels = aligned_alloc(64, (bytes + 63) / 64 * 64);
    qp_code code = w && l->bias && l->panels ? QP_OK : qp_oom(err);
    uint32_t rows = n / parts;
    for (uint32_t i = 0; i < parts && !code; i++) {
        char full[80];
        qp_tensor t;
        snprintf(full, sizeof full, "blk.%u.%s.weight", at, names[i]);
        if ((code = qp_gguf_want(e->file, full, rows, k, &t, err)))
            break;
        for (uint32_t r = 0; r < rows; r++)
            qp_tensor_row(&t, r, w + ((size_t)i * rows + r) * k);
        snprintf(full, sizeof full, "blk.%u.%s.bias", at, names[i]);
        if (qp_gguf_tensor(e->file, full, &t) && !(code = qp_gguf_want(e->file, full, 1, rows, &t, err)))
            qp_tensor_row(&t, 0, l->bias + (size_t)i * rows);
    }
    if (!code)
        e->kernels->pack(l->panels, w, k, 1, n, k);
    free(w);
    return code;
}

static qp_code read_layer(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker;
    qp_encoder *e = self;
    layer *l = e->layers + i;
    uint32_t at = (uint32_t)i;
    char name[40];
    qp_code code =
        read_linear(e, at, (const char *[]){"attn_q", "attn_k", "attn_v"}, 3, 3 * e->width, e->width, &l->qkv, err);
    if (!code)
        code = read_linear(e, at, (const char *[]){"attn_output"}, 1, e->width, e->width, &l->out, err);
    if (!code)
        code = read_linear(e, at, (const char *[]){"ffn_up"}, 1, e->feed, e->width, &l->up, err);
    if (!code)
        code = read_linear(e, at, (const char *[]){"ffn_down"}, 1, e->width, e->feed, &l->down, err);
    snprintf(name, sizeof name, "blk.%u.attn_output_norm", at);
    if (!code)
        code = read_affine(e->file, name, e->width, &l->after_attention, err);
    snprintf(name, sizeof name, "blk.%u.layer_output_norm", at);
    return code ? code : read_affine(e->file, name, e->width, &l->after_feed, err);
}

static qp_code read_sizes(qp_encoder *e, qp_err *err)
{
    const qp_gguf *g = e->file;
    uint64_t width = 0, heads = 0, layers = 0, feed = 0;
    double epsilon = 0;
    if (!qp_str_eq(qp_gguf_text(g, "general.architecture"), QP_STR("bert")))
        return qp_fail(err, QP_MODEL, "%s: is of architecture '%.40s', not bert", g->path,
                       qp_gguf_text(g, "general.architecture").at);
    if (!qp_gguf_uint(g, "bert.embedding_length", &width) || !qp_gguf_uint(g, "bert.attention.head_count", &heads) ||
        !qp_gguf_uint(g, "bert.block_count", &layers) || !qp_gguf_uint(g, "bert.feed_forward_length", &feed) ||
        !qp_gguf_real(g, "bert.attention.layer_norm_epsilon", &epsilon))
        return qp_fail(err, QP_MODEL,
                       "%s: lacks a bert.* key (embedding_length, feed_forward_length, block_count, "
                       "attention.head_count, attention.layer_norm_epsilon)",
                       g->path);
    if (!width || width > MOST_WIDTH || !feed || feed > 8 * MOST_WIDTH || !layers || layers > MOST_LAYERS || !heads ||
        width % heads)
        return qp_fail(err, QP_MODEL, "%s: sizes make no BERT: width %zu, feed-forward %zu, %zu layers, %zu heads",
                       g->path, (size_t)width, (size_t)feed, (size_t)layers, (size_t)heads);
    e->width = (uint32_t)width;
    e->heads = (uint32_t)heads;
    e->feed = (uint32_t)feed;
    e->n_layers = (uint32_t)layers;
    e->epsilon = (float)epsilon;
    return QP_OK;
}

static qp_code read_embeddings(qp_encoder *e, qp_err *err)
{
    const qp_gguf *g = e->file;
    qp_tensor t;
    qp_code code = qp_gguf_want(g, "token_embd.weight", 0, e->width, &e->tokens, err);
    if (!code)
        code = qp_gguf_want(g, "position_embd.weight", 0, e->width, &t, err);
    if (code)
        return code;
    e->positions = t.rows;
    if ((code = qp_gguf_floats(g, "position_embd.weight", t.rows, e->width, &e->position, err)))
        return code;
    if (!(e->segment = calloc(2 * (size_t)e->width, sizeof *e->segment)))
        return qp_oom(err);
    if (qp_gguf_tensor(g, "token_types.weight", &t)) {
        if ((code = qp_gguf_want(g, "token_types.weight", 0, e->width, &t, err)))
            return code;
        qp_tensor_row(&t, 0, e->segment);
        qp_tensor_row(&t, t.rows > 1, e->segment + e->width); /* a single row serves both */
    }
    e->has_segments = memcmp(e->segment, e->segment + e->width, e->width * sizeof *e->segment);
    return read_affine(g, "token_embd_norm", e->width, &e->embedded, err);
}

qp_code qp_encoder_open(const qp_gguf *g, int threads, qp_encoder **out, qp_err *err)
{
    qp_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return qp_oom(err);
    e->file = g;
    e->kernels = qp_kernels_best();
    qp_code code = read_sizes(e, err);
    if (!code && !(e->layers = calloc(e->n_layers, sizeof *e->layers)))
        code = qp_oom(err);
    if (!code)
        code = read_embeddings(e, err);
    if (!code)
        code = qp_parallel(threads, e->n_layers, read_layer, e, err);
    if (code)
        qp_encoder_close(e);
    else
        *out = e;
    return code;
}

static void free_linear(linear *l)
{
    free(l->panels);
    free(l->bias);
}

static void free_affine(affine *a)
{
    free(a->gain);
    free(a->bias);
}

void qp_encoder_close(qp_encoder *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; e->layers && i < e->n_layers; i++) {
        layer *l = e->layers + i;
        free_linear(&l->qkv);
        free_linear(&l->out);
        free_linear(&l->up);
        free_linear(&l->down);
        free_affine(&l->after_attention);
        free_affine(&l->after_feed);
    }
    free_affine(&e->embedded);
    free(e->layers);
    free(e->position);
    free(e->segment);
    free(e);
}

uint32_t qp_encoder_width(const qp_encoder *e)
{
    return e->width;
}

uint32_t qp_encoder_heads(const qp_encoder *e)
{
    return e->heads;
}

uint32_t qp_encoder_positions(const qp_encoder *e)
{
    return e->positions;
}

uint32_t qp_encoder_tokens(const qp_encoder *e)
{
    return e->tokens.rows;
}

bool qp_encoder_has_segments(const qp_encoder *e)
{
    return e->has_segments;
}

float qp_encoder_epsilon(const qp_encoder *e)
{
    return e->epsilon;
}

/* ---- workspace ---- */

enum { ASKS = 96 }; /* rows that ask at a time: a multiple of each kernel's tile */

typedef struct span {      /* a sequence among the rows of a batch */
    uint32_t from, n;      /* its rows */
    uint32_t asks, n_asks; /* those that ask in attention, as rows of what goes on: all, or the first alone */
} span;

struct qp_workspace {
    void *block;
    size_t size;
    float *x, *qkv, *mixed, *feed; /* rows x width, 3 width, width, feed-forward */
    float *weights;                /* ASKS x longest: attention of one head */
    void *keys, *values;           /* its panels */
    span *spans;
};

qp_workspace *qp_workspace_new(void)
{
    return calloc(1, sizeof(qp_workspace));
}

void qp_workspace_free(qp_workspace *w)
{
    if (w)
        free(w->block);
    free(w);
}

static void *carve(uint8_t **at, size_t bytes)
{
    void *piece = *at;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

static qp_code workspace_fit(qp_workspace *w, const qp_encoder *e, uint32_t rows, uint32_t longest, uint32_t n,
                             qp_err *err)
{
    const size_t f = sizeof(float), row = e->width * f, head = e->width / e->heads;
    size_t keys = qp_packed_size(e->kernels, longest, (uint32_t)head) * e->kernels->item;
    size_t values = qp_packed_size(e->kernels, (uint32_t)head, longest) * e->kernels->item;
    size_t size =
        rows * (5 * row + e->feed * f) + (size_t)ASKS * longest * f + keys + values + n * sizeof(span) + 9 * 64;
    if (size > w->size) {
        free(w->block);
        size = (size + size / 4 + 63) / 64 * 64;
        w->size = 0;
        if (!(w->block = aligned_alloc(64, size)))
            return qp_oom(err);
        w->size = size;
    }
    uint8_t *at = w->block;
    w->x = carve(&at, rows * row);
    w->qkv = carve(&at, 3 * rows * row);
    w->mixed = carve(&at, rows * row);
    w->feed = carve(&at, rows * e->feed * f);
    w->weights = carve(&at, (size_t)ASKS * longest * f);
    w->keys = carve(&at, keys);
    w->values = carve(&at, values);
    w->spans = carve(&at, n * sizeof(span));
    return QP_OK;
}

/* ---- running ---- */

static void run_linear(const qp_encoder *e, const linear *l, const float *a, uint32_t m, bool add, float *c)
{
    e->kernels->gemm(a, l->k, m, l->panels, l->n, l->k, l->bias, add, c, l->n);
}

static void embed_rows(const qp_encoder *e, const qp_sequence *s, float *x)
{
    for (uint32_t i = 0; i < s->n; i++, x += e->width) {
        const float *position = e->position + (size_t)i * e->width, *segment = e->segment + (i >= s->first) * e->width;
        qp_tensor_row(&e->tokens, (uint32_t)s->ids[i], x);
        for (uint32_t j = 0; j < e->width; j++)
            x[j] += position[j] + segment[j];
        e->kernels->norm(x, e->width, e->embedded.gain, e->embedded.bias, e->epsilon);
    }
}

/* softmax(Q K^T / sqrt d) V of one sequence, head by head. */
static void attend(const qp_encoder *e, qp_workspace *w, const span *s)
{
    const uint32_t head = e->width / e->heads, stride = 3 * e->width;
    const float scale = 1 / sqrtf((float)head), *rows = w->qkv + (size_t)s->from * stride;
    for (uint32_t h = 0; h < e->heads; h++) {
        const float *q = rows + h * head, *k = q + e->width, *v = k + e->width;
        e->kernels->pack(w->keys, k, stride, 1, s->n, head);
        e->kernels->pack(w->values, v, 1, stride, head, s->n);
        for (uint32_t from = 0, n; from < s->n_asks; from += n) {
            n = s->n_asks - from < ASKS ? s->n_asks - from : ASKS;
            e->kernels->gemm(q + (size_t)from * stride, stride, n, w->keys, s->n, head, NULL, false, w->weights, s->n);
            for (uint32_t i = 0; i < n; i++)
                e->kernels->softmax(w->weights + (size_t)i * s->n, s->n, scale);
            e->kernels->gemm(w->weights, s->n, n, w->values, head, s->n, NULL, false,
                             w->mixed + (size_t)(s->asks + from) * e->width + h * head, e->width);
        }
    }
}

/* The rows of x that go on after the last layer's keys and values are made: [CLS] of each sequence alone. */
static uint32_t keep_first(const qp_encoder *e, qp_workspace *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        span *s = w->spans + i;
        memmove(w->x + (size_t)i * e->width, w->x + (size_t)s->from * e->width, e->width * sizeof *w->x);
        s->asks = i;
        s->n_asks = 1;
    }
    return n;
}

/* To `mixed`, head by head: what the layer's output projection reads. */
static uint32_t run_attention(const qp_encoder *e, qp_workspace *w, const layer *l, uint32_t rows, uint32_t n,
                              bool first_only)
{
    run_linear(e, &l->qkv, w->x, rows, false, w->qkv);
    if (first_only)
        rows = keep_first(e, w, n);
    for (uint32_t i = 0; i < n; i++)
        attend(e, w, w->spans + i);
    return rows;
}

static uint32_t run_layer(const qp_encoder *e, qp_workspace *w, const layer *l, uint32_t rows, uint32_t n,
                          bool first_only)
{
    rows = run_attention(e, w, l, rows, n, first_only);
    run_linear(e, &l->out, w->mixed, rows, true, w->x);
    for (uint32_t i = 0; i < rows; i++)
        e->kernels->norm(w->x + (size_t)i * e->width, e->width, l->after_attention.gain, l->after_attention.bias,
                         e->epsilon);
    run_linear(e, &l->up, w->x, rows, false, w->feed);
    e->kernels->gelu(w->feed, (size_t)rows * e->feed);
    run_linear(e, &l->down, w->feed, rows, true, w->x);
    for (uint32_t i = 0; i < rows; i++)
        e->kernels->norm(w->x + (size_t)i * e->width, e->width, l->after_feed.gain, l->after_feed.bias, e->epsilon);
    return rows;
}

static void pool_mean(const qp_encoder *e, const float *x, uint32_t n, float *out)
{
    memset(out, 0, e->width * sizeof *out);
    for (uint32_t i = 0; i < n; i++, x += e->width)
        for (uint32_t j = 0; j < e->width; j++)
            out[j] += x[j];
    for (uint32_t j = 0; j < e->width; j++)
        out[j] /= (float)n;
}

static void pool_means(const qp_encoder *e, const float *rows, const span *s, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        pool_mean(e, rows + (size_t)s[i].from * e->width, s[i].n, out + (size_t)i * e->width);
}

static qp_code check_sequence(const qp_encoder *e, const qp_sequence *s, qp_err *err)
{
    if (!s->n || s->n > e->positions)
        return qp_fail(err, QP_BUG, "%s: a sequence of %u tokens, wanted 1 to %u", e->file->path, s->n, e->positions);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->ids[i] < 0 || (uint32_t)s->ids[i] >= e->tokens.rows)
            return qp_fail(err, QP_MODEL, "%s: the vocabulary gave token %d, the model has %u", e->file->path,
                           s->ids[i], e->tokens.rows);
    return QP_OK;
}

qp_code qp_encoder_run(const qp_encoder *e, qp_workspace *w, const qp_sequence *s, uint32_t n, qp_pool pool, float *out,
                       qp_err *err)
{
    uint32_t rows = 0, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        qp_code code = check_sequence(e, s + i, err);
        if (code)
            return code;
        rows += s[i].n;
        longest = s[i].n > longest ? s[i].n : longest;
    }
    qp_code code = workspace_fit(w, e, rows, longest, n, err);
    if (code)
        return code;
    for (uint32_t i = 0, from = 0; i < n; from += s[i++].n) {
        w->spans[i] = (span){from, s[i].n, from, s[i].n};
        embed_rows(e, s + i, w->x + (size_t)from * e->width);
    }
    const uint32_t last = e->n_layers - 1;
    for (uint32_t i = 0; i < last; i++)
        rows = run_layer(e, w, e->layers + i, rows, n, false);
    if (pool == QP_POOL_HEADS)
        run_attention(e, w, e->layers + last, rows, n, false);
    else
        rows = run_layer(e, w, e->layers + last, rows, n, pool == QP_POOL_FIRST);
    if (pool == QP_POOL_FIRST || pool == QP_POOL_NONE) /* `rows` are those that are left */
        memcpy(out, w->x, (size_t)rows * e->width * sizeof *out);
    else
        pool_means(e, pool == QP_POOL_HEADS ? w->mixed : w->x, w->spans, n, out);
    return QP_OK;
}
