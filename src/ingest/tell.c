#include "ingest/tell.h"

#include "base/clock.h"
#include "base/thread.h"

static const double tell_ms = 100;

qp_code qp_tell_step(qp_tell *t, bool last, qp_err *err)
{
    double now = qp_now_ms();

    if (!t->watch)
        return QP_OK;
    if (t->watch->progress && (last || now - t->told >= tell_ms)) {
        t->told = now;
        t->watch->progress(t->watch->user, &(qp_progress){.stage = t->stage,
                                                          .item = t->item,
                                                          .done = t->done,
                                                          .total = t->total,
                                                          .seconds = (now - t->began) / 1e3});
    }
    if (qp_cancelled(t->watch->cancel))
        return qp_fail(err, QP_STOPPED, "stopped while it was at '%s'; what is done is kept, run it again to go on",
                       t->stage);
    return QP_OK;
}
