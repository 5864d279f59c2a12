#include "op/sub.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "graph/components.h"

static uint32_t distinct(qp_id *ids, uint32_t n)
{
    uint32_t kept = 0;
    if (n)
        qsort(ids, n, sizeof *ids, qp_by_u32);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return kept;
}

uint32_t qp_sub_place(const qp_sub *s, qp_id id)
{
    const qp_id *at = s->n ? bsearch(&id, s->node, s->n, sizeof id, qp_by_u32) : NULL;
    return at ? (uint32_t)(at - s->node) : QP_NO_PLACE;
}

/* Both ends' rows out of the edges, which rise: each edge goes to the lists of both its ends, and read again list by
 * list, a node's neighbours come in order. */
static bool lay_out(qp_query *q, qp_sub *s, const qp_id *ids, const qp_link *link, uint32_t m)
{
    uint64_t *start = qp_new(q->mem, uint64_t, (size_t)s->n + 1), *at = qp_new(q->mem, uint64_t, (size_t)s->n + 1);
    uint32_t *from = qp_new(q->mem, uint32_t, m + 1u), *to = qp_new(q->mem, uint32_t, m + 1u);
    uint32_t *list = qp_new(q->mem, uint32_t, 2 * (size_t)m + 1), *target = qp_new(q->mem, uint32_t, 2 * (size_t)m + 1);
    qp_id *edge = qp_new(q->mem, qp_id, 2 * (size_t)m + 1);
    if (!start || !at || !from || !to || !list || !target || !edge) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t e = 0; e < m; e++) {
        from[e] = qp_sub_place(s, link[e].from);
        to[e] = qp_sub_place(s, link[e].to);
        start[from[e] + 1] += from[e] != to[e];
        start[to[e] + 1] += from[e] != to[e];
    }
    for (uint32_t v = 0; v < s->n; v++)
        start[v + 1] += start[v];
    memcpy(at, start, s->n * sizeof *at);
    for (uint32_t e = 0; e < m; e++)
        if (from[e] != to[e])
            list[at[from[e]]++] = list[at[to[e]]++] = e;
    memcpy(at, start, s->n * sizeof *at);
    for (uint32_t v = 0; v < s->n; v++)
        for (uint64_t i = start[v]; i < start[v + 1]; i++) {
            uint32_t e = list[i], other = from[e] == v ? to[e] : from[e];
            target[at[other]] = v;
            edge[at[other]++] = ids[e];
        }
    s->graph = (qp_csr){s->n, start, target, NULL};
    s->edge = edge;
    return true;
}

static const qp_link *links_of(qp_query *q, const qp_id *ids, uint32_t m)
{
    qp_link *link = qp_new(q->mem, qp_link, m + 1u);
    if (!link)
        qp_oom(&q->err);
    return !link || q->graph->link(q->graph->self, ids, m, link, &q->err) ? NULL : link;
}

/* The edges given, and their ends as nodes. */
static bool of_edges(qp_query *q, qp_set set, qp_sub *s)
{
    uint32_t n = 0, m = set.edges.n;
    qp_id *ids = (qp_id *)(uintptr_t)qp_list_ids(q, set.edges);
    qp_id *node = qp_new(q->mem, qp_id, set.nodes.n + 2 * (size_t)m + 1);
    if (ids && m)
        qsort(ids, m, sizeof *ids, qp_by_u32);
    const qp_link *link = ids ? links_of(q, ids, m) : NULL;
    if (!node)
        qp_oom(&q->err);
    if (!node || !link)
        return false;
    for (uint32_t i = 0; i < set.nodes.n; i++)
        node[n++] = set.nodes.at[i].id;
    for (uint32_t i = 0; i < m; i++) {
        node[n++] = link[i].from;
        node[n++] = link[i].to;
    }
    s->node = node;
    s->n = distinct(node, n);
    return lay_out(q, s, ids, link, m);
}

/* All edges between the nodes that the walk's types let be, whichever way they point. */
static bool of_nodes(qp_query *q, qp_set set, qp_walk walk, qp_sub *s)
{
    qp_id *node = (qp_id *)(uintptr_t)qp_list_ids(q, set.nodes), *edge;
    uint32_t m;
    if (!node)
        return false;
    s->node = node;
    s->n = distinct(node, set.nodes.n);
    if (q->graph->between(q->graph->self, node, s->n, walk, &edge, &m, q->mem, &q->err))
        return false;
    const qp_link *link = links_of(q, edge, m);
    return link && lay_out(q, s, edge, link, m);
}

bool qp_sub_make(qp_query *q, qp_set set, qp_walk walk, qp_sub *s)
{
    *s = (qp_sub){0};
    if (q->err.code != QP_OK)
        return false;
    return set.edges.n ? of_edges(q, set, s) : of_nodes(q, set, walk, s);
}

qp_set qp_sub_set(qp_query *q, const qp_sub *s)
{
    uint64_t arcs = s->n ? s->graph.start[s->n] : 0;
    qp_hit *node = qp_new(q->mem, qp_hit, s->n + 1u), *edge = qp_new(q->mem, qp_hit, arcs / 2 + 1);
    uint32_t m = 0;
    if (!node || !edge) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    for (uint32_t v = 0; v < s->n; v++) {
        node[v] = (qp_hit){s->node[v], QP_NO_ID, 0, NULL};
        for (uint64_t i = s->graph.start[v]; i < s->graph.start[v + 1]; i++)
            if (s->graph.target[i] > v)
                edge[m++] = (qp_hit){s->edge[i], QP_NO_ID, 0, NULL};
    }
    return (qp_set){.nodes = {node, s->n}, .edges = qp_list_sorted(q, edge, m, m)};
}

uint32_t qp_sub_components(qp_query *q, const qp_sub *s)
{
    uint32_t *of, count = 0;
    if (q->err.code == QP_OK && s->n)
        qp_components(&s->graph, &of, &count, q->mem, &q->err);
    return q->err.code == QP_OK ? count : 0;
}
