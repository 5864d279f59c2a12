/* An answer from a part of a knowledge graph, told breadth first (GEAR, III-D). */
#ifndef QP_ANSWER_FROM_GRAPH_H
#define QP_ANSWER_FROM_GRAPH_H

#include "answer/answer.h"

/* Written from the subgraph that the query's method extracted; needs a writer. Names, one after the other, each with a
 * citation: a triple that it stands in. A name that stands in none is left without one and counted as unsupported. */
qp_code qp_answer_from_graph(qp_query *, qp_set evidence, const qp_answer_options *, qp_answer *, qp_err *);

#endif
