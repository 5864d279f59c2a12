/* Answers read off a graph, without a writer. */
#ifndef QP_OP_ANSWERS_H
#define QP_OP_ANSWERS_H

#include "op/op.h"

/* Candidates for an answer, best first, in the query's arena. Of paths: their ends, first those that are reached by the
 * same relations as the best path's, from the same start (*predicted of them: what one would answer), then the others.
 * Of a method without paths: its nodes, the first predicted. Never a node that the question started from. */
qp_list qp_path_answers(qp_query *, qp_set found, uint32_t *predicted);

/* The nodes of paths by first appearance, each once, at most `top`. */
qp_list qp_path_nodes(qp_query *, qp_list paths, uint32_t top);

#endif
