/* The content words of a text: stemmed, stop words left out, each once. What quoting and support compare. */
#ifndef QP_ANSWER_WORDS_H
#define QP_ANSWER_WORDS_H

#include "base/arena.h"
#include "text/terms.h"

typedef struct qp_words {
    qp_str *at;
    uint32_t n; /* at most 256: the first ones of a longer text */
} qp_words;

/* In the arena; empty without memory. */
qp_words qp_words_of(qp_terms *, qp_str text, qp_arena *);

/* The share of a's words that b holds, in [0, 1]; 0 if a has none. */
float qp_words_share(const qp_words *a, const qp_words *b);
/* Does b lack one of a's words that hold a digit? */
bool qp_words_lack_number(const qp_words *a, const qp_words *b);

#endif
