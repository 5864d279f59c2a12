/* An answer by a writer: prompt, stream, then every citation and every sentence is checked against the sources. */
#ifndef QP_ANSWER_COMPOSE_H
#define QP_ANSWER_COMPOSE_H

#include "answer/answer.h"
#include "answer/source.h"

/* Marks that name no source are taken out of the text; a sentence without support gets none and is counted. */
qp_code qp_answer_compose(qp_query *, const qp_sources *, const qp_answer_options *, qp_answer *, qp_err *);

#endif
