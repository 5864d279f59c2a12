/* A decoder of Llama's kind, run for its attention alone: token ids in, what the heads of the last layer put out at the
 * last token, before the output projection, out. Immutable once open: any thread.
 *
 * Why not llama.cpp, which runs it as well: nothing is generated, so there is no cache to keep; many short texts share
 * each layer's weights; and weights and activations are floats, where llama.cpp rounds activations to 8 bits beside
 * weights of 4. Layers: x += O attend(rope(QKV norm(x))), x += D (silu(G norm(x)) * U norm(x)), norm by root mean
 * square.
 */
#ifndef QP_MODEL_DECODER_H
#define QP_MODEL_DECODER_H

#include "model/attend.h"
#include "model/encoder.h"

typedef struct qp_decoder qp_decoder;

/* Is it a file of this kind, without a key or a tensor that is not known here, and small enough to be held as floats?
 * Whatever is not goes to llama.cpp. */
bool qp_decoder_takes(const qp_gguf *);

/* QP_MODEL if a tensor is missing or of another shape than the rest says. The file must outlive the decoder. */
qp_code qp_decoder_open(const qp_gguf *, int threads, qp_decoder **, qp_err *);
void qp_decoder_close(qp_decoder *); /* takes null */
const qp_heads *qp_decoder_heads(const qp_decoder *);
uint32_t qp_decoder_context(const qp_decoder *); /* tokens of a text that it was trained on; longer ones are run, too */

/* n sequences of one token or more (`first` is not looked at) to n x heads x dim floats. The bits of each depend on its
 * tokens alone. QP_MODEL if an id is out of range. */
qp_code qp_decoder_run(const qp_decoder *, const qp_sequence *, uint32_t n, float *out, qp_err *);

#endif
