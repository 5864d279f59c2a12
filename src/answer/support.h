/* Which sentence of the sources supports a sentence of the answer.
 *
 * Ours, no paper's: a source sentence supports one when it holds at least 60 % of its content words (stemmed, stop
 * words left out), or when the embedder puts the two at a cosine of .8 or above; and in both cases every number of the
 * answer's sentence stands in the source's too. It finds paraphrase and copying; it does not prove entailment.
 */
#ifndef QP_ANSWER_SUPPORT_H
#define QP_ANSWER_SUPPORT_H

#include "answer/source.h"

typedef struct qp_support qp_support;

/* Prepares the sources' sentences; lives in the query's arena but for its terms, so it is closed. */
qp_code qp_support_open(qp_query *, const qp_sources *, qp_support **, qp_err *);
void qp_support_close(qp_support *); /* takes null */

/* The sentence that supports `claim` best, among those of `source` (QP_NO_ID: of any); null if none does. */
qp_code qp_support_find(qp_support *, qp_str claim, uint32_t source, const qp_sentence **, qp_err *);

#endif
