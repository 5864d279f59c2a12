/* Terms: what lexical indices count. Text is cut into words, each word is folded (NFKC, case) and stemmed.
 *
 * Words follow UAX #29 (word boundaries) for scripts that write them apart. Chinese, Japanese and Korean, and Thai,
 * Lao, Khmer and Burmese, are cut into overlapping pairs of characters instead ("검색엔진" gives 검색, 색엔, 엔진; a character
 * that stands alone is a term by itself), so that they are found without a dictionary. Departures from UAX #29: sub-
 * and superscripts are digits (H₂O is "h2o", as NFKC makes it); a full stop or colon between letters parts them
 * (sqlite.org is found by "sqlite"); in French, Italian and Catalan an apostrophe parts words (l'homme).
 *
 * Threads: a qp_terms belongs to one thread at a time; open one per thread. It never allocates after it is opened, and
 * its terms depend on the text and the language alone.
 */
#ifndef QP_TEXT_TERMS_H
#define QP_TEXT_TERMS_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_terms qp_terms;

#define QP_TERM_MAX 256 /* a term has at most so many bytes; what is longer is cut at a character */

/* `language`: a language with a Snowball stemmer as ISO 639-1 code or English name ("en", "german"); null, "", "none"
 * or a code without a stemmer ("ko", "ja", "zh", ...): words as they are, folded. Anything else is QP_INPUT. */
qp_code qp_terms_open(const char *language, qp_terms **, qp_err *);
void qp_terms_close(qp_terms *); /* takes null */

/* Calls fn for each term in order of where it begins; the bytes [from, to) of text are the word it was made of (for a
 * pair, both characters). The term is valid during the call only. Broken UTF-8 parts words and is no term. */
typedef void (*qp_term_fn)(void *ctx, qp_str term, size_t from, size_t to);
void qp_terms_each(qp_terms *, qp_str text, qp_term_fn fn, void *ctx);

#endif
