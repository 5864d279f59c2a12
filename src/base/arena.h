/* An arena: memory that is taken piece by piece and given back all at once.
 *
 * One thread at a time. What it hands out is zeroed and aligned to 16 bytes, and lives until the arena is reset or
 * freed. Every allocation can return null; an operator turns that into the query's sticky error with qp_oom().
 */
#ifndef QP_BASE_ARENA_H
#define QP_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

qp_arena *qp_arena_new(void);
void qp_arena_free(qp_arena *);  /* takes null */
void qp_arena_reset(qp_arena *); /* gives everything back, keeps one block for the next use */

void *qp_arena_alloc(qp_arena *, size_t bytes);
/* n items of `size` bytes; null too when n * size overflows. */
void *qp_arena_array(qp_arena *, size_t n, size_t size);
qp_str qp_arena_str(qp_arena *, qp_str);       /* a copy, NUL-terminated behind its end; at is null without memory */
char *qp_arena_cstr(qp_arena *, const char *); /* a copy */
qp_str qp_arena_fmt(qp_arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define qp_new(arena, type, n) ((type *)qp_arena_array((arena), (n), sizeof(type)))

#endif
