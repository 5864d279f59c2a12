/* What a BERT makes of a question and a text together: the latent of a cross-encoder, and its score. */
#include <stdlib.h>

#include "model/bert_model.h"

/* The passage gives way to the query; a query that would leave it less than a quarter is itself cut. */
qp_code qp_bert_latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_bert_job j = {.b = self, .pool = ((qp_bert *)self)->pool, .take = qp_bert_take_vectors, .to = out};
    const qp_tokenizer *t = &j.b->tokenizer;
    if (!n)
        return QP_OK;
    uint32_t room = j.b->model.max_tokens - 2 - t->between;
    qp_ids asked = {0};
    qp_tokenizer_run(t, query, room - room / 4, &asked);
    qp_code code = asked.oom ? qp_oom(err) : qp_bert_begin(&j, n, err);
    for (uint32_t i = 0; i < n && !code; i++) {
        j.cut.starts[i] = j.cut.ids.n;
        qp_ids_add(&j.cut.ids, t->begin);
        for (uint32_t k = 0; k < asked.n; k++)
            qp_ids_add(&j.cut.ids, asked.at[k]);
        for (uint32_t k = 0; k < t->between; k++)
            qp_ids_add(&j.cut.ids, t->end);
        j.cut.sequences[i].first = j.b->segments ? j.cut.ids.n - j.cut.starts[i] : UINT32_MAX;
        qp_tokenizer_run(t, text[i], room - asked.n, &j.cut.ids);
        qp_ids_add(&j.cut.ids, t->end);
    }
    if (!code)
        code = qp_bert_run(&j, err);
    qp_bert_end(&j);
    free(asked.at);
    return code;
}

qp_code qp_bert_head(void *self, const float *latent, uint32_t n, float *score, qp_err *err)
{
    const qp_bert *b = self;
    return qp_rank_head_run(b->head, latent, n, score, err);
}

qp_code qp_bert_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    const qp_bert *b = self;
    float *latent = malloc(((size_t)n * b->model.width + 1) * sizeof *latent);
    qp_code code = latent ? qp_bert_latent(self, query, text, n, latent, err) : qp_oom(err);
    if (!code)
        code = qp_bert_head(self, latent, n, score, err);
    free(latent);
    return code;
}
