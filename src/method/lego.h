/* LEGO-GraphRAG's modules (its Table 1): a subgraph is extracted around where the question starts, and paths are
 * retrieved from it. Private to src/method; lego.c composes them.
 */
#ifndef QP_METHOD_LEGO_H
#define QP_METHOD_LEGO_H

#include "op/op.h"

typedef struct lego_opt {
    const char *se, *pr; /* modules */
    const char *eem, *item, *score, *prune, *hops, *engine, *within, *edges;
    const char *extract_prompt, *paths_prompt, *item_prompt, *example;
    int64_t report_tokens, max_ent, max_edge, khop, top_k, width, max_hop, budget, rounds, prefilter, window, top, seed;
    double alpha, percentile;
    bool simple, refine, stop, supplement, rerank, report;
} lego_opt;

/* With `hops=auto` the writer chooses between scoring the last triple and pruning (B.8): what to go on with. */
lego_opt lego_predict(qp_query *, const lego_opt *);
/* Nodes with their scores, or edges with theirs. */
qp_set lego_extract(qp_query *, const lego_opt *, qp_set starts);
/* Adds paths, best first, to the subgraph. */
qp_set lego_paths(qp_query *, const lego_opt *, qp_set starts, qp_set sub);
/* What the writer says of the smallest community that holds a start. */
qp_str lego_report(qp_query *, const lego_opt *, qp_set starts);

#endif
