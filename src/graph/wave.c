#include "graph/wave.h"

#include <math.h>

qp_code qp_wave_begin(qp_wave *w, const qp_csr *g, const float *cost, qp_err *err)
{
    /* calloc: untouched pages of a large graph cost nothing */
    *w = (qp_wave){.g = g, .cost = cost, .at = calloc((size_t)g->n + 1, sizeof *w->at)};
    if (!cost)
        w->queue = calloc((size_t)g->n + 1, sizeof *w->queue);
    if (w->at && (cost || w->queue))
        return QP_OK;
    qp_wave_end(w);
    return qp_oom(err);
}

void qp_wave_end(qp_wave *w)
{
    free(w->at);
    free(w->queue);
    qp_heap_free(&w->heap);
    *w = (qp_wave){0};
}

qp_code qp_wave_start(qp_wave *w, uint32_t node, uint32_t number, qp_err *err)
{
    if (node >= w->g->n)
        return qp_fail(err, QP_INPUT, "a start is node %u, but the graph has %u nodes", node, w->g->n);
    if (w->at[node].origin)
        return QP_OK;
    if (!w->cost)
        w->queue[w->tail++] = node;
    else if (!qp_heap_push(&w->heap, 0, node, 0))
        return qp_oom(err);
    w->at[node] = (qp_spot){.arc = QP_NO_ARC, .from = node, .origin = (number + 1) & INT32_MAX};
    return QP_OK;
}

bool qp_wave_next(qp_wave *w, uint32_t *node)
{
    if (!w->cost) {
        if (w->head == w->tail)
            return false;
        *node = w->queue[w->head++];
        w->at[*node].settled = true;
        return true;
    }
    while (w->heap.n) {
        *node = qp_heap_pop(&w->heap).id;
        if (w->at[*node].settled) /* it came before, by a cheaper way */
            continue;
        w->at[*node].settled = true;
        return true;
    }
    return false;
}

/* Is it waiting still, for a start that is kept? If that is not, it waits no more. */
static bool waits(qp_spot *s, bool (*keep)(void *, uint32_t), void *ctx)
{
    if (!s->origin || s->settled)
        return false;
    if (keep(ctx, s->origin - 1u))
        return true;
    *s = (qp_spot){0};
    return false;
}

qp_code qp_wave_keep(qp_wave *w, bool (*keep)(void *ctx, uint32_t number), void *ctx, qp_err *err)
{
    qp_heap all = w->heap;
    uint32_t kept = 0;
    bool room = true;
    for (; w->head < w->tail; w->head++)
        if (waits(&w->at[w->queue[w->head]], keep, ctx))
            w->queue[kept++] = w->queue[w->head];
    w->head = 0;
    w->tail = kept;
    w->heap = (qp_heap){0};
    for (size_t i = 0; i < all.n && room; i++)
        if (waits(&w->at[all.at[i].id], keep, ctx))
            room = qp_heap_push(&w->heap, all.at[i].key, all.at[i].id, 0);
    qp_heap_free(&all);
    return room ? QP_OK : qp_oom(err);
}

static void spread_hops(qp_wave *w, uint32_t v)
{
    const qp_csr *g = w->g;
    for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
        qp_spot *s = &w->at[g->target[a]];
        if (s->origin)
            continue;
        *s = (qp_spot){w->at[v].cost + 1, a, v, w->at[v].origin, false};
        w->queue[w->tail++] = g->target[a];
    }
}

qp_code qp_wave_spread(qp_wave *w, uint32_t v, qp_err *err)
{
    const qp_csr *g = w->g;
    if (!w->cost) {
        spread_hops(w, v);
        return QP_OK;
    }
    const qp_spot here = w->at[v];
    for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
        if (!(w->cost[a] >= 0 && w->cost[a] < INFINITY))
            return qp_fail(err, QP_INPUT, "arc %llu from node %u to node %u costs %g; a finite cost >= 0 is wanted",
                           (unsigned long long)a, v, g->target[a], (double)w->cost[a]);
        qp_spot *s = &w->at[g->target[a]];
        double cost = here.cost + (double)w->cost[a];
        if (s->settled || (s->origin && s->cost <= cost))
            continue;
        *s = (qp_spot){cost, a, v, here.origin, false};
        if (!qp_heap_push(&w->heap, cost, g->target[a], 0))
            return qp_oom(err);
    }
    return QP_OK;
}
