/* The best k of what streams by: a heap whose root is the worst kept. Ties go to the smaller id. */
#ifndef QP_STORE_BEST_H
#define QP_STORE_BEST_H

#include <stdlib.h>

#include "base/arena.h"
#include "quipu_op.h"

typedef struct qp_best {
    qp_hit *at;
    uint32_t n, k;
} qp_best;

static inline bool qp_hit_before(const qp_hit *a, const qp_hit *b) /* a is better */
{
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

static inline bool qp_best_begin(qp_best *b, uint32_t k, qp_arena *a)
{
    *b = (qp_best){qp_new(a, qp_hit, k ? k : 1), 0, k};
    return b->at != NULL;
}

static inline bool qp_best_full(const qp_best *b)
{
    return b->n == b->k;
}

/* Would one of that score be kept? Of its equals with the worst that is, one that comes later is not. */
static inline bool qp_best_takes(const qp_best *b, float score)
{
    return b->n < b->k || (b->k && score >= b->at[0].score);
}

static inline void qp_best_sink(qp_best *b, uint32_t i)
{
    for (qp_hit moved = b->at[i];;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < b->n && qp_hit_before(&b->at[child], &b->at[child + 1]))
            child++;
        if (child >= b->n || !qp_hit_before(&moved, &b->at[child])) {
            b->at[i] = moved;
            return;
        }
        b->at[i] = b->at[child];
        i = child;
    }
}

static inline void qp_best_add(qp_best *b, qp_id id, float score)
{
    qp_hit hit = {id, QP_NO_ID, score, NULL};
    if (b->n < b->k) {
        uint32_t i = b->n++;
        for (; i && qp_hit_before(&b->at[(i - 1) / 2], &hit); i = (i - 1) / 2)
            b->at[i] = b->at[(i - 1) / 2];
        b->at[i] = hit;
    } else if (b->k && qp_hit_before(&hit, &b->at[0])) {
        b->at[0] = hit;
        qp_best_sink(b, 0);
    }
}

static inline int qp_best_order(const void *x, const void *y)
{
    return qp_hit_before(x, y) ? -1 : qp_hit_before(y, x);
}

/* Best first; the heap is no heap any more. */
static inline qp_list qp_best_end(qp_best *b)
{
    if (b->n)
        qsort(b->at, b->n, sizeof *b->at, qp_best_order);
    return (qp_list){b->at, b->n};
}

#endif
