/* Fits LeSeGR's graph encoder to labelled questions (CG-RAG, 5.1: cross-entropy, AdamW; text encoders stay as they
 * are). */
#ifndef QP_TRAIN_TRAIN_H
#define QP_TRAIN_TRAIN_H

#include "quipu_op.h"
#include "store/snapshot.h"

typedef struct qp_lesson {
    const qp_snapshot *snapshot;
    const qp_model *embedder, *sparse;
    const char *folder; /* of the index: where the weights go */
    int threads;
    uint64_t seed;
} qp_lesson;

extern const qp_op qp_lesson_options; /* the option table; it is never run */

/* Learns until the questions held back get no better, and leaves the best weights in the index's folder (or `file`),
 * written whenever they got better. *json: what was done. QP_STOPPED: cancelled, the best weights are kept. QP_MODEL: a
 * number that is none came up; says where, the last good weights are kept. */
qp_code qp_train_lesegr(const qp_lesson *, const char *dataset, const qp_setting *, size_t n, const qp_watch *,
                        char **json, qp_err *);

#endif
