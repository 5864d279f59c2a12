/* The facts nearest to the question.
 *
 * Where the index keeps vectors of triples they are searched. Where it does not (-o triples=no, or too many of them),
 * the facts at the entities nearest to the question are scored by the mean of head, relation and tail: nothing is
 * embedded, and a fact whose entities are both far is not found.
 */
#include "base/vector.h"
#include "op/eem.h"
#include "op/ops.h"

static const qp_opt opts[] = {{"k", "how many facts", QP_INT, offsetof(qp_facts_opt, k), "5", 1, 1e6, NULL},
                              {"entities", "where the index has no vectors of triples: whose facts are looked at",
                               QP_INT, offsetof(qp_facts_opt, entities), "50", 1, 1e6, NULL},
                              QP_RESCORE_OPTION(qp_facts_opt),
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

/* By the texts of these facts, whatever their vectors were made of. */
static qp_list by_text(qp_query *q, qp_list facts)
{
    const qp_id *ids = qp_list_ids(q, facts);
    return ids ? qp_list_scored(q, facts, qp_eem_told(q, "embed", QP_TRIPLE, ids, facts.n)) : facts;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_facts_opt *o = opt;
    const qp_view *g = q->graph;
    const uint32_t k = (uint32_t)o->k, looked = o->rescore > o->k ? (uint32_t)o->rescore : k;
    qp_list found;
    qp_err none = {0};
    (void)in, (void)n_in;
    if (g->nodes == g->entity || !g->dim || !g->vectors(g->self, "triple.dense", NULL, 0, NULL, &none)) {
        found = qp_search(q, "triple.dense", looked).edges;
    } else {
        qp_list all = facts_at(q, qp_search(q, "entity.dense", (uint32_t)o->entities).nodes);
        found = qp_list_scored(q, all, score(q, all));
        found.n = found.n < looked ? found.n : looked;
    }
    if (o->rescore)
        found = by_text(q, found);
    return (qp_set){.edges = {found.at, found.n < k ? found.n : k}};
}

const qp_op qp_op_facts = {
    .name = "facts",
    .help = "the facts nearest to the question: by vectors of triples, or of their parts at the nearest entities",
    .source = "AGRAG, III-C; HippoRAG 2, query to triple",
    .opts = opts,
    .opt_size = sizeof(qp_facts_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_near_facts(qp_query *q, uint32_t k)
{
    return qp_run(q, &qp_op_facts, NULL, 0, &(qp_facts_opt){.k = k, .entities = QP_FACTS_OF});
}
