/* Relations by how well joined their ends are, as LightRAG and GraphRAG rank them. */
#include <stdlib.h>

#include "op/idmap.h"
#include "op/ops.h"
#include "op/star.h"

typedef struct relations_opt {
    const char *by, *edges;
    int64_t k;
} relations_opt;

static const qp_opt opts[] = {{"by",
                               "degree: of both ends together, then the weight; links: first those between nodes of "
                               "the set, then, up to k for each "
                               "node, by how many of these the other end is joined to, then by degree",
                               QP_ENUM, offsetof(relations_opt, by), "degree", 0, 0, "degree|links"},
                              {"k", "how many edges stay; 0 = all", QP_INT, offsetof(relations_opt, k), "0", 0, 1e9,
                               NULL},
                              QP_EDGES_HERE(relations_opt),
                              {0}};

typedef struct relation {
    uint32_t links; /* UINT32_MAX: between two nodes of the set */
    uint32_t degree;
    float weight;
    qp_id edge;
} relation;

static int best_first(const void *a, const void *b)
{
    const relation *x = a, *y = b;
    if (x->links != y->links)
        return x->links > y->links ? -1 : 1;
    if (x->degree != y->degree)
        return x->degree > y->degree ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

/* Ends and degrees of the edges; null after an error. */
static relation *look_at(qp_query *q, qp_list edges, const qp_link *link)
{
    relation *r = qp_new(q->mem, relation, edges.n + 1u);
    qp_id *end = qp_new(q->mem, qp_id, 2 * (size_t)edges.n + 1);
    qp_walk walk = {q->walk.types, QP_BOTH, q->walk.across};
    for (uint32_t i = 0; end && i < edges.n; i++) {
        end[2 * i] = link[i].from;
        end[2 * i + 1] = link[i].to;
    }
    if (!r || !end)
        qp_oom(&q->err);
    const uint32_t *degree = r && end ? qp_query_degrees(q, walk, end, 2 * edges.n) : NULL;
    for (uint32_t i = 0; degree && i < edges.n; i++)
        r[i] = (relation){0, degree[2 * i] + degree[2 * i + 1], link[i].weight, edges.at[i].id};
    return degree ? r : NULL;
}

static bool put(qp_query *q, qp_idmap *map, qp_id id, uint32_t fresh, uint32_t **value)
{
    *value = qp_idmap_put(map, id, fresh, NULL);
    if (!*value)
        qp_oom(&q->err);
    return *value;
}

/* Of a node outside the set how many of the set's it is joined to: its neighbours there, each once. */
static bool count_links(qp_query *q, qp_list nodes, const qp_link *link, uint32_t n, relation *r)
{
    qp_idmap inside = qp_idmap_in(q->mem), links = qp_idmap_in(q->mem);
    const qp_id *ids = qp_list_ids(q, nodes);
    uint32_t *value;
    for (uint32_t i = 0; i < nodes.n; i++)
        if (!put(q, &inside, nodes.at[i].id, 1, &value))
            return false;
    const qp_row *rows = ids && nodes.n ? qp_query_rows(q, q->walk, ids, nodes.n) : NULL;
    for (uint32_t i = 0; rows && i < nodes.n; i++)
        for (uint32_t j = 0; j < rows[i].n; j++) {
            if (!put(q, &links, rows[i].node[j], 0, &value))
                return false;
            ++*value;
        }
    for (uint32_t i = 0; i < n; i++) {
        bool from = qp_idmap_get(&inside, link[i].from), to = qp_idmap_get(&inside, link[i].to);
        const uint32_t *of = qp_idmap_get(&links, from ? link[i].to : link[i].from);
        r[i].links = from && to ? UINT32_MAX : of ? *of : 0;
    }
    return q->err.code == QP_OK;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const relations_opt *o = opt;
    qp_set out = in[0];
    qp_walk outer = q->walk;
    bool links = *o->by == 'l';
    (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_list edges = out.edges.n ? out.edges : qp_star(q, out.nodes);
    const qp_id *ids = qp_list_ids(q, edges);
    qp_link *link = ids ? qp_new(q->mem, qp_link, edges.n + 1u) : NULL;
    qp_hit *hit = link ? qp_new(q->mem, qp_hit, edges.n + 1u) : NULL;
    if (!hit)
        qp_oom(&q->err);
    relation *r = hit && !q->graph->link(q->graph->self, ids, edges.n, link, &q->err) ? look_at(q, edges, link) : NULL;
    if (r && links && !count_links(q, out.nodes, link, edges.n, r))
        r = NULL;
    q->walk = outer;
    if (!r)
        return (qp_set){0};
    if (edges.n)
        qsort(r, edges.n, sizeof *r, best_first);
    uint32_t kept = 0, most = o->k ? (uint32_t)(links ? o->k * (int64_t)out.nodes.n : o->k) : edges.n;
    for (uint32_t i = 0; i < edges.n && most; i++) {
        most -= !links || r[i].links != UINT32_MAX;
        hit[kept] = (qp_hit){r[i].edge, QP_NO_ID, 1 / (1 + (float)kept), NULL};
        kept++;
    }
    out.edges = (qp_list){hit, kept};
    return out;
}

const qp_op qp_op_relations = {
    .name = "relations",
    .help = "a set's edges, or where it has none those at its nodes, by the degrees of their ends; scores are 1/rank",
    .source = "LightRAG, retrieval at both levels; GraphRAG, local search",
    .opts = opts,
    .opt_size = sizeof(relations_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_relations(qp_query *q, qp_set a, const char *by, uint32_t k)
{
    return qp_run(q, &qp_op_relations, &a, 1, &(relations_opt){by, NULL, k});
}
