/* What a judge, a writer model of the user's choice, says of an answer; its prompts are files: judge-accuracy.txt,
 * judge-covers.txt, judge-supports.txt, judge-better.txt. It answers under a grammar, so nothing it says is
 * unreadable. */
#ifndef QP_EVAL_JUDGED_H
#define QP_EVAL_JUDGED_H

#include "eval/measure.h"
#include "quipu_op.h"

/* q->writer is the judge. Of `statement` (what a right answer says) coverage is asked, of the passages in `found`
 * faithfulness. Fills the numbers of *out, whose text and gold are there. After an error they are as they were. */
qp_code qp_judge_answer(qp_query *q, qp_list found, const qp_str *statement, uint32_t n, qp_answered *out, qp_err *);

/* q->writer is the judge. Sets out->win against the rival's answer, null: it has none. `prompt`: a file; null:
 * judge-better.txt. */
qp_code qp_judge_win(qp_query *q, const char *prompt, const qp_answered *rival, qp_answered *out, qp_err *err);

#endif
