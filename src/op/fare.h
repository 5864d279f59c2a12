/* What the edges of a query's graph cost it, as src/graph/mcmi reads them: c = (1 - cos(q, fact)) / 2 (AGRAG, equation
 * 13).
 *
 * The fact of a relation is "head -> relation -> tail", of an edge between a passage and an entity the passage, of one
 * between two entities that mean the same, or between two passages, the mean of both vectors, unit length again; or,
 * where it is so asked, the text of each. Vectors are those of the index; where it keeps none of triples, a relation is
 * the mean of its ends, too.
 */
#ifndef QP_OP_FARE_H
#define QP_OP_FARE_H

#include "graph/mcmi.h"
#include "op/op.h"

typedef struct qp_fare_opt { /* the options that operators with costs share */
    const char *edges, *fact;
    double least, pseudo;
} qp_fare_opt;

#define QP_FARE_OPTIONS(type) /* its member `fare` */                                                                  \
    QP_OPTION("edges", "edge types walked, as cites,ref; * = all; not set: the method's", QP_TEXT,                     \
              offsetof(type, fare.edges), NULL, 0, 0, NULL),                                                           \
        QP_OPTION("fact",                                                                                              \
                  "what of a mention or a synonym is near the question: vectors of passage and entities, or its text", \
                  QP_ENUM, offsetof(type, fare.fact), "vector", 0, 0, "vector|text"),                                  \
        QP_OPTION("least", "what an edge costs at least", QP_FLOAT, offsetof(type, fare.least), "0.001", 1e-9, 1,      \
                  NULL),                                                                                               \
        QP_OPTION("pseudo", "what it costs to hang a part from the pseudo node, by a passage", QP_FLOAT,               \
                  offsetof(type, fare.pseudo), "10", 0, 1e6, NULL)
#define QP_FARE_STANDARD         \
    {                            \
        NULL, "vector", 1e-3, 10 \
    }

typedef struct qp_fares qp_fares;

/* In the query's arena, and for its time. The walk goes across. Null after an error. */
qp_fares *qp_fares_new(qp_query *, const qp_fare_opt *);
const qp_mcmi_graph *qp_fares_graph(const qp_fares *);
/* The costs of n edges, which are not looked at twice within a row; false after an error. */
bool qp_fares_of(qp_fares *, const qp_id *edge, uint32_t n, float *cost);
/* A subgraph as a set: nodes by `score` (null: all 0), edges by their cosine, best first. */
qp_set qp_fares_set(qp_query *, const qp_mcmi *, const float *score);

#endif
