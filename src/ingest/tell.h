/* Progress, told seldom enough, and whether to go on. One thread. */
#ifndef QP_INGEST_TELL_H
#define QP_INGEST_TELL_H

#include "base/err.h"

typedef struct qp_tell {
    const qp_watch *watch;    /* null: nobody listens */
    const char *stage, *item; /* as in qp_progress */
    uint64_t done, total;
    double began, told; /* qp_now_ms() of the stage's begin and of the last time; told is written */
} qp_tell;

/* Tells, if a tenth of a second is over or this is the stage's last. QP_STOPPED after cancel. */
qp_code qp_tell_step(qp_tell *, bool last, qp_err *);

#endif
