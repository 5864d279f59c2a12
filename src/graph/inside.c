#include "graph/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "graph/components.h"

/* The members of the seeds' parts, all together. */
static qp_code gather(const qp_partition *p, const qp_ppr_query *q, uint32_t **member, uint32_t *n, qp_arena *mem,
                      qp_err *err)
{
    uint32_t *part = qp_new(mem, uint32_t, (size_t)q->n_seeds + 1), parts = 0;
    if (!part)
        return qp_oom(err);
    for (uint32_t i = 0; i < q->n_seeds; i++) {
        if (q->seed[i] >= p->n)
            return qp_fail(err, QP_INPUT, "seed %u is not there: the graph has %u nodes", q->seed[i], p->n);
        part[i] = p->part[q->seed[i]];
    }
    qsort(part, q->n_seeds, sizeof *part, qp_by_u32);
    *n = 0;
    for (uint32_t i = 0; i < q->n_seeds; i++)
        if (!parts || part[parts - 1] != part[i]) {
            part[parts++] = part[i];
            *n += p->start[part[i] + 1] - p->start[part[i]];
        }
    uint32_t *at = *member = qp_new(mem, uint32_t, (size_t)*n + 1);
    if (!at)
        return qp_oom(err);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t size = p->start[part[i] + 1] - p->start[part[i]];
        memcpy(at, &p->member[p->start[part[i]]], size * sizeof *at);
        at += size;
    }
    return QP_OK;
}

/* Names rise in the small graph as they do in the whole one, so ties stay in order. */
static qp_code ask(const qp_induced *small, const qp_ppr_query *q, qp_arena *mem, qp_ppr_result *result, qp_err *err)
{
    uint32_t *seed = qp_new(mem, uint32_t, (size_t)q->n_seeds + 1), n = small->graph.n;
    qp_chain *chain = NULL;
    qp_ppr_space *space = NULL;
    qp_ppr_query local = *q;
    qp_code code = seed ? qp_chain_new(&small->graph, NULL, &chain, err) : qp_oom(err);
    for (uint32_t i = 0; code == QP_OK && i < q->n_seeds; i++)
        seed[i] = (uint32_t)((uint32_t *)bsearch(&q->seed[i], small->node, n, sizeof *seed, qp_by_u32) - small->node);
    local.seed = seed;
    local.walks = NULL;
    if (code == QP_OK)
        code = qp_ppr_space_new(chain, &space, err);
    if (code == QP_OK)
        code = qp_ppr(space, &local, mem, result, err);
    qp_scored *at = code == QP_OK ? qp_new(mem, qp_scored, (size_t)result->n + 1) : NULL;
    if (code == QP_OK && !at)
        code = qp_oom(err);
    for (uint32_t i = 0; at && i < result->n; i++)
        at[i] = (qp_scored){result->at[i].score, small->node[result->at[i].node]};
    result->at = at;
    qp_ppr_space_free(space);
    qp_chain_free(chain);
    return code;
}

qp_code qp_ppr_inside(const qp_csr *g, const qp_partition *partition, const qp_ppr_query *q, qp_arena *mem,
                      qp_ppr_result *result, qp_err *err)
{
    *result = (qp_ppr_result){.error = -1, .engine = q->engine};
    if (partition->n != g->n)
        return qp_fail(err, QP_USAGE, "ppr: the partition is of %u nodes, the graph has %u", partition->n, g->n);
    uint32_t *member = NULL, n = 0;
    qp_induced small;
    qp_code code = gather(partition, q, &member, &n, mem, err);
    if (code == QP_OK)
        code = qp_induce(g, member, n, &small, mem, err);
    return code == QP_OK ? ask(&small, q, mem, result, err) : code;
}
