/* The chunks' texts in order, for who draws a graph out of them. */
#include "base/hash.h"
#include "store/truth.h"

struct reading {
    qp_store *store;
    qp_passage_fn fn;
    void *ctx;
    int64_t document; /* whose text is at hand */
    qp_buf text, title;
};

static qp_code take_passage(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct reading *r = ctx;
    int64_t document = sqlite3_column_int64(stmt, 0);
    uint64_t from = (uint64_t)sqlite3_column_int64(stmt, 4), to = (uint64_t)sqlite3_column_int64(stmt, 5);
    qp_code code = QP_OK;
    if (document != r->document) {
        r->document = document;
        qp_buf_clear(&r->title);
        qp_buf_str(&r->title, qp_truth_column(stmt, 1));
        code = qp_truth_text(r->store, document, 0, (uint64_t)sqlite3_column_int64(stmt, 2), &r->text, err);
    }
    if (!code && (r->text.oom || r->title.oom))
        code = qp_oom(err);
    if (!code && (from > to || to > r->text.n))
        code = qp_fail(err, QP_STORE,
                       "%s/truth.db: is damaged: a chunk lies outside its text: restore a copy, or remove the folder "
                       "and index again",
                       r->store->dir);
    const qp_passage p = {document,
                          qp_truth_column(stmt, 8),
                          (uint32_t)sqlite3_column_int64(stmt, 3),
                          qp_buf_view(&r->title),
                          qp_str_slice(qp_buf_view(&r->text), from, to),
                          qp_truth_column(stmt, 6),
                          (uint32_t)(sqlite3_column_int64(stmt, 7) - (int64_t)(to - from))};
    return code ? code : r->fn(r->ctx, &p, err);
}

qp_code qp_store_passages(qp_store *s, qp_passage_fn fn, void *ctx, qp_err *err)
{
    struct reading r = {.store = s, .fn = fn, .ctx = ctx};
    qp_code code = qp_truth_each(
        s,
        qp_truth_use(s,
                     "SELECT d.row, d.title, d.bytes, c.ordinal, c.start, c.stop, c.digest, c.bytes, d.key"
                     " FROM document d"
                     " JOIN chunk c ON c.document = d.row ORDER BY d.key, c.ordinal",
                     err),
        take_passage, &r, err);
    qp_buf_free(&r.text);
    qp_buf_free(&r.title);
    return code;
}

struct summing {
    qp_buf parts; /* what is hashed, end to end */
    uint64_t n;
};

static qp_code add_digest(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct summing *s = ctx;
    qp_buf_fmt(&s->parts, "%lld ", (long long)sqlite3_column_int64(stmt, 0));
    qp_buf_str(&s->parts, qp_truth_column(stmt, 1));
    if (s->parts.n > 1 << 20) { /* what was, and what comes */
        qp_digest so_far = qp_digest_of(qp_buf_view(&s->parts));
        qp_buf_clear(&s->parts);
        qp_buf_text(&s->parts, so_far.hex);
    }
    s->n++;
    return s->parts.oom ? qp_oom(err) : QP_OK;
}

qp_code qp_store_passages_digest(qp_store *s, qp_digest *out, uint64_t *n, qp_err *err)
{
    struct summing sum = {0};
    qp_code code =
        qp_truth_each(s,
                      qp_truth_use(s,
                                   "SELECT d.row, c.digest FROM document d JOIN chunk c ON c.document = d.row"
                                   " ORDER BY d.key, c.ordinal",
                                   err),
                      add_digest, &sum, err);
    *out = qp_digest_of(qp_buf_view(&sum.parts));
    *n = sum.n;
    qp_buf_free(&sum.parts);
    return code;
}

qp_code qp_store_linked(qp_store *s, bool *yes, qp_err *err)
{
    int64_t found = 0;
    qp_code code = qp_truth_number(s, "SELECT EXISTS (SELECT 1 FROM edge WHERE tail <> head)", &found, err);
    *yes = found;
    return code;
}
