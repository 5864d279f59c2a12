/* The operators by name, one a file, and the options that several share; for src/op and src/method. */
#ifndef QP_OP_OPS_H
#define QP_OP_OPS_H

#include "op/op.h"

extern const qp_op qp_op_search, qp_op_fuse, qp_op_hop, qp_op_score, qp_op_rerank, qp_op_granker, qp_op_stex,
    qp_op_join, qp_op_minus, qp_op_top, qp_op_link, qp_op_ppr, qp_op_rwr, qp_op_induce, qp_op_paths, qp_op_beam,
    qp_op_vote, qp_op_blend, qp_op_judge, qp_op_ends, qp_op_balance, qp_op_gather, qp_op_steiner, qp_op_enrich,
    qp_op_relations, qp_op_units, qp_op_budget, qp_op_turns, qp_op_flow;
extern const qp_op qp_op_maxsim, qp_op_lesegr, qp_op_ego, qp_op_concat, qp_op_facts, qp_op_summarise;
extern const qp_op qp_op_repeat; /* a word of pipelines: it has a manual, and is run by them alone */

typedef struct qp_search_opt { /* for callers that set more than qp_search does */
    const char *index;
    int64_t k;
    bool exact;
    double k1, b;
} qp_search_opt;

typedef struct qp_maxsim_opt {
    int64_t probes, candidates;
    double threshold;
    bool exact;
    int64_t k;
} qp_maxsim_opt;

/* Of an operator whose options begin with qp_maxsim_opt. */
#define QP_MAXSIM_OPTIONS(type)                                                                                       \
    {"probes", "centroids looked at for each of the question's tokens; 0: PLAID's, 1 up to 10 results, 2 to 100, 4",  \
     QP_INT,   offsetof(type, probes),                                                                                \
     "0",      0,                                                                                                     \
     65536,    NULL},                                                                                                 \
        {"candidates",                                                                                                \
         "passages scored by all of their centroids, of which a quarter is unpacked; 0: PLAID's, 256, 1024, 4096",    \
         QP_INT,                                                                                                      \
         offsetof(type, candidates),                                                                                  \
         "0",                                                                                                         \
         0,                                                                                                           \
         1e9,                                                                                                         \
         NULL},                                                                                                       \
        {"threshold",                                                                                                 \
         "the first scores leave out centroids that no token of the question is as near to; 0: PLAID's, .5, .45, .4", \
         QP_FLOAT,                                                                                                    \
         offsetof(type, threshold),                                                                                   \
         "0",                                                                                                         \
         -1,                                                                                                          \
         1,                                                                                                           \
         NULL},                                                                                                       \
    {                                                                                                                 \
        "exact", "unpack all passages: no stages", QP_BOOL, offsetof(type, exact), "false", 0, 0, NULL                \
    }

typedef struct qp_ppr_opt { /* for callers that set more than qp_ppr_from does */
    int64_t top;
    double alpha, tolerance;
    const char *engine, *within, *edges, *direction;
    int64_t seed;
    bool by_score;
    bool passages; /* within the graph: they alone are wanted, where there are any */
    bool single;   /* exact: in f32 */
    bool even;     /* what is at a node without neighbours goes to all nodes alike, not back to the start */
} qp_ppr_opt;

typedef struct qp_facts_opt { /* for callers that set more than qp_near_facts does */
    int64_t k, entities, rescore;
} qp_facts_opt;
#define QP_FACTS_OF 50 /* entities, by default */
#define QP_RESCORE_OPTION(type)                                                                       \
    QP_OPTION("rescore",                                                                              \
              "ours: of so many facts the texts are embedded, too, and their cosines decide; 0: the " \
              "index's vectors do",                                                                   \
              QP_INT, offsetof(type, rescore), "0", 0, 1000, NULL)

#define QP_PPR_ENGINE_OPTION(type)                                                                       \
    QP_OPTION("engine", "how PPR is computed; auto: exact in small graphs, fast in large ones", QP_ENUM, \
              offsetof(type, engine), "auto", 0, 0, "auto|exact|bounded|fast|fora|backward")
#define QP_PPR_WITHIN_OPTION(type)                                                                                 \
    QP_OPTION("within",                                                                                            \
              "where PPR stays: in the whole graph, or in the communities of its starts (index -o partition=yes)", \
              QP_ENUM, offsetof(type, within), "graph", 0, 0, "graph|partition")

typedef struct qp_summarise_opt {
    const char *by, *prompt;
    int64_t summed, tokens;
    bool chunks;
} qp_summarise_opt;
unsigned qp_summarise_asks(const void *opt); /* of options that begin with these */

#define QP_SUMMARISE_OPTIONS(type, in)                                                                                 \
    {"summaries",                                                                                                      \
     "of each of the first results and what is around it, for the answer: none, their nearest sentences (extract), "   \
     "or what the writer says",                                                                                        \
     QP_ENUM,                                                                                                          \
     offsetof(type, in by),                                                                                            \
     "none",                                                                                                           \
     0,                                                                                                                \
     0,                                                                                                                \
     "none|extract|writer"},                                                                                           \
        {"summed", "how many results are summed up", QP_INT, offsetof(type, in summed), "5", 1, 1000, NULL},           \
        {"summary_tokens", "longest summary that is written", QP_INT, offsetof(type, in tokens), "96", 1, 4096, NULL}, \
        {"summary_prompt",                                                                                             \
         "a file with {question}, {passage} and {around}; not set: prompts/summary.txt",                               \
         QP_TEXT,                                                                                                      \
         offsetof(type, in prompt),                                                                                    \
         NULL,                                                                                                         \
         0,                                                                                                            \
         0,                                                                                                            \
         NULL},                                                                                                        \
    {                                                                                                                  \
        "chunks", "the writer reads the results beside their summaries; false: the summaries alone", QP_BOOL,          \
            offsetof(type, in chunks), "true", 0, 0, NULL                                                              \
    }

/* The scores that an index gives to these nodes, whatever their rank in it, the best first; nodes that it gives none
 * are left out. */
qp_set qp_search_among(qp_query *, const char *index, qp_list of);

/* The entities named in these lines, a name each, in their order; 64 at most. What names none is left out. */
qp_list qp_link_lines(qp_query *, qp_str lines);

/* The two options of every operator that walks. */
#define QP_EDGES_HERE(type)                                                                        \
    QP_OPTION("edges", "edge types walked, as cites,ref; * = all; not set: the method's", QP_TEXT, \
              offsetof(type, edges), NULL, 0, 0, NULL)
#define QP_DIRECTION_HERE(type)                                                                                 \
    QP_OPTION("direction", "which way; query: the method's", QP_ENUM, offsetof(type, direction), "query", 0, 0, \
              "query|both|out|in")

/* The walk that a degree counts: of the nodes that reach a node. Against the arrow, if the walk has a direction. */
static inline qp_walk qp_walk_reversed(qp_walk w)
{
    w.direction = w.direction == QP_OUT ? QP_IN : w.direction == QP_IN ? QP_OUT : QP_BOTH;
    return w;
}

static inline bool qp_query_allows(const qp_query *q, qp_id id)
{
    return !q->allow || (q->allow[id / 64] >> (id % 64) & 1);
}

#endif
