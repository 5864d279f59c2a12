/* A text with {fields}: prompts that users can replace. */
#ifndef QP_BASE_TEMPLATE_H
#define QP_BASE_TEMPLATE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef struct qp_field { /* {name} becomes value */
    const char *name;
    qp_str value;
} qp_field;

/* Other braces, and braces in values, stay as they are. */
void qp_template_fill(qp_buf *out, qp_str text, const qp_field *, size_t n);
/* The text of `file`, or of prompts/`standard` among Quipu's files where file is null or empty. QP_INPUT: there is
 * none. */
qp_code qp_template_read(const char *file, const char *standard, qp_buf *out, qp_arena *, qp_err *);
/* Does it have this field? A prompt that lost the one that matters asks for nothing. */
bool qp_template_has(qp_str text, const char *field);

#endif
