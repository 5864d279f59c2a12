/* Centroids of unit vectors by k-means over their int8 codes. Nearest is by whole numbers, starting points are taken at
 * even steps and sums run in order: the same vectors give the same centroids, however many threads there are.
 */
#ifndef QP_STORE_KMEANS_H
#define QP_STORE_KMEANS_H

#include <stdint.h>

#include "base/err.h"

enum { QP_KMEANS_ROUNDS = 4 /* as in PLAID */ };

typedef struct qp_centroids {
    uint32_t n, dim;
    float *row;   /* n x dim, unit length */
    int8_t *code; /* the same, row = scale x code */
    float *scale;
} qp_centroids;

/* k of n vectors, 0 < k <= n. One that is nearest to none stays where it was. threads: 0: one per core. cancel: or
 * null; QP_STOPPED. */
qp_code qp_kmeans(const int8_t *codes, const float *scales, uint32_t n, uint32_t dim, uint32_t k, int threads,
                  volatile const int *cancel, qp_centroids *, qp_err *);
/* The nearest of each, by inner product; equals: the first. */
qp_code qp_centroids_nearest(const qp_centroids *, const int8_t *codes, uint32_t n, int threads,
                             volatile const int *cancel, uint32_t *out, qp_err *);
void qp_centroids_free(qp_centroids *);

#endif
