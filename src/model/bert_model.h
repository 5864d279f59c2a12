/* What the files of our own encoders share: bert.c (opening), bert_batch.c (many sequences over the cores), bert_text.c
 * (what is made of a text), bert_pair.c (of a question and a text). Private to them. */
#ifndef QP_MODEL_BERT_MODEL_H
#define QP_MODEL_BERT_MODEL_H

#include <pthread.h>

#include "model/batches.h"
#include "model/encoder.h"
#include "model/model.h"
#include "model/rank_head.h"
#include "model/splade.h"
#include "model/tokens.h"

typedef struct qp_bert {
    qp_model model;
    qp_gguf file;
    char *name;
    qp_digest digest;
    qp_tokenizer tokenizer;
    qp_encoder *encoder;
    qp_pool pool;
    bool segments; /* the passage of a pair is segment 1 */
    int threads;
    qp_str query_prefix, passage_prefix;
    qp_rank_head *head;   /* of a reranker */
    qp_splade *splade;    /* of a sparse encoder */
    float *projection;    /* token_dim x width, of vectors of tokens; null: they are the encoder's */
    int32_t marker[2];    /* what stands behind [CLS] then, of a passage and of a query; -1: nothing */
    pthread_mutex_t lock; /* of the two below */
    qp_workspace **idle;  /* workspaces nobody uses now */
    uint32_t n_idle;
} qp_bert;

/* Many sequences, cut into batches that the cores share. */
typedef struct qp_bert_job qp_bert_job;
struct qp_bert_job {
    qp_bert *b;
    qp_pool pool;
    /* What batch i came to: its rows, or one row a sequence, as the pool is. Called by many threads. */
    qp_code (*take)(const qp_bert_job *, size_t i, const float *rows, qp_err *);
    void *to;              /* what `take` fills, in the caller's order; an array, or a struct of the caller's */
    const int32_t *marker; /* behind [CLS]; null, or below 0: nothing */
    qp_batches cut;
    qp_workspace **spaces; /* by worker */
};

/* Begin; put ids, starts and first of the n sequences into cut; run; and end, also after an error. */
qp_code qp_bert_begin(qp_bert_job *, uint32_t n, qp_err *);
qp_code qp_bert_run(qp_bert_job *, qp_err *);
void qp_bert_end(qp_bert_job *);
/* All of that for texts, each behind the prefix of its role. */
qp_code qp_bert_texts(qp_bert_job *, qp_role, const qp_str *text, uint32_t n, qp_err *);
/* A `take`: the one row of each sequence, into `to`: n x width floats. */
qp_code qp_bert_take_vectors(const qp_bert_job *, size_t i, const float *rows, qp_err *);

/* What a qp_model does (quipu_op.h). */
qp_code qp_bert_embed(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);
qp_code qp_bert_embed_spans(void *, const qp_str *text, uint32_t n, const qp_text_span *, uint32_t m, float *out,
                            float *of_spans, qp_err *);
qp_code qp_bert_tokens(void *, qp_role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *, qp_err *);
qp_code qp_bert_attend(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);
qp_code qp_bert_weigh(void *, qp_role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *, qp_err *);
qp_code qp_bert_count(void *, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *);
qp_code qp_bert_latent(void *, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *);
qp_code qp_bert_head(void *, const float *latent, uint32_t n, float *score, qp_err *);
qp_code qp_bert_rank(void *, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *);

#endif
