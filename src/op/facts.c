/* The facts nearest to the question.
 *
 * Where the index keeps vectors of triples they are searched. Where it does not (-o triples=no, or too many of them),
 * the facts at the entities nearest to the question are scored by the mean of head, relation and tail: nothing is
 * embedded, and a fact whose entities are both far is not found.
 */
#include "base/vector.h"
#include "op/ops.h"

typedef struct facts_opt {
    int64_t k, entities;
} facts_opt;

static const qp_opt opts[] = {{"k", "how many facts", QP_INT, offsetof(facts_opt, k), "5", 1, 1e6, NULL},
                              {"entities", "where the index has no vectors of triples: whose facts are looked at",
                               QP_INT, offsetof(facts_opt, entities), "50", 1, 1e6, NULL},
                              {0}};

enum { MOST = 1 << 16 /* facts that are scored */ };

/* The facts at these entities, each once, as hits without a score. */
static qp_list facts_at(qp_query *q, qp_list entities)
{
    const qp_view *g = q->graph;
    const qp_id *ids = qp_list_ids(q, entities);
    qp_adj adj;
    if (!ids || g->incident(g->self, ids, entities.n, (qp_walk){~0ull, QP_BOTH, true}, &adj, q->mem, &q->err))
        return (qp_list){0};
    uint32_t n = 0, all = adj.start[entities.n];
    qp_hit *hit = qp_new(q->mem, qp_hit, all + 1u);
    qp_link link;
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < all && n < MOST && !g->link(g->self, &adj.edge[i], 1, &link, &q->err); i++)
        if (link.from >= g->entity && link.to >= g->entity && !qp_str_eq(link.type, QP_STR(QP_SYNONYM)) &&
            qp_query_allows(q, link.from) && qp_query_allows(q, link.to))
            hit[n++] = (qp_hit){adj.edge[i], QP_NO_ID, 0, NULL};
    qp_list sorted = qp_list_sorted(q, hit, hit ? n : 0, n); /* of equal scores: by id */
    qp_hit *once = qp_list_copy(q, sorted);
    n = 0;
    for (uint32_t i = 0; once && i < sorted.n; i++)
        if (!n || once[n - 1].id != once[i].id)
            once[n++] = once[i];
    return (qp_list){once, n};
}

/* cos(q, head + relation + tail); null after an error. */
static const float *score(qp_query *q, qp_list facts)
{
    const qp_view *g = q->graph;
    const float *asked = qp_query_vector(q);
    float *out = qp_new(q->mem, float, facts.n + 1u), *row = qp_new(q->mem, float, 3 * (size_t)g->dim + 1);
    if (asked && (!out || !row))
        qp_oom(&q->err);
    for (uint32_t i = 0; i < facts.n && q->err.code == QP_OK; i++) {
        const qp_id *edge = &facts.at[i].id;
        qp_link link;
        if (g->link(g->self, edge, 1, &link, &q->err) ||
            g->vectors(g->self, "node.dense", (qp_id[]){link.from, link.to}, 2, row, &q->err) ||
            g->vectors(g->self, "edge.dense", edge, 1, row + 2 * (size_t)g->dim, &q->err))
            break;
        for (uint32_t j = 0; j < g->dim; j++)
            row[j] += row[g->dim + j] + row[2 * (size_t)g->dim + j];
        qp_make_unit(row, g->dim);
        out[i] = qp_dot(asked, row, g->dim);
    }
    return q->err.code == QP_OK ? out : NULL;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const facts_opt *o = opt;
    const qp_view *g = q->graph;
    qp_err none = {0};
    (void)in, (void)n_in;
    if (g->nodes == g->entity || !g->dim || !g->vectors(g->self, "triple.dense", NULL, 0, NULL, &none))
        return qp_search(q, "triple.dense", (uint32_t)o->k);
    qp_list all = facts_at(q, qp_search(q, "entity.dense", (uint32_t)o->entities).nodes);
    qp_list scored = qp_list_scored(q, all, score(q, all));
    return (qp_set){.edges = {scored.at, scored.n < o->k ? scored.n : (uint32_t)o->k}};
}

const qp_op qp_op_facts = {
    .name = "facts",
    .help = "the facts nearest to the question: by vectors of triples, or of their parts at the nearest entities",
    .source = "AGRAG, III-C; HippoRAG 2, query to triple",
    .opts = opts,
    .opt_size = sizeof(facts_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_near_facts(qp_query *q, uint32_t k)
{
    return qp_run(q, &qp_op_facts, NULL, 0, &(facts_opt){k, 50});
}
