/* Errors: a code, one line for a person, and nothing else.
 *
 * Every call that can fail returns a qp_code and, where it takes a qp_err, fills it on failure and leaves it alone
 * on success. The codes are the exit codes of the command line. The message is one line without a newline: what
 * was wanted, what was found, where, what to try. A null qp_err is allowed everywhere and means "the code will do".
 */
#ifndef QP_BASE_ERR_H
#define QP_BASE_ERR_H

#include "quipu.h" /* qp_code, qp_err */

/* Fills err and returns code, so that a function can say `return qp_fail(err, QP_INPUT, "...", ...)`. The first
 * error sticks: an err that already holds one is not overwritten. */
qp_code qp_fail(qp_err *err, qp_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Out of memory, in the words used everywhere. */
qp_code qp_oom(qp_err *err);

/* The nearest of n names to the one given, for "(did you mean ...?)"; null if none is near (edit distance over a
 * third of the length). */
const char *qp_nearest(const char *name, const char *const *names, size_t n);

#endif
