/* Which entities mean nearly the same (AGRAG, III-A: cos > phi): pairs become edges of type QP_SYNONYM, weighted by
 * their cosine, from the entity of the lower number. Of each entity its QP_SYNONYMS nearest, at most. */
#ifndef QP_STORE_SYNONYMS_H
#define QP_STORE_SYNONYMS_H

#include "store/links.h"

/* All pairs are looked at of up to so many entities, some three seconds of one core; past it an approximate index is
 * asked. */
enum { QP_SYNONYMS = 16, QP_SYNONYM_PAIRS = 32768 };

typedef struct qp_likeness { /* int8 vectors of unit length, as in CODES and SCALES; scale 0: none */
    const int8_t *codes;
    const float *scales;
    uint32_t dim, from, to; /* the nodes [from, to) that are compared */
    float phi;
    uint32_t pairs_to; /* as QP_SYNONYM_PAIRS */
    int threads;       /* 0: one per core */
    volatile const int *cancel;
} qp_likeness;

/* *n: how many. The edges are a function of the vectors, however many threads there are. */
qp_code qp_synonyms(const qp_likeness *, qp_links *, uint64_t *n, qp_err *);

#endif
