#include "op/answers.h"

#include "op/idmap.h"

static bool is_start(const qp_query *q, qp_id id)
{
    for (uint32_t i = 0; i < q->started.n; i++)
        if (q->started.at[i].id == id)
            return true;
    return false;
}

/* Do two paths begin at the same node and go by the same relations, the same way? */
static bool same_relations(qp_query *q, const qp_hit *a, const qp_hit *b)
{
    for (; a && b; a = a->from, b = b->from) {
        qp_link x, y;
        if (!a->from != !b->from)
            return false;
        if (!a->from)
            return a->id == b->id;
        if (q->graph->link(q->graph->self, &a->via, 1, &x, &q->err) ||
            q->graph->link(q->graph->self, &b->via, 1, &y, &q->err))
            return false;
        if (!qp_str_eq(x.type, y.type) || (x.from == a->from->id) != (y.from == b->from->id))
            return false;
    }
    return false;
}

qp_list qp_path_answers(qp_query *q, qp_set found, uint32_t *predicted)
{
    qp_list from = found.paths.n ? found.paths : found.nodes;
    qp_hit *out = qp_new(q->mem, qp_hit, from.n + 1u);
    qp_idmap seen = qp_idmap_in(q->mem);
    uint32_t n = 0;
    *predicted = 0;
    for (int mates = found.paths.n ? 1 : 0; out && mates >= 0; mates--) {
        for (uint32_t i = 0; i < from.n; i++) {
            bool added = false;
            if (is_start(q, from.at[i].id) || (mates && !same_relations(q, &from.at[0], &from.at[i])))
                continue;
            if (!qp_idmap_put(&seen, from.at[i].id, 0, &added)) {
                qp_oom(&q->err);
                return (qp_list){0};
            }
            if (added)
                out[n++] = (qp_hit){from.at[i].id, QP_NO_ID, from.at[i].score, NULL};
        }
        *predicted = mates ? n : *predicted;
    }
    if (!out)
        qp_oom(&q->err);
    if (n && !*predicted)
        *predicted = q->answer.n ? n : 1;
    return (qp_list){out, n};
}

qp_list qp_path_nodes(qp_query *q, qp_list paths, uint32_t top)
{
    qp_hit *out = qp_new(q->mem, qp_hit, top + 1u);
    qp_idmap seen = qp_idmap_in(q->mem);
    uint32_t n = 0;
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; i < paths.n && n < top && q->err.code == QP_OK; i++) {
        const qp_hit **chain;
        uint32_t length = qp_path_chain(q, &paths.at[i], &chain);
        for (uint32_t j = 0; j < length && n < top; j++) {
            bool added = false;
            if (!qp_idmap_put(&seen, chain[j]->id, 0, &added)) {
                qp_oom(&q->err);
                return (qp_list){0};
            }
            if (added)
                out[n++] = (qp_hit){chain[j]->id, chain[j]->via, paths.at[i].score, chain[j]->from};
        }
    }
    return (qp_list){out, n};
}
