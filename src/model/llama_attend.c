/* Attention of many texts by our own decoder. */
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "model/batches.h"
#include "model/llama_model.h"

enum { BATCH_ROWS = 256 }; /* that share a layer's weights, which are more than any cache holds */

typedef struct job {
    const qp_llama *m;
    qp_batches cut;
    float *out; /* in the caller's order */
} job;

static qp_code run_batch(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker;
    const job *j = self;
    const uint32_t from = j->cut.batches[i], n = j->cut.batches[i + 1] - from;
    const size_t row = (size_t)j->m->model.heads * j->m->model.head_dim;
    float *rows = malloc(n * row * sizeof *rows);
    qp_code code = rows ? qp_decoder_run(j->m->decoder, j->cut.sequences + from, n, rows, err) : qp_oom(err);
    for (uint32_t k = 0; k < n && !code; k++)
        memcpy(j->out + j->cut.order[from + k] * row, rows + k * row, row * sizeof *rows);
    free(rows);
    return code;
}

qp_code qp_llama_attend(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    const qp_llama *m = self;
    job j = {.m = m, .out = out};
    const qp_str prefix = qp_str_of(role == QP_QUERY ? m->query_prefix : m->passage_prefix);
    if (!n)
        return QP_OK;
    qp_ids one = {0};
    qp_ggml_quiet();
    qp_code code = qp_batches_begin(&j.cut, n, err);
    for (uint32_t i = 0; i < n && !code; i++) {
        one.n = 0;
        qp_llama_text(m, prefix, text[i], &one);
        j.cut.starts[i] = j.cut.ids.n;
        for (uint32_t k = 0; k < one.n; k++)
            qp_ids_add(&j.cut.ids, one.at[k]);
    }
    j.cut.ids.oom |= one.oom;
    if (!code)
        code = qp_batches_plan(&j.cut, m->threads, BATCH_ROWS, err);
    if (!code)
        code = qp_parallel(m->threads, j.cut.n_batches, run_batch, &j, err);
    qp_batches_end(&j.cut);
    free(one.at);
    return code;
}
