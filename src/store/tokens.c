#include "store/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "store/codec.h"
#include "store/inverted.h"
#include "store/kmeans.h"

enum {
    WAITING = 1 << 22 /* bytes in memory */,
    BLOCK = 1 << 13 /* vectors at hand */,
    FITTED = 1 << 12 /* residuals' rows */
};

struct qp_token_maker {
    uint32_t dim;
    qp_scratch *vectors;
    qp_buf start; /* u64: of each passage its first */
    uint64_t n;
};

struct rows { /* some of them at hand */
    int8_t *code;
    float *scale;
    char *bytes; /* of one block */
};

uint32_t qp_centroids_for(uint64_t tokens)
{
    uint64_t k = 1;
    while (k < QP_MOST_CENTROIDS && 4 * k * k <= 16 * tokens) /* 2 k <= 4 sqrt(tokens) */
        k *= 2;
    return (uint32_t)(k < tokens ? k : tokens);
}

qp_code qp_token_maker_open(const char *folder, uint32_t dim, qp_token_maker **out, qp_err *err)
{
    qp_token_maker *t = calloc(1, sizeof *t);
    if (!(*out = t))
        return qp_oom(err);
    t->dim = dim;
    return qp_scratch_open(folder, WAITING, &t->vectors, err);
}

void qp_token_maker_free(qp_token_maker *t)
{
    if (!t)
        return;
    qp_scratch_close(t->vectors);
    qp_buf_free(&t->start);
    free(t);
}

qp_code qp_token_maker_add(qp_token_maker *t, const char *vectors, uint32_t n, qp_err *err)
{
    qp_buf_add(&t->start, &t->n, sizeof t->n);
    t->n += n;
    return t->start.oom ? qp_oom(err) : qp_scratch_add(t->vectors, vectors, n * qp_token_bytes(t->dim), err);
}

uint32_t qp_token_maker_passages(const qp_token_maker *t)
{
    return (uint32_t)(t->start.n / sizeof t->n);
}

/* ---- reading them back ---- */

static bool rows_new(const qp_token_maker *t, uint32_t n, struct rows *out)
{
    *out = (struct rows){malloc((size_t)n * t->dim + 1), malloc(((size_t)n + 1) * sizeof(float)),
                         malloc(BLOCK * qp_token_bytes(t->dim))};
    return out->code && out->scale && out->bytes;
}

static void rows_free(struct rows *r)
{
    free(r->code);
    free(r->scale);
    free(r->bytes);
}

static void take_row(const qp_token_maker *t, struct rows *r, size_t from, size_t to)
{
    const char *bytes = r->bytes + from * qp_token_bytes(t->dim);
    memcpy(&r->scale[to], bytes, sizeof *r->scale);
    memcpy(r->code + to * t->dim, bytes + sizeof *r->scale, t->dim);
}

/* n rows, every `stride`-th from `first` on. */
static qp_code read_rows(const qp_token_maker *t, uint64_t first, uint64_t stride, uint32_t n, struct rows *r,
                         qp_err *err)
{
    const size_t bytes = qp_token_bytes(t->dim);
    qp_code code = QP_OK;
    for (uint32_t i = 0; !code && i < n;) {
        uint32_t some = stride > 1 ? 1 : n - i < BLOCK ? n - i : BLOCK;
        code = qp_scratch_read(t->vectors, (first + i * stride) * bytes, r->bytes, some * bytes, err);
        for (uint32_t k = 0; !code && k < some; k++)
            take_row(t, r, k, i + k);
        i += some;
    }
    return code;
}

static void float_row(const qp_token_maker *t, const struct rows *r, size_t i, float *out)
{
    for (uint32_t j = 0; j < t->dim; j++)
        out[j] = r->scale[i] * r->code[i * t->dim + j];
}

/* ---- training ---- */

static qp_code fit(const qp_token_maker *t, const struct rows *r, uint32_t n, const qp_centroids *c, int threads,
                   qp_codec *codec, qp_err *err)
{
    uint32_t some = n < FITTED ? n : FITTED, *nearest = malloc(some * sizeof *nearest);
    float *residual = malloc((size_t)some * t->dim * sizeof *residual);
    struct rows few = {malloc((size_t)some * t->dim), NULL, NULL};
    qp_code code = nearest && residual && few.code ? QP_OK : qp_oom(err);
    for (uint32_t i = 0; !code && i < some; i++)
        memcpy(few.code + (size_t)i * t->dim, r->code + (size_t)((uint64_t)i * n / some) * t->dim, t->dim);
    code = code ? code : qp_centroids_nearest(c, few.code, some, threads, NULL, nearest, err);
    for (uint32_t i = 0; !code && i < some; i++) {
        float *own = residual + (size_t)i * t->dim;
        float_row(t, r, (size_t)((uint64_t)i * n / some), own);
        for (uint32_t j = 0; j < t->dim; j++)
            own[j] -= c->row[(size_t)nearest[i] * t->dim + j];
    }
    if (!code)
        qp_codec_fit(codec, residual, (size_t)some * t->dim);
    free(nearest);
    free(residual);
    free(few.code);
    return code;
}

static qp_code train(const qp_token_maker *t, int threads, volatile const int *cancel, qp_centroids *c, qp_codec *codec,
                     qp_err *err)
{
    uint32_t k = qp_centroids_for(t->n), most = k < QP_TOKEN_SAMPLE / 32 ? QP_TOKEN_SAMPLE : 32 * k;
    uint64_t stride = (t->n + most - 1) / most;
    uint32_t n = (uint32_t)((t->n + stride - 1) / stride);
    struct rows sample;
    qp_code code = rows_new(t, n, &sample) ? read_rows(t, 0, stride, n, &sample, err) : qp_oom(err);
    code = code ? code : qp_kmeans(sample.code, sample.scale, n, t->dim, k, threads, cancel, c, err);
    *codec = (qp_codec){.dim = t->dim, .centroid = c->row};
    code = code ? code : fit(t, &sample, n, c, threads, codec, err);
    rows_free(&sample);
    return code;
}

/* ---- writing ---- */

static qp_code write_codes(const qp_token_maker *t, int threads, volatile const int *cancel, const qp_centroids *c,
                           const qp_codec *codec, qp_writer *w, uint16_t *centroid, qp_err *err)
{
    size_t bytes = qp_codec_bytes(t->dim);
    struct rows r;
    uint32_t *nearest = malloc(BLOCK * sizeof *nearest);
    uint8_t *code_row = malloc(bytes);
    float *v = malloc(t->dim * sizeof *v);
    qp_code code = rows_new(t, BLOCK, &r) && nearest && code_row && v ? QP_OK : qp_oom(err);
    qp_writer_begin(w, QP_S_TOKEN_RESIDUAL);
    for (uint64_t at = 0; !code && at < t->n; at += BLOCK) {
        uint32_t n = t->n - at < BLOCK ? (uint32_t)(t->n - at) : BLOCK;
        code = read_rows(t, at, 1, n, &r, err);
        code = code ? code : qp_centroids_nearest(c, r.code, n, threads, cancel, nearest, err);
        for (uint32_t i = 0; !code && i < n; i++) {
            centroid[at + i] = (uint16_t)nearest[i];
            float_row(t, &r, i, v);
            qp_codec_pack(codec, nearest[i], v, code_row);
            qp_writer_add(w, code_row, bytes);
        }
    }
    rows_free(&r);
    free(nearest);
    free(code_row);
    free(v);
    return code;
}

static int rising(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Each passage's centroids, with how many of its tokens are there. */
static qp_code list_passages(const qp_token_maker *t, const uint16_t *centroid, qp_inverted *lists, qp_err *err)
{
    uint32_t passages = qp_token_maker_passages(t);
    qp_buf own = {0};
    bool room = true;
    for (uint32_t p = 0; room && p < passages; p++) {
        uint64_t from, to = t->n;
        memcpy(&from, t->start.at + p * sizeof from, sizeof from);
        if (p + 1 < passages)
            memcpy(&to, t->start.at + (p + 1) * sizeof to, sizeof to);
        qp_buf_clear(&own);
        qp_buf_add(&own, centroid + from, (to - from) * sizeof *centroid);
        uint16_t *c = (uint16_t *)(void *)own.at;
        size_t n = own.n / sizeof *c;
        room = !own.oom;
        if (room && n)
            qsort(c, n, sizeof *c, rising);
        for (size_t i = 0, same; room && i < n; i += same) {
            for (same = 1; i + same < n && c[i + same] == c[i];)
                same++;
            room = qp_inverted_add(lists, c[i], p, (uint32_t)same);
        }
    }
    qp_buf_free(&own);
    return room ? QP_OK : qp_oom(err);
}

static qp_code write_lists(const qp_inverted *lists, uint32_t k, qp_writer *w, qp_info *info, qp_err *err)
{
    qp_buf entries = {0}, blocks = {0};
    qp_writer_begin(w, QP_S_CENTROID_POSTINGS);
    for (uint32_t c = 0; c < k; c++) {
        qp_learned_entry e = {blocks.n / sizeof(qp_block_entry), qp_inverted_df(lists, c), 0};
        qp_buf_add(&entries, &e, sizeof e);
        qp_inverted_write(lists, c, NULL, w, &blocks);
    }
    qp_writer_put(w, QP_S_CENTROID_LISTS, entries.at, entries.n);
    qp_writer_put(w, QP_S_CENTROID_BLOCKS, blocks.at, blocks.n);
    info->centroid_blocks = blocks.n / sizeof(qp_block_entry);
    bool oom = entries.oom || blocks.oom;
    qp_buf_free(&entries);
    qp_buf_free(&blocks);
    return oom ? qp_oom(err) : QP_OK;
}

qp_code qp_token_maker_write(qp_token_maker *t, int threads, volatile const int *cancel, qp_writer *w, qp_info *info,
                             qp_err *err)
{
    qp_centroids c = {0};
    qp_codec codec = {.dim = t->dim};
    uint16_t *centroid = malloc((t->n + 1) * sizeof *centroid);
    qp_inverted *lists = qp_inverted_new();
    qp_code code = centroid && lists ? QP_OK : qp_oom(err);
    if (!code && t->n)
        code = train(t, threads, cancel, &c, &codec, err);
    code = code ? code : write_codes(t, threads, cancel, &c, &codec, w, centroid, err);
    code = code ? code : list_passages(t, centroid, lists, err);
    code = code ? code : write_lists(lists, c.n, w, info, err);
    qp_buf_add(&t->start, &t->n, sizeof t->n);
    qp_writer_put(w, QP_S_TOKEN_START, t->start.at, t->start.n);
    if (!code) {
        qp_writer_put(w, QP_S_TOKEN_CENTROID, centroid, t->n * sizeof *centroid);
        qp_writer_put(w, QP_S_CENTROIDS, c.row, (size_t)c.n * c.dim * sizeof *c.row);
    }
    info->tokens = t->n;
    info->centroids = c.n;
    memcpy(info->token_value, codec.value, sizeof info->token_value);
    free(centroid);
    qp_inverted_free(lists);
    qp_centroids_free(&c);
    return code || !t->start.oom ? code : qp_oom(err);
}
