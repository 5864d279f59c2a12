/* Entities by name: they stand in order of (scope, name). */
#include "store/mapped.h"

static int order(const qp_snapshot *s, uint32_t node, qp_str scope, qp_str name)
{
    int by_scope = qp_str_cmp(qp_snapshot_string(s, s->node[node].heading), scope);
    return by_scope ? by_scope : qp_str_cmp(qp_snapshot_string(s, s->node[node].name), name);
}

/* The first entity that does not come before (scope, name). */
static uint32_t lower_bound(const qp_snapshot *s, qp_str scope, qp_str name)
{
    uint32_t low = s->entity, high = s->nodes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order(s, middle, scope, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

qp_code qp_snapshot_find_entities(void *self, qp_str scope, const qp_str *name, uint32_t n, qp_id *out, qp_err *err)
{
    const qp_snapshot *s = self;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = lower_bound(s, scope, name[i]);
        out[i] = v < s->nodes && !order(s, v, scope, name[i]) ? v : QP_NO_ID;
    }
    return QP_OK;
}

qp_code qp_snapshot_scope(void *self, qp_str scope, qp_id *first, uint32_t *n, qp_err *err)
{
    const qp_snapshot *s = self;
    uint32_t low = *first = lower_bound(s, scope, (qp_str){"", 0}), high = s->nodes;
    (void)err;
    while (low < high) { /* the end of the scope */
        uint32_t middle = low + (high - low) / 2;
        if (qp_str_eq(qp_snapshot_string(s, s->node[middle].heading), scope))
            low = middle + 1;
        else
            high = middle;
    }
    *n = low - *first;
    return QP_OK;
}
