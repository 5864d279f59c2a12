/* A hash map from ids to numbers, in an arena: which position a node has in a list, which candidate it is. Grows by
 * leaving its old table to the arena, so it suits the life of one question.
 */
#ifndef QP_OP_IDMAP_H
#define QP_OP_IDMAP_H

#include "base/arena.h"
#include "quipu_op.h"

typedef struct qp_idmap {
    qp_arena *mem;
    qp_id *key; /* QP_NO_ID: free */
    uint32_t *value;
    uint32_t n, slots; /* slots: 0 or a power of two, at least twice n */
} qp_idmap;

qp_idmap qp_idmap_in(qp_arena *);
/* The value of id, made as `fresh` if new (*added tells, may be null); null without memory. It moves when the map
 * grows. id is not QP_NO_ID. */
uint32_t *qp_idmap_put(qp_idmap *, qp_id id, uint32_t fresh, bool *added);
/* The value of id, or null. */
uint32_t *qp_idmap_get(const qp_idmap *, qp_id id);

#endif
