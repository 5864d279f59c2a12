/* The sources an answer may rest on: the first hits, numbered from 1, cut into sentences, under a token budget. */
#ifndef QP_ANSWER_SOURCE_H
#define QP_ANSWER_SOURCE_H

#include "quipu_op.h"

typedef struct qp_sentence {
    qp_str text;
    uint32_t source; /* index into sources */
    uint64_t at;     /* where it begins, bytes in the document's text */
    float score;
} qp_sentence;

typedef struct qp_source {
    qp_id node;
    qp_about about;
    qp_str text; /* the chunk's own text, as far as the budget lets it in */
} qp_source;

typedef struct qp_sources {
    qp_source *at;
    uint32_t n;
    qp_sentence *sentences; /* of all sources, in their order */
    uint32_t n_sentences;
    uint32_t tokens; /* of all texts */
    qp_str facts;    /* what a graph says beside them, lines without a number; may be empty */
} qp_sources;

/* From the hits, best first, until `budget` tokens are used (counted by `counter`, null: words); the last one is cut at
 * a sentence. In the query's arena. */
qp_code qp_sources_take(qp_query *, qp_set evidence, uint32_t budget, const qp_model *counter, qp_sources *, qp_err *);

#endif
