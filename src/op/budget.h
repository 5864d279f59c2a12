/* Tokens of texts, by a model that counts, or else by words. */
#ifndef QP_OP_BUDGET_H
#define QP_OP_BUDGET_H

#include "op/op.h"

/* counter: null, or one that cannot count: four thirds of the words, a rule of thumb for English. */
qp_code qp_count_tokens(const qp_model *counter, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *);

#endif
