/* What a writer said, by the digest of what it was asked: nothing is asked twice, and a killed run goes on. */
#include "store/store.h"
#include "store/truth.h"

/* Made on first use: an index without a writer has no such table. `used` holds what this run asked for. */
static qp_code have_table(qp_store *s, qp_err *err)
{
    return qp_truth_exec(
        s,
        "CREATE TABLE IF NOT EXISTS said(digest TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,"
        " UNIQUE(digest, model));"
        "CREATE TEMP TABLE IF NOT EXISTS used(digest TEXT PRIMARY KEY, model TEXT) WITHOUT ROWID",
        err);
}

static qp_code run_with(qp_store *s, const char *sql, qp_digest asked, const char *model, const qp_str *text,
                        qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, sql, err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(asked.hex));
    qp_truth_bind(stmt, 2, qp_str_of(model));
    if (text)
        qp_truth_bind(stmt, 3, *text);
    return qp_truth_run(s, stmt, err);
}

static qp_code take_text(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_buf *out = ctx;
    qp_buf_str(out, qp_truth_column(stmt, 0));
    return out->oom ? qp_oom(err) : QP_OK;
}

qp_code qp_store_said(qp_store *s, qp_digest asked, const char *model, qp_buf *out, bool *found, qp_err *err)
{
    qp_buf_clear(out);
    qp_code code = have_table(s, err);
    sqlite3_stmt *stmt =
        code ? NULL : qp_truth_use(s, "SELECT text || char(10) FROM said WHERE digest = ? AND model = ?", err);
    if (!stmt)
        return code ? code : QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(asked.hex));
    qp_truth_bind(stmt, 2, qp_str_of(model));
    code = qp_truth_each(s, stmt, take_text, out, err);
    *found = !code && out->n; /* a line end follows even an empty text */
    return code ? code : run_with(s, "INSERT OR REPLACE INTO temp.used VALUES (?, ?)", asked, model, NULL, err);
}

qp_code qp_store_say(qp_store *s, qp_digest asked, const char *model, qp_str text, qp_err *err)
{
    qp_code code = qp_truth_enter(s, err);
    return code ? code
                : qp_truth_leave(s,
                                 run_with(s, "INSERT OR REPLACE INTO said VALUES (?, ?, ?)", asked, model, &text, err),
                                 err);
}

qp_code qp_store_said_prune(qp_store *s, qp_err *err)
{
    qp_code code = have_table(s, err);
    code = code ? code : qp_truth_enter(s, err);
    return code ? code
                : qp_truth_leave(s,
                                 qp_truth_exec(s,
                                               "DELETE FROM said WHERE NOT EXISTS (SELECT 1 FROM temp.used u WHERE"
                                               " u.digest = said.digest AND u.model = said.model);"
                                               "DELETE FROM temp.used",
                                               err),
                                 err);
}
