/* What llama.c (opening, embedding, attending, ranking), llama_input.c (its tokens), llama_attend.c (our own decoder)
 * and generator.c (generating) share. */
#ifndef QP_MODEL_LLAMA_MODEL_H
#define QP_MODEL_LLAMA_MODEL_H

#include <llama.h>
#include <pthread.h>

#include "model/attention.h"
#include "model/decoder.h"
#include "model/gguf.h"
#include "model/model.h"
#include "model/wordpiece.h"

typedef struct qp_generator qp_generator;

typedef struct qp_context { /* one sequence at a time */
    struct llama_context *llama;
    qp_tap tap; /* where the model is open for its attention */
} qp_context;

typedef struct qp_llama {
    qp_model model;
    char *path, *name;
    qp_digest digest;
    struct llama_model *llama;
    const struct llama_vocab *vocab;
    bool modern_bert;
    int threads;
    char *query_prefix, *passage_prefix;
    qp_tap attention;     /* heads: 0 where the model is open for something else */
    qp_decoder *decoder;  /* or this for attention, and of llama.cpp the vocabulary alone */
    qp_gguf file;         /* open as long as the decoder is */
    pthread_mutex_t lock; /* of the two below */
    qp_context **idle;    /* contexts nobody uses now */
    int n_idle;
    qp_generator *generator;
} qp_llama;

/* ---- llama_input.c: each appends ----
 * The tokens of text. special: read "<|im_start|>" and the like as what it spells; only for templates. */
void qp_llama_tokens(const qp_llama *, qp_str text, bool add_special, bool special, qp_ids *);

/* What a model embeds or attends to: prefix and text, with the tokens that open and close an input, cut to what the
 * model takes, never none. */
void qp_llama_text(const qp_llama *, qp_str prefix, qp_str text, qp_ids *);

/* A reranker's pair, never none; a template of the file's may make it longer than what the model takes. */
void qp_llama_pair(const qp_llama *, qp_str query, qp_str text, qp_ids *);

/* qp_model.attend by our own decoder. */
qp_code qp_llama_attend(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);

/* The part of a model that writes: one context, kept between calls with what it has read; calls queue for it. */
qp_code qp_generator_open(qp_llama *, qp_err *);
void qp_generator_close(qp_generator *); /* takes null */

#endif
