/* O_gs: the neighbours of a set, layer by layer. */
#include "op/idmap.h"
#include "op/ops.h"

typedef struct hop_opt {
    int64_t hops, most;
    const char *edges, *direction;
} hop_opt;

static const qp_opt opts[] = {{"hops", "how far", QP_INT, offsetof(hop_opt, hops), "1", 1, 16, NULL},
                              {"most", "goes no further once so many are found; 0: as far as hops says", QP_INT,
                               offsetof(hop_opt, most), "0", 0, 1e9, NULL},
                              QP_EDGES_HERE(hop_opt),
                              QP_DIRECTION_HERE(hop_opt),
                              {0}};

/* Growing room for the hits of one layer. */
typedef struct layer {
    qp_hit *at;
    uint32_t n, cap;
} layer;

static bool push(qp_query *q, layer *l, qp_hit hit)
{
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 256;
        qp_hit *at = qp_new(q->mem, qp_hit, cap);
        if (!at) {
            qp_oom(&q->err);
            return false;
        }
        if (l->n)
            memcpy(at, l->at, l->n * sizeof *at);
        *l = (layer){at, l->n, cap};
    }
    l->at[l->n++] = hit;
    return true;
}

/* The unseen neighbours of `from`, each reached from its best-scored neighbour there (the first of equals) and scored
 * as that one is: what GAR calls the frontier. */
static qp_list next_layer(qp_query *q, qp_walk walk, qp_list from, qp_idmap *seen)
{
    const qp_id *ids = qp_list_ids(q, from);
    const qp_row *rows = ids && from.n ? qp_query_rows(q, walk, ids, from.n) : NULL;
    qp_idmap at = qp_idmap_in(q->mem);
    layer out = {0};
    for (uint32_t i = 0; rows && i < from.n; i++) {
        for (uint32_t j = 0; j < rows[i].n; j++) {
            qp_id id = rows[i].node[j];
            if (qp_idmap_get(seen, id) || !qp_query_allows(q, id))
                continue;
            qp_hit hit = {id, rows[i].edge[j], from.at[i].score, &from.at[i]};
            bool added;
            const uint32_t *slot = qp_idmap_put(&at, id, out.n, &added);
            if (!slot)
                qp_oom(&q->err);
            if (!slot || (added && !push(q, &out, hit)))
                return (qp_list){0};
            if (hit.score > out.at[*slot].score)
                out.at[*slot] = hit;
        }
    }
    return qp_list_sorted(q, out.at, out.n, out.n);
}

static bool see(qp_query *q, qp_idmap *seen, qp_list l)
{
    for (uint32_t i = 0; i < l.n; i++) {
        if (!qp_idmap_put(seen, l.at[i].id, 0, NULL)) {
            qp_oom(&q->err);
            return false;
        }
    }
    return true;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const hop_opt *o = opt;
    qp_walk walk = qp_query_walk(q, o->edges, o->direction);
    qp_idmap seen = qp_idmap_in(q->mem);
    layer out = {0};
    qp_list from = in[0].nodes;
    (void)n_in;
    for (int64_t hop = 0; hop < o->hops && from.n && !qp_query_over(q, "hop"); hop++) {
        if (o->most && out.n >= o->most)
            break;
        if (!see(q, &seen, from))
            break;
        from = next_layer(q, walk, from, &seen);
        for (uint32_t i = 0; i < from.n; i++)
            if (!push(q, &out, from.at[i]))
                break;
    }
    return qp_set_of((qp_list){out.at, out.n});
}

const qp_op qp_op_hop = {
    .name = "hop",
    .help = "new neighbours of a set, nearest first, then by the score of the hit they were reached from",
    .source = "FastInsight, 3.1.2, Definition 3 (O_gs); GAR's frontier",
    .opts = opts,
    .opt_size = sizeof(hop_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_hop(qp_query *q, qp_set a, uint32_t hops)
{
    return qp_run(q, &qp_op_hop, &a, 1, &(hop_opt){.hops = hops});
}

qp_set qp_hop_until(qp_query *q, qp_set a, uint32_t hops, uint32_t most)
{
    return qp_run(q, &qp_op_hop, &a, 1, &(hop_opt){.hops = hops, .most = most});
}
