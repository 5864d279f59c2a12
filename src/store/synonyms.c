#include "store/synonyms.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- all pairs ---- */

/* Entities of one thread, and those that they are held against while these are in the cache. */
enum { SHARE = 64, TILE = 512 };

struct pairing {
    const qp_likeness *a;
    uint32_t *near;
};

/* Against the entities [from, from + n). */
static void look_at_tile(const qp_likeness *a, uint32_t x, uint32_t from, uint32_t n, struct nearest *best)
{
    int32_t dot[TILE];
    qp_dot_i8_rows(a->codes + (size_t)x * a->dim, a->codes + (size_t)from * a->dim, n, a->dim, dot);
    for (uint32_t y = from; y < from + n; y++) {
        const float cos = a->scales[x] * a->scales[y] * (float)dot[y - from];
        if (cos > a->phi && y != x && a->scales[y] > 0)
            take(best, y, cos);
    }
}

static qp_code pair_share(void *ctx, int worker, size_t share, qp_err *err)
{
    const struct pairing *p = ctx;
    const qp_likeness *a = p->a;
    const uint32_t begin = a->from + (uint32_t)share * SHARE, end = a->to - begin < SHARE ? a->to : begin + SHARE;
    struct nearest best[SHARE];
    (void)worker;
    if (qp_cancelled(a->cancel))
        return qp_fail(err, QP_STOPPED, "stopped while synonyms were sought; run it again to go on");
    for (uint32_t x = begin; x < end; x++)
        best[x - begin].n = 0;
    for (uint32_t from = a->from, n; from < a->to; from += n) {
        n = a->to - from < TILE ? a->to - from : TILE;
        for (uint32_t x = begin; x < end; x++)
            if (a->scales[x] > 0)
                look_at_tile(a, x, from, n, &best[x - begin]);
    }
    for (uint32_t x = begin; x < end; x++) {
        uint32_t *row = p->near + (size_t)(x - a->from) * (QP_SYNONYMS + 1);
        memcpy(row, best[x - begin].id, best[x - begin].n * sizeof *row);
        row[best[x - begin].n] = UINT32_MAX;
    }
    return QP_OK;
}

static qp_code look_at_all(const qp_likeness *a, uint32_t *near, qp_err *err)
{
    struct pairing p = {a, near};
    return qp_parallel(a->threads, ((size_t)(a->to - a->from) + SHARE - 1) / SHARE, pair_share, &p, err);
}

/* ---- what is near enough is joined ---- */

static void choose(const qp_likeness *a, uint32_t x, const uint32_t *near, struct nearest *best)
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
    for (uint32_t x = a->from; !code && x < a->to; x++, near += QP_SYNONYMS + 1) {
        if (a->scales[x] <= 0)
            continue;
        choose(a, x, near, &best);
        for (uint32_t i = 0; !code && i < best.n; i++)
            code = join(a, links, x, best.id[i], err);
    }
    return code;
}

qp_code qp_synonyms(const qp_likeness *a, qp_links *links, uint64_t *n, qp_err *err)
{
    const size_t before = qp_links_count(links), entities = a->to - a->from;
    uint32_t *near = malloc((entities + 1) * (QP_SYNONYMS + 1) * sizeof *near); /* of each, UINT32_MAX at the end */
    qp_code code = near ? QP_OK : qp_oom(err);
    if (!code && entities > a->pairs_to)
        code = qp_ann_near(a->codes, a->scales, a->from, a->to, a->dim, QP_SYNONYMS + 1, a->cancel, near, err);
    else if (!code)
        code = look_at_all(a, near, err);
    code = code ? code : join_all(a, near, links, err);
    free(near);
    *n = qp_links_count(links) - before;
    return code;
}
