/* The methods by name, one a file; private to src/method. */
#ifndef QP_METHOD_METHODS_H
#define QP_METHOD_METHODS_H

#include "quipu_op.h"

extern const qp_op qp_method_vector, qp_method_bm25, qp_method_tfidf, qp_method_hybrid, qp_method_rerank, qp_method_gar,
    qp_method_hyde, qp_method_ircot, qp_method_splade, qp_method_fastinsight;

#endif
