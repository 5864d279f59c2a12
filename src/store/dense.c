/* Dense search: the best nodes, relations and triples by inner product.
 *
 * Nodes of small indices are scanned in f32. Those of larger ones, and triples, in int8, and the best 2 k + 40 are scored
 * again in f32; on unit vectors recall@10 of that is at least .999 (tests/unit/test_dense.c). Very large ones walk the ann links instead, unless the
 * probe wants the exact answer or carries a filter: the scan then skips what the filter holds back.
 */
#include <math.h>

#include "base/vector.h"
#include "store/best.h"
#include "store/dot.h"
#include "store/mapped.h"

enum { TILE = 256 }; /* codes that are multiplied before they are judged */

static bool allowed(const qp_probe *p, qp_id v)
{
    return !p->allow || p->allow[v / 64] >> (v % 64) & 1;
}

static bool any_allowed(const qp_probe *p, qp_id from, uint32_t n)
{
    for (qp_id v = from; v < from + n; v++)
        if (allowed(p, v))
            return true;
    return false;
}

/* How many of the n are looked at in codes for the best k. */
static uint32_t rough_of(uint32_t k, uint32_t n)
{
    uint32_t more = k > n / 2 ? n : 2 * k + 40;
    return more < n ? more : n;
}

/* A product of a damaged vector may be no number; such a node or triple is not an answer. */
static void offer(qp_best *best, qp_id id, const float *own, const float *query, uint32_t dim)
{
    float score = qp_dot(query, own, dim);
    if (isfinite(score) && (score != 0 || qp_is_there(own, dim)))
        qp_best_add(best, id, score);
}

static void offer_node(qp_best *best, const qp_snapshot *s, qp_id v, const float *query)
{
    offer(best, v, s->vector + (size_t)v * s->dim, query, s->dim);
}

static void scan_exact(const qp_snapshot *s, qp_range r, const qp_probe *p, qp_best *best)
{
    for (uint32_t v = r.from; v < r.to; v++)
        if (allowed(p, v))
            offer_node(best, s, v, p->vector);
}

static void scan_codes(const qp_snapshot *s, qp_range r, const qp_probe *p, const int8_t *query, float scale,
                       qp_best *best)
{
    int32_t dot[TILE];
    for (uint32_t from = r.from, n; from < r.to; from += n) {
        n = r.to - from < TILE ? r.to - from : TILE;
        if (!any_allowed(p, from, n))
            continue;
        qp_dot_i8_rows(query, s->code + (size_t)from * s->dim, n, s->dim, dot);
        for (uint32_t v = from; v < from + n; v++) {
            const float score = scale * s->scale[v] * (float)dot[v - from];
            if (allowed(p, v) && s->scale[v] > 0 && isfinite(score))
                qp_best_add(best, v, score);
        }
    }
}

static qp_code search_codes(const qp_snapshot *s, qp_range r, const qp_probe *p, uint32_t k, qp_best *best, qp_arena *a,
                            qp_err *err)
{
    qp_best rough;
    uint64_t entry = s->info->ann_entry[r.from == s->entity];
    int8_t *query = qp_arena_alloc(a, s->dim);
    if (!query || !qp_best_begin(&rough, rough_of(k, r.to - r.from), a))
        return qp_oom(err);
    float scale = qp_quantise(p->vector, s->dim, query);
    qp_code code = QP_OK;
    if (s->info->ann_m && entry < s->nodes && !p->allow)
        code = qp_snapshot_ann(s, (qp_id)entry, query, scale, &rough, a, err);
    else
        scan_codes(s, r, p, query, scale, &rough);
    for (uint32_t i = 0; !code && i < rough.n; i++)
        offer_node(best, s, rough.at[i].id, p->vector);
    return code;
}

qp_code qp_snapshot_dense(const qp_snapshot *s, qp_range r, const qp_probe *p, uint32_t k, qp_list *out, qp_arena *a,
                          qp_err *err)
{
    qp_best best;
    if (!p->vector || p->dim != s->dim)
        return qp_fail(err, QP_MODEL,
                       "a vector of %u numbers searches an index of %u: ask with the embedder the index was "
                       "made with",
                       p->vector ? p->dim : 0, s->dim);
    if (!qp_best_begin(&best, k, a))
        return qp_oom(err);
    qp_code code = QP_OK;
    if (p->exact || !s->info->coded)
        scan_exact(s, r, p, &best);
    else
        code = search_codes(s, r, p, k, &best, a, err);
    *out = qp_best_end(&best);
    return code;
}

/* ---- edges ---- */

static bool is_allowed_edge(const qp_snapshot *s, const qp_probe *p, uint32_t e)
{
    return e < s->edges && s->edge_type[e] < s->types && s->edge_from[e] < s->nodes && s->edge_to[e] < s->nodes &&
           allowed(p, s->edge_from[e]) && allowed(p, s->edge_to[e]);
}

/* An edge is worth what its relation is. */
static qp_code scan_relations(const qp_snapshot *s, const qp_probe *p, qp_best *best, qp_arena *a, qp_err *err)
{
    float *dot = qp_new(a, float, s->types + 1u);
    if (!dot)
        return qp_oom(err);
    for (uint32_t t = 0; t < s->types; t++)
        dot[t] = qp_dot(p->vector, s->type_vector + (size_t)t * s->dim, s->dim);
    for (uint32_t e = 0; e < s->edges; e++)
        if (is_allowed_edge(s, p, e))
            qp_best_add(best, e, dot[s->edge_type[e]]);
    return QP_OK;
}

static void offer_triple(qp_best *best, const qp_snapshot *s, const qp_probe *p, uint32_t row)
{
    if (is_allowed_edge(s, p, s->triple_edge[row]))
        offer(best, s->triple_edge[row], s->triple_vector + (size_t)row * s->dim, p->vector, s->dim);
}

/* Rows of triples, by their codes. */
static void scan_triple_codes(const qp_snapshot *s, const qp_probe *p, const int8_t *query, float scale, qp_best *best)
{
    int32_t dot[TILE];
    uint32_t all = (uint32_t)s->info->triples;
    for (uint32_t from = 0, n; from < all; from += n) {
        n = all - from < TILE ? all - from : TILE;
        qp_dot_i8_rows(query, s->triple_code + (size_t)from * s->dim, n, s->dim, dot);
        for (uint32_t row = from; row < from + n; row++) {
            const float score = scale * s->triple_scale[row] * (float)dot[row - from];
            if (qp_best_takes(best, score) && isfinite(score) && is_allowed_edge(s, p, s->triple_edge[row]))
                qp_best_add(best, row, score);
        }
    }
}

static qp_code search_triples(const qp_snapshot *s, const qp_probe *p, uint32_t k, qp_best *best, qp_arena *a,
                              qp_err *err)
{
    qp_best rough;
    uint32_t all = (uint32_t)s->info->triples;
    int8_t *query = qp_arena_alloc(a, s->dim);
    if (!query || !qp_best_begin(&rough, rough_of(k, all), a))
        return qp_oom(err);
    float scale = qp_quantise(p->vector, s->dim, query);
    if (!p->exact)
        scan_triple_codes(s, p, query, scale, &rough);
    for (uint32_t i = 0; i < (p->exact ? all : rough.n); i++)
        offer_triple(best, s, p, p->exact ? i : rough.at[i].id);
    return QP_OK;
}

qp_code qp_snapshot_dense_edges(const qp_snapshot *s, const qp_probe *p, bool triples, uint32_t k, qp_list *out,
                                qp_arena *a, qp_err *err)
{
    qp_best best;
    if (!(triples ? s->triple_vector : s->type_vector))
        return qp_fail(err, QP_INPUT, "the index has no vectors of %s: index a graph with an embedder%s",
                       triples ? "triples" : "relations", triples ? " and -o triples=yes" : "");
    if (p->dim != s->dim)
        return qp_fail(err, QP_INPUT, "a vector of %u numbers searches an index of %u", p->dim, s->dim);
    if (!qp_best_begin(&best, k, a))
        return qp_oom(err);
    qp_code code = QP_OK;
    if (triples)
        code = search_triples(s, p, k, &best, a, err);
    else
        code = scan_relations(s, p, &best, a, err);
    *out = qp_best_end(&best);
    return code;
}
