/* The approximate index over int8 vectors: hierarchical navigable small worlds (Malkov and Yashunin, 2018). Built by
 * hnswlib, one thread, fixed seed, over integer products: the same vectors give the same links on every machine. Only
 * the links are kept; a search walks them where they are mapped (ann.c), so that opening costs nothing and no vector
 * is stored twice.
 */
#ifndef QP_STORE_ANN_H
#define QP_STORE_ANN_H

#include "base/err.h"

typedef struct qp_ann { /* as in the sections QP_S_ANN_* */
    uint32_t m;         /* neighbours in the layers above 0; layer 0 has up to 2 m */
    uint32_t entry[2];  /* of the two parts; UINT32_MAX: not built */
    uint64_t rows;
    uint8_t *level;
    uint64_t *upper;
    uint32_t *base, *links;
} qp_ann;

#ifdef __cplusplus
extern "C" {
#endif

/* Two indices in one, which do not link to each other: nodes below `middle` (passages), and those from it to n
 * (entities); of each only if it has `least` nodes. Nodes of scale 0 have no vector and are left out. */
qp_code qp_ann_build(const int8_t *codes, const float *scales, uint32_t middle, uint32_t n, uint32_t least,
                     uint32_t dim, volatile const int *cancel, qp_ann *, qp_err *);
void qp_ann_free(qp_ann *);

/* Of each node of [from, to), itself among them, the k that such an index finds nearest, in no order: near[(v - from) k
 * + i], filled up with UINT32_MAX. Nothing of the index is kept. */
qp_code qp_ann_near(const int8_t *codes, const float *scales, uint32_t from, uint32_t to, uint32_t dim, uint32_t k,
                    volatile const int *cancel, uint32_t *near, qp_err *);

#ifdef __cplusplus
}
#endif
#endif
