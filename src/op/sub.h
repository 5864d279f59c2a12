/* A small graph cut out of the view: the nodes of a set with the edges between them, as arrays that the algorithms of
 * src/graph read. Lives in the query's arena.
 */
#ifndef QP_OP_SUB_H
#define QP_OP_SUB_H

#include "graph/csr.h"
#include "op/op.h"

typedef struct qp_sub {
    const qp_id *node; /* n, rising: what a place stands for */
    uint32_t n;
    qp_csr graph;      /* over places; each edge in the rows of both its ends, parallel edges each, self-loops none */
    const qp_id *edge; /* of each arc */
} qp_sub;

#define QP_NO_PLACE UINT32_MAX

/* If the set has edges, they are the graph (the set's nodes are in it too); else all edges of the walk between its
 * nodes. False after an error. */
bool qp_sub_make(qp_query *, qp_set, qp_walk, qp_sub *);
uint32_t qp_sub_place(const qp_sub *, qp_id); /* QP_NO_PLACE: not in it */
/* The edges of it, rising, each once, as hits; nodes as hits too. Scores 0. */
qp_set qp_sub_set(qp_query *, const qp_sub *);
/* Pieces that hang together. 0 after an error. */
uint32_t qp_sub_components(qp_query *, const qp_sub *);

#endif
