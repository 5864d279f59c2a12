#include "eval/topology.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"

enum { BATCH = 4096 }; /* nodes whose neighbours are asked for at once: one trip of a remote view */

typedef struct arc {
    uint32_t from, to;
} arc;

typedef struct arcs {
    arc *at;
    size_t n, cap;
} arcs;

static qp_code add_arc(arcs *all, arc one, qp_err *err)
{
    arc *grown = qp_array_room(all->at, all->n, &all->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    all->at = grown;
    all->at[all->n++] = one;
    return QP_OK;
}

/* All arcs between vertices; a view's rows hold each neighbour in both rows, so both directions come by themselves. */
static qp_code gather(const qp_view *view, qp_walk walk, const uint32_t *vertex_of, arcs *all, qp_arena *mem,
                      qp_err *err)
{
    qp_id ids[BATCH];
    qp_code code = QP_OK;

    walk.direction = QP_BOTH;
    for (uint32_t from = 0; from < view->nodes && code == QP_OK; from += BATCH) {
        uint32_t n = view->nodes - from < BATCH ? view->nodes - from : BATCH;
        qp_adj adj;

        for (uint32_t i = 0; i < n; i++)
            ids[i] = from + i;
        qp_arena_reset(mem);
        code = view->adjacent(view->self, ids, n, walk, &adj, mem, err);
        for (uint32_t i = 0; code == QP_OK && i < n; i++)
            for (uint32_t a = adj.start[i]; code == QP_OK && a < adj.start[i + 1]; a++)
                if (vertex_of[ids[i]] != vertex_of[adj.node[a]])
                    code = add_arc(all, (arc){vertex_of[ids[i]], vertex_of[adj.node[a]]}, err);
    }
    return code;
}

static int by_ends(const void *left, const void *right)
{
    const arc *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static qp_code pack(arcs *all, uint32_t vertices, qp_topology *out, qp_err *err)
{
    out->start = calloc((size_t)vertices + 1, sizeof *out->start);
    out->target = malloc((all->n + 1) * sizeof *out->target);
    if (!out->start || !out->target)
        return qp_oom(err);
    if (all->n)
        qsort(all->at, all->n, sizeof *all->at, by_ends);
    for (size_t i = 0, n = 0; i < all->n; i++)
        if (i == 0 || by_ends(&all->at[i - 1], &all->at[i]) != 0) {
            out->target[n++] = all->at[i].to;
            out->start[all->at[i].from + 1]++;
        }
    for (uint32_t v = 0; v < vertices; v++)
        out->start[v + 1] += out->start[v];
    out->graph = (qp_csr){.n = vertices, .start = out->start, .target = out->target};
    return QP_OK;
}

qp_code qp_topology_make(const qp_view *view, qp_walk walk, const uint32_t *vertex_of, uint32_t vertices,
                         qp_topology *out, qp_err *err)
{
    arcs all = {0};
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? gather(view, walk, vertex_of, &all, mem, err) : qp_oom(err);

    *out = (qp_topology){0};
    if (code == QP_OK)
        code = pack(&all, vertices, out, err);
    if (code != QP_OK)
        qp_topology_free(out);
    free(all.at);
    qp_arena_free(mem);
    return code;
}

void qp_topology_free(qp_topology *t)
{
    free(t->start);
    free(t->target);
    *t = (qp_topology){0};
}

qp_code qp_reach_make(uint32_t n, qp_reach *r, qp_err *err)
{
    *r = (qp_reach){
        .u = malloc((n + 1u) * sizeof *r->u),
        .hops = malloc((n + 1u) * sizeof *r->hops),
        .queue = malloc((n + 1u) * sizeof *r->queue),
    };
    if (r->u && r->hops && r->queue)
        return QP_OK;
    qp_reach_free(r);
    return qp_oom(err);
}

void qp_reach_free(qp_reach *r)
{
    free(r->u);
    free(r->hops);
    free(r->queue);
    *r = (qp_reach){0};
}

/* Breadth first from the relevant document outwards, once for all retrieved ones: Definition 7 takes the minimum over
 * retrieved documents of the sum along each one's own shortest path, and a far document with a quiet path may beat a
 * near hub, so a search from all retrieved documents at once would not do. When v leaves the queue, every vertex one
 * hop nearer has its final u, and so has v. */
void qp_reach_to(const qp_csr *g, uint32_t gold, qp_reach *r)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t v = 0; v < g->n; v++) {
        r->u[v] = INFINITY;
        r->hops[v] = UINT32_MAX;
    }
    r->u[gold] = 0;
    r->hops[gold] = 0;
    r->queue[tail++] = gold;
    while (head < tail) {
        uint32_t v = r->queue[head++];

        for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
            uint32_t w = g->target[a];
            double through = r->u[v] + log1p((double)(g->start[w + 1] - g->start[w]));

            if (r->hops[w] == UINT32_MAX) {
                r->hops[w] = r->hops[v] + 1;
                r->queue[tail++] = w;
            }
            if (r->hops[w] == r->hops[v] + 1 && through < r->u[w])
                r->u[w] = through;
        }
    }
}
