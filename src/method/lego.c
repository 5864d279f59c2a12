/* LEGO-GraphRAG: link, extract a subgraph, retrieve paths; its fifteen instances by name. */
#include "method/lego.h"

#include "method/first.h"
#include "method/methods.h"
#include "op/describe.h"
#include "op/eem.h"
#include "op/answers.h"
#include "op/ops.h"

/* clang-format off */
#define LEGO_OPTIONS(SE, PR, REPORT) { \
    {"se", "subgraph extraction", QP_ENUM, offsetof(lego_opt, se), SE, 0, 0, \
     "sbe-khop|sbe-ppr|sbe-rwr|sae-eem|sae-llm|vdb"}, \
    {"pr", "path retrieval", QP_ENUM, offsetof(lego_opt, pr), PR, 0, 0, \
     "spr|all|osar-eem|osar-llm|isar-eem|isar-llm"}, \
    {"max_ent", "nodes that structure-based extraction keeps", QP_INT, offsetof(lego_opt, max_ent), "1000", 1, 1e9, \
     NULL}, \
    {"max_edge", "triples that semantic extraction keeps", QP_INT, offsetof(lego_opt, max_edge), "64", 1, 1e6, NULL}, \
    {"alpha", "of PPR and of the walk: probability of starting again", QP_FLOAT, offsetof(lego_opt, alpha), "0.15", \
     1e-6, .999999, NULL}, \
    QP_PPR_ENGINE_OPTION(lego_opt), \
    QP_PPR_WITHIN_OPTION(lego_opt), \
    {"khop", "how far sbe-khop goes", QP_INT, offsetof(lego_opt, khop), "2", 1, 16, NULL}, \
    {"top_k", "paths that one-shot retrieval, and refine, keep; nodes that se=vdb starts from", QP_INT, offsetof(lego_opt, top_k), "32", 1, 1e6, NULL}, \
    {"width", "paths kept in a round of beam search", QP_INT, offsetof(lego_opt, width), "8", 1, 10000, NULL}, \
    {"max_hop", "longest path", QP_INT, offsetof(lego_opt, max_hop), "4", 1, 16, NULL}, \
    {"budget", "most paths that are enumerated", QP_INT, offsetof(lego_opt, budget), "4096", 1, 1e8, NULL}, \
    QP_EEM_OPTION(lego_opt), \
    QP_ITEM_OPTION(lego_opt), \
    {"score", "what of a path is scored: all of it, or its last triple alone", QP_ENUM, offsetof(lego_opt, score), \
     "path", 0, 0, "path|triple"}, \
    {"simple", "no node twice in a path", QP_BOOL, offsetof(lego_opt, simple), "true", 0, 0, NULL}, \
    {"prune", "dynamic pruning: a round keeps what is above the mean or a percentile, at most 64", QP_ENUM, \
     offsetof(lego_opt, prune), "none", 0, 0, "none|mean|percentile"}, \
    {"hops", "auto: a question that one triple answers, as the writer says, is pruned by the mean, another has its " \
     "last triples scored; given: score and prune are as they were given", QP_ENUM, offsetof(lego_opt, hops), "given", \
     0, 0, "given|auto"}, \
    {"percentile", "which, of the scores", QP_FLOAT, offsetof(lego_opt, percentile), "0.9", 0, 1, NULL}, \
    {"refine", "the writer chooses from what the beam found", QP_BOOL, offsetof(lego_opt, refine), "false", 0, 0, \
     NULL}, \
    {"stop", "the writer says after each round whether it is enough", QP_BOOL, offsetof(lego_opt, stop), "false", 0, \
     0, NULL}, \
    {"prefilter", \
     "how many the embedder leaves for the writer to choose from; 0: of paths all, of a subgraph's triples four times " \
     "max_edge", \
     QP_INT, offsetof(lego_opt, prefilter), "0", 0, 1e6, NULL}, \
    {"supplement", "the embedder's best fill up what the writer chose", QP_BOOL, offsetof(lego_opt, supplement), \
     "false", 0, 0, NULL}, \
    {"rerank", "one-shot: the semantic model orders what the writer chose", QP_BOOL, offsetof(lego_opt, rerank), \
     "false", 0, 0, NULL}, \
    {"rounds", "one-shot: how often the writer chooses", QP_INT, offsetof(lego_opt, rounds), "1", 1, 16, NULL}, \
    {"window", "items that the writer sees at a time", QP_INT, offsetof(lego_opt, window), "64", 2, 512, NULL}, \
    {"report", "the writer reports on the start's community (GraphRAG), and its report is read with the paths", \
     QP_BOOL, offsetof(lego_opt, report), REPORT, 0, 0, NULL}, \
    {"report_tokens", "longest report", QP_INT, offsetof(lego_opt, report_tokens), "256", 1, 4096, NULL}, \
    {"extract_prompt", "a file instead of prompts/lego-extract.txt", QP_TEXT, offsetof(lego_opt, extract_prompt), \
     NULL, 0, 0, NULL}, \
    {"paths_prompt", "a file instead of prompts/lego-paths.txt", QP_TEXT, offsetof(lego_opt, paths_prompt), NULL, 0, \
     0, NULL}, \
    {"example", "an example for the prompts", QP_TEXT, offsetof(lego_opt, example), NULL, 0, 0, NULL}, \
    {"seed", "of random walks", QP_INT, offsetof(lego_opt, seed), "0", 0, 1e15, NULL}, \
    QP_EDGES_OPTION(lego_opt), \
    {"top", "how many paths, and nodes, are returned", QP_INT, offsetof(lego_opt, top), "10", 1, 1e6, NULL}, \
    {0} \
}
/* clang-format on */

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const lego_opt chosen = lego_predict(q, opt), *o = &chosen;
    qp_walk outer = q->walk;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_set starts = n_in ? in[0] : qp_link_entities(q);
    qp_set sub = lego_extract(q, o, starts);
    q->extracted = sub;
    qp_set out = lego_paths(q, o, starts, sub);
    out.paths.n = qp_min(out.paths.n, o->top);
    out.nodes = qp_path_nodes(q, out.paths, (uint32_t)o->top);
    out.edges = (qp_list){0};
    if (o->report)
        q->report = lego_report(q, o, starts);
    q->context_tokens = qp_path_tokens(q, out.paths) + qp_tokens(q, q->report);
    q->walk = outer;
    return out;
}

static unsigned asks(const void *opt)
{
    const lego_opt *o = opt;
    bool writer = !strcmp(o->se, "sae-llm") || qp_str_ends(qp_str_of(o->pr), QP_STR("llm")) || o->refine || o->stop ||
                  o->report || *o->hops == 'a';
    return QP_NEEDS_EMBEDDER | (*o->eem == 'r' ? QP_NEEDS_RANKER : 0) |
           (writer || *o->eem == 'w' ? QP_NEEDS_WRITER : 0);
}

#define LEGO_TOO_true ", the start's community reported by the writer"
#define LEGO_TOO_false ""
#define LEGO(NAME, WORD, SE, PR, REPORT)                                  \
    static const qp_opt opts_of_##WORD[] = LEGO_OPTIONS(SE, PR, #REPORT); \
    const qp_op qp_method_##WORD = {                                      \
        .name = (NAME),                                                   \
        .help = "subgraph by " SE ", paths by " PR LEGO_TOO_##REPORT,     \
        .source = "LEGO-GraphRAG, Table 1; prompts: prompts/lego-*.txt",  \
        .opts = opts_of_##WORD,                                           \
        .opt_size = sizeof(lego_opt),                                     \
        .in_max = 1,                                                      \
        .run = run,                                                       \
        .needs = QP_NEEDS_EMBEDDER,                                       \
        .asks = asks,                                                     \
    };

LEGO("lego", lego, "sbe-ppr", "spr", false)
LEGO("lego:1", lego_1, "sbe-ppr", "spr", false)
LEGO("lego:2", lego_2, "sae-eem", "osar-eem", false)
LEGO("lego:3", lego_3, "sae-eem", "osar-llm", false)
LEGO("lego:4", lego_4, "sae-llm", "osar-eem", false)
LEGO("lego:5", lego_5, "sae-llm", "osar-llm", false)
LEGO("lego:6", lego_6, "sae-eem", "isar-eem", false)
LEGO("lego:7", lego_7, "sae-eem", "isar-llm", false)
LEGO("lego:8", lego_8, "sae-llm", "isar-eem", false)
LEGO("lego:9", lego_9, "sae-llm", "isar-llm", false)
LEGO("lego:10", lego_10, "sae-eem", "spr", false)
LEGO("lego:11", lego_11, "sae-llm", "spr", false)
LEGO("lego:12", lego_12, "sbe-ppr", "osar-eem", false)
LEGO("lego:13", lego_13, "sbe-ppr", "osar-llm", false)
LEGO("lego:14", lego_14, "sbe-ppr", "isar-eem", false)
LEGO("lego:15", lego_15, "sbe-ppr", "isar-llm", false)
LEGO("lego:16", lego_16, "sbe-ppr", "osar-eem", true)
