/* SQLite in our words: kept statements, transactions, errors. */
#include "store/truth.h"

#include <stdlib.h>

static qp_code disk_full(const qp_store *s, qp_err *err)
{
    return qp_fail(err, QP_STORE, "%s: the disk is full, nothing of this step was kept: make room and run it again",
                   s->dir);
}

/* SQLite says full only where the system does; a quota or a limit on file sizes is a write that failed. */
static qp_code input_output(const qp_store *s, qp_err *err)
{
    switch (sqlite3_extended_errcode(s->db)) {
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_SHMSIZE:
        return qp_fail(
            err, QP_STORE,
            "%s/truth.db: cannot be written, nothing of this step was kept: make room (disk, quota, limit on "
            "file sizes) and run it again",
            s->dir);
    default: return qp_fail(err, QP_STORE, "%s/truth.db: %s: look after the disk", s->dir, sqlite3_errmsg(s->db));
    }
}

qp_code qp_truth_fail(const qp_store *s, qp_err *err)
{
    const char *why = sqlite3_errmsg(s->db);
    switch (sqlite3_errcode(s->db)) { /* the primary code: extended ones are not switched on */
    case SQLITE_FULL: return disk_full(s, err);
    case SQLITE_IOERR: return input_output(s, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return qp_fail(err, QP_STORE, "%s: the index cannot be written (%s): check the folder's rights", s->dir, why);
    case SQLITE_CANTOPEN:
        return qp_fail(err, QP_STORE, "%s/truth.db: cannot be opened (%s): check the folder's rights", s->dir, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return qp_fail(err, QP_STORE, "%s: busy, another program holds truth.db: try again when it is done", s->dir);
    case SQLITE_NOTADB:
        return qp_fail(err, QP_STORE, "%s/truth.db: is no index of ours (not an SQLite file): give another folder",
                       s->dir);
    case SQLITE_CORRUPT:
        return qp_fail(err, QP_STORE,
                       "%s/truth.db: is damaged (%s): restore a copy, or remove the folder and index again", s->dir,
                       why);
    case SQLITE_NOMEM: return qp_oom(err);
    case SQLITE_TOOBIG:
        return qp_fail(err, QP_INPUT, "%s: a text is longer than SQLite can hold (1 GB): split it", s->dir);
    default: return qp_fail(err, QP_STORE, "%s/truth.db: %s", s->dir, why);
    }
}

sqlite3_stmt *qp_truth_use(qp_store *s, const char *sql, qp_err *err)
{
    int i = 0;
    while (i < QP_TRUTH_KEPT && s->kept[i].sql && s->kept[i].sql != sql)
        i++;
    if (i == QP_TRUTH_KEPT) {
        qp_fail(err, QP_BUG, "store: more than %d statements are kept", QP_TRUTH_KEPT);
        return NULL;
    }
    if (!s->kept[i].sql) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK) {
            qp_truth_fail(s, err);
            return NULL;
        }
        s->kept[i].sql = sql;
        s->kept[i].stmt = stmt;
    }
    sqlite3_reset(s->kept[i].stmt);
    sqlite3_clear_bindings(s->kept[i].stmt);
    return s->kept[i].stmt;
}

void qp_truth_bind(sqlite3_stmt *stmt, int at, qp_str s)
{
    /* STATIC: the caller's bytes outlive the step, and clear_bindings forgets them. A bind that fails leaves NULL, and
     * the columns' NOT NULL refuses it. */
    sqlite3_bind_text64(stmt, at, s.at ? s.at : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

qp_str qp_truth_column(sqlite3_stmt *stmt, int at)
{
    const void *bytes = sqlite3_column_blob(stmt, at);
    int n = sqlite3_column_bytes(stmt, at);
    return (qp_str){bytes ? bytes : "", bytes && n > 0 ? (size_t)n : 0};
}

qp_code qp_truth_run(const qp_store *s, sqlite3_stmt *stmt, qp_err *err)
{
    int rc = SQLITE_ROW;
    while (rc == SQLITE_ROW)
        rc = sqlite3_step(stmt);
    qp_code code = rc == SQLITE_DONE ? QP_OK : qp_truth_fail(s, err);
    sqlite3_reset(stmt);
    return code;
}

qp_code qp_truth_find(qp_store *s, const char *sql, const qp_str *about, int n, int64_t *out, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, sql, err);
    if (!stmt)
        return QP_STORE;
    for (int i = 0; i < n; i++)
        qp_truth_bind(stmt, i + 1, about[i]);
    int rc = sqlite3_step(stmt);
    qp_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? QP_OK : qp_truth_fail(s, err);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_reset(stmt);
    return code;
}

qp_code qp_truth_number(qp_store *s, const char *sql, int64_t *out, qp_err *err)
{
    return qp_truth_find(s, sql, NULL, 0, out, err);
}

qp_code qp_truth_value(const qp_store *s, sqlite3_stmt *stmt, qp_str *out, bool *found, qp_arena *a, qp_err *err)
{
    int rc = sqlite3_step(stmt);
    qp_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? QP_OK : qp_truth_fail(s, err);
    *found = rc == SQLITE_ROW;
    *out = *found ? qp_arena_str(a, qp_truth_column(stmt, 0)) : (qp_str){"", 0};
    sqlite3_reset(stmt);
    return out->at ? code : qp_oom(err);
}

qp_code qp_truth_exec(const qp_store *s, const char *sql, qp_err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? QP_OK : qp_truth_fail(s, err);
}

qp_code qp_truth_each(qp_store *s, sqlite3_stmt *stmt, qp_code (*row)(void *, sqlite3_stmt *, qp_err *), void *ctx,
                      qp_err *err)
{
    if (!stmt)
        return QP_STORE;
    qp_code code = QP_OK;
    int rc = SQLITE_DONE;
    while (!code && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        code = row(ctx, stmt, err);
    if (!code && rc != SQLITE_DONE)
        code = qp_truth_fail(s, err);
    sqlite3_reset(stmt);
    return code;
}

qp_code qp_truth_text(qp_store *s, int64_t document, uint64_t from, uint64_t to, qp_buf *out, qp_err *err)
{
    qp_code code = QP_OK;
    qp_buf_clear(out);
    for (uint64_t at = from; !code && at < to;) {
        sqlite3_stmt *stmt = qp_truth_use(s, "SELECT bytes FROM piece WHERE document = ? AND number = ?", err);
        if (!stmt)
            return QP_STORE;
        sqlite3_bind_int64(stmt, 1, document);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)(at / QP_TRUTH_PIECE));
        int rc = sqlite3_step(stmt);
        qp_str piece = rc == SQLITE_ROW ? qp_truth_column(stmt, 0) : (qp_str){0};
        qp_str part = qp_str_slice(piece, at % QP_TRUTH_PIECE, at % QP_TRUTH_PIECE + (to - at));
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            code = qp_truth_fail(s, err);
        else if (!part.n)
            code = qp_fail(err, QP_STORE,
                           "%s/truth.db: is damaged: a text ends before its chunk: restore a copy, or remove the "
                           "folder and index again",
                           s->dir);
        qp_buf_str(out, part);
        at += part.n;
        sqlite3_reset(stmt);
    }
    return !code && out->oom ? qp_oom(err) : code;
}

/* A new revision tells qp_store_publish that the snapshot may no longer be what the truth amounts to. */
static qp_code commit(qp_store *s, qp_err *err)
{
    qp_code code = QP_OK;
    if (s->changed)
        code = qp_truth_exec(s,
                             "INSERT INTO state(name, value) VALUES ('revision', 1) ON CONFLICT(name) DO UPDATE "
                             "SET value = value + 1",
                             err);
    if (!code)
        code = qp_truth_exec(s, "COMMIT", err);
    if (!code)
        s->changed = false;
    return code;
}

static void roll_back(qp_store *s)
{
    if (!sqlite3_get_autocommit(s->db)) /* a full disk may have done it already */
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->changed = false;
    s->pending[0] = 0;
}

static qp_code writable(const qp_store *s, qp_err *err)
{
    if (!s->write)
        return qp_fail(err, QP_BUG, "%s: the store was opened for reading, and is asked to write", s->dir);
    if (s->broken)
        return qp_fail(err, QP_STORE, "%s: an earlier step of this batch failed, and all of it was rolled back",
                       s->dir);
    return QP_OK;
}

qp_code qp_truth_enter(qp_store *s, qp_err *err)
{
    qp_code code = writable(s, err);
    if (code || s->batch)
        return code;
    return qp_truth_exec(s, "BEGIN IMMEDIATE", err);
}

qp_code qp_truth_leave(qp_store *s, qp_code code, qp_err *err)
{
    if (!code && !s->batch)
        code = commit(s, err);
    if (code) {
        roll_back(s);
        s->broken = s->batch;
    }
    return code;
}

qp_code qp_store_begin(qp_store *s, qp_err *err)
{
    if (s->batch)
        return qp_fail(err, QP_BUG, "store: a batch is begun inside a batch");
    qp_code code = qp_truth_enter(s, err);
    s->batch = !code;
    return code;
}

qp_code qp_store_commit(qp_store *s, qp_err *err)
{
    if (!s->batch)
        return qp_fail(err, QP_BUG, "store: a commit without a batch");
    qp_code code = writable(s, err);
    s->batch = s->broken = false;
    return qp_truth_leave(s, code, err);
}
