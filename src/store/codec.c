#include "store/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float quantile(const float *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;
    return (float)(sorted[below] + (at - (double)below) * ((double)sorted[above] - sorted[below]));
}

void qp_codec_fit(qp_codec *c, float *residual, size_t n)
{
    memset(c->cut, 0, sizeof c->cut);
    memset(c->value, 0, sizeof c->value);
    if (!n)
        return;
    qsort(residual, n, sizeof *residual, rising);
    for (int b = 0; b < QP_BUCKETS; b++) {
        c->value[b] = quantile(residual, n, (b + .5) / QP_BUCKETS);
        if (b + 1 < QP_BUCKETS)
            c->cut[b] = quantile(residual, n, (b + 1.) / QP_BUCKETS);
    }
}

void qp_codec_pack(const qp_codec *c, uint32_t centroid, const float *v, uint8_t *out)
{
    const float *from = c->centroid + (size_t)centroid * c->dim;
    memset(out, 0, qp_codec_bytes(c->dim));
    for (uint32_t j = 0; j < c->dim; j++) {
        float r = v[j] - from[j];
        int bucket = (r > c->cut[0]) + (r > c->cut[1]) + (r > c->cut[2]);
        out[j / 4] |= (uint8_t)(bucket << (j % 4 * 2));
    }
}

void qp_codec_unpack(const qp_codec *c, uint32_t centroid, const uint8_t *code, float *v)
{
    const float *from = c->centroid + (size_t)centroid * c->dim;
    for (uint32_t j = 0; j < c->dim; j++)
        v[j] = from[j] + c->value[code[j / 4] >> (j % 4 * 2) & 3];
    qp_make_unit(v, c->dim);
}

float qp_maxsim(const float *query, uint32_t n, const float *row, uint32_t m, uint32_t dim)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        float best = m ? qp_dot(query + (size_t)i * dim, row, dim) : 0;
        for (uint32_t j = 1; j < m; j++) {
            float dot = qp_dot(query + (size_t)i * dim, row + (size_t)j * dim, dim);
            best = dot > best ? dot : best;
        }
        sum += best;
    }
    return (float)sum;
}
