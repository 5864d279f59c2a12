/* The passages that entities, or relations, were read from: the text units of LightRAG and GraphRAG. */
#include <stdlib.h>

#include "op/idmap.h"
#include "op/ops.h"

typedef struct units_opt {
    const char *count;
    int64_t k;
} units_opt;

static const qp_opt opts[] = {
    {"count", "relations that make a passage of an entity come earlier: of all entities, or of the first one it holds",
     QP_ENUM, offsetof(units_opt, count), "all", 0, 0, "all|first"},
    {"k", "how many passages stay; 0 = all", QP_INT, offsetof(units_opt, k), "0", 0, 1e9, NULL},
    {0}};

typedef struct unit {
    uint32_t order; /* place of the first entity, or relation, that it holds */
    float count;    /* relations told in it; of a relation's passages how near the question they are */
    qp_hit hit;
} unit;

typedef struct units {
    qp_query *q;
    qp_idmap at; /* passage -> place in unit */
    unit *unit;
    uint32_t n, cap;
} units;

static int best_first(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->hit.id > y->hit.id) - (x->hit.id < y->hit.id);
}

/* The unit of a passage, made if new; null without memory. */
static unit *unit_of(units *u, uint32_t order, qp_hit hit, bool *added)
{
    const uint32_t *place = qp_idmap_put(&u->at, hit.id, u->n, added);
    if (place && *added && u->n == u->cap) {
        unit *more = qp_new(u->q->mem, unit, 2 * (size_t)u->cap + 64);
        if (more && u->n)
            memcpy(more, u->unit, u->n * sizeof *more);
        u->cap = more ? 2 * u->cap + 64 : 0;
        u->unit = more;
    }
    if (!place || !u->unit) {
        qp_oom(&u->q->err);
        return NULL;
    }
    if (*added)
        u->unit[u->n++] = (unit){order, 0, hit};
    return &u->unit[*place];
}

/* Edges between entities and passages are one type among perhaps too many to be walked apart: all are walked, and
 * passages come first in a row. */
static const qp_walk across = {UINT64_MAX, QP_BOTH, true};

static uint32_t shared(const qp_id *a, uint32_t n, const qp_id *b, uint32_t m)
{
    uint32_t both = 0;
    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        both += a[i] == b[j];
        uint32_t x = a[i], y = b[j];
        i += x <= y;
        j += y <= x;
    }
    return both;
}

static qp_id *ids_of(const units *u)
{
    qp_id *ids = qp_new(u->q->mem, qp_id, u->n + 1u);
    for (uint32_t i = 0; ids && i < u->n; i++)
        ids[i] = u->unit[i].hit.id;
    if (!ids)
        qp_oom(&u->q->err);
    return ids;
}

/* A relation of v is told in a passage that holds both its ends: v's neighbours there. */
static bool count_relations(units *u, qp_list nodes, const qp_id *ids, const qp_adj *in, bool all)
{
    qp_query *q = u->q;
    const qp_view *g = q->graph;
    const qp_id *passage = ids_of(u);
    qp_adj of, held;
    if (!passage || g->adjacent(g->self, ids, nodes.n, q->walk, &of, q->mem, &q->err) ||
        g->adjacent(g->self, passage, u->n, across, &held, q->mem, &q->err))
        return false;
    for (uint32_t i = 0; i < nodes.n; i++)
        for (uint32_t j = in->start[i]; j < in->start[i + 1] && in->node[j] < g->entity; j++) {
            const uint32_t *place = qp_idmap_get(&u->at, in->node[j]);
            if (place && (all || u->unit[*place].order == i))
                u->unit[*place].count +=
                    (float)shared(of.node + of.start[i], of.start[i + 1] - of.start[i], held.node + held.start[*place],
                                  held.start[*place + 1] - held.start[*place]);
        }
    return true;
}

static bool by_entities(units *u, qp_list nodes, bool all)
{
    qp_query *q = u->q;
    const qp_view *g = q->graph;
    const qp_id *ids = qp_list_ids(q, nodes);
    qp_adj in;
    bool added;
    if (!ids || g->adjacent(g->self, ids, nodes.n, across, &in, q->mem, &q->err))
        return false;
    for (uint32_t i = 0; i < nodes.n; i++)
        for (uint32_t j = in.start[i]; j < in.start[i + 1] && in.node[j] < g->entity; j++)
            if (qp_query_allows(q, in.node[j]) &&
                !unit_of(u, i, (qp_hit){in.node[j], in.edge[j], 0, &nodes.at[i]}, &added))
                return false;
    return count_relations(u, nodes, ids, &in, all);
}

/* The index does not keep where a relation was read: what holds both its ends is taken, the nearest to the question
 * first. */
static bool by_relations(units *u, qp_list edges)
{
    qp_query *q = u->q;
    const qp_view *g = q->graph;
    const qp_id *ids = qp_list_ids(q, edges);
    qp_link *link = qp_new(q->mem, qp_link, edges.n + 1u);
    qp_id *end = qp_new(q->mem, qp_id, 2 * (size_t)edges.n + 1);
    qp_adj in;
    bool added;
    if (!ids || !link || !end)
        return !qp_oom(&q->err);
    if (g->link(g->self, ids, edges.n, link, &q->err))
        return false;
    for (uint32_t i = 0; i < edges.n; i++) {
        end[2 * i] = link[i].from;
        end[2 * i + 1] = link[i].to;
    }
    if (g->adjacent(g->self, end, 2 * edges.n, across, &in, q->mem, &q->err))
        return false;
    for (uint32_t i = 0; i < edges.n; i++)
        for (uint32_t a = in.start[2 * i], b = in.start[2 * i + 1];
             a < in.start[2 * i + 1] && b < in.start[2 * i + 2];) {
            qp_id x = in.node[a], y = in.node[b];
            if (x == y && x < g->entity && qp_query_allows(q, x) &&
                !unit_of(u, i, (qp_hit){x, QP_NO_ID, 0, NULL}, &added))
                return false;
            a += x <= y;
            b += y <= x;
        }
    return true;
}

static bool by_nearness(units *u)
{
    const qp_id *ids = ids_of(u);
    const float *dot = ids && u->n ? qp_query_dots(u->q, ids, u->n) : NULL;
    for (uint32_t i = 0; dot && i < u->n; i++)
        u->unit[i].count = dot[i];
    return u->q->err.code == QP_OK;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const units_opt *o = opt;
    units u = {.q = q, .at = qp_idmap_in(q->mem)};
    (void)n_in;
    bool done = in[0].edges.n ? by_relations(&u, in[0].edges) && by_nearness(&u)
                              : by_entities(&u, in[0].nodes, *o->count == 'a');
    uint32_t n = o->k && o->k < u.n ? (uint32_t)o->k : u.n;
    qp_hit *hit = done ? qp_new(q->mem, qp_hit, n + 1u) : NULL;
    if (done && !hit)
        qp_oom(&q->err);
    if (!hit)
        return (qp_set){0};
    if (u.n)
        qsort(u.unit, u.n, sizeof *u.unit, best_first);
    for (uint32_t i = 0; i < n; i++) {
        hit[i] = u.unit[i].hit;
        hit[i].score = 1 / (1 + (float)i);
    }
    return qp_set_of((qp_list){hit, n});
}

const qp_op qp_op_units = {
    .name = "units",
    .help =
        "the passages that a set's entities stand in: by the first of them, then by how many of its relations lead to "
        "others there; of a set with edges those that hold both ends; scores are 1/rank",
    .source = "LightRAG and GraphRAG, text units",
    .opts = opts,
    .opt_size = sizeof(units_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_units(qp_query *q, qp_set a, const char *count)
{
    return qp_run(q, &qp_op_units, &a, 1, &(units_opt){count, 0});
}
