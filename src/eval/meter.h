/* A model that keeps account of its work, and does the same work for one question only once.
 *
 * An evaluation asks many methods the same question, and most of what they ask of the models is the same: the
 * question's vector, the latents of the same passages. With `share` the second method gets the first one's result, and
 * the account says what it would have paid alone: each text is charged the time it took when it was computed (its
 * share, by length, of its batch). What is not shared is charged as it is spent. One thread at a time.
 */
#ifndef QP_EVAL_METER_H
#define QP_EVAL_METER_H

#include "base/map.h"
#include "quipu_op.h"

enum { QP_METER_RESULTS = 2 }; /* kinds of results kept: vectors of queries and of passages, or latents and ranks */

typedef struct qp_kept { /* results by the digest of what was asked */
    qp_map *number;
    float *value; /* width floats each */
    double *ms;   /* what each cost */
    size_t n, cap;
} qp_kept;

typedef struct qp_meter {
    qp_model model;       /* what a query is given */
    const qp_model *real; /* null: there is no such model */
    bool share;
    double spent_ms;   /* inside the real model, since qp_meter_open */
    double charged_ms; /* what that would have been without sharing */
    qp_kept kept[QP_METER_RESULTS];
} qp_meter;

/* `real` may be null and is not owned. The meter must stay where it is. */
void qp_meter_make(qp_meter *, const qp_model *real, bool share);
void qp_meter_free(qp_meter *);
void qp_meter_forget(qp_meter *); /* for the next question: nothing is shared any more */
void qp_meter_open(qp_meter *);   /* for the next method: the account is empty */
/* The model, or null. */
const qp_model *qp_meter_model(qp_meter *);

#endif
