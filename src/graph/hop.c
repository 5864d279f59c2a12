#include "graph/hop.h"

#include <stdlib.h>

#include "base/thread.h"

typedef struct search {
    const qp_hop_query *query;
    qp_hop_node *found; /* room for all nodes; pages that are not reached are never there */
    bool *seen;
    uint32_t n, most;
    uint64_t cut;
} search;

static void find(search *s, uint32_t v, uint32_t hops, uint32_t from)
{
    s->seen[v] = true;
    s->found[s->n++] = (qp_hop_node){v, hops, from};
}

/* Looks along one row; `left` is what the node may still bring. */
static void look(search *s, const qp_csr *g, uint32_t at, uint32_t *left)
{
    uint32_t u = s->found[at].node;
    for (uint64_t e = g->start[u]; e < g->start[u + 1]; e++) {
        if (s->seen[g->target[e]])
            continue;
        if (!*left || s->n == s->most) {
            s->cut++;
            continue;
        }
        find(s, g->target[e], s->found[at].hops + 1, at);
        --*left;
    }
}

static qp_code start(search *s, uint32_t nodes, qp_err *err)
{
    const qp_hop_query *q = s->query;
    if (!q->n_seeds)
        return qp_fail(err, QP_INPUT, "hop: no node to start from");
    for (uint32_t i = 0; i < q->n_seeds; i++) {
        if (q->seed[i] >= nodes)
            return qp_fail(err, QP_INPUT, "hop: seed %u is not there: the graph has %u nodes", q->seed[i], nodes);
        if (!s->seen[q->seed[i]] && s->n < s->most)
            find(s, q->seed[i], 0, s->n);
        else
            s->cut += !s->seen[q->seed[i]];
    }
    return QP_OK;
}

static qp_code spread(search *s, const qp_csr *g, qp_err *err)
{
    for (uint32_t at = 0; at < s->n && s->found[at].hops < s->query->hops; at++) {
        uint32_t left = s->query->per_node ? s->query->per_node : UINT32_MAX;
        if (at % 1024 == 0 && qp_cancelled(s->query->cancel))
            return qp_fail(err, QP_STOPPED, "the search by hops was cancelled");
        look(s, g, at, &left);
        if (s->query->back)
            look(s, s->query->back, at, &left);
    }
    return QP_OK;
}

static qp_code keep(const search *s, qp_arena *mem, qp_hop_result *result, qp_err *err)
{
    qp_hop_node *at = qp_new(mem, qp_hop_node, (size_t)s->n + 1);
    if (!at)
        return qp_oom(err);
    for (uint32_t i = 0; i < s->n; i++)
        at[i] = s->found[i];
    *result = (qp_hop_result){at, s->n, s->cut};
    return QP_OK;
}

qp_code qp_hop_from(const qp_csr *g, const qp_hop_query *q, qp_arena *mem, qp_hop_result *result, qp_err *err)
{
    *result = (qp_hop_result){0};
    search s = {.query = q, .most = q->most && q->most < g->n ? q->most : g->n};
    s.found = malloc(((size_t)s.most + 1) * sizeof *s.found);
    s.seen = calloc((size_t)g->n + 1, sizeof *s.seen);
    qp_code code = s.found && s.seen ? start(&s, g->n, err) : qp_oom(err);
    if (code == QP_OK)
        code = spread(&s, g, err);
    if (code == QP_OK)
        code = keep(&s, mem, result, err);
    free(s.found);
    free(s.seen);
    return code;
}
