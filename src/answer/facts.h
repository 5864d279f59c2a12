/* What a graph says beside the sources: what was reported of its communities, paths, relations. */
#ifndef QP_ANSWER_FACTS_H
#define QP_ANSWER_FACTS_H

#include "quipu_op.h"

/* Passages to quote from, rather than names of entities? */
bool qp_has_passages(const qp_query *, qp_set evidence);
/* Lines of at most `budget` tokens (of `counter`; null: words): the report, the best path last, where a writer reads
 * best (PathRAG), then relations, best first. In the query's arena; empty where there are none, and after an error. */
qp_str qp_facts(qp_query *, qp_set evidence, uint32_t budget, const qp_model *counter);

#endif
