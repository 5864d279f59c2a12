#include "model/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static qp_code read_part(const qp_gguf *g, uint32_t layer, const qp_part *part, uint32_t k, float *w, float *bias,
                         qp_err *err)
{
    char full[80];
    qp_tensor t;
    snprintf(full, sizeof full, "blk.%u.%s.weight", layer, part->name);
    qp_code code = qp_gguf_want(g, full, part->rows, k, &t, err);
    size_t odd = 0; /* rounded to eight bits they would pass for numbers */
    for (uint32_t r = 0; r < part->rows && !code; r++)
        qp_tensor_row(&t, r, w + (size_t)r * k);
    for (size_t i = 0; i < (size_t)part->rows * k && !code; i++)
        odd += !isfinite(w[i]);
    if (odd)
        return qp_fail(err, QP_MODEL, "%s: %s: %zu of its weights are no numbers", g->path, full, odd);
    snprintf(full, sizeof full, "blk.%u.%s.bias", layer, part->name);
    if (!code && qp_gguf_tensor(g, full, &t) && !(code = qp_gguf_want(g, full, 1, part->rows, &t, err)))
        qp_tensor_row(&t, 0, bias);
    return code;
}

qp_code qp_linear_open(qp_linear *l, const qp_gguf *g, const qp_kernels *kernels, const qp_int8 *int8, uint32_t layer,
                       const qp_part *part, uint32_t parts, uint32_t k, qp_err *err)
{
    uint32_t n = 0, row = 0;
    for (uint32_t i = 0; i < parts; i++)
        n += part[i].rows;
    float *w = malloc((size_t)n * k * sizeof *w);
    size_t bytes = int8 ? qp_int8_packed_size(int8, n, k) : qp_packed_size(kernels, n, k) * kernels->item;
    *l = (qp_linear){kernels, int8, aligned_alloc(64, (bytes + 63) / 64 * 64), calloc(n, sizeof(float)), n, k};
    qp_code code = w && l->bias && l->panels ? QP_OK : qp_oom(err);
    for (uint32_t i = 0; i < parts && !code; row += part[i++].rows)
        code = read_part(g, layer, part + i, k, w + (size_t)row * k, l->bias + row, err);
    if (!code && int8)
        qp_int8_pack(int8, l->panels, w, n, k);
    else if (!code)
        kernels->pack(l->panels, w, k, 1, n, k);
    free(w);
    return code;
}

void qp_linear_close(qp_linear *l)
{
    free(l->panels);
    free(l->bias);
}

void qp_linear_run(const qp_linear *l, const float *a, uint32_t m, bool add, float *c, void *space)
{
    if (!l->int8) {
        l->kernels->gemm(a, l->k, m, l->panels, l->n, l->k, l->bias, add, c, l->n);
        return;
    }
    l->int8->round(space, a, m, l->k);
    l->int8->gemm(space, m, l->panels, l->n, l->k, l->bias, add, c);
}
