/* A question's result as JSON, in the shape of the command line's contract. */
#ifndef QP_API_RESULT_H
#define QP_API_RESULT_H

#include "answer/answer.h"
#include "answer/label.h"
#include "op/op.h"
#include "quipu_op.h"

typedef struct qp_result {
    const char *id; /* of the question, or null */
    const qp_op *method;
    const qp_setting *settings; /* as given */
    size_t n_settings;
    qp_set found;
    const qp_answer *answer;   /* null for retrieve */
    const qp_labelled *labels; /* null but for classify */
    const char *writer;        /* name of the model that wrote it; null: extracted */
    const char *degraded;      /* what was missing for the default method, or null */
    double load_ms;            /* of total_ms: opening the index and the models, once a process */
    double total_ms;
    bool explain;
} qp_result;

/* Malloc'ed, compact, one line; freed with qp_free. */
qp_code qp_result_json(qp_query *, const qp_result *, char **json, qp_err *);

#endif
