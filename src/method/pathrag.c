/* PathRAG (Chen et al. 2025): entities by the question's details, and of all paths between them those along which most
 * flows. The relations that the question's themes find come beside them, as in LightRAG.
 */
#include "method/first.h"
#include "method/methods.h"
#include "op/answers.h"
#include "op/keywords.h"
#include "op/ops.h"

typedef struct pathrag_opt {
    int64_t n, k, relation_tokens, passage_tokens, top;
    double alpha, theta;
    bool global;
    const char *passages, *prompt, *edges;
} pathrag_opt;

static const qp_opt opts[] = {
    {"n", "entities between which paths are looked for", QP_INT, offsetof(pathrag_opt, n), "40", 2, 10000, NULL},
    {"k", "how many paths stay; of them `top` are returned", QP_INT, offsetof(pathrag_opt, k), "15", 1, 10000, NULL},
    {"alpha", "share of its resource that a node hands on (the authors' code: 0.8)", QP_FLOAT,
     offsetof(pathrag_opt, alpha), "0.7", 0, 1, NULL},
    {"theta", "what a neighbour is handed at least, or none is", QP_FLOAT, offsetof(pathrag_opt, theta), "0.05", 1e-6,
     1, NULL},
    {"global", "the relations that the question's themes find, too", QP_BOOL, offsetof(pathrag_opt, global), "true", 0,
     0, NULL},
    {"passages", "first those that tell the paths' relations; or, as the authors' code, those of the entities alone",
     QP_ENUM, offsetof(pathrag_opt, passages), "paths", 0, 0, "paths|entities"},
    {"relation_tokens", "of their texts; 0: no limit", QP_INT, offsetof(pathrag_opt, relation_tokens), "3000", 0, 1e9,
     NULL},
    {"passage_tokens", "of the passages of paths and entities, and of those of relations", QP_INT,
     offsetof(pathrag_opt, passage_tokens), "4000", 0, 1e9, NULL},
    {"prompt", "a file with {question} instead of prompts/keywords.txt", QP_TEXT, offsetof(pathrag_opt, prompt), NULL,
     0, 0, NULL},
    QP_EDGES_OPTION(pathrag_opt),
    QP_TOP_OPTION(pathrag_opt),
    {0}};

/* The edges of paths, path by path, each once. */
static qp_list edges_of(qp_query *q, qp_list paths)
{
    qp_set out = {0};
    for (uint32_t i = 0; i < paths.n; i++) {
        uint32_t n = 0;
        for (const qp_hit *h = &paths.at[i]; h->from; h = h->from)
            n++;
        qp_hit *hit = qp_new(q->mem, qp_hit, n + 1u);
        if (!hit) {
            qp_oom(&q->err);
            break;
        }
        uint32_t at = n;
        for (const qp_hit *h = &paths.at[i]; h->from; h = h->from)
            hit[--at] = (qp_hit){h->via, QP_NO_ID, paths.at[i].score, NULL};
        out = qp_join(q, out, (qp_set){.edges = {hit, n}});
    }
    return out.edges;
}

/* Passages that tell the paths' relations, then those of the entities; where there are no passages, the paths' nodes. */
static qp_set by_paths(qp_query *q, const pathrag_opt *o, qp_set found, qp_list paths, qp_list edges)
{
    if (!q->graph->entity && paths.n)
        return (qp_set){.nodes = qp_path_nodes(q, paths, q->graph->nodes), .edges = edges};
    bool told = edges.n && *o->passages == 'p';
    qp_set out = told ? qp_units(q, (qp_set){.edges = edges}, "all") : (qp_set){0};
    out = qp_join(q, out, q->graph->entity ? qp_units(q, qp_set_of(found.nodes), "all") : qp_set_of(found.nodes));
    out = qp_budget(q, qp_set_of(out.nodes), "nodes", (uint32_t)o->passage_tokens);
    out.edges = edges;
    return out;
}

static qp_set by_themes(qp_query *q, const pathrag_opt *o, qp_str themes)
{
    qp_set found = qp_search_for(q, themes, "triple.dense", (uint32_t)o->n);
    if (!found.edges.n)
        return (qp_set){0};
    found = qp_budget(q, qp_relations(q, (qp_set){.edges = found.edges}, "degree", 0), "edges",
                      (uint32_t)o->relation_tokens);
    qp_set out = qp_budget(q, qp_units(q, found, "all"), "nodes", (uint32_t)o->passage_tokens);
    out.edges = found.edges;
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const pathrag_opt *o = opt;
    bool entities = q->graph->entity < q->graph->nodes;
    qp_walk outer = q->walk;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_keywords words = qp_keywords_of(q, o->prompt);
    qp_set found = qp_search_for(q, words.low, entities ? "entity.dense" : "node.dense", (uint32_t)o->n);
    qp_list paths = qp_flow(q, qp_set_of(found.nodes), o->alpha, o->theta, (uint32_t)o->k).paths;
    qp_list edges = edges_of(q, paths);
    paths.n = qp_min(paths.n, o->top);
    qp_set out;
    if (entities)
        out = by_paths(q, o, found, paths, edges);
    else /* a corpus: the passages on the paths, then the others found */
        out = qp_join(q, (qp_set){qp_path_nodes(q, paths, q->graph->nodes), edges, {0}}, found);
    if (o->global && entities)
        out = qp_turns(q, (qp_set[]){out, by_themes(q, o, words.high)}, 2, 0);
    q->extracted = (qp_set){.nodes = found.nodes, .edges = out.edges};
    q->walk = outer;
    out.paths = paths;
    return qp_cut_to(q, out, (uint32_t)o->top);
}

const qp_op qp_method_pathrag = {
    .name = "pathrag",
    .help =
        "entities by the question's details, the paths between them along which most flows, and the passages these are "
        "told in",
    .source = "PathRAG, node retrieval and path retrieval; prompt: prompts/keywords.txt",
    .opts = opts,
    .opt_size = sizeof(pathrag_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_LIKES_WRITER,
};
