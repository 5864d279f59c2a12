/* A search that spreads from one or more nodes and settles the others one at a time, nearest first: breadth-first where
 * no costs are given, Dijkstra's where they are. paths.h and steiner.h stand on it; the caller's loop says when to
 * stop.
 *
 *     for (uint32_t v; !code && qp_wave_next(&w, &v);)
 *         code = qp_wave_spread(&w, v, err);
 *
 * It takes 24 bytes a node (28 breadth-first), of which only what is reached is touched. One thread.
 */
#ifndef QP_GRAPH_WAVE_H
#define QP_GRAPH_WAVE_H

#include "base/err.h"
#include "base/heap.h"
#include "graph/csr.h"

#define QP_NO_ARC UINT64_MAX

typedef struct qp_spot {  /* what is known of a node; all zero: not reached */
    double cost;          /* from the nearest start, final once settled */
    uint64_t arc;         /* the last arc of that path, QP_NO_ARC at a start */
    uint32_t from;        /* the node before it */
    uint32_t origin : 31; /* 1 + the number of that start */
    uint32_t settled : 1;
} qp_spot;

typedef struct qp_wave {
    const qp_csr *g;
    const float *cost; /* parallel to g's arcs, finite and >= 0; null: 1 each */
    qp_spot *at;       /* g->n */
    qp_heap heap;      /* with costs */
    uint32_t *queue;   /* without */
    uint32_t head, tail;
} qp_wave;

/* Nothing is reached yet. Graph and costs are read until the end, and stay the caller's. */
qp_code qp_wave_begin(qp_wave *, const qp_csr *, const float *cost, qp_err *);
void qp_wave_end(qp_wave *); /* takes {0} */
/* A start, with a number of the caller's below 2^31 - 1; all starts come before the first step. A node that is one
 * already stays what it was. QP_INPUT: no such node. */
qp_code qp_wave_start(qp_wave *, uint32_t node, uint32_t number, qp_err *);
/* The next node settled; false when all that can be reached is. Equal costs: the smaller id (breadth-first: the one
 * that was reached first). */
bool qp_wave_next(qp_wave *, uint32_t *node);
/* From now on only starts whose number `keep` wants spread: what others reached and did not settle is as never
 * reached. */
qp_code qp_wave_keep(qp_wave *, bool (*keep)(void *ctx, uint32_t number), void *ctx, qp_err *);
/* Reaches out along the arcs of a settled node. QP_INPUT: a cost is negative or no number. */
qp_code qp_wave_spread(qp_wave *, uint32_t node, qp_err *);

#endif
