/* A graph as plain arrays, so that the algorithms know no store. */
#ifndef QP_GRAPH_CSR_H
#define QP_GRAPH_CSR_H

#include <stdint.h>

/* Row v's arcs are target[start[v]] .. target[start[v+1]-1], targets rising. The arrays belong to whoever made them
 * and must outlive the call they are given to. For an undirected graph each edge stands in both rows. */
typedef struct qp_csr {
    uint32_t n;             /* nodes */
    const uint64_t *start;  /* n + 1 */
    const uint32_t *target; /* start[n] */
    const float *weight;    /* start[n], or null: all 1 */
} qp_csr;

#endif
