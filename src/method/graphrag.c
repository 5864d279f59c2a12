/* GraphRAG (Edge et al. 2024; Microsoft's code, 3.1): local search around entities, global map-reduce over community
 * reports, drift from reports to local searches, and basic vector search.
 */
#include <math.h>

#include "method/graphrag.h"

#include <stdlib.h>

#include "method/methods.h"
#include "op/budget.h"
#include "op/ops.h"

static const qp_opt opts[] = {
    {"mode",
     "local: around entities; global: map-reduce over community reports; drift: from reports to local searches; basic: "
     "vectors",
     QP_ENUM, offsetof(graphrag_opt, mode), "local", 0, 0, "local|global|drift|basic"},
    {"k", "local: entities; basic: passages", QP_INT, offsetof(graphrag_opt, k), "10", 1, 1e6, NULL},
    {"relations", "local: relations for each entity, those between two of them not counted", QP_INT,
     offsetof(graphrag_opt, relations), "10", 0, 1e6, NULL},
    {"level", "the smallest communities that are read; 0: the largest", QP_INT, offsetof(graphrag_opt, level), "2", 0,
     1000, NULL},
    {"largest", "communities of more entities are parted again", QP_INT, offsetof(graphrag_opt, largest), "10", 1, 1e9,
     NULL},
    {"reports",
     "with their communities, as GraphRAG wrote them (tools/from-graphrag --reports); of communities found here: drawn "
     "from the graph, or by the writer, where one is named; auto: given, else drawn",
     QP_ENUM, offsetof(graphrag_opt, reports), "auto", 0, 0, "auto|given|drawn|written"},
    {"tokens", "of all that a writer is given to read at a time", QP_INT, offsetof(graphrag_opt, tokens), "12000", 1,
     1e9, NULL},
    {"text_share", "local: of them for passages", QP_FLOAT, offsetof(graphrag_opt, text_share), "0.5", 0, 1, NULL},
    {"community_share", "local: for reports; relations have the rest", QP_FLOAT,
     offsetof(graphrag_opt, community_share), "0.15", 0, 1, NULL},
    {"points", "global: the most that are taken from a report, or from a batch of reports by the writer", QP_INT,
     offsetof(graphrag_opt, points), "5", 1, QP_REPORT_RELATIONS, NULL},
    {"followups", "drift: local searches in each round", QP_INT, offsetof(graphrag_opt, followups), "20", 1, 62, NULL},
    {"depth", "drift: rounds, with a writer; one without", QP_INT, offsetof(graphrag_opt, depth), "3", 1, 16, NULL},
    {"map_prompt", "a file with {question}, {reports} and {k} instead of prompts/graphrag-map.txt", QP_TEXT,
     offsetof(graphrag_opt, map_prompt), NULL, 0, 0, NULL},
    {"drift_prompt", "a file with {question}, {known} and {k} instead of prompts/graphrag-drift.txt", QP_TEXT,
     offsetof(graphrag_opt, drift_prompt), NULL, 0, 0, NULL},
    {"seed", "of Leiden", QP_INT, offsetof(graphrag_opt, seed), "0", 0, 1e15, NULL},
    QP_EDGES_OPTION(graphrag_opt),
    QP_TOP_OPTION(graphrag_opt),
    {0}};

bool graphrag_writes(const qp_query *q, const graphrag_opt *o)
{
    return q->writer && *o->reports == 'w';
}

void graphrag_report(qp_query *q, qp_str lines, uint32_t tokens)
{
    const qp_model *counter = q->writer && q->writer->count ? q->writer : q->embedder;
    qp_str both = qp_arena_fmt(q->mem, "%.*s%s%.*s", (int)q->report.n, q->report.n ? q->report.at : "",
                               q->report.n ? "\n" : "", (int)lines.n, lines.at);
    uint32_t n = 0;
    if (!both.at)
        qp_oom(&q->err);
    else if (!qp_str_has_lines(q->report, lines) && !qp_count_tokens(counter, &both, 1, &n, &q->err) && n <= tokens)
        q->report = both;
}

/* ---- local ---- */

qp_set graphrag_units(qp_query *q, qp_set set, const char *count, const uint64_t *texts)
{
    const uint64_t *outer = q->allow;
    q->allow = texts;
    set = qp_units(q, set, count);
    q->allow = outer;
    return set;
}

qp_set graphrag_local(qp_query *q, const graphrag_opt *o, const uint64_t *texts)
{
    bool entities = q->graph->entity < q->graph->nodes;
    double rest = 1 - o->text_share - o->community_share;
    qp_set found = qp_search(q, entities ? "entity.dense" : "node.dense", (uint32_t)o->k);
    qp_set out = qp_relations(q, qp_set_of(found.nodes), "links", (uint32_t)o->relations);
    out = qp_budget(q, out, "edges", (uint32_t)((rest > 0 ? rest : 0) * (double)o->tokens) + 1);
    q->extracted = (qp_set){.nodes = found.nodes, .edges = out.edges};
    out.nodes = found.nodes;
    if (entities && q->graph->entity)
        out.nodes = qp_budget(q, graphrag_units(q, qp_set_of(found.nodes), "first", texts), "nodes",
                              (uint32_t)(o->text_share * (double)o->tokens) + 1)
                        .nodes;
    return out;
}

typedef struct match {
    uint32_t community, entities, relations;
} match;

static int best_first(const void *a, const void *b)
{
    const match *x = a, *y = b;
    if (x->entities != y->entities)
        return x->entities > y->entities ? -1 : 1;
    if (x->relations != y->relations)
        return x->relations > y->relations ? -1 : 1;
    return (x->community > y->community) - (x->community < y->community);
}

/* Reports of the entities' communities: those with most of them first, then the larger. */
static void report_on(qp_query *q, const graphrag_opt *o, const qp_communities *c, qp_list entities)
{
    match *at = qp_new(q->mem, match, entities.n + 1u);
    uint32_t n = 0;
    if (!at)
        qp_oom(&q->err);
    for (uint32_t i = 0; at && i < entities.n; i++) {
        uint32_t community = qp_community_at(c, entities.at[i].id - c->first, (uint32_t)o->level), j = 0;
        if (community == QP_NO_COMMUNITY || (c->given && !qp_query_allows(q, c->given[community].from)))
            continue;
        while (j < n && at[j].community != community)
            j++;
        if (j == n)
            at[n++] = (match){community, 0, c->all[community]};
        at[j].entities++;
    }
    if (n)
        qsort(at, n, sizeof *at, best_first);
    for (uint32_t i = 0; i < n && q->err.code == QP_OK; i++)
        graphrag_report(q, qp_str_trim(qp_community_report(q, c, at[i].community, graphrag_writes(q, o))),
                        (uint32_t)(o->community_share * (double)o->tokens));
}

/* Reports tell relations by their vectors, which documents without entities do not have. */
static bool reports_can_be_read(qp_query *q, const graphrag_opt *o)
{
    if (*o->mode != 'l' && q->graph->entity == q->graph->nodes)
        qp_fail(&q->err, QP_INPUT,
                "graphrag: mode=%s reads reports on entities, and the index has none: index with -o graph=text, or ask "
                "with -o "
                "mode=local",
                o->mode);
    return q->err.code == QP_OK;
}

/* Null: those of communities found here. */
static const qp_reports *asked_for(qp_query *q, const graphrag_opt *o, const qp_reports *given)
{
    if (*o->reports == 'g' && !given->n)
        qp_fail(&q->err, QP_INPUT,
                "graphrag: reports=given, and the index has none of GraphRAG's: import them with `tools/from-graphrag "
                "--reports`, or ask with -o reports=drawn");
    return *o->reports == 'g' || (*o->reports == 'a' && given->n) ? given : NULL;
}

static qp_set basic(qp_query *q, const graphrag_opt *o, const uint64_t *texts)
{
    const uint64_t *outer = q->allow;
    q->allow = texts;
    qp_set out = qp_budget(q, qp_search(q, "node.dense", qp_min(o->k, o->top)), "nodes", (uint32_t)o->tokens);
    q->allow = outer;
    return out;
}

/* Given reports are no passages to GraphRAG, whosever reports are read. */
static qp_set search(qp_query *q, const graphrag_opt *o, const qp_reports *given)
{
    const qp_reports *read = asked_for(q, o, given);
    const uint64_t *texts = qp_reports_beside(q, given);
    qp_communities c = {0};
    qp_set out = {0};
    if (q->err.code != QP_OK)
        return out;
    if (*o->mode == 'b')
        return basic(q, o, texts);
    if (reports_can_be_read(q, o) && qp_query_communities(q, read, (uint32_t)o->largest, (uint64_t)o->seed, &c)) {
        out = *o->mode == 'g'   ? graphrag_global(q, o, &c, texts)
              : *o->mode == 'd' ? graphrag_drift(q, o, &c, texts)
                                : graphrag_local(q, o, texts);
        if (*o->mode == 'l')
            report_on(q, o, &c, q->extracted.nodes);
    }
    qp_communities_done(&c);
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const graphrag_opt *o = opt;
    qp_walk outer = q->walk;
    qp_reports given;
    qp_set out = {0};
    (void)in, (void)n_in;
    q->walk = qp_query_walk(q, o->edges, NULL);
    q->report = (qp_str){"", 0};
    if (qp_query_reports(q, &given))
        out = search(q, o, &given);
    qp_reports_done(&given);
    q->walk = outer;
    return qp_cut_to(q, out, (uint32_t)o->top);
}

const qp_op qp_method_graphrag = {
    .name = "graphrag",
    .help = "Microsoft's GraphRAG: local search, global map-reduce over community reports, drift, basic; without a "
            "writer reports "
            "and points are drawn from the graph",
    .source = "GraphRAG (Edge et al. 2024), code 3.1; prompts: prompts/graphrag-*.txt, prompts/lego-report.txt",
    .opts = opts,
    .opt_size = sizeof(graphrag_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER | QP_LIKES_WRITER,
};
