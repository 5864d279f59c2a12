/* Evidence -> prompt -> cited, checked answer. */
#ifndef QP_ANSWER_ANSWER_H
#define QP_ANSWER_ANSWER_H

#include "quipu_op.h"

typedef struct qp_citation {
    uint32_t n; /* the number in the answer: [n] */
    qp_id node;
    uint64_t from, to; /* the quote, bytes in the document's text */
    qp_str quote;
    bool supported; /* a sentence of the source was found that supports the sentence of the answer */
} qp_citation;

enum { QP_WITHOUT_MAX = 256 };

typedef struct qp_answer {
    qp_str text; /* with [n] marks */
    const qp_citation *citations;
    uint32_t n_citations;
    uint32_t unsupported;  /* sentences of the answer that no source supports */
    const qp_str *without; /* the first QP_WITHOUT_MAX of them, in order */
    bool extracted;        /* quoted, not written */
    uint32_t prompt_tokens, answer_tokens;
} qp_answer;

typedef struct qp_answer_options {
    bool extract;
    uint32_t context_tokens, answer_tokens;
    uint64_t seed;       /* of the writer */
    const char *prompt;  /* a file that replaces prompts/answer.txt, lego-reason.txt or graph-answer.txt, or null */
    const char *choices; /* "support|counter": the writer says one of these and nothing else; or null */
    void (*token)(void *user, const char *text, size_t n);
    void *user;
} qp_answer_options;

/* From the hits of a retrieval, best first, from its paths, or from the subgraph that it extracted. Without a writer,
 * or with `extract`, the best sentences are quoted. */
qp_code qp_answer_make(qp_query *, qp_set evidence, const qp_answer_options *, qp_answer *, qp_err *);

#endif
