#include "graph/ppr_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge.h"

qp_code qp_ppr_space_new(const qp_chain *chain, qp_ppr_space **made, qp_err *err)
{
    *made = calloc(1, sizeof **made);
    if (!*made)
        return qp_oom(err);
    (*made)->chain = chain;
    return QP_OK;
}

void qp_ppr_space_free(qp_ppr_space *s)
{
    if (!s)
        return;
    free(s->node);
    free(s->touched);
    free(s->now);
    free(s->next);
    free(s->mass);
    free(s->dense);
    free(s->order);
    free(s);
}

/* Lists of node ids: as long as the graph, but pages that no query reaches are never there. */
static bool list(uint32_t **at, uint32_t n)
{
    if (!*at)
        *at = malloc(((size_t)n + 1) * sizeof **at);
    return *at;
}

qp_code ppr_space_push(qp_ppr_space *s, qp_err *err)
{
    const qp_chain *c = s->chain;
    const qp_csr *g = &c->out;
    size_t bytes = ((size_t)g->n + 1) * sizeof *s->node;
    if (!list(&s->touched, g->n) || !list(&s->now, g->n) || !list(&s->next, g->n))
        return qp_oom(err);
    if (s->node)
        return QP_OK;
    s->node = qp_huge(calloc(bytes, 1), bytes);
    if (!s->node)
        return qp_oom(err);
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t arcs = g->start[v + 1] - g->start[v];
        s->node[v].degree = arcs ? (float)arcs : 1;
        uint32_t back = c->back ? (uint32_t)(c->back[v] * PPR_BACKS) : 0, most = PPR_BACKS - 1;
        s->node[v].flag = PPR_BACK * (back < most ? back : most);
    }
    for (uint32_t j = 0; j < c->hub_start[c->n_parts]; j++)
        s->node[c->hub[j]].flag += PPR_HUB * (j - c->hub_start[c->part[c->hub[j]]] + 1);
    return QP_OK;
}

qp_code ppr_space_mass(qp_ppr_space *s, qp_err *err)
{
    uint32_t n = s->chain->out.n;
    if (!list(&s->touched, n))
        return qp_oom(err);
    if (!s->mass)
        s->mass = calloc((size_t)n + 1, sizeof *s->mass);
    return s->mass ? QP_OK : qp_oom(err);
}

qp_code ppr_space_dense(qp_ppr_space *s, size_t bytes, qp_err *err)
{
    if (s->dense_size < bytes) {
        free(s->dense);
        s->dense = malloc(bytes);
        s->dense_size = s->dense ? bytes : 0;
    }
    return s->dense ? QP_OK : qp_oom(err);
}

void ppr_blocks_cut(const qp_csr *g, ppr_blocks *b)
{
    uint64_t cost = g->start[g->n] + g->n; /* a node costs about as much as an arc */
    uint32_t v = 0;
    for (uint64_t i = 0; i < PPR_BLOCKS; i++) {
        b->from[i] = v;
        while (v < g->n && g->start[v] + v < cost * (i + 1) / PPR_BLOCKS)
            v++;
    }
    b->from[PPR_BLOCKS] = g->n;
}

int ppr_threads(const ppr_run *run)
{
    const qp_csr *g = &run->chain->out;
    return g->start[g->n] < 1 << 17 ? 1 : run->query->threads;
}

void ppr_space_reset(qp_ppr_space *s)
{
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t v = s->touched[i];
        if (s->node) {
            s->node[v].r = s->node[v].p = 0;
            s->node[v].flag &= ~(uint32_t)(PPR_TOUCHED | PPR_QUEUED);
        }
        if (s->mass)
            s->mass[v] = (ppr_mass){0};
    }
    s->n_touched = 0;
}
