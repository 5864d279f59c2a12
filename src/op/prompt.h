/* Prompts are files that users can replace; what a writer answers to one. */
#ifndef QP_OP_PROMPT_H
#define QP_OP_PROMPT_H

#include "base/template.h"
#include "quipu_op.h"

/* The prompt in `file`, or in prompts/`standard` where file is null, its fields filled in; other braces, and braces in
 * values, stay as they are. Empty after an error; where `question` is a field, a file without {question} is one: the
 * writer would answer all questions alike. */
qp_str qp_prompt(qp_query *, const char *file, const char *standard, const qp_field *, size_t n);
/* Adds an item of a list. Of a long one the middle is left out, so that one name of a megabyte does not cost the others
 * their place in what a writer can read. */
void qp_prompt_add(qp_buf *, qp_str item);
/* What the writer answers, without white space around it. Empty after an error: QP_MODEL if there is no writer. */
qp_str qp_write(qp_query *, qp_str prompt, qp_sampling);

#endif
