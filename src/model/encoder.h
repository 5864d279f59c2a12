/* BERT: token ids in, one vector a sequence out. Weights are immutable after opening: any thread, each with its own
 * workspace.
 *
 * A batch is several sequences end to end: the linear layers run over all of its rows at once, attention within each
 * sequence alone, so nothing is padded and nothing is computed that no text asked for.
 */
#ifndef QP_MODEL_ENCODER_H
#define QP_MODEL_ENCODER_H

#include "model/gguf.h"
#include "model/int8.h"
#include "model/kernel.h"

typedef enum qp_pool { /* of the last layer's rows */
                       QP_POOL_MEAN,
                       QP_POOL_FIRST, /* that of [CLS] */
                       QP_POOL_NONE,  /* all of them, sequence after sequence */
                       QP_POOL_HEADS, /* not of its rows but of its attention's, before their projection: their mean */
} qp_pool;

typedef struct qp_sequence {
    const int32_t *ids; /* tokens, special ones included */
    uint32_t n;         /* 1 .. positions of the encoder */
    uint32_t first;     /* ids[first] and what follows it are segment 1 (n: none is) */
} qp_sequence;

typedef struct qp_encoder qp_encoder;
typedef struct qp_workspace qp_workspace;

/* int8: of the linear layers; null: floats. QP_MODEL if a tensor is missing or of another shape than the rest says. The
 * file must outlive the encoder. */
qp_code qp_encoder_open(const qp_gguf *, const qp_int8 *, int threads, qp_encoder **, qp_err *);
void qp_encoder_close(qp_encoder *);           /* takes null */
uint32_t qp_encoder_width(const qp_encoder *); /* of a row */
uint32_t qp_encoder_heads(const qp_encoder *);
uint32_t qp_encoder_positions(const qp_encoder *); /* longest sequence */
/* Do segments 0 and 1 differ at all in this file? */
bool qp_encoder_has_segments(const qp_encoder *);
float qp_encoder_epsilon(const qp_encoder *); /* of its layer norms */

/* The mean of n rows, as QP_POOL_MEAN has it; n > 0. */
void qp_rows_mean(const float *rows, uint32_t n, uint32_t width, float *out);

qp_workspace *qp_workspace_new(void);   /* null without memory; it grows to the largest batch and stays */
void qp_workspace_free(qp_workspace *); /* takes null */

/* n sequences to n x width floats (QP_POOL_NONE: their tokens x width), not normalised. QP_BUG if an id or a length is
 * out of range. */
qp_code qp_encoder_run(const qp_encoder *, qp_workspace *, const qp_sequence *, uint32_t n, qp_pool, float *out,
                       qp_err *);

#endif
