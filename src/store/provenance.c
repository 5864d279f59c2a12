/* Where sources say that entities stand: by name and document key, so that a document may come, change and go. */
#include "store/graph.h"
#include "store/graph_put.h"

/* Made on first use: an index without such a source has no such table. */
static const char *const table =
    "CREATE TABLE IF NOT EXISTS graph_provenance(graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE,"
    " entity TEXT NOT NULL, document TEXT NOT NULL,"
    " PRIMARY KEY(graph, entity, document)) WITHOUT ROWID";

qp_code qp_graph_provenance(qp_graph_put *g, qp_str entity, qp_str document, qp_err *err)
{
    qp_code code = g->provenance ? QP_OK : qp_truth_exec(g->store, table, err);
    g->provenance = true;
    sqlite3_stmt *stmt =
        code ? NULL : qp_truth_use(g->store, "INSERT OR IGNORE INTO graph_provenance VALUES (?, ?, ?)", err);
    if (!stmt)
        return code ? code : QP_STORE;
    sqlite3_bind_int64(stmt, 1, g->row);
    qp_truth_bind(stmt, 2, entity);
    qp_truth_bind(stmt, 3, document);
    return qp_truth_run(g->store, stmt, err);
}

struct taker {
    qp_code (*take)(void *ctx, qp_str entity, int64_t document, uint32_t chunk, qp_err *);
    void *ctx;
};

static qp_code take_row(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    const struct taker *t = ctx;
    return t->take(t->ctx, qp_truth_column(stmt, 0), sqlite3_column_int64(stmt, 1),
                   (uint32_t)sqlite3_column_int64(stmt, 2), err);
}

qp_code qp_store_provenance(qp_store *s, qp_code (*take)(void *, qp_str, int64_t, uint32_t, qp_err *), void *ctx,
                            qp_err *err)
{
    struct taker taker = {take, ctx};
    int64_t there = 0;
    qp_code code =
        qp_truth_number(s, "SELECT count(*) FROM sqlite_master WHERE name = 'graph_provenance'", &there, err);
    if (code || !there)
        return code;
    sqlite3_stmt *stmt =
        qp_truth_use(s,
                     "SELECT DISTINCT p.entity, coalesce(d.row, 0), coalesce(c.ordinal, 0) FROM graph_provenance p"
                     " LEFT JOIN document d ON d.key = p.document LEFT JOIN chunk c ON c.document = d.row"
                     " ORDER BY 1, 2, 3",
                     err);
    return stmt ? qp_truth_each(s, stmt, take_row, &taker, err) : QP_STORE;
}
