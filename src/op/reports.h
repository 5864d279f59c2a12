/* Reports on communities that an index was given: passages of documents "report:N" with the metadata {"community": N,
 * "level": L}, as tools/from-graphrag leaves GraphRAG's. The entities that stand in one are its community.
 *
 * Looked for once for a view that keeps things, else for each who asks.
 */
#ifndef QP_OP_REPORTS_H
#define QP_OP_REPORTS_H

#include "op/op.h"

typedef struct qp_report {
    int64_t number; /* GraphRAG's, of the community */
    uint32_t level; /* 0: the largest communities */
    qp_id from, to; /* its passages: nodes [from, to), at least one */
} qp_report;

typedef struct qp_reports {
    const qp_report *at; /* by (level, number) */
    uint32_t n;
    void *made;
    bool kept;
} qp_reports;

/* False after an error. To be given back in any case. */
bool qp_query_reports(qp_query *, qp_reports *);
void qp_reports_done(qp_reports *);

/* Bit per node: what the query allows, without the reports; null where that is everything, or after an error. */
const uint64_t *qp_reports_beside(qp_query *, const qp_reports *);
/* The text, its passages joined; empty after an error. In the query's arena. */
qp_str qp_report_text(qp_query *, const qp_report *);
/* Adds the vectors of its passages (node.dense) to sum, dim floats. False after an error. */
bool qp_report_vector(qp_query *, const qp_report *, float *sum);

#endif
