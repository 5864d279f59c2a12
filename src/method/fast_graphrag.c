/* Fast-GraphRAG (Circlemind, 2024): PageRank over the entities from those that the question names, and passages by the
 * sum of their entities' scores. Reading: where no entity is named, the nearest by vectors; the LLM that names them is
 * `link`.
 */
#include "method/first.h"
#include "method/methods.h"

typedef struct fast_opt {
    int64_t reach, top;
    double damping, least;
    const char *edges;
} fast_opt;

static const qp_opt opts[] = {{"damping", "probability of walking on", QP_FLOAT, offsetof(fast_opt, damping), "0.85",
                               1e-6, .999999, NULL},
                              {"least", "an entity's score, below which it counts nothing", QP_FLOAT,
                               offsetof(fast_opt, least), "0.005", 0, 1, NULL},
                              {"reach", "entities that count at most", QP_INT, offsetof(fast_opt, reach), "1000", 1,
                               1e9, NULL},
                              QP_EDGES_OPTION(fast_opt),
                              QP_TOP_OPTION(fast_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const fast_opt *o = opt;
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_set starts = qp_link_entities(q);
    q->started = starts.nodes;
    qp_set entities = qp_ppr_from(q, starts, 1 - o->damping, (uint32_t)o->reach);
    while (entities.nodes.n && (double)entities.nodes.at[entities.nodes.n - 1].score < o->least)
        entities.nodes.n--;
    q->extracted = entities;
    q->walk = outer;
    return q->graph->entity ? qp_gather(q, entities, (uint32_t)o->top) : qp_cut_to(q, entities, (uint32_t)o->top);
}

const qp_op qp_method_fast_graphrag = {
    .name = "fast-graphrag",
    .help = "PageRank from the entities of the question; passages by the sum of their entities' scores",
    .source = "Fast-GraphRAG (Circlemind); AGRAG's baseline",
    .opts = opts,
    .opt_size = sizeof(fast_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
