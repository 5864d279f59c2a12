/* Vectors of places in passages; see qp_place in store/store.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "store/truth.h"

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
