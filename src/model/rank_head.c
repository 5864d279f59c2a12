#include "model/rank_head.h"

#include <stdlib.h>

#include "base/vector.h"
#include "model/kernel.h"

struct qp_rank_head {
    const qp_kernels *kernels;
    uint32_t width;
    void *dense;                  /* W1: width x width, packed */
    float *dense_bias;            /* b1, and behind it: */
    float *project, project_bias; /* w2, b2 */
};

static qp_code read_part(const qp_gguf *file, const char *name, uint32_t rows, uint32_t cols, float *out, qp_err *err)
{
    qp_tensor t;
    if (!qp_gguf_tensor(file, name, &t) || !qp_tensor_is_readable(&t) || t.rows != rows || t.cols != cols)
        return qp_fail(err, QP_MODEL,
                       "%s: a reranker's head wants %s, %u x %u; llama.cpp's converter drops it from some "
                       "models: `quipu model import` the safetensors instead",
                       file->path, name, rows, cols);
    for (uint32_t i = 0; i < rows; i++)
        qp_tensor_row(&t, i, out + (size_t)i * cols);
    return QP_OK;
}

static qp_code read_parts(qp_rank_head *h, const qp_gguf *file, qp_err *err)
{
    const uint32_t d = h->width;
    float *w = malloc((size_t)d * d * sizeof *w);
    h->dense = aligned_alloc(64, (qp_packed_size(h->kernels, d, d) * h->kernels->item + 63) & ~(size_t)63);
    h->dense_bias = malloc(2 * (size_t)d * sizeof *h->dense_bias);
    qp_code code = w && h->dense && h->dense_bias ? QP_OK : qp_oom(err);
    h->project = code ? NULL : h->dense_bias + d;
    if (!code)
        code = read_part(file, "cls.weight", d, d, w, err);
    if (!code)
        h->kernels->pack(h->dense, w, d, 1, d, d);
    free(w);
    if (!code)
        code = read_part(file, "cls.bias", 1, d, h->dense_bias, err);
    if (!code)
        code = read_part(file, "cls.output.weight", 1, d, h->project, err);
    return code ? code : read_part(file, "cls.output.bias", 1, 1, &h->project_bias, err);
}

qp_code qp_rank_head_open(const qp_gguf *file, uint32_t width, qp_rank_head **out, qp_err *err)
{
    qp_rank_head *h = *out = calloc(1, sizeof *h);
    if (!h)
        return qp_oom(err);
    h->kernels = qp_kernels_best();
    h->width = width;
    qp_code code = read_parts(h, file, err);
    if (code) {
        qp_rank_head_close(h);
        *out = NULL;
    }
    return code;
}

void qp_rank_head_close(qp_rank_head *h)
{
    if (!h)
        return;
    free(h->dense);
    free(h->dense_bias);
    free(h);
}

/* Some rows at a time: W1 is read once for all of them, what it gives stays in the cache. */
qp_code qp_rank_head_run(const qp_rank_head *h, const float *latent, uint32_t n, float *score, qp_err *err)
{
    enum { ROWS = 48 };
    const uint32_t width = h->width;
    float *z = malloc(ROWS * (size_t)width * sizeof *z);
    if (!z)
        return qp_oom(err);
    for (uint32_t rows; n; n -= rows, latent += (size_t)rows * width, score += rows) {
        rows = n < ROWS ? n : ROWS;
        h->kernels->gemm(latent, width, rows, h->dense, width, width, h->dense_bias, false, z, width);
        h->kernels->tanh(z, (size_t)rows * width);
        for (uint32_t i = 0; i < rows; i++)
            score[i] = qp_dot(h->project, z + (size_t)i * width, width) + h->project_bias;
    }
    free(z);
    return QP_OK;
}
