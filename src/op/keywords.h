/* What a question asks for at two levels: themes and relations, entities and details (LightRAG, section 3.2). */
#ifndef QP_OP_KEYWORDS_H
#define QP_OP_KEYWORDS_H

#include "op/op.h"

typedef struct qp_keywords {
    qp_str high, low; /* commas between them; where a level has none, or there is no writer, the whole question */
} qp_keywords;

/* prompt: a file with {question}, or null: prompts/keywords.txt. The whole question twice after an error. */
qp_keywords qp_keywords_of(qp_query *, const char *prompt);
/* A search with other words than the question's, which are the question again after it. */
qp_set qp_search_for(qp_query *, qp_str words, const char *index, uint32_t k);

#endif
