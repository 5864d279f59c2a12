/* Vectors of places in passages; see qp_place in store/store.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "store/graph_put.h"

/* ---- into the table ---- */

/* A million of them in the order they are found would move a page of each index for each: they are sorted by their
 * key, and the other indices are made when all are there. */
enum { BUDGET = 64 << 20 /* bytes of memory for that */, HEX = 32, KEY = HEX + 8, RECORD = KEY + HEX + 8 };

qp_code qp_graph_place(qp_graph_put *g, qp_str text, qp_str passage, uint32_t from, uint32_t to, qp_err *err)
{
    char record[RECORD];
    const qp_digest of_text = qp_digest_of(text);
    qp_code code = g->places ? QP_OK : qp_sorter_open(g->store->dir, BUDGET, &g->places, err);
    if (!code && passage.n != HEX)
        code = qp_fail(err, QP_BUG, "store: a place in a passage of digest '%.*s'", (int)passage.n, passage.at);
    if (code)
        return code;
    memcpy(record, of_text.hex, HEX);
    qp_key_put32(record + HEX, (uint32_t)(g->n_places >> 32));
    qp_key_put32(record + HEX + 4, (uint32_t)g->n_places++);
    memcpy(record + KEY, passage.at, HEX);
    qp_key_put32(record + KEY + HEX, from);
    qp_key_put32(record + KEY + HEX + 4, to);
    return qp_sorter_add(g->places, (qp_str){record, RECORD}, err);
}

static qp_code insert(const qp_graph_put *g, qp_str record, qp_err *err)
{
    const qp_str text = qp_str_slice(record, 0, HEX), passage = qp_str_slice(record, KEY, KEY + HEX);
    const uint32_t from = qp_key_get32(record.at + KEY + HEX), to = qp_key_get32(record.at + KEY + HEX + 4);
    sqlite3_stmt *stmt = qp_truth_use(g->store,
                                      "INSERT INTO place(text, graph, digest, passage, start, stop)"
                                      " VALUES (?, ?, ?, ?, ?, ?)",
                                      err);
    if (!stmt)
        return QP_STORE;
    char span[24];
    int n = snprintf(span, sizeof span, "%u %u", from, to);
    const qp_digest digest = qp_digest_parts((qp_str[]){passage, {span, (size_t)n}}, 2);
    qp_truth_bind(stmt, 1, text);
    sqlite3_bind_int64(stmt, 2, g->row);
    qp_truth_bind(stmt, 3, qp_str_of(digest.hex));
    qp_truth_bind(stmt, 4, passage);
    sqlite3_bind_int64(stmt, 5, from);
    sqlite3_bind_int64(stmt, 6, to);
    return qp_truth_run(g->store, stmt, err);
}

static qp_code drop_indices(const qp_store *s, qp_err *err)
{
    return qp_truth_exec(s, "DROP INDEX IF EXISTS place_passage; DROP INDEX IF EXISTS place_digest", err);
}

qp_code qp_places_put(qp_graph_put *g, qp_err *err)
{
    char before[HEX] = {0};
    qp_str record;
    qp_code code = drop_indices(g->store, err);
    code = code ? code : qp_sorter_sort(g->places, err);
    while (!code) {
        code = qp_sorter_next(g->places, &record, err);
        if (code || !record.at)
            break;
        if (memcmp(before, record.at, HEX))
            code = insert(g, record, err);
        memcpy(before, record.at, HEX);
    }
    return code ? code : qp_schema_places(g->store, err);
}

qp_code qp_places_leave(qp_store *s, int64_t graph, qp_err *err)
{
    int64_t owner = 0;
    qp_code code = qp_truth_number(s, "SELECT coalesce((SELECT graph FROM place LIMIT 1), 0)", &owner, err);
    if (code || owner != graph)
        return code;
    code = drop_indices(s, err);
    code = code ? code : qp_truth_exec(s, "DELETE FROM place", err);
    return code ? code : qp_schema_places(s, err);
}

/* ---- and out of it ---- */

struct finding {
    qp_place *at;
    size_t n, cap;
    uint32_t passage;
};

static qp_code take_place(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct finding *f = ctx;
    qp_place *more = qp_array_room(f->at, f->n, &f->cap, sizeof *more);
    if (!more)
        return qp_oom(err);
    f->at = more;
    qp_place *p = &more[f->n++];
    *p = (qp_place){f->passage, (uint32_t)sqlite3_column_int64(stmt, 1), (uint32_t)sqlite3_column_int64(stmt, 2), ""};
    snprintf(p->digest, sizeof p->digest, "%s", (const char *)sqlite3_column_text(stmt, 0));
    return QP_OK;
}

qp_code qp_store_places(qp_store *s, const char *model, const qp_pending *p, uint32_t n, qp_place **out,
                        uint32_t *n_out, qp_arena *a, qp_err *err)
{
    struct finding f = {0};
    qp_code code = QP_OK;
    for (; !code && f.passage < n; f.passage++) {
        sqlite3_stmt *stmt = qp_truth_use(s,
                                          "SELECT DISTINCT digest, start, stop FROM place p WHERE passage = ? AND NOT"
                                          " EXISTS (SELECT 1 FROM vector v WHERE v.digest = p.digest AND v.model = ?)"
                                          " ORDER BY start, stop",
                                          err);
        if (!stmt) {
            code = QP_STORE;
            break;
        }
        qp_truth_bind(stmt, 1, qp_str_of(p[f.passage].digest));
        qp_truth_bind(stmt, 2, qp_str_of(model));
        code = qp_truth_each(s, stmt, take_place, &f, err);
    }
    *n_out = (uint32_t)f.n;
    *out = code ? NULL : qp_new(a, qp_place, f.n + 1);
    if (!code && !*out)
        code = qp_oom(err);
    if (!code && f.n)
        memcpy(*out, f.at, f.n * sizeof **out);
    free(f.at);
    return code;
}
