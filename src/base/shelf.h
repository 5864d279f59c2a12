/* What is made once of something that does not change, kept for whoever comes next, until the shelf goes. Any
 * thread. */
#ifndef QP_BASE_SHELF_H
#define QP_BASE_SHELF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { QP_SHELF_PLACES = 8, QP_SHELF_KEY = 32 };

typedef struct qp_shelf qp_shelf;
typedef struct qp_shelf_kind {
    qp_code (*make)(void *ctx, void **thing, qp_err *);
    void (*drop)(void *thing);
} qp_shelf_kind;

qp_shelf *qp_shelf_new(void);   /* null without memory */
void qp_shelf_free(qp_shelf *); /* with all that stands on it; takes null */

/* The thing that this kind made under the key (at most QP_SHELF_KEY bytes), or that it makes now while others wait. Not
 * `kept`: every place was taken, or there is no shelf (null); it is the caller's to drop. */
qp_code qp_shelf_get(qp_shelf *, const qp_shelf_kind *, const void *key, size_t n, void *ctx, void **thing, bool *kept,
                     qp_err *);

#endif
