/* CG-RAG's candidates, for the method and for a training. */
#ifndef QP_METHOD_CGRAG_H
#define QP_METHOD_CGRAG_H

#include "op/lesegr.h"
#include "op/ops.h"

typedef struct qp_cgrag_opt {
    qp_lesegr_opt lesegr;
    int64_t seeds, budget, context, top;
    qp_summarise_opt summarise;
} qp_cgrag_opt;

#define QP_CANDIDATE_OPTIONS(type, in)                                                                               \
    {"seeds", "nodes of the sparse and of the dense ranking that candidates grow from",                              \
     QP_INT,  offsetof(type, in seeds),                                                                              \
     "50",    1,                                                                                                     \
     1e6,     NULL},                                                                                                 \
    {                                                                                                                \
        "budget", "candidates in all, those near the best seeds first", QP_INT, offsetof(type, in budget), "100", 1, \
            1e6, NULL                                                                                                \
    }

/* The best of sparse and dense search, and what lies within K hops. */
qp_set qp_cgrag_candidates(qp_query *, qp_set seeds, const qp_cgrag_opt *); /* seeds without nodes: searched */

#endif
