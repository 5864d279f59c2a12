/* The random walk that a query's walk means, over the whole graph: made once for a view that keeps things, else for
 * each who asks. */
#ifndef QP_OP_CHAIN_H
#define QP_OP_CHAIN_H

#include "graph/chain.h"
#include "graph/leiden.h"
#include "graph/ppr.h"
#include "graph/rank.h"
#include "op/op.h"

typedef struct qp_walked {
    const qp_chain *chain;
    struct qp_walked_kept *in;
    bool kept;
} qp_walked;

/* False after an error. To be given back in any case, but for a { 0 }, which may. */
bool qp_query_chain(qp_query *, qp_walk, qp_walked *);
void qp_walked_done(qp_walked *);

/* Room to compute PPR in, used before or new; null without memory, which the query then says. To be given back. */
qp_ppr_space *qp_walked_space(qp_query *, const qp_walked *);
void qp_walked_give(const qp_walked *, qp_ppr_space *); /* takes null */

/* The communities that the index keeps. False after an error; n is 0 where there are none, or the walk is not of all
 * edges, both ways, of which they were made. */
bool qp_query_parts(qp_query *, qp_walk, qp_partition *);

/* Scored nodes as a list, without those the query does not allow. */
qp_list qp_query_scored(qp_query *, const qp_scored *, uint32_t n);

#endif
