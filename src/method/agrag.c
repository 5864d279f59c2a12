/* AGRAG: the facts nearest to the question, joined by a tree that costs little, grown by what influences them much for
 * what it costs; beside it, passages by words and vectors.
 *
 * In the order of what is returned: the passages of hybrid retrieval, then those in which the subgraph's entities
 * stand.
 */
#include "method/first.h"
#include "method/methods.h"
#include "op/ops.h"

typedef struct agrag_opt {
    int64_t k_a, rescore, k_r, reach, top;
    double damping, balance;
    bool filter, hybrid, mcmi, influence;
    const char *engine, *edges;
} agrag_opt;

static const qp_opt opts[] = {
    {"k_a", "facts mapped to the question", QP_INT, offsetof(agrag_opt, k_a), "5", 1, 1000, NULL},
    QP_RESCORE_OPTION(agrag_opt),
    {"filter", "the writer, where one is named, keeps the facts that help", QP_BOOL, offsetof(agrag_opt, filter),
     "true", 0, 0, NULL},
    {"damping", "of the influence: probability of walking on", QP_FLOAT, offsetof(agrag_opt, damping), "0.5", 1e-6,
     .999999, NULL},
    {"engine", "how the influence is computed", QP_ENUM, offsetof(agrag_opt, engine), "fast", 0, 0,
     "fast|exact|bounded"},
    {"balance", "factor of the passages' influence", QP_FLOAT, offsetof(agrag_opt, balance), "0.05", 0, 1e6, NULL},
    {"reach", "nodes that have any influence, the first ones", QP_INT, offsetof(agrag_opt, reach), "4096", 1, 1e9,
     NULL},
    {"mcmi", "the tree grows; false: ablation", QP_BOOL, offsetof(agrag_opt, mcmi), "true", 0, 0, NULL},
    {"influence", "false: all nodes alike, an ablation of ours", QP_BOOL, offsetof(agrag_opt, influence), "true", 0, 0,
     NULL},
    {"hybrid", "passages by words and vectors; false: ablation, those of the subgraph alone", QP_BOOL,
     offsetof(agrag_opt, hybrid), "true", 0, 0, NULL},
    {"k_r", "how many of them", QP_INT, offsetof(agrag_opt, k_r), "5", 1, 1e6, NULL},
    QP_EDGES_OPTION(agrag_opt),
    QP_TOP_OPTION(agrag_opt),
    {0}};

static qp_set subgraph(qp_query *q, const agrag_opt *o, qp_set facts)
{
    qp_set entities = qp_ends(q, facts, "same", 0), tree = qp_steiner_through(q, entities);
    q->started = entities.nodes;
    qp_set sub = o->mcmi ? qp_join(q, tree, facts) : tree;
    uint32_t most = o->mcmi ? 0 : 1; /* its nodes have their influence as score even where it does not grow */
    if (!o->influence)
        return qp_enrich(q, sub, NULL, most);
    const qp_ppr_opt walk = {
        .top = o->reach, .alpha = 1 - o->damping, .engine = o->engine, .within = "graph", .even = true};
    qp_set influence = qp_run(q, &qp_op_ppr, &entities, 1, &walk);
    influence = qp_balance(q, influence, o->balance);
    return qp_enrich(q, sub, &influence, most);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const agrag_opt *o = opt;
    qp_walk outer = q->walk;
    qp_set sub = {0}, found = {0};
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    q->walk.across = true;
    const qp_facts_opt near = {.k = o->k_a, .entities = QP_FACTS_OF, .rescore = o->rescore};
    qp_set facts = qp_run(q, &qp_op_facts, NULL, 0, &near);
    if (o->filter)
        facts = qp_judge(q, facts);
    if (facts.edges.n)
        sub = subgraph(q, o, facts);
    if (o->hybrid || !facts.edges.n) /* no fact helps: hybrid retrieval alone */
        found = qp_blend(q, qp_min(o->k_r, o->top));
    if (q->graph->entity)
        found = qp_join(q, found, qp_gather(q, sub, 0));
    else /* a graph without passages */
        found = qp_join(q, found, qp_set_of(sub.nodes));
    q->extracted = sub;
    q->walk = outer;
    found.edges = sub.edges;
    return qp_cut_to(q, found, (uint32_t)o->top);
}

static unsigned asks(const void *opt)
{
    return QP_NEEDS_EMBEDDER | (((const agrag_opt *)opt)->filter ? QP_LIKES_WRITER : 0);
}

const qp_op qp_method_agrag = {
    .name = "agrag",
    .help =
        "facts nearest to the question, joined and grown into a subgraph of minimum cost and maximum influence, and "
        "passages by words and vectors",
    .source = "AGRAG, III-C and III-D, Algorithms 2 and 3",
    .opts = opts,
    .opt_size = sizeof(agrag_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_LIKES_WRITER,
    .asks = asks,
};
