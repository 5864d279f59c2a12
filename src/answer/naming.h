/* An answer made of names, one after the other, each cited by what holds it in the evidence. */
#ifndef QP_ANSWER_NAMING_H
#define QP_ANSWER_NAMING_H

#include "answer/answer.h"

/* What of the evidence holds the name, and its node; an empty text: nothing does. */
typedef qp_str (*qp_naming_fact)(void *self, qp_str name, qp_id *node);

typedef struct qp_naming qp_naming; /* in the query's arena */

/* Null after an error. */
qp_naming *qp_naming_new(qp_query *, qp_naming_fact, void *self);
/* A name that nothing holds stays without a citation and is counted as unsupported; beyond 64 names there are no
 * more. */
void qp_naming_add(qp_naming *, qp_str name);
/* What a writer said: a name on each line, marks of a list before it left out. */
void qp_naming_add_lines(qp_naming *, qp_str said);
/* The text, the citations and the counts of the answer. To be called once, after errors too. */
void qp_naming_end(qp_naming *, qp_answer *);

#endif
