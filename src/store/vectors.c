/* What models made of the texts, kept in the truth: vectors, learned terms, questions, tokens. Each is a row of
 * `vector`, as a model makes one thing of a text. */
#include <math.h>
#include <stdio.h>

#include "store/dot.h"
#include "store/tokens.h"
#include "store/truth.h"

static qp_code keep(qp_store *s, const char *model, const char *digest, qp_str value, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "INSERT OR REPLACE INTO vector(digest, model, value) VALUES (?, ?, ?)", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest));
    qp_truth_bind(stmt, 2, qp_str_of(model));
    sqlite3_bind_blob64(stmt, 3, value.at, value.n, SQLITE_STATIC); /* never null: of nothing "" is kept */
    return qp_truth_run(s, stmt, err);
}

/* Appends what text i came to, as it is kept. */
typedef qp_code encode_fn(const void *made, uint32_t i, const qp_pending *, qp_buf *out, qp_err *);

/* All of them, or none. */
static qp_code keep_each(qp_store *s, const char *model, const qp_pending *p, uint32_t n, encode_fn *encode,
                         const void *made, qp_err *err)
{
    qp_buf value = {0};
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    for (uint32_t i = 0; !code && i < n; i++) {
        qp_buf_clear(&value);
        code = encode(made, i, &p[i], &value, err);
        if (!code && value.oom)
            code = qp_oom(err);
        code = code ? code : keep(s, model, p[i].digest, qp_buf_view(&value), err);
        code = code ? code : qp_pending_strike(s, model, p[i].digest, err);
    }
    qp_buf_free(&value);
    return qp_truth_leave(s, code, err);
}

/* ---- vectors ---- */

/* The place of the first of n numbers that is not finite; n: all are. */
static size_t first_wrong(const float *v, size_t n)
{
    size_t i = 0;
    while (i < n && isfinite(v[i]))
        i++;
    return i;
}

struct vectors {
    const float *at;
    uint32_t dim;
};

static qp_code encode_vector(const void *made, uint32_t i, const qp_pending *p, qp_buf *out, qp_err *err)
{
    const struct vectors *v = made;
    (void)p, (void)err;
    qp_buf_add(out, v->at + (size_t)i * v->dim, v->dim * sizeof *v->at);
    return QP_OK;
}

qp_code qp_store_vectors(qp_store *s, const char *model, uint32_t dim, const qp_pending *p, uint32_t n, const float *v,
                         qp_err *err)
{
    size_t wrong = first_wrong(v, (size_t)n * dim);
    if (wrong < (size_t)n * dim)
        return qp_fail(err, QP_MODEL,
                       "the embedder gave a vector with a number that is not finite, for '%.60s': try another model",
                       p[wrong / dim].text.at);
    return keep_each(s, model, p, n, encode_vector, &(struct vectors){v, dim}, err);
}

qp_code qp_store_place_vectors(qp_store *s, const char *model, uint32_t dim, const qp_place *p, uint32_t n,
                               const float *v, qp_err *err)
{
    if (first_wrong(v, (size_t)n * dim) < (size_t)n * dim)
        return qp_fail(err, QP_MODEL,
                       "the embedder gave a part of a passage a vector with a number that is not finite: index with "
                       "-o facts=embedded, or try another model");
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    for (uint32_t i = 0; !code && i < n; i++)
        code = keep(s, model, p[i].digest, (qp_str){(const char *)(v + (size_t)i * dim), dim * sizeof *v}, err);
    return qp_truth_leave(s, code, err);
}

/* ---- learned terms, questions ---- */

static qp_code encode_terms(const void *made, uint32_t i, const qp_pending *p, qp_buf *out, qp_err *err)
{
    const qp_sparse *t = (const qp_sparse *)made + i;
    for (uint32_t k = 0; k < t->n; k++) {
        if (!isfinite(t->weight[k]) || t->weight[k] < 0)
            return qp_fail(err, QP_MODEL,
                           "the sparse encoder gave a weight that is below 0 or not finite, for '%.60s': try another "
                           "model",
                           p->text.at);
        qp_buf_add(out, &t->term[k], sizeof t->term[k]);
        qp_buf_add(out, &t->weight[k], sizeof t->weight[k]);
    }
    return QP_OK;
}

qp_code qp_store_terms(qp_store *s, const char *model, const qp_pending *p, uint32_t n, const qp_sparse *terms,
                       qp_err *err)
{
    return keep_each(s, model, p, n, encode_terms, terms, err);
}

static qp_code encode_text(const void *made, uint32_t i, const qp_pending *p, qp_buf *out, qp_err *err)
{
    (void)p, (void)err;
    qp_buf_str(out, ((const qp_str *)made)[i]);
    return QP_OK;
}

qp_code qp_store_questions(qp_store *s, const char *model, const qp_pending *p, qp_str questions, qp_err *err)
{
    return keep_each(s, model, p, 1, encode_text, &questions, err);
}

/* ---- vectors of tokens ---- */

struct token_vectors {
    const qp_token_rows *at;
    uint32_t dim;
};

/* The width, then each vector as a snapshot in the making wants it. */
static qp_code encode_tokens(const void *made, uint32_t i, const qp_pending *p, qp_buf *out, qp_err *err)
{
    const struct token_vectors *t = made;
    const qp_token_rows *r = &t->at[i];
    if (first_wrong(r->at, (size_t)r->n * t->dim) < (size_t)r->n * t->dim)
        return qp_fail(err, QP_MODEL,
                       "the embedder gave a token a vector with a number that is not finite, in '%.60s': try another "
                       "model",
                       p->text.at);
    qp_buf_add(out, &t->dim, sizeof t->dim);
    for (uint32_t k = 0; k < r->n; k++) {
        char *to = qp_buf_room(out, qp_token_bytes(t->dim));
        if (!to)
            return qp_oom(err);
        float scale = qp_quantise(r->at + (size_t)k * t->dim, t->dim, (int8_t *)to + sizeof scale);
        memcpy(to, &scale, sizeof scale);
        out->n += qp_token_bytes(t->dim);
    }
    return QP_OK;
}

qp_code qp_store_tokens(qp_store *s, const char *model, uint32_t dim, const qp_pending *p, uint32_t n,
                        const qp_token_rows *rows, qp_err *err)
{
    return keep_each(s, model, p, n, encode_tokens, &(struct token_vectors){rows, dim}, err);
}

/* ---- heads ---- */

qp_code qp_store_heads(qp_store *s, uint32_t heads, uint32_t head_dim, qp_err *err)
{
    char shape[40];
    qp_str now;
    snprintf(shape, sizeof shape, "%u x %u", heads, head_dim);
    qp_arena_reset(s->mem);
    qp_code code = qp_state_get(s, "heads", &now, s->mem, err);
    if (code || qp_str_eq(now, qp_str_of(shape)))
        return code;
    code = qp_truth_enter(s, err);
    return code ? code : qp_truth_leave(s, qp_state_set(s, "heads", qp_str_of(shape), err), err);
}
