/* The edges at the nodes of a list, and the best of them. */
#ifndef QP_OP_STAR_H
#define QP_OP_STAR_H

#include "op/op.h"

/* Edges of the query's walk with an end in the list, each once, in the order of the list; scores 0. Ends that may not
 * be returned do not count. In the query's arena; empty after an error. */
qp_list qp_star(qp_query *, qp_list nodes);
/* The k with the largest scores above 0, with those scores; equals in the order they have. score: one for each edge, or
 * null after an error. */
qp_list qp_star_best(qp_query *, qp_list edges, const float *score, uint32_t k);

#endif
