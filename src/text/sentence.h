/* Sentences of running text.
 *
 * UAX #29's sentence rules with three departures for text as it comes out of files: a line break inside a paragraph is
 * a space (text is often wrapped), while a blank line, a list item and a table row ("| ...") begin a new sentence; a
 * full stop after a common abbreviation or an initial ends none ("et al. (2010)", "Fig. 3", "J. Smith"); and ASCII !
 * and ? end one only before a space ("?q=1"). The ideographic full stop and its like need no space after them.
 *
 * Any thread; nothing is allocated. */
#ifndef QP_TEXT_SENTENCE_H
#define QP_TEXT_SENTENCE_H

#include "base/str.h"

typedef struct qp_span {
    size_t from, to; /* bytes [from, to) */
} qp_span;

/* The next sentence that begins at or after *at, without white space at its ends; *at moves past it. False: no more.
 * Run from 0 to the end, the sentences hold every byte of the text that is not white space. Broken UTF-8 does no
 * harm. */
bool qp_sentence_next(qp_str text, size_t *at, qp_span *out);

#endif
