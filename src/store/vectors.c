/* Vectors and learned terms in the truth: which texts still need them, and keeping them. Both are rows of `vector`, as a
 * model makes one thing of a text. */
#include <math.h>
#include <stdio.h>

#include "store/truth.h"

/* Once per change of chunks the texts without a vector are listed in a temporary table, longest first; each call then
 * reads its head, and keeping vectors takes rows away: the whole run is linear in the number of chunks. */
static qp_code list_pending(qp_store *s, const char *model, qp_err *err)
{
    qp_code code = qp_truth_exec(s,
                                 "CREATE TEMP TABLE IF NOT EXISTS pending(rank INTEGER PRIMARY KEY, digest TEXT UNIQUE,"
                                 " document INTEGER, ordinal INTEGER); DELETE FROM temp.pending",
                                 err);
    if (code)
        return code;
    sqlite3_stmt *stmt = qp_truth_use(
        s,
        "INSERT INTO temp.pending(digest, document, ordinal)"
        " SELECT digest, document, min(ordinal) FROM chunk c WHERE NOT EXISTS" /* one min(): the rest is of its row */
        "  (SELECT 1 FROM vector v WHERE v.digest = c.digest AND v.model = ?)"
        " GROUP BY digest ORDER BY bytes DESC, digest",
        err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(model));
    code = qp_truth_run(s, stmt, err);
    s->left = code ? 0 : sqlite3_changes64(s->db);
    if (!code)
        snprintf(s->pending, sizeof s->pending, "%s", model);
    return code;
}

static const char *const fact[] = {[QP_MADE_VECTOR] = "model", [QP_MADE_TERMS] = "sparse"};

/* The snapshot is made with what the model that was last asked about made. */
static qp_code note_model(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    qp_str now;
    qp_arena_reset(s->mem);
    qp_code code = qp_state_get(s, fact[what], &now, s->mem, err);
    if (code || qp_str_eq(now, qp_str_of(model)))
        return code;
    code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    return qp_truth_leave(s, qp_state_set(s, fact[what], qp_str_of(model), err), err);
}

static qp_code pending_text(qp_store *s, int64_t document, int64_t ordinal, qp_pending *out, qp_arena *a, qp_err *err)
{
    sqlite3_stmt *stmt =
        qp_truth_use(s,
                     "SELECT d.title, c.heading, c.start, c.stop, c.digest FROM chunk c JOIN document d"
                     " ON d.row = c.document WHERE c.document = ? AND c.ordinal = ?",
                     err);
    if (!stmt)
        return QP_STORE;
    sqlite3_bind_int64(stmt, 1, document);
    sqlite3_bind_int64(stmt, 2, ordinal);
    if (sqlite3_step(stmt) != SQLITE_ROW) {
        qp_code code = qp_truth_fail(s, err);
        sqlite3_reset(stmt);
        return code;
    }
    qp_buf text = {0};
    qp_code code = qp_truth_text(s, document, (uint64_t)sqlite3_column_int64(stmt, 2),
                                 (uint64_t)sqlite3_column_int64(stmt, 3), &text, err);
    if (!code) {
        out->text = qp_indexed_text(a, qp_truth_column(stmt, 0), qp_truth_column(stmt, 1), qp_buf_view(&text));
        snprintf(out->digest, sizeof out->digest, "%s", (const char *)sqlite3_column_text(stmt, 4));
        code = out->text.at ? QP_OK : qp_oom(err);
    }
    qp_buf_free(&text);
    sqlite3_reset(stmt);
    return code;
}

struct places { /* what the head of temp.pending names */
    int64_t (*at)[2];
    uint32_t n;
};

static qp_code take_place(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct places *p = ctx;
    (void)err;
    p->at[p->n][0] = sqlite3_column_int64(stmt, 0);
    p->at[p->n++][1] = sqlite3_column_int64(stmt, 1);
    return QP_OK;
}

qp_code qp_store_pending(qp_store *s, qp_made what, const char *model, uint32_t n, qp_pending *out, uint32_t *n_out,
                         uint64_t *left, qp_arena *a, qp_err *err)
{
    *n_out = 0;
    if (left)
        *left = 0;
    qp_code code = note_model(s, what, model, err);
    if (code || !*model)
        return code;
    if (strcmp(s->pending, model))
        code = list_pending(s, model, err);
    struct places p = {qp_arena_array(a, n, sizeof *p.at), 0};
    if (!code && n && !p.at)
        code = qp_oom(err);
    sqlite3_stmt *head =
        code ? NULL : qp_truth_use(s, "SELECT document, ordinal FROM temp.pending ORDER BY rank LIMIT ?", err);
    if (!head)
        return code ? code : QP_STORE;
    sqlite3_bind_int64(head, 1, n);
    code = qp_truth_each(s, head, take_place, &p, err);
    for (uint32_t i = 0; !code && i < p.n; i++)
        code = pending_text(s, p.at[i][0], p.at[i][1], &out[i], a, err);
    if (!code) {
        *n_out = p.n;
        if (left)
            *left = (uint64_t)s->left;
    }
    return code;
}

static qp_code keep(qp_store *s, const char *model, const qp_pending *p, qp_str value, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "INSERT OR REPLACE INTO vector(digest, model, value) VALUES (?, ?, ?)", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(p->digest));
    qp_truth_bind(stmt, 2, qp_str_of(model));
    sqlite3_bind_blob64(stmt, 3, value.at, value.n, SQLITE_STATIC);
    qp_code code = qp_truth_run(s, stmt, err);
    if (code || strcmp(s->pending, model))
        return code;
    stmt = qp_truth_use(s, "DELETE FROM temp.pending WHERE digest = ?", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(p->digest));
    code = qp_truth_run(s, stmt, err);
    s->left -= code ? 0 : sqlite3_changes64(s->db);
    return code;
}

qp_code qp_store_vectors(qp_store *s, const char *model, uint32_t dim, const qp_pending *p, uint32_t n, const float *v,
                         qp_err *err)
{
    for (size_t i = 0; i < (size_t)n * dim; i++)
        if (!isfinite(v[i]))
            return qp_fail(err, QP_MODEL,
                           "the embedder gave a vector with a number that is not finite, for '%.60s': try "
                           "another model",
                           p[i / dim].text.at);
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    for (uint32_t i = 0; !code && i < n; i++)
        code = keep(s, model, &p[i], (qp_str){(const char *)(v + (size_t)i * dim), dim * sizeof *v}, err);
    return qp_truth_leave(s, code, err);
}

static qp_code encode_terms(const qp_sparse *t, const qp_pending *p, qp_buf *out, qp_err *err)
{
    qp_buf_clear(out);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!isfinite(t->weight[i]) || t->weight[i] < 0)
            return qp_fail(err, QP_MODEL,
                           "the sparse encoder gave a weight that is below 0 or not finite, for '%.60s': try another "
                           "model",
                           p->text.at);
        qp_buf_add(out, &t->term[i], sizeof t->term[i]);
        qp_buf_add(out, &t->weight[i], sizeof t->weight[i]);
    }
    return out->oom ? qp_oom(err) : QP_OK;
}

qp_code qp_store_terms(qp_store *s, const char *model, const qp_pending *p, uint32_t n, const qp_sparse *terms,
                       qp_err *err)
{
    qp_buf value = {0};
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    for (uint32_t i = 0; !code && i < n; i++) {
        code = encode_terms(&terms[i], &p[i], &value, err);
        if (!code)
            code = keep(s, model, &p[i], value.n ? qp_buf_view(&value) : QP_STR(""), err); /* a null would be NULL */
    }
    qp_buf_free(&value);
    return qp_truth_leave(s, code, err);
}

qp_code qp_store_complete(qp_store *s, bool *all, qp_err *err)
{
    int64_t yes = 0;
    qp_code code = qp_truth_number(
        s,
        "SELECT NOT EXISTS (SELECT 1 FROM state m, chunk c WHERE m.name IN ('model', 'sparse') AND m.value <> ''"
        " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.digest = c.digest AND v.model = m.value))",
        &yes, err);
    *all = yes;
    return code;
}
