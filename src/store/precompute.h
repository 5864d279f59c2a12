/* What is computed of the graph beforehand, so that questions need not: Leiden communities, in which PPR may stay
 * (LEGO-GraphRAG, its appendix B.7, "precomputation"), and the ends of random walks (FORA+). Both are of the graph of
 * all edges, both ways, but those only walked across (qp_walk), and depend on it alone.
 */
#ifndef QP_STORE_PRECOMPUTE_H
#define QP_STORE_PRECOMPUTE_H

#include <stdbool.h>

#include "graph/csr.h"
#include "store/writer.h"

/* Walks stop with QP_WALK_ALPHA, what LEGO restarts with, and are as many as QP_WALK_EPSILON, FORA's own, wants. */
#define QP_WALK_ALPHA .15
#define QP_WALK_EPSILON .5

/* Writes PART* and WALK*, as asked for. Takes what graph/leiden.h says, and 4 bytes a walk. threads: 0: one per core. QP_STOPPED: cancelled. */
qp_code qp_precompute(const qp_csr *graph, bool partition, bool walks, int threads, volatile const int *cancel,
                      qp_writer *, qp_info *, qp_err *);

#endif
