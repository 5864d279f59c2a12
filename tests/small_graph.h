/* Small graphs as matrices, so that a twin of ten lines can say what must come out; and as the arrays src/graph takes. */
#ifndef QP_TEST_SMALL_GRAPH_H
#define QP_TEST_SMALL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "graph/csr.h"

enum { SMALL_MOST = 40 };

typedef struct small_graph {
    uint32_t n;
    bool directed, weighted;
    float w[SMALL_MOST][SMALL_MOST]; /* 0: no arc */
    uint64_t start[2][SMALL_MOST + 1];
    uint32_t target[2][SMALL_MOST * SMALL_MOST];
    float weight[2][SMALL_MOST * SMALL_MOST];
    qp_csr out, in;
} small_graph;

/* The arrays of a matrix that was filled in. */
static inline void small_graph_pack(small_graph *g)
{
    for (int turned = 0; turned < 2; turned++) {
        uint64_t n = 0;
        for (uint32_t u = 0; u < g->n; u++) {
            g->start[turned][u] = n;
            for (uint32_t v = 0; v < g->n; v++) {
                float w = turned ? g->w[v][u] : g->w[u][v];
                if (w > 0) {
                    g->target[turned][n] = v;
                    g->weight[turned][n++] = w;
                }
            }
        }
        g->start[turned][g->n] = n;
        *(turned ? &g->in : &g->out) =
            (qp_csr){g->n, g->start[turned], g->target[turned], g->weighted ? g->weight[turned] : NULL};
    }
}

/* Between 2 and SMALL_MOST nodes; the density is drawn too, so that some graphs fall apart and some nodes have no row.
 * Loops are among the arcs. */
static inline void small_graph_draw(small_graph *g, bool directed, bool weighted, qp_random *random)
{
    memset(g, 0, sizeof *g);
    g->n = 2 + (uint32_t)qp_random_below(random, SMALL_MOST - 1);
    g->directed = directed;
    g->weighted = weighted;
    double density = qp_random_unit(random) * 6 / g->n;
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = directed ? 0 : u; v < g->n; v++)
            if (qp_random_unit(random) < density) {
                g->w[u][v] = weighted ? (float)(.1 + qp_random_unit(random)) : 1;
                if (!directed)
                    g->w[v][u] = g->w[u][v];
            }
    small_graph_pack(g);
}

#endif
