/* Vectors of passages' tokens on their way into a snapshot. They wait in a temporary file; when all are there,
 * centroids come out of an even sample of them, and each becomes its nearest centroid and two bits a dimension
 * (codec.h), so that the bytes are a function of the vectors alone. In memory are the sample, the centroids, and six
 * bytes a token.
 *
 * How many centroids: the power of two not above 4 sqrt(tokens); PLAID takes 16 sqrt(tokens), on GPUs, once.
 */
#ifndef QP_STORE_TOKENS_H
#define QP_STORE_TOKENS_H

#include "store/writer.h"

enum { QP_TOKEN_SAMPLE = 1 << 16 /* vectors, or 32 for each centroid */, QP_MOST_CENTROIDS = 1 << 16 };

typedef struct qp_token_maker qp_token_maker;

/* A vector as it is kept and passed here: a float `scale`, then dim int8 codes; vector = scale x code. */
static inline size_t qp_token_bytes(uint32_t dim)
{
    return sizeof(float) + dim;
}
uint32_t qp_centroids_for(uint64_t tokens);

qp_code qp_token_maker_open(const char *folder, uint32_t dim, qp_token_maker **, qp_err *);
void qp_token_maker_free(qp_token_maker *); /* takes null */
/* The next passage's. */
qp_code qp_token_maker_add(qp_token_maker *, const char *vectors, uint32_t n, qp_err *);
uint32_t qp_token_maker_passages(const qp_token_maker *);
/* Writes TOKEN_*, CENTROIDS and CENTROID_*, fills in what qp_info has of them. threads: 0: one per core. */
qp_code qp_token_maker_write(qp_token_maker *, int threads, volatile const int *cancel, qp_writer *, qp_info *,
                             qp_err *);

#endif
