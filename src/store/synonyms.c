#include "store/synonyms.h"

#include <stdlib.h>

#include "base/thread.h"
#include "quipu_op.h"
#include "store/ann.h"
#include "store/dot.h"

static float cosine(const qp_likeness *a, uint32_t x, uint32_t y)
{
    return a->scales[x] * a->scales[y] *
           (float)qp_dot_i8(a->codes + (size_t)x * a->dim, a->codes + (size_t)y * a->dim, a->dim);
}

static qp_code join(const qp_likeness *a, qp_links *links, uint32_t x, uint32_t y, qp_err *err)
{
    uint32_t low = x < y ? x : y, high = x < y ? y : x;
    return qp_links_add(links, low, high, QP_STR(QP_SYNONYM), cosine(a, x, y), QP_STR(""), err);
}

struct nearest {
    uint32_t id[QP_SYNONYMS], n;
    float cos[QP_SYNONYMS];
};

/* Kept in order; of equals the one that came first. */
static void take(struct nearest *best, uint32_t id, float cos)
{
    uint32_t at = best->n < QP_SYNONYMS ? best->n++ : QP_SYNONYMS;
    for (; at && best->cos[at - 1] < cos; at--)
        if (at < QP_SYNONYMS) {
            best->id[at] = best->id[at - 1];
            best->cos[at] = best->cos[at - 1];
        }
    if (at < QP_SYNONYMS) {
        best->id[at] = id;
        best->cos[at] = cos;
    }
}

static void look_at_all(const qp_likeness *a, uint32_t x, struct nearest *best)
{
    best->n = 0;
    for (uint32_t y = a->from; y < a->to; y++) {
        float cos = y == x || a->scales[y] <= 0 ? 0 : cosine(a, x, y);
        if (cos > a->phi)
            take(best, y, cos);
    }
}

static void look_at_near(const qp_likeness *a, uint32_t x, const uint32_t *near, struct nearest *best)
{
    best->n = 0;
    for (uint32_t i = 0; i <= QP_SYNONYMS && near[i] != UINT32_MAX; i++) {
        float cos = near[i] == x ? 0 : cosine(a, x, near[i]);
        if (cos > a->phi)
            take(best, near[i], cos);
    }
}

static qp_code join_all(const qp_likeness *a, const uint32_t *near, qp_links *links, qp_err *err)
{
    struct nearest best;
    qp_code code = QP_OK;
    for (uint32_t x = a->from; !code && x < a->to; x++) {
        if (qp_cancelled(a->cancel))
            return qp_fail(err, QP_STOPPED, "stopped while synonyms were sought; run it again to go on");
        if (a->scales[x] <= 0)
            continue;
        if (near)
            look_at_near(a, x, near + (size_t)(x - a->from) * (QP_SYNONYMS + 1), &best);
        else
            look_at_all(a, x, &best);
        for (uint32_t i = 0; !code && i < best.n; i++)
            code = join(a, links, x, best.id[i], err);
    }
    return code;
}

qp_code qp_synonyms(const qp_likeness *a, qp_links *links, uint64_t *n, qp_err *err)
{
    size_t before = qp_links_count(links), entities = a->to - a->from;
    uint32_t *near = NULL;
    qp_code code = QP_OK;
    if (entities > a->pairs_to) {
        near = malloc(entities * (QP_SYNONYMS + 1) * sizeof *near);
        code = near ? qp_ann_near(a->codes, a->scales, a->from, a->to, a->dim, QP_SYNONYMS + 1, a->cancel, near, err)
                    : qp_oom(err);
    }
    code = code ? code : join_all(a, near, links, err);
    free(near);
    *n = qp_links_count(links) - before;
    return code;
}
