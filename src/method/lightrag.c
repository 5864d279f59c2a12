/* LightRAG (Guo, Xia, Yu, Ao, Huang, EMNLP 2025): the question's details find entities, its themes find relations; the
 * graph adds the relations of those and the entities of these, and both lead to passages. Defaults and rankings are
 * those of the authors' code when the paper appeared (1.0); `rank` and `pick` choose those of 1.4.
 */
#include "method/first.h"
#include "method/methods.h"
#include "op/keywords.h"

typedef struct lightrag_opt {
    const char *mode, *rank, *pick, *prompt, *edges;
    int64_t k, entity_tokens, relation_tokens, passage_tokens, related, top;
} lightrag_opt;

static const qp_opt opts[] = {
    {"mode", "local: entities by details; global: relations by themes; hybrid: both; mix: with naive search, too",
     QP_ENUM, offsetof(lightrag_opt, mode), "hybrid", 0, 0, "local|global|hybrid|mix"},
    {"k", "entities, and relations, that are searched (1.4: 40)", QP_INT, offsetof(lightrag_opt, k), "60", 1, 1e6,
     NULL},
    {"rank", "of relations: by the degrees of their ends, or (1.4) as they were found", QP_ENUM,
     offsetof(lightrag_opt, rank), "degree", 0, 0, "degree|found"},
    {"pick", "of passages: by the order of what leads to them, or (1.4) the `related` nearest for each two of those",
     QP_ENUM, offsetof(lightrag_opt, pick), "order", 0, 0, "order|nearest"},
    {"related", "passages for each two entities or relations, with pick=nearest", QP_INT,
     offsetof(lightrag_opt, related), "5", 1, 1000, NULL},
    {"entity_tokens", "of the texts of the entities that the themes lead to; 0: no limit", QP_INT,
     offsetof(lightrag_opt, entity_tokens), "4000", 0, 1e9, NULL},
    {"relation_tokens", "of the relations'", QP_INT, offsetof(lightrag_opt, relation_tokens), "4000", 0, 1e9, NULL},
    {"passage_tokens", "of the passages', at each level", QP_INT, offsetof(lightrag_opt, passage_tokens), "4000", 0,
     1e9, NULL},
    {"prompt", "a file with {question} instead of prompts/keywords.txt", QP_TEXT, offsetof(lightrag_opt, prompt), NULL,
     0, 0, NULL},
    QP_EDGES_OPTION(lightrag_opt),
    QP_TOP_OPTION(lightrag_opt),
    {0}};

/* A corpus without entities is walked as it is. */
static bool has_entities(const qp_query *q)
{
    return q->graph->entity < q->graph->nodes;
}

/* The passages that `from` leads to; without any, a graph's own nodes. */
static qp_list passages(qp_query *q, const lightrag_opt *o, qp_set from, uint32_t n)
{
    if (!has_entities(q) || !q->graph->entity)
        return from.nodes;
    qp_set found = qp_units(q, from, "all");
    if (*o->pick == 'n')
        found = qp_cut_to(q, qp_score(q, found), qp_min((o->related * n + 1) / 2, UINT32_MAX));
    return qp_budget(q, found, "nodes", (uint32_t)o->passage_tokens).nodes;
}

static qp_set relations(qp_query *q, const lightrag_opt *o, qp_set of)
{
    return qp_budget(q, *o->rank == 'd' || !of.edges.n ? qp_relations(q, of, "degree", 0) : of, "edges",
                     (uint32_t)o->relation_tokens);
}

static qp_set local(qp_query *q, const lightrag_opt *o, qp_str details)
{
    qp_set entities = qp_search_for(q, details, has_entities(q) ? "entity.dense" : "node.dense", (uint32_t)o->k);
    qp_set out = relations(q, o, qp_set_of(entities.nodes));
    if (!has_entities(q))
        entities = qp_join(q, entities, qp_hop(q, entities, 1));
    q->extracted = (qp_set){.nodes = entities.nodes, .edges = out.edges};
    out.nodes = passages(q, o, qp_set_of(entities.nodes), entities.nodes.n);
    return out;
}

static qp_set global(qp_query *q, const lightrag_opt *o, qp_str themes)
{
    if (!has_entities(q))
        return (qp_set){0};
    qp_set found = qp_search_for(q, themes, "triple.dense", (uint32_t)o->k);
    qp_set edges = found.edges.n ? relations(q, o, (qp_set){.edges = found.edges}) : found;
    qp_set both = qp_budget(q, qp_induce_set(q, edges), "nodes", (uint32_t)o->entity_tokens);
    q->extracted = (qp_set){.nodes = both.nodes, .edges = edges.edges};
    edges.nodes = edges.edges.n ? both.nodes : (qp_list){0};
    edges.nodes = passages(q, o, edges, edges.edges.n);
    return edges;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const lightrag_opt *o = opt;
    qp_walk outer = q->walk;
    qp_set level[3], seen = {0};
    int n = 0;
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_keywords words = qp_keywords_of(q, o->prompt);
    if (*o->mode == 'm')
        level[n++] = qp_budget(q, qp_search(q, "node.dense", (uint32_t)o->k), "nodes", (uint32_t)o->passage_tokens);
    if (*o->mode != 'g') {
        level[n++] = local(q, o, words.low);
        seen = q->extracted;
    }
    if (*o->mode != 'l') {
        level[n++] = global(q, o, words.high);
        seen = qp_turns(q, (qp_set[]){seen, q->extracted}, 2, 0);
    }
    q->extracted = seen;
    qp_set out = qp_turns(q, level, n, 0);
    out.nodes.n = qp_min(out.nodes.n, o->top);
    q->walk = outer;
    return out;
}

const qp_op qp_method_lightrag = {
    .name = "lightrag",
    .help = "entities by the question's details, relations by its themes, and the passages that both lead to; without "
            "a writer "
            "the whole question is both",
    .source = "LightRAG, 3.2; prompt: prompts/keywords.txt",
    .opts = opts,
    .opt_size = sizeof(lightrag_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_LIKES_WRITER,
};
