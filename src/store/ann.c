/* Walking the links of the approximate index: greedily down the upper layers, then best first in layer 0 (Malkov and
 * Yashunin, Algorithms 2 and 5), over the int8 codes. Links come from a file: each is checked against the number of
 * nodes before it is followed, and a node is visited once, so that a damaged file ends the walk and no more.
 */
#include "store/ann.h"

#include "base/array.h"
#include "store/best.h"
#include "store/dot.h"
#include "store/mapped.h"

enum { LEAST_WIDTH = 128 }; /* candidates kept in layer 0; recall@10 is above .99 from here (tests/unit/test_dense.c) */

struct walk {
    const qp_snapshot *s;
    const int8_t *query;
    float scale;
    uint64_t *seen;
};

static float closeness(const struct walk *w, qp_id v)
{
    const qp_snapshot *s = w->s;
    return w->scale * s->scale[v] * (float)qp_dot_i8(w->query, s->code + (size_t)v * s->dim, s->dim);
}

/* The row of v in a layer: count, then neighbours; null if it lies outside. */
static const uint32_t *row_of(const qp_snapshot *s, qp_id v, uint32_t layer)
{
    uint32_t m = (uint32_t)s->info->ann_m;
    if (!layer)
        return s->ann_base + (size_t)v * (1 + 2 * m);
    uint64_t row = s->ann_upper[v] + (layer - 1);
    return layer <= s->ann_level[v] && row < s->info->ann_rows ? s->ann_links + row * (1 + m) : NULL;
}

static qp_id descend(const struct walk *w, qp_id here)
{
    float best = closeness(w, here);
    for (uint32_t layer = w->s->ann_level[here]; layer > 0; layer--)
        for (bool moved = true; moved;) {
            moved = false;
            const uint32_t *row = row_of(w->s, here, layer);
            for (uint32_t i = 0; row && i < row[0] && i < w->s->info->ann_m; i++) {
                float near = row[1 + i] < w->s->nodes ? closeness(w, row[1 + i]) : best;
                if (near > best) {
                    best = near;
                    here = row[1 + i];
                    moved = true;
                    break; /* the row is no longer here's */
                }
            }
        }
    return here;
}

/* The frontier: a heap whose root is the most promising. */
struct frontier {
    qp_hit *at;
    size_t n, cap;
};

static bool push(struct frontier *f, qp_hit hit)
{
    qp_hit *more = qp_array_room(f->at, f->n, &f->cap, sizeof *more);
    if (!more)
        return false;
    f->at = more;
    size_t i = f->n++;
    for (; i && qp_hit_before(&hit, &f->at[(i - 1) / 2]); i = (i - 1) / 2)
        f->at[i] = f->at[(i - 1) / 2];
    f->at[i] = hit;
    return true;
}

static qp_hit pop(struct frontier *f)
{
    qp_hit top = f->at[0], moved = f->at[--f->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < f->n; i = child) {
        if (child + 1 < f->n && qp_hit_before(&f->at[child + 1], &f->at[child]))
            child++;
        if (!qp_hit_before(&f->at[child], &moved))
            break;
        f->at[i] = f->at[child];
    }
    f->at[i] = moved;
    return top;
}

static bool visit(struct walk *w, struct frontier *f, qp_best *best, qp_id v)
{
    if (v >= w->s->nodes || w->seen[v / 64] >> (v % 64) & 1)
        return true;
    w->seen[v / 64] |= UINT64_C(1) << (v % 64);
    qp_hit hit = {v, QP_NO_ID, closeness(w, v), NULL};
    if (qp_best_full(best) && !qp_hit_before(&hit, &best->at[0]))
        return true;
    qp_best_add(best, v, hit.score);
    return push(f, hit);
}

qp_code qp_snapshot_ann(const qp_snapshot *s, qp_id entry, const int8_t *query, float scale, qp_best *out, qp_arena *a,
                        qp_err *err)
{
    struct walk w = {s, query, scale, qp_new(a, uint64_t, (size_t)s->nodes / 64 + 1)};
    struct frontier f = {0};
    qp_best best;
    uint32_t width = out->k > LEAST_WIDTH ? out->k : LEAST_WIDTH;
    if (!w.seen || !qp_best_begin(&best, width, a))
        return qp_oom(err);
    bool enough = visit(&w, &f, &best, descend(&w, entry));
    while (enough && f.n) {
        qp_hit here = pop(&f);
        if (qp_best_full(&best) && here.score < best.at[0].score)
            break;
        const uint32_t *row = row_of(s, here.id, 0);
        for (uint32_t i = 0; enough && i < row[0] && i < 2 * s->info->ann_m; i++)
            enough = visit(&w, &f, &best, row[1 + i]);
    }
    free(f.at);
    for (uint32_t i = 0; i < best.n; i++)
        qp_best_add(out, best.at[i].id, best.at[i].score);
    return enough ? QP_OK : qp_oom(err);
}
