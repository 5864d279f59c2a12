/* Disjoint sets over 0 .. n-1 (union-find) in an array that the caller gives: set[x] is x's parent, a root its own. */
#ifndef QP_GRAPH_SETS_H
#define QP_GRAPH_SETS_H

#include <stdbool.h>
#include <stdint.h>

static inline void qp_sets_begin(uint32_t *set, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        set[i] = i;
}

static inline uint32_t qp_sets_find(uint32_t *set, uint32_t x)
{
    while (set[x] != x)
        x = set[x] = set[set[x]]; /* halve the way for the next one */
    return x;
}

/* False if they were one already. The smaller root stays, so a set is named by its smallest member. */
static inline bool qp_sets_unite(uint32_t *set, uint32_t x, uint32_t y)
{
    x = qp_sets_find(set, x);
    y = qp_sets_find(set, y);
    set[x > y ? x : y] = x > y ? y : x;
    return x != y;
}

#endif
