/* qp_str is a view of bytes that somebody else owns: not terminated, any bytes. qp_buf is a growing buffer that owns
 * its bytes and keeps a terminating NUL after them.
 */
#ifndef QP_BASE_STR_H
#define QP_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "quipu.h" /* qp_str */

#define QP_STR(literal) ((qp_str){"" literal, sizeof(literal) - 1})

static inline qp_str qp_str_of(const char *terminated)
{
    return (qp_str){terminated ? terminated : "", terminated ? strlen(terminated) : 0};
}

static inline bool qp_str_eq(qp_str a, qp_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

/* Byte order, shorter first on a common prefix: <0, 0, >0. */
int qp_str_cmp(qp_str a, qp_str b);
bool qp_str_starts(qp_str s, qp_str prefix);
bool qp_str_has_lines(qp_str text, qp_str lines); /* are these there, as whole lines? */
bool qp_str_ends(qp_str s, qp_str suffix);
/* Without ASCII white space at both ends. */
qp_str qp_str_trim(qp_str s);
/* The bytes [from, to) of s, clamped to s. */
qp_str qp_str_slice(qp_str s, size_t from, size_t to);
/* Splits off what stands before the first `sep`; *rest is what follows it (n == 0 and at == NULL at the end). */
qp_str qp_str_split(qp_str s, char sep, qp_str *rest);

typedef struct qp_buf {
    char *at; /* NUL-terminated once anything was added; null before */
    size_t n, cap;
    bool oom; /* sticky: set when an addition found no memory; later additions do nothing */
} qp_buf;

void qp_buf_add(qp_buf *, const void *bytes, size_t n);
void qp_buf_str(qp_buf *, qp_str);
void qp_buf_text(qp_buf *, const char *terminated);
void qp_buf_char(qp_buf *, char);
void qp_buf_fmt(qp_buf *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void qp_buf_vfmt(qp_buf *, const char *format, va_list);
/* Room for n more bytes; returns where they go (null without memory). The caller adds what it wrote to n. */
char *qp_buf_room(qp_buf *, size_t n);
void qp_buf_clear(qp_buf *); /* empties, keeps the memory */
void qp_buf_free(qp_buf *);  /* frees, zeroes */
static inline qp_str qp_buf_view(const qp_buf *b)
{
    return (qp_str){b->at ? b->at : "", b->n};
}

#endif
