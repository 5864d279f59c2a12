/* Repeatable random numbers (splitmix64 / xoshiro256**): for sampling, bootstrap and tests, never for secrets. */
#ifndef QP_BASE_RANDOM_H
#define QP_BASE_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t s[4];
} qp_random;
qp_random qp_random_seed(uint64_t seed); /* any seed; a generator belongs to one thread */
uint64_t qp_random_next(qp_random *);
uint64_t qp_random_below(qp_random *, uint64_t n);             /* uniform in [0, n), n > 0 */
double qp_random_unit(qp_random *);                            /* uniform in [0, 1) */
void qp_random_shuffle(qp_random *, uint32_t *at, uint32_t n); /* each order alike (Fisher and Yates) */

#endif
