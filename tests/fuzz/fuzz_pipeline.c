/* A pipeline from somewhere else: load it; if it is one, run it for a moment on a small graph. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_view.h"
#include "method/method.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const qp_op *op)
{
    static fake_graph g;
    static fake_model embedder, ranker;
    qp_random r = qp_random_seed(1);
    fake_random(&g, &r);
    fake_models(&embedder, &ranker);
    qp_query q = fake_query(&g, &embedder, &ranker);
    q.deadline = qp_now_ms() + 20;
    void *opt = qp_options_new(op, NULL, 0, q.mem, &q.err);
    if (opt)
        qp_run(&q, op, NULL, 0, opt);
    qp_query_end(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const qp_op *op = NULL;
    qp_err err = {0};
    int file = memfd_create("pipeline", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (qp_pipeline_load(path, qp_methods(), &op, &err) == QP_OK)
        run(op);
    else if (!*err.message)
        abort();
    qp_pipeline_free(op);
    close(file);
    return 0;
}
