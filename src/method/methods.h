/* The methods by name, one a file; private to src/method. */
#ifndef QP_METHOD_METHODS_H
#define QP_METHOD_METHODS_H

#include "quipu_op.h"

extern const qp_op qp_method_vector, qp_method_bm25, qp_method_tfidf, qp_method_hybrid, qp_method_rerank, qp_method_gar,
    qp_method_hyde, qp_method_ircot, qp_method_splade, qp_method_fastinsight, qp_method_gear, qp_method_gear_ppr,
    qp_method_gear_pcst, qp_method_g_retriever, qp_method_tog, qp_method_zero_shot, qp_method_cot, qp_method_lego,
    qp_method_lego_1, qp_method_lego_2, qp_method_lego_3, qp_method_lego_4, qp_method_lego_5, qp_method_lego_6,
    qp_method_lego_7, qp_method_lego_8, qp_method_lego_9, qp_method_lego_10, qp_method_lego_11, qp_method_lego_12,
    qp_method_lego_13, qp_method_lego_14, qp_method_lego_15, qp_method_lego_16, qp_method_agrag, qp_method_hipporag2,
    qp_method_fast_graphrag, qp_method_naive, qp_method_lightrag, qp_method_pathrag, qp_method_graphrag;
extern const qp_op qp_method_doc2query, qp_method_colbert, qp_method_cg_rag, qp_method_clear, qp_method_spar;

#endif
