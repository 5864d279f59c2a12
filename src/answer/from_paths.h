/* An answer from paths through a knowledge graph: written from them, or read off their ends. */
#ifndef QP_ANSWER_FROM_PATHS_H
#define QP_ANSWER_FROM_PATHS_H

#include "answer/answer.h"

/* Names, one after the other, each with a citation: the path that comes to it. What a writer names that stands in no
 * path is left without a citation and counted as unsupported. */
qp_code qp_answer_from_paths(qp_query *, qp_set evidence, const qp_answer_options *, qp_answer *, qp_err *);

#endif
