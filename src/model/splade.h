/* SPLADE's head: the masked-language-model head of a BERT, whose logits become weights of the vocabulary's terms,
 *
 *     w_j = max over the text's tokens i of ln(1 + relu(logit_ij)),   logit_i = E norm(gelu(W h_i + b)) + c
 *
 * with E the word embeddings (Formal, Lassance, Piwowarski, Clinchant, "SPLADE v2", 2021, eq. 6). [CLS] and [SEP] are
 * tokens too, as in the authors' code. Immutable after opening: any thread.
 */
#ifndef QP_MODEL_SPLADE_H
#define QP_MODEL_SPLADE_H

#include "model/gguf.h"

typedef struct qp_splade qp_splade;

/* width: of a row; epsilon: of the layer norm. QP_MODEL if a tensor is missing or of another shape. */
qp_code qp_splade_open(const qp_gguf *, uint32_t width, float epsilon, qp_splade **, qp_err *);
void qp_splade_close(qp_splade *);           /* takes null */
uint32_t qp_splade_terms(const qp_splade *); /* of the vocabulary */
/* n rows of the encoder's last layer to the weights of all terms, 0 for most. */
qp_code qp_splade_run(const qp_splade *, const float *rows, uint32_t n, float *weight, qp_err *);

#endif
