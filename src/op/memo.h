/* What a question has asked already; private to src/op. */
#ifndef QP_OP_MEMO_H
#define QP_OP_MEMO_H

#include "base/map.h"
#include "op/idmap.h"
#include "op/op.h"

typedef struct qp_cell { /* of one node */
    qp_row row;
    const float *latent;
    uint32_t degree;
    float dot, rank;
    unsigned known; /* which of these are there */
} qp_cell;

struct qp_memo {
    qp_arena *mem; /* latents, rows, table */
    qp_idmap of;   /* node -> cell */
    qp_cell *cells;
    uint32_t n, cap;
    qp_map *kept;          /* qp_query_keep: bytes -> bits of a float */
    uint64_t text, vector; /* hashes of what latents, and what dots, belong to */
    qp_walk rows, degrees; /* what rows, and what degrees, belong to */
    bool own;              /* made by the query, for itself */
};

#endif
