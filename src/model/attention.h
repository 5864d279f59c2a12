/* What qp_model.attend takes out of a running llama.cpp graph: the last layer's attention, before its output
 * projection.
 *
 * llama.cpp names that tensor "kqv_out-LAYER" in every family, and calls back as each tensor is computed. Nothing that
 * would follow (projection, feed-forward, logits) is computed.
 */
#ifndef QP_MODEL_ATTENTION_H
#define QP_MODEL_ATTENTION_H

#include <llama.h>

#include "base/err.h"

typedef struct qp_tap { /* one a context, for as long as that lives */
    char name[24];      /* of the tensor */
    bool mean;          /* over the tokens; false: of the last one */
    float *out;         /* heads x head_dim; null: only the two are wanted */
    bool taken;         /* since it was last set to false */
    uint32_t heads, head_dim;
} qp_tap;

/* Sets the callback. What stands in the parameters for precision and pooling is set, too: keys and values are kept as
 * floats, because halves would cost three digits. */
void qp_tap_install(qp_tap *, const struct llama_model *, struct llama_context_params *);

/* Looks at the model as it computes a token: how many heads, how wide, and does it see all of a text at once? QP_MODEL
 * if its last layer has no attention that could be read. */
qp_code qp_tap_probe(struct llama_model *, const char *path, qp_tap *found, qp_err *);

#endif
