/* HippoRAG 2 (Gutierrez, Shu, Qi, Zhou, Su, ICML 2025): the facts nearest to the question, those that it recognises as
 * useful, and a walk from their entities and, more faintly, from all passages by their similarity. As in the authors'
 * code: an entity starts with the mean score of its facts over the passages it stands in, the best `k_entities` of
 * them; a passage with its min-max scaled cosine times `passage_weight`. Readings: a fact's cosine is scaled by the
 * best one, where they subtract the least of all facts; edges count alike. On a graph of passages alone, without entities,
 * the walk starts from all passages by similarity: FastInsight's baseline of that name.
 */
#include "method/first.h"
#include "method/methods.h"
#include "op/ops.h"

typedef struct hippo_opt {
    int64_t k_facts, rescore, k_entities, top;
    double damping, passage_weight;
    bool filter;
    const char *edges;
} hippo_opt;

static const qp_opt opts[] = {
    {"k_facts", "facts mapped to the question", QP_INT, offsetof(hippo_opt, k_facts), "5", 1, 1000, NULL},
    QP_RESCORE_OPTION(hippo_opt),
    {"filter", "the writer, where one is named, keeps the facts that help", QP_BOOL, offsetof(hippo_opt, filter),
     "true", 0, 0, NULL},
    {"k_entities", "entities that the walk starts from", QP_INT, offsetof(hippo_opt, k_entities), "5", 1, 1000, NULL},
    {"passage_weight", "of a passage as a start", QP_FLOAT, offsetof(hippo_opt, passage_weight), "0.05", 0, 1e6, NULL},
    {"damping", "probability of walking on", QP_FLOAT, offsetof(hippo_opt, damping), "0.5", 1e-6, .999999, NULL},
    QP_EDGES_OPTION(hippo_opt),
    QP_TOP_OPTION(hippo_opt),
    {0}};

/* Scores from low to the best as 0..1. */
static qp_list scaled(qp_query *q, qp_list list, float low)
{
    qp_hit *hit = qp_list_copy(q, list);
    float width = list.n ? list.at[0].score - low : 0;
    for (uint32_t i = 0; hit && i < list.n; i++)
        hit[i].score = width > 0 && hit[i].score > low ? (hit[i].score - low) / width : width <= 0;
    return (qp_list){hit, hit ? list.n : 0};
}

/* Of every passage, from the furthest to the nearest as 0..1. */
static qp_set all_passages(qp_query *q)
{
    qp_list all = qp_search(q, "node.dense", q->graph->nodes).nodes;
    return qp_set_of(scaled(q, all, all.n ? all.at[all.n - 1].score : 0));
}

/* The entities of the facts that are recognised; of a graph of passages alone none. */
static bool recognised(qp_query *q, const hippo_opt *o, qp_set *entities)
{
    *entities = (qp_set){0};
    if (q->graph->entity == q->graph->nodes)
        return true;
    const qp_facts_opt near = {.k = o->k_facts, .entities = QP_FACTS_OF, .rescore = o->rescore};
    qp_set facts = {.edges = scaled(q, qp_run(q, &qp_op_facts, NULL, 0, &near).edges, 0)};
    if (o->filter)
        facts = qp_judge(q, facts);
    if (facts.edges.n)
        *entities = qp_ends(q, facts, "rare", (uint32_t)o->k_entities);
    return facts.edges.n;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const hippo_opt *o = opt;
    qp_walk outer = q->walk;
    qp_set entities;
    (void)in, (void)n_in;
    if (!recognised(q, o, &entities))
        return qp_search(q, "node.dense", (uint32_t)o->top);
    q->started = entities.nodes;
    qp_set starts = qp_join(q, entities, qp_balance(q, all_passages(q), o->passage_weight));
    q->walk = qp_query_walk(q, o->edges, NULL);
    q->walk.across = true;
    const qp_ppr_opt walk = {.top = o->top,
                             .alpha = 1 - o->damping,
                             .engine = "auto",
                             .within = "graph",
                             .by_score = true,
                             .passages = true,
                             .single = true};
    const qp_set reached = qp_run(q, &qp_op_ppr, &starts, 1, &walk);
    q->walk = outer;
    return qp_cut_to(q, reached, (uint32_t)o->top);
}

static unsigned asks(const void *opt)
{
    return QP_NEEDS_EMBEDDER | (((const hippo_opt *)opt)->filter ? QP_LIKES_WRITER : 0);
}

const qp_op qp_method_hipporag2 = {
    .name = "hipporag2",
    .help = "PageRank from the entities of the facts nearest to the question, and from the passages by similarity",
    .source = "HippoRAG 2 (Gutierrez et al., ICML 2025); FastInsight's and AGRAG's baseline",
    .opts = opts,
    .opt_size = sizeof(hippo_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_LIKES_WRITER,
    .asks = asks,
};
