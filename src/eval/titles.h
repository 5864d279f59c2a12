/* The documents of an index by title. */
#ifndef QP_EVAL_TITLES_H
#define QP_EVAL_TITLES_H

#include "base/arena.h"
#include "eval/hipporag.h"
#include "store/snapshot.h"

typedef struct qp_titles qp_titles;
/* In the arena, but for its map: free it. */
qp_code qp_titles_make(const qp_snapshot *, qp_titles **, qp_arena *, qp_err *);
void qp_titles_free(qp_titles *); /* takes null */
/* For qp_hipporag_read; self is the qp_titles. */
qp_str qp_titles_find(void *self, qp_str title, qp_str text);

#endif
