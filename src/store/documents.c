/* Documents in the truth: put, compare, remove, list. */
#include <math.h>

#include "base/hash.h"
#include "store/truth.h"

qp_str qp_indexed_text(qp_arena *a, qp_str title, qp_str heading, qp_str text)
{
    const qp_str part[] = {title, heading, text};
    char *bytes = qp_arena_alloc(a, title.n + heading.n + text.n + 3), *end = bytes;
    if (!bytes)
        return (qp_str){0};
    for (int i = 0; i < 3; i++) {
        if (part[i].n)
            memcpy(end, part[i].at, part[i].n);
        end += part[i].n;
        if (part[i].n && i < 2)
            *end++ = '\n';
    }
    return (qp_str){bytes, (size_t)(end - bytes)};
}

qp_str qp_entity_text(qp_arena *a, qp_str name, qp_str text)
{
    return text.n ? qp_indexed_text(a, name, (qp_str){"", 0}, text) : qp_arena_str(a, name);
}

void qp_triple_text(qp_buf *out, qp_str head, qp_str relation, qp_str tail)
{
    qp_buf_str(out, head);
    qp_buf_text(out, " -> ");
    qp_buf_str(out, relation);
    qp_buf_text(out, " -> ");
    qp_buf_str(out, tail);
}

static qp_code check_chunks(const qp_document *d, qp_err *err)
{
    for (uint32_t i = 0; i < d->n_chunks; i++)
        if (d->chunks[i].from > d->chunks[i].to || d->chunks[i].to > d->text.n ||
            d->chunks[i].to - d->chunks[i].from > INT32_MAX)
            return qp_fail(err, QP_BUG, "store: chunk %u of %.*s is [%llu, %llu) of a text of %zu bytes", i,
                           (int)d->key.n, d->key.at, (unsigned long long)d->chunks[i].from,
                           (unsigned long long)d->chunks[i].to, d->text.n);
    for (uint32_t i = 0; i < d->n_references; i++)
        if ((d->references[i].chunk >= d->n_chunks && d->references[i].chunk != QP_WHOLE) ||
            !isfinite(d->references[i].weight))
            return qp_fail(err, QP_BUG, "store: reference %u of %.*s is from chunk %u of %u, weight %g", i,
                           (int)d->key.n, d->key.at, d->references[i].chunk, d->n_chunks,
                           (double)d->references[i].weight);
    for (uint32_t i = 0; i < d->n_anchors; i++)
        if (d->anchor_chunk[i] >= d->n_chunks)
            return qp_fail(err, QP_BUG, "store: anchor %u of %.*s is in chunk %u of %u", i, (int)d->key.n, d->key.at,
                           d->anchor_chunk[i], d->n_chunks);
    return d->key.n ? QP_OK : qp_fail(err, QP_BUG, "store: a document without a key");
}

/* The row of a key, 0: not there. */
static qp_code find(qp_store *s, qp_str key, int64_t *row, qp_err *err)
{
    return qp_truth_find(s, "SELECT row FROM document WHERE key = ?", &key, 1, row, err);
}

/* A replaced document keeps its row, so that what others resolved to it stays resolved; its parts go. */
static qp_code clear(qp_store *s, int64_t row, qp_err *err)
{
    static const char *const sql[] = {"DELETE FROM piece WHERE document = ?", "DELETE FROM chunk WHERE document = ?",
                                      "DELETE FROM reference WHERE document = ?",
                                      "DELETE FROM anchor WHERE document = ?"};
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++) {
        sqlite3_stmt *stmt = qp_truth_use(s, sql[i], err);
        if (!stmt)
            return QP_STORE;
        sqlite3_bind_int64(stmt, 1, row);
        qp_code code = qp_truth_run(s, stmt, err);
        if (code)
            return code;
    }
    return QP_OK;
}

static qp_code put_row(qp_store *s, const qp_document *d, int64_t *row, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(
        s,
        "INSERT INTO document(key, source, path, format, title, language, meta, digest, bytes, chunks)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT(key) DO UPDATE SET source = ?2, path = ?3,"
        " format = ?4, title = ?5, language = ?6, meta = ?7, digest = ?8, bytes = ?9, chunks = ?10",
        err);
    if (!stmt)
        return QP_STORE;
    const qp_str text[] = {d->key, d->source, d->path, d->format, d->title, d->language, d->meta, d->digest};
    for (int i = 0; i < 8; i++)
        qp_truth_bind(stmt, i + 1, text[i]);
    sqlite3_bind_int64(stmt, 9, (sqlite3_int64)d->text.n);
    sqlite3_bind_int64(stmt, 10, d->n_chunks);
    qp_code code = qp_truth_run(s, stmt, err);
    return code ? code : find(s, d->key, row, err);
}

static qp_code put_text(qp_store *s, int64_t row, qp_str text, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "INSERT INTO piece(document, number, bytes) VALUES (?, ?, ?)", err);
    qp_code code = stmt ? QP_OK : QP_STORE;
    for (size_t at = 0; !code && at < text.n; at += QP_TRUTH_PIECE) {
        sqlite3_bind_int64(stmt, 1, row);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)(at / QP_TRUTH_PIECE));
        sqlite3_bind_blob64(stmt, 3, text.at + at, text.n - at < QP_TRUTH_PIECE ? text.n - at : QP_TRUTH_PIECE,
                            SQLITE_STATIC);
        code = qp_truth_run(s, stmt, err);
    }
    return code;
}

static qp_code put_chunks(qp_store *s, int64_t row, const qp_document *d, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s,
                                      "INSERT INTO chunk(document, ordinal, start, stop, page, heading, bytes, digest)"
                                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                                      err);
    qp_code code = stmt ? QP_OK : QP_STORE;
    for (uint32_t i = 0; !code && i < d->n_chunks; i++) {
        const qp_chunk *c = &d->chunks[i];
        qp_arena_reset(s->mem);
        qp_str indexed = qp_indexed_text(s->mem, d->title, c->heading, qp_str_slice(d->text, c->from, c->to));
        if (!indexed.at)
            return qp_oom(err);
        qp_digest digest = qp_digest_of(indexed);
        sqlite3_bind_int64(stmt, 1, row);
        sqlite3_bind_int64(stmt, 2, i);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)c->from);
        sqlite3_bind_int64(stmt, 4, (sqlite3_int64)c->to);
        sqlite3_bind_int64(stmt, 5, c->page);
        qp_truth_bind(stmt, 6, c->heading);
        sqlite3_bind_int64(stmt, 7, (sqlite3_int64)indexed.n);
        qp_truth_bind(stmt, 8, qp_str_of(digest.hex));
        code = qp_truth_run(s, stmt, err);
    }
    return code;
}

static qp_code put_references(qp_store *s, int64_t row, const qp_document *d, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s,
                                      "INSERT INTO reference(document, ordinal, chunk, type, target, anchor, weight)"
                                      " VALUES (?, ?, ?, ?, ?, ?, ?)",
                                      err);
    qp_code code = stmt ? QP_OK : QP_STORE;
    for (uint32_t i = 0; !code && i < d->n_references; i++) {
        const qp_reference *r = &d->references[i];
        sqlite3_bind_int64(stmt, 1, row);
        sqlite3_bind_int64(stmt, 2, i);
        sqlite3_bind_int64(stmt, 3, r->chunk);
        qp_truth_bind(stmt, 4, r->type);
        qp_truth_bind(stmt, 5, r->target);
        qp_truth_bind(stmt, 6, r->anchor);
        sqlite3_bind_double(stmt, 7, r->weight);
        code = qp_truth_run(s, stmt, err);
    }
    if (!code)
        code = (stmt = qp_truth_use(s, "INSERT INTO anchor(document, ordinal, name, chunk) VALUES (?, ?, ?, ?)", err))
                   ? QP_OK
                   : QP_STORE;
    for (uint32_t i = 0; !code && i < d->n_anchors; i++) {
        sqlite3_bind_int64(stmt, 1, row);
        sqlite3_bind_int64(stmt, 2, i);
        qp_truth_bind(stmt, 3, d->anchors[i]);
        sqlite3_bind_int64(stmt, 4, d->anchor_chunk[i]);
        code = qp_truth_run(s, stmt, err);
    }
    return code;
}

qp_code qp_store_same(qp_store *s, qp_str key, qp_str digest, bool *same, qp_err *err)
{
    int64_t found = 0;
    qp_code code = qp_truth_find(s, "SELECT 1 FROM document WHERE key = ? AND digest = ?", (qp_str[]){key, digest}, 2,
                                 &found, err);
    *same = found;
    return code;
}

qp_code qp_store_put(qp_store *s, const qp_document *d, bool *replaced, qp_err *err)
{
    int64_t row = 0;
    qp_code code = check_chunks(d, err);
    if (!code)
        code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    s->pending[0] = 0;
    code = find(s, d->key, &row, err);
    if (replaced)
        *replaced = row != 0;
    if (!code && row)
        code = clear(s, row, err);
    if (!code)
        code = put_row(s, d, &row, err);
    if (!code)
        code = put_text(s, row, d->text, err);
    if (!code)
        code = put_chunks(s, row, d, err);
    if (!code)
        code = put_references(s, row, d, err);
    return qp_truth_leave(s, code, err);
}

qp_code qp_store_remove(qp_store *s, qp_str name, uint64_t *n, qp_err *err)
{
    *n = 0;
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    sqlite3_stmt *stmt = qp_truth_use(s, "DELETE FROM document WHERE key = ?1 OR (path = ?1 AND path <> '')", err);
    if (stmt) {
        qp_truth_bind(stmt, 1, name);
        code = qp_truth_run(s, stmt, err);
        *n = code ? 0 : (uint64_t)sqlite3_changes64(s->db);
        s->changed |= *n > 0;
        s->pending[0] = 0;
    } else {
        code = QP_STORE;
    }
    return qp_truth_leave(s, code, err);
}

static qp_code fill_seen(qp_store *s, const qp_str *seen, size_t n, qp_err *err)
{
    qp_code code = qp_truth_exec(s,
                                 "CREATE TEMP TABLE IF NOT EXISTS seen(key TEXT PRIMARY KEY) WITHOUT ROWID;"
                                 "DELETE FROM temp.seen",
                                 err);
    sqlite3_stmt *stmt = code ? NULL : qp_truth_use(s, "INSERT OR IGNORE INTO temp.seen(key) VALUES (?)", err);
    if (!stmt)
        return QP_STORE;
    for (size_t i = 0; !code && i < n; i++) {
        qp_truth_bind(stmt, 1, seen[i]);
        code = qp_truth_run(s, stmt, err);
    }
    return code;
}

qp_code qp_store_prune(qp_store *s, qp_str source, const qp_str *seen, size_t n, uint64_t *removed, qp_err *err)
{
    *removed = 0;
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    code = fill_seen(s, seen, n, err);
    sqlite3_stmt *stmt = code ? NULL
                              : qp_truth_use(s,
                                             "DELETE FROM document WHERE source = ?"
                                             " AND key NOT IN (SELECT key FROM temp.seen)",
                                             err);
    if (stmt) {
        qp_truth_bind(stmt, 1, source);
        code = qp_truth_run(s, stmt, err);
        *removed = code ? 0 : (uint64_t)sqlite3_changes64(s->db);
        s->changed |= *removed > 0;
        s->pending[0] = 0;
    } else {
        code = QP_STORE;
    }
    if (!code)
        code = qp_truth_exec(s, "DELETE FROM temp.seen", err);
    return qp_truth_leave(s, code, err);
}

struct listing {
    qp_stored_fn fn;
    void *ctx;
};

static qp_code list_row(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct listing *l = ctx;
    qp_stored d = {.row = sqlite3_column_int64(stmt, 0),
                   .key = qp_truth_column(stmt, 1),
                   .path = qp_truth_column(stmt, 2),
                   .format = qp_truth_column(stmt, 3),
                   .title = qp_truth_column(stmt, 4),
                   .meta = qp_truth_column(stmt, 5),
                   .n_chunks = (uint32_t)sqlite3_column_int64(stmt, 6)};
    return l->fn(l->ctx, &d, err);
}

qp_code qp_store_documents(qp_store *s, qp_stored_fn fn, void *ctx, qp_err *err)
{
    struct listing l = {fn, ctx};
    return qp_truth_each(
        s, qp_truth_use(s, "SELECT row, key, path, format, title, meta, chunks FROM document ORDER BY key", err),
        list_row, &l, err);
}
