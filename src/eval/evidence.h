/* Where the statements that an answer rests on (`evidence` in answers.jsonl) stand among the passages that were found.
 * No model reads them: a passage bears a statement out that has QP_EVIDENCE_SHARE of its stems, stop words left out. */
#ifndef QP_EVAL_EVIDENCE_H
#define QP_EVAL_EVIDENCE_H

#include "eval/measure.h"
#include "quipu_op.h"

#define QP_EVIDENCE_SHARE 0.8

/* Looks at the first `depth` hits. In `mem`; null without memory. */
qp_evidenced *qp_evidence_find(qp_query *, qp_list hits, uint32_t depth, const qp_str *statement, uint32_t n,
                               qp_arena *mem, qp_err *);

#endif
