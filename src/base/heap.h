/* A queue that gives the smallest key first: a heap with four children a node. Equal keys come out by rising id, so an
 * order never depends on how the heap was filled. An item is not moved once it is in: who wants a smaller key pushes
 * the id again and ignores the older one when it comes.
 */
#ifndef QP_BASE_HEAP_H
#define QP_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

typedef struct qp_heap_item {
    double key; /* no NaN */
    uint32_t id;
    uint32_t tag; /* the caller's, to tell an item that has been replaced; it does not order */
} qp_heap_item;

typedef struct qp_heap { /* {0} is an empty one */
    qp_heap_item *at;    /* at[0] is the smallest */
    size_t n, cap;
} qp_heap;

static inline void qp_heap_free(qp_heap *h)
{
    free(h->at);
    *h = (qp_heap){0};
}

static inline bool qp_heap_before(const qp_heap_item *a, const qp_heap_item *b)
{
    return a->key < b->key || (a->key == b->key && a->id < b->id);
}

/* Room for n items in an empty heap, so that many small ones take no more than they need; false without memory. */
static inline bool qp_heap_reserve(qp_heap *h, size_t n)
{
    h->at = n ? malloc(n * sizeof *h->at) : NULL;
    h->cap = h->at ? n : 0;
    return h->at || !n;
}

/* False without memory; the heap is then as it was. */
static inline bool qp_heap_push(qp_heap *h, double key, uint32_t id, uint32_t tag)
{
    qp_heap_item *at = qp_array_room(h->at, h->n, &h->cap, sizeof *at), item = {key, id, tag};
    if (!at)
        return false;
    h->at = at;
    size_t i = h->n++;
    for (; i && qp_heap_before(&item, &at[(i - 1) / 4]); i = (i - 1) / 4)
        at[i] = at[(i - 1) / 4];
    at[i] = item;
    return true;
}

/* The smallest, taken out; n > 0. */
static inline qp_heap_item qp_heap_pop(qp_heap *h)
{
    qp_heap_item *at = h->at, top = at[0], moved = at[--h->n];
    size_t i = 0, n = h->n;
    for (size_t child; (child = 4 * i + 1) < n;) {
        size_t best = child, end = child + 4 < n ? child + 4 : n;
        while (++child < end)
            if (qp_heap_before(&at[child], &at[best]))
                best = child;
        if (!qp_heap_before(&at[best], &moved))
            break;
        at[i] = at[best];
        i = best;
    }
    at[i] = moved;
    return top;
}

#endif
