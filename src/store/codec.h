/* Token vectors in a few bits: the nearest centroid, and what is missing to it in two bits a dimension (ColBERTv2:
 * Santhanam, Khattab, Saad-Falcon, Potts, Zaharia, NAACL 2022, 3.3; as PLAID reads them, CIKM 2022). Vectors are of
 * unit length.
 */
#ifndef QP_STORE_CODEC_H
#define QP_STORE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { QP_BUCKETS = 4 };

typedef struct qp_codec {
    uint32_t dim;
    const float *centroid;   /* rows of dim, unit length */
    float cut[QP_BUCKETS];   /* bucket b holds residuals in (cut[b - 1], cut[b]]; the last cut is not used: 0 ... */
    float value[QP_BUCKETS]; /* ... each stands for all of its bucket */
} qp_codec;

/* Bytes of a residual: four dimensions a byte, the first in the lowest bits. */
static inline size_t qp_codec_bytes(uint32_t dim)
{
    return (dim + 3) / 4;
}

/* Cuts at the quarters of these numbers, values at the eighths between, linear between two of them (torch.quantile);
 * sorts them. Without any all are 0. */
void qp_codec_fit(qp_codec *, float *residual, size_t n);
void qp_codec_pack(const qp_codec *, uint32_t centroid, const float *v, uint8_t *out);
/* To unit length again, as ColBERTv2 does. */
void qp_codec_unpack(const qp_codec *, uint32_t centroid, const uint8_t *code, float *v);

/* MaxSim: for each of n rows the largest product with one of m, summed (ColBERT: Khattab, Zaharia, SIGIR 2020, equation
 * 3). No rows to choose from give 0. */
float qp_maxsim(const float *query, uint32_t n, const float *row, uint32_t m, uint32_t dim);

#endif
