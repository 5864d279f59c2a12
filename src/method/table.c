/* The methods, in the order of the manual. */
#include "base/err.h"
#include "method/method.h"
#include "method/methods.h"
#include "op/op.h"

static const qp_op *const all[] = {&qp_method_fastinsight,
                                   &qp_method_gar,
                                   &qp_method_rerank,
                                   &qp_method_hybrid,
                                   &qp_method_vector,
                                   &qp_method_bm25,
                                   &qp_method_tfidf,
                                   &qp_method_splade,
                                   &qp_method_hyde,
                                   &qp_method_ircot,
                                   NULL};

const qp_op *const *qp_methods(void)
{
    return all;
}
