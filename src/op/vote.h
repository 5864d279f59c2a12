/* What the attention heads say (GEAR, section 3): how much each counts, what they vote for, how near a node or an edge
 * is to the question in all of them.
 */
#ifndef QP_OP_VOTE_H
#define QP_OP_VOTE_H

#include "op/op.h"

typedef struct qp_vote_opt {
    int64_t k;
    bool a, b, rank;     /* ablations: each factor of the vote may be left out */
    const float **share; /* for callers: where the heads' shares go; null: nobody asks */
} qp_vote_opt;

/* s_h = a_h b_h of the heads' best k (a: mean norm, b: mean distance), as shares of 1; null after an error. */
const float *qp_head_shares(qp_query *, const qp_vote_opt *);
/* sum over h of share_h cos(q^h, x^h) for n nodes (QP_NODE) or edges (QP_EDGE); share null: the cosine of the
 * heads' outputs end to end, as one vector. Null after an error. */
const float *qp_head_cosines(qp_query *, const float *share, qp_kind, const qp_id *, uint32_t n);

#endif
