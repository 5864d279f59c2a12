/* A view with edges of one question: an edge of the index that, for the question, joins another pair of nodes, as a
 * citation of a document one of its chunks. They are numbered on from the edges of the view below, and are shown, told
 * and read as any other, by the vectors of the edge that they come from; what walks the graph does not meet them. */
#ifndef QP_OP_OVERLAY_H
#define QP_OP_OVERLAY_H

#include "op/op.h"

typedef struct qp_led { /* an edge of the query's view, and the ends that it has for the question */
    qp_id edge, from, to;
} qp_led;

/* Lays the edges over the query's view for as long as the query lives, and returns them all, in order of id; one that
 * keeps its ends keeps its number. Empty after an error. */
qp_list qp_overlay(qp_query *, const qp_led *, uint32_t n);

#endif
