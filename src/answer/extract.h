/* An answer in the sources' own words: the sentences nearest to the question, each with its citation. */
#ifndef QP_ANSWER_EXTRACT_H
#define QP_ANSWER_EXTRACT_H

#include "answer/answer.h"
#include "answer/source.h"

/* The best sentences (at most three, none far below the best), in the order of their sources; never empty while the
 * sources are not. */
qp_code qp_answer_extract(qp_query *, const qp_sources *, qp_answer *, qp_err *);

#endif
