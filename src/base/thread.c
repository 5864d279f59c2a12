#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int qp_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (int)n;
}

static _Thread_local qp_patience patience;

qp_patience qp_patience_set(qp_patience p)
{
    qp_patience before = patience;
    patience = p;
    return before;
}

qp_patience qp_patience_get(void)
{
    return patience;
}

typedef struct loop {
    qp_patience patience;
    qp_code (*fn)(void *, int, size_t, qp_err *);
    void *ctx;
    size_t n;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* guards the three below */
    size_t failed_at;
    qp_code code;
    qp_err err;
} loop;

typedef struct worker {
    loop *loop;
    int number;
} worker;

static void fail_at(loop *l, size_t i, qp_code code, const qp_err *err)
{
    pthread_mutex_lock(&l->lock);
    if (l->code == QP_OK || i < l->failed_at) {
        l->failed_at = i;
        l->code = code;
        l->err = *err;
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->failed, true);
}

static void *work(void *arg)
{
    worker *w = arg;
    loop *l = w->loop;
    patience = l->patience;
    while (!atomic_load(&l->failed)) {
        size_t i = atomic_fetch_add(&l->next, 1);
        if (i >= l->n)
            break;
        qp_err err = {0};
        qp_code code = l->fn(l->ctx, w->number, i, &err);
        if (code)
            fail_at(l, i, code, &err);
    }
    return NULL;
}

qp_code qp_parallel(int threads, size_t n, qp_code (*fn)(void *, int, size_t, qp_err *), void *ctx, qp_err *err)
{
    enum { MOST = 256 };
    if (threads <= 0)
        threads = qp_cores();
    if (threads > MOST)
        threads = MOST;
    if ((size_t)threads > n)
        threads = n ? (int)n : 1;
    loop l = {.patience = patience, .fn = fn, .ctx = ctx, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER};
    worker workers[MOST];
    pthread_t ids[MOST];
    int started = 0; /* a thread that cannot be started is work for the others */
    for (int t = 1; t < threads; t++) {
        workers[t] = (worker){&l, t};
        if (pthread_create(&ids[started], NULL, work, &workers[t]))
            break;
        started++;
    }
    workers[0] = (worker){&l, 0};
    work(&workers[0]);
    for (int t = 0; t < started; t++)
        pthread_join(ids[t], NULL);
    if (l.code)
        return qp_fail(err, l.code, "%s", l.err.message);
    return QP_OK;
}
