/* Threads: a loop over items on several cores. */
#ifndef QP_BASE_THREAD_H
#define QP_BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Calls fn(ctx, worker, i) for each i in [0, n), on up to `threads` threads (0: one per core), items in rising order
 * as workers get free. worker is in [0, threads). Stops handing out items after the first error; that error (the one
 * of the lowest i that failed) is returned. With one thread everything runs in the caller's. */
qp_code qp_parallel(int threads, size_t n, qp_code (*fn)(void *ctx, int worker, size_t i, qp_err *), void *ctx,
                    qp_err *);
int qp_cores(void);

/* How long whoever asks on this thread will wait, and what tells it to stop: calls that wait for another machine look
 * at it. qp_parallel hands it to its workers. Setting it gives what was set before. */
typedef struct qp_patience {
    double deadline; /* qp_now_ms() by which it must be over; 0: none */
    volatile const int *cancel;
} qp_patience;
qp_patience qp_patience_set(qp_patience);
qp_patience qp_patience_get(void);

/* Has another thread, or a signal's handler, set the flag? Null: there is none to set. */
static inline bool qp_cancelled(volatile const int *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}

#endif
