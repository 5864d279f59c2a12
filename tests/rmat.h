/* Graphs with the degrees of those found in the wild, by seed: R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004) with
 * Graph500's a, b, c = .57, .19, .19, ids scattered, loops and parallel edges dropped. The edges are drawn twice instead
 * of kept, so that a graph takes no more memory than its rows: 100M nodes and 300M edges fit in 8 GB. */
#ifndef QP_TEST_RMAT_H
#define QP_TEST_RMAT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/random.h"
#include "graph/csr.h"

typedef struct rmat {
    qp_csr out, in; /* in: the transpose of a directed graph; rows rising */
} rmat;

/* Zeroed. */
static void *rmat_room(size_t bytes)
{
    void *at = calloc(bytes, 1);
    if (!at)
        abort();
    return qp_huge(at, bytes);
}

/* A one-to-one scattering of 0 .. n-1, so that degree says nothing of the id: a Feistel net, walked until it is below n. */
static uint32_t rmat_scatter(uint32_t v, uint32_t n, int half)
{
    uint32_t mask = (1u << half) - 1, left, right;
    do {
        left = v >> half;
        right = v & mask;
        for (uint32_t i = 1; i <= 4; i++) {
            uint64_t mixed = (uint64_t)(right * 0x9e3779b1u + i) * 0xd6e8feb86659fd93u;
            uint32_t next = left ^ ((uint32_t)(mixed >> 40) & mask);
            left = right;
            right = next;
        }
        v = left << half | right;
    } while (v >= n);
    return v;
}

/* Two levels of the recursion at a draw: of the 10,000 cases, each of 1 in 10,000, two bits of u and two of v. */
static void rmat_levels(uint8_t *cases)
{
    static const int share[4] = {57, 19, 19, 5};
    for (int first = 0; first < 4; first++)
        for (int second = 0; second < 4; second++)
            for (int i = 0; i < share[first] * share[second]; i++)
                *cases++ = (uint8_t)((first & 2) << 2 | (second & 2) << 1 | (first & 1) << 1 | (second & 1));
}

static void rmat_edge(qp_random *random, const uint8_t *cases, uint32_t n, int scale, uint32_t *u, uint32_t *v)
{
    do {
        uint64_t left = 0, right = 0, bits = 0;
        for (int level = 0; level < scale; level += 2) {
            bits = level % 4 ? bits >> 32 : qp_random_next(random);
            uint8_t two = cases[((bits & UINT32_MAX) * 10000) >> 32];
            left = left << 2 | two >> 2;
            right = right << 2 | (two & 3);
        }
        *u = (uint32_t)(left >> scale % 2);
        *v = (uint32_t)(right >> scale % 2);
    } while (*u >= n || *v >= n);
    *u = rmat_scatter(*u, n, (scale + 1) / 2);
    *v = rmat_scatter(*v, n, (scale + 1) / 2);
}

/* Rows rising, because the sources come in order. */
static qp_csr rmat_turn(const qp_csr *g)
{
    uint64_t arcs = g->start[g->n];
    uint64_t *start = rmat_room(((uint64_t)g->n + 2) * sizeof *start);
    uint32_t *target = rmat_room((arcs + 1) * sizeof *target);
    for (uint64_t e = 0; e < arcs; e++) {
        if (e + 32 < arcs)
            __builtin_prefetch(&start[g->target[e + 32] + 2], 1);
        start[g->target[e] + 2]++;
    }
    for (uint32_t v = 0; v < g->n; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            if (e + 32 < arcs)
                __builtin_prefetch(&start[g->target[e + 32] + 1], 1);
            if (e + 16 < arcs)
                __builtin_prefetch(&target[start[g->target[e + 16] + 1]], 1);
            target[start[g->target[e] + 1]++] = v;
        }
    return (qp_csr){.n = g->n, .start = start, .target = target};
}

static void rmat_drop(qp_csr *g)
{
    free((void *)g->start);
    free((void *)g->target);
    free((void *)g->weight);
    *g = (qp_csr){0};
}

/* A row's equal neighbours become one. */
static void rmat_unique(qp_csr *g)
{
    uint64_t *start = (uint64_t *)g->start, to = 0, from = 0;
    uint32_t *target = (uint32_t *)g->target;
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t end = g->start[v + 1], row = to;
        for (; from < end; from++)
            if (to == row || target[to - 1] != target[from])
                target[to++] = target[from];
        start[v] = row;
    }
    start[g->n] = to;
}

/* Weights in (0, 1], the same for both arcs of an undirected edge. */
static void rmat_weigh(qp_csr *g, bool directed)
{
    float *weight = malloc((g->start[g->n] + 1) * sizeof *weight);
    if (!weight)
        abort();
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            uint32_t u = g->target[e], low = !directed && u < v ? u : v, high = low == v ? u : v;
            uint64_t mixed = ((uint64_t)low << 32 | high) * 0x9e3779b97f4a7c15u;
            weight[e] = (float)((mixed ^ mixed >> 29) % 1000 + 1) / 1000;
        }
    g->weight = weight;
}

/* The weights of the transpose. */
static void rmat_weigh_turned(const qp_csr *out, qp_csr *in)
{
    float *weight = malloc((in->start[in->n] + 1) * sizeof *weight);
    uint64_t *at = malloc(((size_t)in->n + 1) * sizeof *at);
    if (!weight || !at)
        abort();
    memcpy(at, in->start, ((size_t)in->n + 1) * sizeof *at);
    for (uint32_t v = 0; v < out->n; v++)
        for (uint64_t e = out->start[v]; e < out->start[v + 1]; e++)
            weight[at[out->target[e]]++] = out->weight[e];
    free(at);
    in->weight = weight;
}

/* Counts an arc, or places it; in both passes the way to memory is asked for first. */
typedef struct rmat_rows {
    uint64_t *start; /* n + 2: row v's count, then its end, stands at v + 2, then v + 1 */
    uint32_t *target;
} rmat_rows;

static void rmat_count(rmat_rows *g, const uint32_t (*arc)[2], int n)
{
    for (int i = 0; i < n; i++)
        __builtin_prefetch(&g->start[arc[i][0] + 2], 1);
    for (int i = 0; i < n; i++)
        g->start[arc[i][0] + 2]++;
}

static void rmat_place(rmat_rows *g, const uint32_t (*arc)[2], int n)
{
    for (int i = 0; i < n; i++)
        __builtin_prefetch(&g->start[arc[i][0] + 1], 1);
    for (int i = 0; i < n; i++)
        __builtin_prefetch(&g->target[g->start[arc[i][0] + 1]], 1);
    for (int i = 0; i < n; i++)
        g->target[g->start[arc[i][0] + 1]++] = arc[i][1];
}

static void rmat_draw(rmat_rows *g, uint32_t n, uint64_t edges, bool directed, uint64_t seed, bool placing)
{
    enum { BATCH = 256 };
    static uint32_t arc[BATCH + 2][2];
    static uint8_t cases[10000];
    qp_random random = qp_random_seed(seed);
    int scale = 1, waiting = 0;
    while (scale < 32 && n > 1u << scale)
        scale++;
    rmat_levels(cases);
    for (uint64_t i = 0; i < edges; i++) {
        uint32_t u, v;
        rmat_edge(&random, cases, n, scale, &u, &v);
        if (u != v) {
            arc[waiting][0] = u;
            arc[waiting++][1] = v;
        }
        if (u != v && !directed) {
            arc[waiting][0] = v;
            arc[waiting++][1] = u;
        }
        if (waiting >= BATCH || i + 1 == edges) {
            (placing ? rmat_place : rmat_count)(g, arc, waiting);
            waiting = 0;
        }
    }
}

static rmat rmat_make(uint32_t n, uint64_t edges, bool directed, bool weighted, uint64_t seed)
{
    rmat_rows g = {.start = rmat_room(((size_t)n + 2) * sizeof *g.start),
                   .target = rmat_room((edges * (directed ? 1 : 2) + 1) * sizeof *g.target)};
    rmat_draw(&g, n, edges, directed, seed, false);
    for (uint32_t v = 0; v < n; v++)
        g.start[v + 2] += g.start[v + 1];
    rmat_draw(&g, n, edges, directed, seed, true);
    rmat made = {.out = {.n = n, .start = g.start, .target = g.target}};
    qp_csr turned = rmat_turn(&made.out);
    rmat_drop(&made.out);
    rmat_unique(&turned);
    made.out = turned;
    if (directed) {
        made.in = turned;
        made.out = rmat_turn(&made.in);
    }
    if (weighted)
        rmat_weigh(&made.out, directed);
    if (weighted && directed)
        rmat_weigh_turned(&made.out, &made.in);
    return made;
}

static void rmat_free(rmat *g)
{
    rmat_drop(&g->out);
    if (g->in.start)
        rmat_drop(&g->in);
}

#endif
