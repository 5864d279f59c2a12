#include <stdlib.h>

#include "base/huge.h"
#include "graph/chain_limit.h"
#include "graph/rank.h"

static qp_code count_hubs(qp_chain *c, uint32_t **size, qp_err *err)
{
    uint32_t *start = calloc((size_t)c->n_parts + 1, sizeof *start);
    *size = calloc((size_t)c->n_parts + 1, sizeof **size);
    c->hub_start = start;
    if (!start || !*size)
        return qp_oom(err);
    for (uint32_t v = 0; v < c->out.n; v++)
        (*size)[c->part[v]]++;
    for (uint32_t p = 0; p < c->n_parts; p++)
        start[p + 1] = start[p] + ((*size)[p] > QP_CHAIN_HUBS ? QP_CHAIN_HUBS : 0);
    return QP_OK;
}

static qp_code find_hubs(qp_chain *c, qp_err *err)
{
    uint32_t *size, *hub, n_hubs;
    qp_code code = count_hubs(c, &size, err);
    qp_arena *mem = qp_arena_new();
    n_hubs = code == QP_OK ? c->hub_start[c->n_parts] : 0;
    qp_rank *best = mem ? qp_new(mem, qp_rank, n_hubs / QP_CHAIN_HUBS + 1) : NULL;
    double *limit = malloc(((size_t)n_hubs + 1) * sizeof *limit);
    c->hub = hub = malloc(((size_t)n_hubs + 1) * sizeof *hub);
    c->hub_limit = limit;
    if (code == QP_OK && (!best || !hub || !limit))
        code = qp_oom(err);
    for (uint32_t i = 0; code == QP_OK && i < n_hubs / QP_CHAIN_HUBS; i++)
        code = qp_rank_init(&best[i], QP_CHAIN_HUBS, mem, err);
    for (uint32_t v = 0; code == QP_OK && n_hubs && v < c->out.n; v++)
        if (size[c->part[v]] > QP_CHAIN_HUBS)
            qp_rank_add(&best[c->hub_start[c->part[v]] / QP_CHAIN_HUBS], v, qp_chain_limit(c, v));
    for (uint32_t i = 0; code == QP_OK && i < n_hubs / QP_CHAIN_HUBS; i++) {
        qp_rank_sort(&best[i]);
        for (uint32_t j = 0; j < QP_CHAIN_HUBS; j++) {
            hub[i * QP_CHAIN_HUBS + j] = best[i].at[j].node;
            limit[i * QP_CHAIN_HUBS + j] = best[i].at[j].score;
        }
    }
    qp_arena_free(mem);
    free(size);
    return code;
}

/* ---- who stands beside a hub: a hub's column, turned round ---- */

static uint32_t source_of(const qp_chain *c, uint32_t place, uint64_t i)
{
    return c->in.target[c->in.start[c->hub[place]] + i];
}

static uint64_t column(const qp_chain *c, uint32_t place)
{
    return c->in.start[c->hub[place] + 1] - c->in.start[c->hub[place]];
}

enum { AHEAD = 32 };

/* start[v + 1] is row v's end; placing moves start[v] there from its row's beginning. */
static void place_columns(const qp_chain *c, uint32_t *start, uint16_t *at, float *weight)
{
    for (uint32_t j = 0; j < c->hub_start[c->n_parts]; j++) {
        uint16_t place = (uint16_t)(j - c->hub_start[c->part[c->hub[j]]]);
        const float *w = c->in.weight ? c->in.weight + c->in.start[c->hub[j]] : NULL;
        for (uint64_t i = 0, n = column(c, j); i < n; i++) {
            if (i + AHEAD < n)
                __builtin_prefetch(&start[source_of(c, j, i + AHEAD)], 1);
            uint32_t to = start[source_of(c, j, i)]++;
            at[to] = place;
            if (weight)
                weight[to] = w[i];
        }
    }
}

static qp_code turn_columns(qp_chain *c, uint32_t arcs, qp_err *err)
{
    uint32_t n = c->out.n;
    size_t bytes = ((size_t)n + 2) * sizeof(uint32_t);
    uint32_t *start = qp_huge(calloc(bytes, 1), bytes);
    uint16_t *at = malloc(((size_t)arcs + 1) * sizeof *at);
    float *weight = c->out.weight ? malloc(((size_t)arcs + 1) * sizeof *weight) : NULL;
    c->beside_start = start;
    c->beside = at;
    c->beside_weight = weight;
    if (!start || !at || (c->out.weight && !weight))
        return qp_oom(err);
    for (uint32_t j = 0; j < c->hub_start[c->n_parts]; j++)
        for (uint64_t i = 0, size = column(c, j); i < size; i++) {
            if (i + AHEAD < size)
                __builtin_prefetch(&start[source_of(c, j, i + AHEAD) + 2], 1);
            start[source_of(c, j, i) + 2]++;
        }
    for (uint32_t v = 0; v < n; v++)
        start[v + 2] += start[v + 1];
    place_columns(c, start + 1, at, weight);
    return QP_OK;
}

static qp_code find_beside(qp_chain *c, qp_err *err)
{
    uint64_t arcs = 0;
    for (uint32_t j = 0; j < c->hub_start[c->n_parts]; j++)
        arcs += column(c, j);
    return arcs && arcs < UINT32_MAX ? turn_columns(c, (uint32_t)arcs, err) : QP_OK;
}

qp_code chain_hubs(qp_chain *c, qp_err *err)
{
    qp_code code = find_hubs(c, err);
    return code == QP_OK ? find_beside(c, err) : code;
}
