#include "graph/leiden_level.h"

#include <stdlib.h>
#include <string.h>

void leiden_shuffle(leiden *l, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)qp_random_below(&l->random, (uint64_t)i + 1);
        l->order[i] = l->order[j];
        l->order[j] = i;
    }
}

uint32_t leiden_look(leiden *l, const leiden_level *at, uint32_t v, const uint32_t *x, const uint32_t *within)
{
    enum { AHEAD = 16 };
    const qp_csr *g = &at->g;
    uint64_t last = g->start[g->n];
    uint32_t n = 0;
    for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++) {
        uint32_t u = g->target[e], c = x[u];
        if (e + AHEAD < last)
            __builtin_prefetch(&x[g->target[e + AHEAD]]);
        if (u == v || (within && within[u] != within[v]))
            continue;
        double w = g->weight ? g->weight[e] : 1;
        if (l->to[c] == 0 && w > 0)
            l->near[n++] = c;
        l->to[c] += w;
    }
    return n;
}

uint32_t leiden_number(leiden *l, uint32_t *x, uint32_t n)
{
    uint32_t *number = l->near, count = 0;
    memset(number, 0xff, n * sizeof *number);
    for (uint32_t v = 0; v < n; v++) {
        if (number[x[v]] == UINT32_MAX)
            number[x[v]] = count++;
        x[v] = number[x[v]];
    }
    return count;
}

/* Members of each part in a row, by counting: first[p] .. first[p+1]-1 of l->order. */
static uint32_t *sort_members(leiden *l, uint32_t n, uint32_t n_parts)
{
    uint32_t *first = calloc((size_t)n_parts + 2, sizeof *first);
    if (!first)
        return NULL;
    for (uint32_t v = 0; v < n; v++)
        first[l->refined[v] + 2]++;
    for (uint32_t p = 0; p < n_parts; p++)
        first[p + 2] += first[p + 1];
    for (uint32_t v = 0; v < n; v++)
        l->order[first[l->refined[v] + 1]++] = v;
    return first;
}

/* The row of one part: its members' rows, equal ends added up. */
static uint64_t add_row(leiden *l, const leiden_level *from, const uint32_t *member, uint32_t n, uint32_t *target,
                        float *weight, double *k)
{
    uint32_t ends = 0;
    *k = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = member[i];
        *k += from->k[v];
        for (uint64_t e = from->g.start[v]; e < from->g.start[v + 1]; e++) {
            uint32_t p = l->refined[from->g.target[e]];
            double w = from->g.weight ? from->g.weight[e] : 1;
            if (l->to[p] == 0 && w > 0)
                l->near[ends++] = p;
            l->to[p] += w;
        }
    }
    for (uint32_t i = 0; i < ends; i++) {
        target[i] = l->near[i];
        weight[i] = (float)l->to[l->near[i]];
    }
    leiden_forget(l, ends);
    return ends;
}

qp_code leiden_rise(leiden *l, const leiden_level *from, uint32_t n_parts, leiden_level *above, qp_err *err)
{
    uint32_t n = from->g.n, *first = sort_members(l, n, n_parts);
    uint64_t arcs = from->g.start[n], *start = malloc(((size_t)n_parts + 1) * sizeof *start);
    uint32_t *target = malloc((arcs + 1) * sizeof *target);
    float *weight = malloc((arcs + 1) * sizeof *weight);
    double *k = malloc(((size_t)n_parts + 1) * sizeof *k);
    *above = (leiden_level){{n_parts, start, target, weight}, k, true};
    if (!first || !start || !target || !weight || !k) {
        free(first);
        return qp_oom(err);
    }
    start[0] = 0;
    for (uint32_t p = 0; p < n_parts; p++) {
        const uint32_t *member = &l->order[first[p]];
        uint64_t to = start[p];
        start[p + 1] = to + add_row(l, from, member, first[p + 1] - first[p], &target[to], &weight[to], &k[p]);
    }
    free(first);
    return QP_OK;
}
