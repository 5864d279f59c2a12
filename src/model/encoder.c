#include "model/encoder.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"
#include "model/attend.h"
#include "model/linear.h"

enum { MOST_LAYERS = 256, MOST_WIDTH = 1 << 14 };

typedef struct affine { /* of a layer norm */
    float *gain, *bias;
} affine;

typedef struct layer {
    qp_linear qkv, out, up, down; /* q, k and v are one matrix, one below the other */
    affine after_attention, after_feed;
} layer;

struct qp_encoder {
    const qp_gguf *file;
    const qp_kernels *kernels;
    const qp_int8 *int8; /* of its linear layers; null: floats */
    uint32_t width, feed, n_layers, positions;
    qp_heads heads;
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

static qp_code read_layer(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker;
    qp_encoder *e = self;
    layer *l = e->layers + i;
    uint32_t at = (uint32_t)i;
    char name[40];
    const qp_part qkv[] = {{"attn_q", e->width}, {"attn_k", e->width}, {"attn_v", e->width}};
    const qp_part out = {"attn_output", e->width}, up = {"ffn_up", e->feed}, down = {"ffn_down", e->width};
    qp_code code = qp_linear_open(&l->qkv, e->file, e->kernels, e->int8, at, qkv, 3, e->width, err);
    if (!code)
        code = qp_linear_open(&l->out, e->file, e->kernels, e->int8, at, &out, 1, e->width, err);
    if (!code)
        code = qp_linear_open(&l->up, e->file, e->kernels, e->int8, at, &up, 1, e->width, err);
    if (!code)
        code = qp_linear_open(&l->down, e->file, e->kernels, e->int8, at, &down, 1, e->feed, err);
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
    e->heads = (qp_heads){(uint32_t)heads, (uint32_t)heads, (uint32_t)(width / heads), false};
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

qp_code qp_encoder_open(const qp_gguf *g, const qp_int8 *int8, int threads, qp_encoder **out, qp_err *err)
{
    qp_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return qp_oom(err);
    e->file = g;
    e->kernels = qp_kernels_best();
    e->int8 = int8;
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
        qp_linear_close(&l->qkv);
        qp_linear_close(&l->out);
        qp_linear_close(&l->up);
        qp_linear_close(&l->down);
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
    return e->heads.n;
}

uint32_t qp_encoder_positions(const qp_encoder *e)
{
    return e->positions;
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

typedef struct span {      /* a sequence among the rows of a batch */
    uint32_t from, n;      /* its rows */
    uint32_t asks, n_asks; /* those that ask in attention, as rows of what goes on: all, or the first alone */
} span;

struct qp_workspace {
    void *block;
    size_t size;
    float *x, *qkv, *mixed, *feed; /* rows x width, 3 width, width, feed-forward */
    void *rounded;                 /* what goes into a linear layer of int8 */
    qp_attend_space attention;     /* of one head */
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
    const size_t f = sizeof(float), row = e->width * f;
    size_t attention[3];
    qp_attend_sizes(&e->heads, e->kernels, longest, attention);
    const size_t rounded = e->int8 ? qp_int8_rows_size(rows, e->feed > e->width ? e->feed : e->width) : 0;
    size_t size = rows * (5 * row + e->feed * f) + rounded + attention[0] + attention[1] + attention[2] +
                  n * sizeof(span) + 10 * 64;
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
    w->rounded = carve(&at, rounded);
    w->attention.weights = carve(&at, attention[0]);
    w->attention.keys = carve(&at, attention[1]);
    w->attention.values = carve(&at, attention[2]);
    w->spans = carve(&at, n * sizeof(span));
    return QP_OK;
}

/* ---- running ---- */

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
    qp_linear_run(&l->qkv, w->x, rows, false, w->qkv, w->rounded);
    if (first_only)
        rows = keep_first(e, w, n);
    for (uint32_t i = 0; i < n; i++)
        qp_attend(&e->heads, e->kernels, w->qkv + 3 * (size_t)w->spans[i].from * e->width, w->spans[i].n, 0,
                  w->spans[i].n_asks, &w->attention, w->mixed + (size_t)w->spans[i].asks * e->width);
    return rows;
}

static uint32_t run_layer(const qp_encoder *e, qp_workspace *w, const layer *l, uint32_t rows, uint32_t n,
                          bool first_only)
{
    rows = run_attention(e, w, l, rows, n, first_only);
    qp_linear_run(&l->out, w->mixed, rows, true, w->x, w->rounded);
    for (uint32_t i = 0; i < rows; i++)
        e->kernels->norm(w->x + (size_t)i * e->width, e->width, l->after_attention.gain, l->after_attention.bias,
                         e->epsilon);
    qp_linear_run(&l->up, w->x, rows, false, w->feed, w->rounded);
    e->kernels->gelu(w->feed, (size_t)rows * e->feed);
    qp_linear_run(&l->down, w->feed, rows, true, w->x, w->rounded);
    for (uint32_t i = 0; i < rows; i++)
        e->kernels->norm(w->x + (size_t)i * e->width, e->width, l->after_feed.gain, l->after_feed.bias, e->epsilon);
    return rows;
}

void qp_rows_mean(const float *x, uint32_t n, uint32_t width, float *out)
{
    memset(out, 0, width * sizeof *out);
    for (uint32_t i = 0; i < n; i++, x += width)
        for (uint32_t j = 0; j < width; j++)
            out[j] += x[j];
    for (uint32_t j = 0; j < width; j++)
        out[j] /= (float)n;
}

static void pool_means(const qp_encoder *e, const float *rows, const span *s, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        qp_rows_mean(rows + (size_t)s[i].from * e->width, s[i].n, e->width, out + (size_t)i * e->width);
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
