/* What indexing asks of a writer: a prompt out of a file, one answer at a time, and what that would cost. */
#ifndef QP_INGEST_WRITING_H
#define QP_INGEST_WRITING_H

#include "base/arena.h"
#include "base/str.h"
#include "quipu_op.h"

/* The text of `file`, or of prompts/`standard` where file is null or empty. QP_INPUT if it lacks one of the fields
 * (their list ends with null): it would ask about nothing, and cost as much. */
qp_code qp_writing_prompt(const char *file, const char *standard, const char *const *fields, qp_buf *out, qp_err *);
/* Greedy, under the grammar where the writer knows grammars; in the arena. */
qp_code qp_writing_ask(const qp_model *writer, qp_str prompt, qp_buf *grammar, uint32_t max_tokens, qp_str *out,
                       qp_arena *, qp_err *);
/* Adds the tokens of a text; a quarter of its bytes where the model (or null) does not count. */
qp_code qp_writing_count(const qp_model *, qp_str text, uint64_t *tokens, qp_err *);

#endif
