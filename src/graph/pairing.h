/* Pairing heaps that meld in constant time and whose keys can all be moved at once: the edges that wait around a cluster
 * while PCST grows. All heaps share one array of nodes, named by number from 1 on; a heap is the number of its smallest
 * node, 0 when empty. M. L. Fredman et al., The pairing heap, Algorithmica 1 (1986) 111-129.
 */
#ifndef QP_GRAPH_PAIRING_H
#define QP_GRAPH_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qp_pairing { /* all zero: in no heap */
    double key;             /* of a smallest node; of the others short of the shifts above it */
    double shift;           /* what all below it are to be moved by */
    uint32_t child, next;   /* the first below it; the next beside it */
    uint32_t back;          /* the one before it: beside it, or above the first */
    bool in;                /* in a heap */
} qp_pairing;

/* Both heaps as one; equal keys: the smaller number first. */
static inline uint32_t qp_pairing_meld(qp_pairing *at, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    bool first = at[a].key < at[b].key || (at[a].key == at[b].key && a < b);
    uint32_t top = first ? a : b, below = first ? b : a;
    at[below].next = at[top].child;
    at[below].back = top;
    if (at[top].child)
        at[at[top].child].back = below;
    at[top].child = below;
    at[below].key -= at[top].shift;
    at[below].shift -= at[top].shift;
    return top;
}

static inline uint32_t qp_pairing_insert(qp_pairing *at, uint32_t heap, uint32_t node, double key)
{
    at[node] = (qp_pairing){.key = key, .in = true};
    return qp_pairing_meld(at, heap, node);
}

static inline void qp_pairing_move(qp_pairing *at, uint32_t heap, double by)
{
    at[heap].key += by; /* of heap 0, that nobody reads */
    at[heap].shift += by;
}

/* Without its smallest node: the children meld in pairs from left to right, then the pairs from right to left. */
static inline uint32_t qp_pairing_pop(qp_pairing *at, uint32_t heap)
{
    double shift = at[heap].shift;
    uint32_t pairs = 0, out = 0;
    for (uint32_t a = at[heap].child, b, rest; a; a = rest) {
        b = at[a].next;
        rest = b ? at[b].next : 0;
        at[a].key += shift;
        at[a].shift += shift;
        at[a].next = at[a].back = 0;
        if (b) {
            at[b].key += shift;
            at[b].shift += shift;
            at[b].next = at[b].back = 0;
            a = qp_pairing_meld(at, a, b);
        }
        at[a].next = pairs;
        pairs = a;
    }
    for (uint32_t next; pairs; pairs = next) {
        next = at[pairs].next;
        at[pairs].next = 0;
        out = qp_pairing_meld(at, out, pairs);
    }
    at[heap].in = false;
    return out;
}

/* Lowers a node of the heap from the key it has, which the caller knows, to another. */
static inline uint32_t qp_pairing_lower(qp_pairing *at, uint32_t heap, uint32_t node, double from, double to)
{
    qp_pairing *x = &at[node];
    if (node == heap) {
        x->key = to;
        return heap;
    }
    if (at[x->back].child == node)
        at[x->back].child = x->next;
    else
        at[x->back].next = x->next;
    if (x->next)
        at[x->next].back = x->back;
    x->shift += from - x->key; /* what stood above it no longer does */
    x->key = to;
    x->next = x->back = 0;
    return qp_pairing_meld(at, heap, node);
}

#endif
