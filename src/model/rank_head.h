/* The head of a BERT cross-encoder: the latent h of a pair (of [CLS]) to its score,
 *
 *     w2 tanh(W1 h + b1) + b2
 *
 * as BertForSequenceClassification has it (pooler, then classifier). Immutable after opening: any thread.
 */
#ifndef QP_MODEL_RANK_HEAD_H
#define QP_MODEL_RANK_HEAD_H

#include "model/gguf.h"

typedef struct qp_rank_head qp_rank_head;

/* width: of a latent. QP_MODEL if a tensor is missing or of another shape. */
qp_code qp_rank_head_open(const qp_gguf *, uint32_t width, qp_rank_head **, qp_err *);
void qp_rank_head_close(qp_rank_head *); /* takes null */
/* n latents, one behind the other, to as many scores. */
qp_code qp_rank_head_run(const qp_rank_head *, const float *latent, uint32_t n, float *score, qp_err *);

#endif
