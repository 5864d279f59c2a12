/* Small random graphs with everything that goes wrong: loops, parallel edges, parts that are not joined, equal and zero
 * costs. tests/reference/graph_trees.py draws the same ones, number for number.
 */
#ifndef QP_TESTS_RANDOM_GRAPH_H
#define QP_TESTS_RANDOM_GRAPH_H

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "graph/csr.h"

enum { MADE_NODES = 32, MADE_EDGES = 128, MADE_TERMINALS = 8 };

typedef struct made_graph {
    uint32_t n, m;
    uint32_t from[MADE_EDGES], to[MADE_EDGES];
    float cost[MADE_EDGES], prize[MADE_NODES];
    uint32_t terminal[MADE_TERMINALS], n_terminals, root;
    /* as rows: each edge in both, a loop in one */
    uint64_t start[MADE_NODES + 1];
    uint32_t target[2 * MADE_EDGES], edge[2 * MADE_EDGES];
    float arc_cost[2 * MADE_EDGES];
    qp_csr csr;
} made_graph;

static inline void made_rows(made_graph *g)
{
    uint64_t arcs = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        g->start[v] = arcs;
        for (uint32_t w = 0; w < g->n; w++) {
            for (uint32_t e = 0; e < g->m; e++) {
                if (!(g->from[e] == v && g->to[e] == w) && !(g->from[e] == w && g->to[e] == v))
                    continue;
                g->target[arcs] = w;
                g->arc_cost[arcs] = g->cost[e];
                g->edge[arcs++] = e;
            }
        }
    }
    g->start[g->n] = arcs;
    g->csr = (qp_csr){g->n, g->start, g->target, NULL};
}

/* `most` nodes (>= 2) and at most three edges a node. Costs and prizes by seed % 3: any, 0 to 3, costs all a half. */
static inline void made_random(made_graph *g, uint64_t seed, uint32_t most, bool connected)
{
    qp_random r = qp_random_seed(seed);
    uint64_t kind = seed % 3;
    memset(g, 0, sizeof *g);
    g->n = 2 + (uint32_t)qp_random_below(&r, most - 1);
    g->m = (connected ? g->n - 1 : 0) + (uint32_t)qp_random_below(&r, 3 * g->n);
    assert(g->n <= MADE_NODES && g->m <= MADE_EDGES);
    for (uint32_t e = 0; e < g->m; e++) {
        bool tree = connected && e < g->n - 1;
        g->from[e] = tree ? e + 1 : (uint32_t)qp_random_below(&r, g->n);
        g->to[e] = (uint32_t)qp_random_below(&r, tree ? e + 1 : g->n);
    }
    for (uint32_t e = 0; e < g->m; e++)
        g->cost[e] = kind == 0 ? (float)qp_random_unit(&r) : kind == 1 ? (float)qp_random_below(&r, 4) : .5f;
    for (uint32_t v = 0; v < g->n; v++) {
        bool none = qp_random_unit(&r) < .4;
        double prize = 2 * qp_random_unit(&r);
        g->prize[v] = none ? 0 : kind == 0 ? (float)prize : (float)(int)(2 * prize);
    }
    g->n_terminals = (uint32_t)qp_random_below(&r, MADE_TERMINALS);
    for (uint32_t i = 0; i < g->n_terminals; i++)
        g->terminal[i] = (uint32_t)qp_random_below(&r, g->n);
    g->root = (uint32_t)qp_random_below(&r, g->n);
    made_rows(g);
}

#endif
