/* Answers from a given list, for classification: the writer can say nothing else. */
#ifndef QP_ANSWER_GRAMMAR_H
#define QP_ANSWER_GRAMMAR_H

#include "answer/answer.h"

/* GBNF of one of the options' choices, in the query's arena; null where there are none, and after an error. */
const char *qp_answer_grammar(qp_query *, const qp_answer_options *);

#endif
