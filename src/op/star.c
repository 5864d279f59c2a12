#include "op/star.h"

#include "op/idmap.h"
#include "op/ops.h"

qp_list qp_star(qp_query *q, qp_list nodes)
{
    const qp_id *ids = qp_list_ids(q, nodes);
    qp_adj rows = {0};
    if (!ids || q->err.code != QP_OK ||
        q->graph->incident(q->graph->self, ids, nodes.n, q->walk, &rows, q->mem, &q->err))
        return (qp_list){0};
    qp_hit *out = qp_new(q->mem, qp_hit, rows.start[nodes.n] + 1u);
    qp_idmap seen = qp_idmap_in(q->mem);
    uint32_t n = 0;
    for (uint32_t j = 0; out && j < rows.start[nodes.n]; j++) {
        bool added;
        if (!qp_query_allows(q, rows.node[j]))
            continue;
        if (!qp_idmap_put(&seen, rows.edge[j], 0, &added))
            out = NULL;
        else if (added)
            out[n++] = (qp_hit){rows.edge[j], QP_NO_ID, 0, NULL};
    }
    if (!out)
        qp_oom(&q->err);
    return (qp_list){out, out ? n : 0};
}

qp_list qp_star_best(qp_query *q, qp_list edges, const float *score, uint32_t k)
{
    qp_hit *hit = score ? qp_list_copy(q, edges) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; hit && i < edges.n; i++) /* ties go by id, which is the place here */
        if (score[i] > 0)
            hit[n++] = (qp_hit){i, QP_NO_ID, score[i], NULL};
    const qp_list best = qp_list_sorted(q, hit, hit ? n : 0, k);
    qp_hit *out = qp_list_copy(q, best);
    for (uint32_t i = 0; out && i < best.n; i++)
        out[i].id = edges.at[best.at[i].id].id;
    return (qp_list){out, out ? best.n : 0};
}
