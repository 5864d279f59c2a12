/* A random walk on a graph, prepared once and then only read: what PPR, restarts and partitions go by.
 *
 * From v the walk takes an arc of v's row with a probability proportional to its weight. A node whose row is empty, or
 * weighs nothing, is dangling: where the walk goes from there is a choice of whoever walks.
 *
 * Also here is where a long walk ends up (`limit`), part by part, and the nodes where it is most often (`hub`): PPR adds
 * them to what it has not walked yet, and walks one more step to the hubs alone along rows that hold nothing else (`beside`).
 *
 * Any number of threads may read a chain at the same time. Making one reads the graph two or three times (about 60 ms at
 * 1M nodes and 20M arcs); it takes 8 bytes a node (undirected: 12), and 8 more a node and 4 an arc if the graph is weighted; a graph with hubs
 * 4 more a node and 2 (weighted: 6) for each arc to one. The limit of
 * a directed graph takes some 20 sweeps over it and 4 bytes a node.
 */
#ifndef QP_GRAPH_CHAIN_H
#define QP_GRAPH_CHAIN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/random.h"
#include "graph/csr.h"

enum { QP_CHAIN_HUBS = 4096 }; /* most that a part has */

typedef struct qp_chain {
    qp_csr out, in; /* as given; in is out where the graph is undirected */
    bool undirected;
    uint32_t n_dangling;
    double volume;        /* of all rows together */
    const double *sum;    /* n: the weight of each row; null: the number of its arcs */
    const float *up_to;   /* an arc's weight and those before it in its row; null: not weighted */
    const float *limit;   /* n: where a long walk is, of each part 1 in sum; null: v's share of its part's volume */
    uint32_t n_parts;     /* weakly connected components */
    const uint32_t *part; /* n */
    const double *part_volume;    /* n_parts: of its rows */
    const uint32_t *hub_start;    /* n_parts + 1 */
    const uint32_t *hub;          /* of a part with more than QP_CHAIN_HUBS nodes, those of the largest limit, it first;
                                    a smaller part has none listed */
    const double *hub_limit;      /* theirs */
    const uint32_t *beside_start; /* n + 1; null: no hubs, or 2^32 - 1 arcs to them */
    const uint16_t *beside;       /* the hubs that v's row leads to, rising: places among their part's */
    const float *beside_weight;   /* of those arcs; null: not weighted */
    const float *back;            /* n: the chance to be back after two steps; null: directed */
} qp_chain;

/* Checks every row (QP_INPUT: a target out of range, a weight below 0 or not finite, two arrays that do not fit) and
 * prepares it. `in` is the transpose of `out`; null says that the graph is undirected, each edge in both rows with the
 * same weight, which is not checked. The arrays of both are kept, and must outlive the chain. */
qp_code qp_chain_new(const qp_csr *out, const qp_csr *in, qp_chain **, qp_err *);
void qp_chain_free(qp_chain *); /* takes null */

/* The weight of v's row. */
static inline double qp_chain_sum(const qp_chain *c, uint32_t v)
{
    return c->sum ? c->sum[v] : (double)(c->out.start[v + 1] - c->out.start[v]);
}

/* Where a long walk in v's part is at v. */
static inline double qp_chain_limit(const qp_chain *c, uint32_t v)
{
    double volume = c->limit ? 1 : c->part_volume[c->part[v]];
    return c->limit ? c->limit[v] : volume > 0 ? qp_chain_sum(c, v) / volume : 0;
}

/* One step from v, which must not be dangling. */
uint32_t qp_chain_step(const qp_chain *, uint32_t v, qp_random *);

#endif
