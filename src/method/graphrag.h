/* GraphRAG's four ways to search: graphrag.c composes them. Private to src/method. */
#ifndef QP_METHOD_GRAPHRAG_H
#define QP_METHOD_GRAPHRAG_H

#include "method/first.h"
#include "op/communities.h"

typedef struct graphrag_opt {
    const char *mode, *reports, *edges, *map_prompt, *drift_prompt;
    int64_t k, relations, level, largest, tokens, points, followups, depth, seed, top;
    double text_share, community_share;
} graphrag_opt;

enum { GRAPHRAG_FOLD = 5 }; /* reports that are read at once: one of its folds */

/* `texts`: bit per node, the passages that may be found, given reports not among them; null: all. */
/* Local search from the entities nearest to q->vector: passages, relations; the entities and relations are
 * extracted. */
qp_set graphrag_local(qp_query *, const graphrag_opt *, const uint64_t *texts);
/* Map-reduce over the communities' reports. */
qp_set graphrag_global(qp_query *, const graphrag_opt *, const qp_communities *, const uint64_t *texts);
/* Local search for the question and for what follows from the reports nearest to it. */
qp_set graphrag_drift(qp_query *, const graphrag_opt *, const qp_communities *, const uint64_t *texts);
/* qp_units, of these passages. */
qp_set graphrag_units(qp_query *, qp_set, const char *count, const uint64_t *texts);

typedef struct graphrag_rated { /* a community, and how near the question it is */
    uint32_t community;
    float score;   /* cosine of the mean vector of its relations, or of its given report's passages */
    qp_list edges; /* its relations that may be read, nearest first, cosines as scores */
} graphrag_rated;

/* The communities of the level, nearest first; *n of them. Null after an error. */
const graphrag_rated *graphrag_rate(qp_query *, const graphrag_opt *, const qp_communities *, uint32_t *n);
/* Adds lines to q->report, if they are not there and have no more than `tokens` together with what is. */
void graphrag_report(qp_query *, qp_str lines, uint32_t tokens);
bool graphrag_writes(const qp_query *, const graphrag_opt *); /* Are reports written? */

#endif
