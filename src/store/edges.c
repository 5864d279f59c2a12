/* Edges in the truth: references and anchors as documents say them, edges as data sets give them, and what both were
 * resolved to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "store/truth.h"

struct visitor {
    qp_reference_fn reference;
    qp_anchor_fn anchor;
    qp_code (*given)(void *, const qp_given *, qp_err *);
    void *ctx;
};

static qp_code visit_reference(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    const struct visitor *v = ctx;
    qp_reference r = {.chunk = (uint32_t)sqlite3_column_int64(stmt, 1),
                      .type = qp_truth_column(stmt, 2),
                      .target = qp_truth_column(stmt, 3),
                      .anchor = qp_truth_column(stmt, 4),
                      .weight = (float)sqlite3_column_double(stmt, 5)};
    return v->reference(v->ctx, sqlite3_column_int64(stmt, 0), &r, err);
}

static qp_code visit_anchor(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    const struct visitor *v = ctx;
    return v->anchor(v->ctx, sqlite3_column_int64(stmt, 0), qp_truth_column(stmt, 1),
                     (uint32_t)sqlite3_column_int64(stmt, 2), err);
}

static qp_code visit_given(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    const struct visitor *v = ctx;
    qp_given g = {qp_truth_column(stmt, 0), qp_truth_column(stmt, 1), qp_truth_column(stmt, 2),
                  (float)sqlite3_column_double(stmt, 3)};
    return v->given(v->ctx, &g, err);
}

qp_code qp_store_references(qp_store *s, qp_reference_fn fn, void *ctx, qp_err *err)
{
    struct visitor v = {.reference = fn, .ctx = ctx};
    return qp_truth_each(s,
                         qp_truth_use(s,
                                      "SELECT r.document, r.chunk, r.type, r.target, r.anchor, r.weight"
                                      " FROM document d JOIN reference r ON r.document = d.row"
                                      " ORDER BY d.key, r.ordinal",
                                      err),
                         visit_reference, &v, err);
}

qp_code qp_store_anchors(qp_store *s, qp_anchor_fn fn, void *ctx, qp_err *err)
{
    struct visitor v = {.anchor = fn, .ctx = ctx};
    return qp_truth_each(s,
                         qp_truth_use(s,
                                      "SELECT a.document, a.name, a.chunk FROM document d JOIN anchor a"
                                      " ON a.document = d.row ORDER BY d.key, a.ordinal",
                                      err),
                         visit_anchor, &v, err);
}

qp_code qp_store_givens(qp_store *s, qp_code (*fn)(void *, const qp_given *, qp_err *), void *ctx, qp_err *err)
{
    struct visitor v = {.given = fn, .ctx = ctx};
    return qp_truth_each(s, qp_truth_use(s, "SELECT tail, head, type, weight FROM given ORDER BY source, ordinal", err),
                         visit_given, &v, err);
}

static uint64_t mix(uint64_t h, qp_str part)
{
    const uint64_t pair[3] = {h, qp_hash64(part), part.n};
    return qp_hash64((qp_str){(const char *)pair, sizeof pair});
}

static qp_code check_edge(qp_str type, float weight, qp_err *err)
{
    if (!type.n || !isfinite(weight) || weight < 0)
        return qp_fail(err, QP_INPUT,
                       "an edge of type '%.*s' and weight %g: a type and a weight of at least 0 are wanted",
                       (int)type.n, type.at, (double)weight);
    return QP_OK;
}

/* The edges a source gave last time, as one number: the same again costs nothing. */
static qp_code given_before(qp_store *s, qp_str source, qp_str now, bool *same, qp_err *err)
{
    int64_t found = 0;
    qp_code code =
        qp_truth_find(s, "SELECT 1 FROM source WHERE name = ? AND given = ?", (qp_str[]){source, now}, 2, &found, err);
    *same = found;
    return code;
}

static qp_code replace_given(qp_store *s, qp_str source, qp_str digest, const qp_given *g, size_t n, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "DELETE FROM given WHERE source = ?", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, source);
    qp_code code = qp_truth_run(s, stmt, err);
    stmt = code ? NULL
                : qp_truth_use(s,
                               "INSERT INTO given(source, ordinal, tail, head, type, weight)"
                               " VALUES (?, ?, ?, ?, ?, ?)",
                               err);
    for (size_t i = 0; stmt && !code && i < n; i++) {
        qp_truth_bind(stmt, 1, source);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)i);
        qp_truth_bind(stmt, 3, g[i].from);
        qp_truth_bind(stmt, 4, g[i].to);
        qp_truth_bind(stmt, 5, g[i].type);
        sqlite3_bind_double(stmt, 6, g[i].weight);
        code = qp_truth_run(s, stmt, err);
    }
    stmt = code || !stmt ? NULL : qp_truth_use(s, "INSERT OR REPLACE INTO source(name, given) VALUES (?, ?)", err);
    if (!stmt)
        return code ? code : QP_STORE;
    qp_truth_bind(stmt, 1, source);
    qp_truth_bind(stmt, 2, digest);
    return qp_truth_run(s, stmt, err);
}

qp_code qp_store_given(qp_store *s, qp_str source, const qp_given *g, size_t n, qp_err *err)
{
    uint64_t h = n;
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < n; i++) {
        code = check_edge(g[i].type, g[i].weight, err);
        h = mix(mix(mix(mix(h, g[i].from), g[i].to), g[i].type), (qp_str){(const char *)&g[i].weight, sizeof(float)});
    }
    char digest[17];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)h);
    bool same = false;
    if (!code)
        code = given_before(s, source, qp_str_of(digest), &same, err);
    if (code || same)
        return code;
    code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    return qp_truth_leave(s, replace_given(s, source, qp_str_of(digest), g, n, err), err);
}

static qp_code replace_edges(qp_store *s, const qp_edge *e, size_t n, qp_err *err)
{
    qp_code code = qp_truth_exec(s, "DELETE FROM edge", err);
    sqlite3_stmt *stmt = code ? NULL
                              : qp_truth_use(s,
                                             "INSERT INTO edge(tail, tail_chunk, head, head_chunk, type, weight)"
                                             " VALUES (?, ?, ?, ?, ?, ?)",
                                             err);
    if (!stmt)
        return QP_STORE;
    for (size_t i = 0; !code && i < n; i++) {
        sqlite3_bind_int64(stmt, 1, e[i].from);
        sqlite3_bind_int64(stmt, 2, e[i].from_chunk);
        sqlite3_bind_int64(stmt, 3, e[i].to);
        sqlite3_bind_int64(stmt, 4, e[i].to_chunk);
        qp_truth_bind(stmt, 5, e[i].type);
        sqlite3_bind_double(stmt, 6, e[i].weight);
        code = qp_truth_run(s, stmt, err);
    }
    return code;
}

qp_code qp_store_edges(qp_store *s, const qp_edge *e, size_t n, uint64_t unknown, qp_err *err)
{
    uint64_t h = n;
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < n; i++) {
        const int64_t ends[5] = {e[i].from, e[i].to, e[i].from_chunk, e[i].to_chunk, 0};
        code = check_edge(e[i].type, e[i].weight, err);
        h = mix(mix(mix(h, (qp_str){(const char *)ends, sizeof ends}), e[i].type),
                (qp_str){(const char *)&e[i].weight, sizeof(float)});
    }
    char digest[64];
    snprintf(digest, sizeof digest, "%016llx %zu %llu", (unsigned long long)h, n, (unsigned long long)unknown);
    qp_str before;
    qp_arena_reset(s->mem);
    if (!code)
        code = qp_state_get(s, "edges", &before, s->mem, err);
    if (code || qp_str_eq(before, qp_str_of(digest)))
        return code;
    code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)unknown);
    code = replace_edges(s, e, n, err);
    if (!code)
        code = qp_state_set(s, "edges", qp_str_of(digest), err);
    if (!code)
        code = qp_state_set(s, "unknown", qp_str_of(count), err);
    return qp_truth_leave(s, code, err);
}
