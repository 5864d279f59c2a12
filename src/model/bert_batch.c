/* Many sequences over the cores: batches of about as many rows, each worker with a workspace of its own. */
#include <stdlib.h>

#include "base/thread.h"
#include "model/bert_model.h"

enum { BATCH_ROWS = 128 }; /* a batch ends with the sequence that brings it here */

static qp_workspace *take_workspace(qp_bert *b)
{
    qp_workspace *w = NULL;
    pthread_mutex_lock(&b->lock);
    if (b->n_idle)
        w = b->idle[--b->n_idle];
    pthread_mutex_unlock(&b->lock);
    return w ? w : qp_workspace_new();
}

static void give_workspace(qp_bert *b, qp_workspace *w)
{
    pthread_mutex_lock(&b->lock);
    bool kept = b->n_idle < (uint32_t)b->threads;
    if (kept)
        b->idle[b->n_idle++] = w;
    pthread_mutex_unlock(&b->lock);
    if (!kept)
        qp_workspace_free(w);
}

static qp_code run_batch(void *self, int worker, size_t i, qp_err *err)
{
    const qp_bert_job *j = self;
    const qp_sequence *s = j->cut.sequences + j->cut.batches[i];
    uint32_t n = j->cut.batches[i + 1] - j->cut.batches[i], rows = j->pool == QP_POOL_NONE ? 0 : n;
    if (!j->spaces[worker] && !(j->spaces[worker] = take_workspace(j->b)))
        return qp_oom(err);
    for (uint32_t k = 0; j->pool == QP_POOL_NONE && k < n; k++)
        rows += s[k].n;
    float *out = malloc((size_t)rows * qp_encoder_width(j->b->encoder) * sizeof *out);
    if (!out)
        return qp_oom(err);
    qp_code code = qp_encoder_run(j->b->encoder, j->spaces[worker], s, n, j->pool, out, err);
    if (!code)
        code = j->take(j, i, out, err);
    free(out);
    return code;
}

qp_code qp_bert_take_vectors(const qp_bert_job *j, size_t i, const float *rows, qp_err *err)
{
    const uint32_t width = qp_encoder_width(j->b->encoder);
    float *out = j->to;
    (void)err;
    for (uint32_t at = j->cut.batches[i]; at < j->cut.batches[i + 1]; at++, rows += width)
        memcpy(out + (size_t)j->cut.order[at] * width, rows, width * sizeof *rows);
    return QP_OK;
}

qp_code qp_bert_begin(qp_bert_job *j, uint32_t n, qp_err *err)
{
    j->spaces = calloc((size_t)j->b->threads, sizeof(qp_workspace *));
    return j->spaces ? qp_batches_begin(&j->cut, n, err) : qp_oom(err);
}

qp_code qp_bert_run(qp_bert_job *j, qp_err *err)
{
    qp_code code = qp_batches_plan(&j->cut, j->b->threads, BATCH_ROWS, err);
    return code ? code : qp_parallel(j->b->threads, j->cut.n_batches, run_batch, j, err);
}

void qp_bert_end(qp_bert_job *j)
{
    for (int i = 0; j->spaces && i < j->b->threads; i++)
        if (j->spaces[i])
            give_workspace(j->b, j->spaces[i]);
    free(j->spaces);
    qp_batches_end(&j->cut);
}

/* ---- texts ---- */

static void add_text(qp_bert_job *j, uint32_t i, qp_str prefix, qp_str text, qp_buf *scratch)
{
    qp_bert *b = j->b;
    if (prefix.n) {
        qp_buf_clear(scratch);
        qp_buf_str(scratch, prefix);
        qp_buf_str(scratch, text);
        text = qp_buf_view(scratch);
        j->cut.ids.oom |= scratch->oom;
    }
    j->cut.starts[i] = j->cut.ids.n;
    qp_ids_add(&j->cut.ids, b->tokenizer.begin);
    const bool marked = j->marker && *j->marker >= 0;
    if (marked)
        qp_ids_add(&j->cut.ids, *j->marker);
    qp_tokenizer_run(&b->tokenizer, text, b->model.max_tokens - 2 - marked, &j->cut.ids);
    qp_ids_add(&j->cut.ids, b->tokenizer.end);
    j->cut.sequences[i].first = UINT32_MAX;
}

qp_code qp_bert_texts(qp_bert_job *j, qp_role role, const qp_str *text, uint32_t n, qp_err *err)
{
    qp_buf scratch = {0};
    if (!n)
        return QP_OK;
    qp_code code = qp_bert_begin(j, n, err);
    for (uint32_t i = 0; i < n && !code; i++)
        add_text(j, i, role == QP_QUERY ? j->b->query_prefix : j->b->passage_prefix, text[i], &scratch);
    if (!code)
        code = qp_bert_run(j, err);
    qp_bert_end(j);
    qp_buf_free(&scratch);
    return code;
}
