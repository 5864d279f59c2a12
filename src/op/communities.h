/* The communities of a query's graph, and what is reported of each (GraphRAG): made once for a view that keeps things,
 * else for each who asks.
 *
 * Entities alone, where there are any; edges of the query's walk, both ways. A report without a writer is drawn from
 * the graph: the community's best joined entities, and those of its relations whose ends are joined best. Where the
 * index was given communities with their reports, they can be taken as they are.
 */
#ifndef QP_OP_COMMUNITIES_H
#define QP_OP_COMMUNITIES_H

#include "graph/hierarchy.h"
#include "op/reports.h"

enum { QP_REPORT_RELATIONS = 20 };

typedef struct qp_communities {
    qp_hierarchy parts;        /* of places: node - first; given ones without members, and not with every place */
    const qp_report *given;    /* of community i given[i]; null: the communities are Leiden's */
    qp_id first;               /* the first node */
    const uint32_t *relations; /* of community i relation[i * QP_REPORT_RELATIONS ..], so many, best joined first */
    const qp_id *relation;
    const uint32_t *all; /* how many relations it holds */
    void *made;
    bool kept;
} qp_communities;

/* Leiden's, where `given` is null: communities of more than `largest` nodes are parted again. False after an error. To
 * be given back in any case. */
bool qp_query_communities(qp_query *, const qp_reports *given, uint32_t largest, uint64_t seed, qp_communities *);
void qp_communities_done(qp_communities *);

/* The community of a node that is read at a level: the smallest not below it. QP_NO_COMMUNITY: of given ones none. */
uint32_t qp_community_at(const qp_communities *, uint32_t place, uint32_t level);
/* All of them, each once: bit per community; null after an error. */
const uint64_t *qp_communities_at(qp_query *, const qp_communities *, uint32_t level);

/* The given report. Else lines: "Community of A, B, C:", then a relation on each. Written by the query's writer if
 * `written` (prompts/lego-report.txt), once for each community as long as the view keeps things. Empty after an
 * error. */
qp_str qp_community_report(qp_query *, const qp_communities *, uint32_t community, bool written);

#endif
