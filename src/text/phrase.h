/* A text as words that n-grams are made of: folded as terms are (text/terms.h), not stemmed, with what parts them.
 *
 * One thread a qp_phrases; nothing of it outlives the next cut. */
#ifndef QP_TEXT_PHRASE_H
#define QP_TEXT_PHRASE_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_word {
    size_t from, to;   /* bytes of the text */
    qp_str folded;     /* its term */
    uint64_t hash;     /* of folded */
    uint32_t sentence; /* number of the sentence it begins in */
    bool stop;         /* a word of little content (text/stop.h) */
    bool number;       /* no letter in it */
    bool capital;      /* it begins with a capital letter */
    bool first;        /* of its sentence */
    bool parted;       /* something else than space stands before it, or a sentence begins: no n-gram goes over it */
    bool overlaps;     /* a pair of characters that begins in the one before it: Chinese, Japanese, Korean, ... */
} qp_word;

typedef struct qp_phrases qp_phrases;
qp_code qp_phrases_open(qp_phrases **, qp_err *);
void qp_phrases_close(qp_phrases *); /* takes null */
/* The words of a text, in order. */
qp_code qp_phrases_cut(qp_phrases *, qp_str text, const qp_word **, size_t *n, qp_err *);

/* The hash of a run of words, from that of the run without its last; 0 before the first. */
uint64_t qp_phrase_hash(uint64_t before, const qp_word *);
/* Appends the run's name: its words with one space between; overlapping pairs as the characters that they are. */
void qp_phrase_name(const qp_word *, size_t n, qp_buf *);

#endif
