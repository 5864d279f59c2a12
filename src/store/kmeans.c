#include "store/kmeans.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "base/vector.h"
#include "store/dot.h"

enum { SHARE = 256 /* vectors a thread looks at between two looks at `cancel` */, TILE = 64 /* centroids in cache */ };

struct assigning {
    const qp_centroids *c;
    const int8_t *codes;
    uint32_t n, *out;
    volatile const int *cancel;
};

static qp_code assign_share(void *ctx, int worker, size_t share, qp_err *err)
{
    const struct assigning *a = ctx;
    const qp_centroids *c = a->c;
    uint32_t from = (uint32_t)share * SHARE, n = a->n - from < SHARE ? a->n - from : SHARE;
    float best[SHARE];
    (void)worker;
    if (qp_cancelled(a->cancel))
        return qp_fail(err, QP_STOPPED, "stopped before the index was published; run it again to go on");
    for (uint32_t tile = 0; tile < c->n; tile += TILE)
        for (uint32_t i = 0; i < n; i++) {
            int32_t whole[TILE];
            const uint32_t there = c->n - tile < TILE ? c->n - tile : TILE;
            qp_dot_i8_rows(a->codes + (size_t)(from + i) * c->dim, c->code + (size_t)tile * c->dim, there, c->dim,
                           whole);
            for (uint32_t j = tile; j < tile + there; j++) {
                float dot = c->scale[j] * (float)whole[j - tile];
                if (!j || dot > best[i]) {
                    best[i] = dot;
                    a->out[from + i] = j;
                }
            }
        }
    return QP_OK;
}

qp_code qp_centroids_nearest(const qp_centroids *c, const int8_t *codes, uint32_t n, int threads,
                             volatile const int *cancel, uint32_t *out, qp_err *err)
{
    struct assigning a = {c, codes, n, out, cancel};
    return qp_parallel(threads, ((size_t)n + SHARE - 1) / SHARE, assign_share, &a, err);
}

static void place(qp_centroids *c, uint32_t i, const double *sum)
{
    float *row = c->row + (size_t)i * c->dim;
    for (uint32_t j = 0; j < c->dim; j++)
        row[j] = (float)sum[j];
    qp_make_unit(row, c->dim);
    c->scale[i] = qp_quantise(row, c->dim, c->code + (size_t)i * c->dim);
}

static void add(double *sum, const int8_t *code, float scale, uint32_t dim)
{
    for (uint32_t j = 0; j < dim; j++)
        sum[j] += (double)scale * code[j];
}

/* Centroids move to the mean of those nearest to them. */
static void move_all(qp_centroids *c, const int8_t *codes, const float *scales, uint32_t n, const uint32_t *nearest,
                     double *sum)
{
    memset(sum, 0, (size_t)c->n * c->dim * sizeof *sum);
    for (uint32_t i = 0; i < n; i++)
        add(sum + (size_t)nearest[i] * c->dim, codes + (size_t)i * c->dim, scales[i], c->dim);
    for (uint32_t i = 0; i < c->n; i++) {
        const double *own = sum + (size_t)i * c->dim;
        uint32_t j = 0;
        while (j < c->dim && own[j] == 0)
            j++;
        if (j < c->dim)
            place(c, i, own);
    }
}

static void start(qp_centroids *c, const int8_t *codes, const float *scales, uint32_t n, double *sum)
{
    for (uint32_t i = 0; i < c->n; i++) {
        size_t at = (size_t)((uint64_t)i * n / c->n);
        memset(sum, 0, c->dim * sizeof *sum);
        add(sum, codes + at * c->dim, scales[at], c->dim);
        place(c, i, sum);
    }
}

qp_code qp_kmeans(const int8_t *codes, const float *scales, uint32_t n, uint32_t dim, uint32_t k, int threads,
                  volatile const int *cancel, qp_centroids *out, qp_err *err)
{
    size_t size = (size_t)k * dim;
    *out = (qp_centroids){k, dim, malloc(size * sizeof *out->row), malloc(size), malloc(k * sizeof *out->scale)};
    double *sum = malloc(size * sizeof *sum);
    uint32_t *nearest = malloc(n * sizeof *nearest);
    qp_code code = sum && nearest && out->row && out->code && out->scale ? QP_OK : qp_oom(err);
    if (!code)
        start(out, codes, scales, n, sum);
    for (int round = 0; !code && round < QP_KMEANS_ROUNDS; round++) {
        code = qp_centroids_nearest(out, codes, n, threads, cancel, nearest, err);
        if (!code)
            move_all(out, codes, scales, n, nearest, sum);
    }
    free(sum);
    free(nearest);
    if (code)
        qp_centroids_free(out);
    return code;
}

void qp_centroids_free(qp_centroids *c)
{
    free(c->row);
    free(c->code);
    free(c->scale);
    *c = (qp_centroids){0};
}
