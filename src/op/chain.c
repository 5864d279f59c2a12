#include "op/chain.h"

#include "op/ops.h"

/* The arcs of the walk and, where it has a direction, those of the walk turned round. */
qp_chain *qp_query_chain(qp_query *q, qp_walk walk)
{
    qp_arcs out = {0}, in = {0};
    bool directed = walk.direction != QP_BOTH;
    qp_chain *chain = NULL;
    if (q->err.code != QP_OK || q->graph->arcs(q->graph->self, walk, &out, q->mem, &q->err) ||
        (directed && q->graph->arcs(q->graph->self, qp_walk_reversed(walk), &in, q->mem, &q->err)))
        return NULL;
    const qp_csr rows = {out.n, out.start, out.node, NULL}, columns = {in.n, in.start, in.node, NULL};
    qp_chain_new(&rows, directed ? &columns : NULL, &chain, &q->err);
    return chain;
}

qp_list qp_query_scored(qp_query *q, const qp_scored *at, uint32_t n)
{
    qp_hit *hits = q->err.code == QP_OK ? qp_new(q->mem, qp_hit, n + 1u) : NULL;
    uint32_t kept = 0;
    if (!hits)
        qp_oom(&q->err);
    for (uint32_t i = 0; hits && i < n; i++)
        if (qp_query_allows(q, at[i].node))
            hits[kept++] = (qp_hit){at[i].node, QP_NO_ID, (float)at[i].score, NULL};
    return qp_list_sorted(q, hits, kept, kept);
}
