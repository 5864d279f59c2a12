#include "op/sub.h"

#include <stdlib.h>

#include "graph/components.h"

static int rising(const void *a, const void *b)
{
    qp_id x = *(const qp_id *)a, y = *(const qp_id *)b;
    return (x > y) - (x < y);
}

static uint32_t distinct(qp_id *ids, uint32_t n)
{
    uint32_t kept = 0;
    if (n)
        qsort(ids, n, sizeof *ids, rising);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return kept;
}

uint32_t qp_sub_place(const qp_sub *s, qp_id id)
{
    const qp_id *at = s->n ? bsearch(&id, s->node, s->n, sizeof id, rising) : NULL;
    return at ? (uint32_t)(at - s->node) : QP_NO_PLACE;
}

typedef struct joint { /* an arc while they are sorted */
    uint32_t from, to;
    qp_id edge;
} joint;

static int by_row(const void *a, const void *b)
{
    const joint *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

static bool lay_out(qp_query *q, qp_sub *s, const joint *joints, uint32_t n)
{
    uint64_t *start = qp_new(q->mem, uint64_t, (size_t)s->n + 1);
    uint32_t *target = qp_new(q->mem, uint32_t, (size_t)n + 1);
    qp_id *edge = qp_new(q->mem, qp_id, (size_t)n + 1);
    if (!start || !target || !edge) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        start[joints[i].from + 1]++;
        target[i] = joints[i].to;
        edge[i] = joints[i].edge;
    }
    for (uint32_t v = 0; v < s->n; v++)
        start[v + 1] += start[v];
    s->graph = (qp_csr){s->n, start, target, NULL};
    s->edge = edge;
    return true;
}

/* The edges given, and their ends as nodes. */
static bool of_edges(qp_query *q, qp_set set, qp_sub *s)
{
    uint32_t n = 0, m = set.edges.n, joints = 0;
    const qp_id *ids = qp_list_ids(q, set.edges);
    qp_id *node = qp_new(q->mem, qp_id, set.nodes.n + 2 * (size_t)m + 1);
    qp_link *link = qp_new(q->mem, qp_link, m + 1u);
    joint *at = qp_new(q->mem, joint, 2 * (size_t)m + 1);
    if (!ids || !node || !link || !at) {
        qp_oom(&q->err);
        return false;
    }
    if (q->graph->link(q->graph->self, ids, m, link, &q->err))
        return false;
    for (uint32_t i = 0; i < set.nodes.n; i++)
        node[n++] = set.nodes.at[i].id;
    for (uint32_t i = 0; i < m; i++) {
        node[n++] = link[i].from;
        node[n++] = link[i].to;
    }
    s->node = node;
    s->n = distinct(node, n);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t from = qp_sub_place(s, link[i].from), to = qp_sub_place(s, link[i].to);
        if (from == to)
            continue;
        at[joints++] = (joint){from, to, ids[i]};
        at[joints++] = (joint){to, from, ids[i]};
    }
    if (joints)
        qsort(at, joints, sizeof *at, by_row);
    return lay_out(q, s, at, joints);
}

/* All edges between the nodes: rows of the view, what leads out of the set dropped. A walk with a direction gives an edge in
 * one row only, so both are asked for, and the walk's types decide. */
static bool of_nodes(qp_query *q, qp_set set, qp_walk walk, qp_sub *s)
{
    qp_adj adj = {0};
    qp_id *node = (qp_id *)(uintptr_t)qp_list_ids(q, set.nodes);
    if (!node)
        return false;
    s->node = node;
    s->n = distinct(node, set.nodes.n);
    walk.direction = QP_BOTH;
    if (q->graph->incident(q->graph->self, node, s->n, walk, &adj, q->mem, &q->err))
        return false;
    joint *at = qp_new(q->mem, joint, (size_t)adj.start[s->n] + 1);
    uint32_t joints = 0;
    if (!at) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = adj.start[i]; j < adj.start[i + 1]; j++) {
            uint32_t to = qp_sub_place(s, adj.node[j]);
            if (to != QP_NO_PLACE)
                at[joints++] = (joint){i, to, adj.edge[j]};
        }
    return lay_out(q, s, at, joints); /* rows rise as the view's do */
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
