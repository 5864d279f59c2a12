/* What models made of the texts: vectors, learned terms, attention heads. */
#include "store/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "store/tokens.h"

enum { MOST_TERMS = 1 << 24 }; /* of a sparse encoder's vocabulary; the largest have a quarter of a million */

/* ---- vectors ---- */

static qp_code put_vector(qp_gathering *p, qp_str value, qp_err *err)
{
    if (value.n && value.n != p->dim * sizeof(float))
        return qp_fail(err, QP_STORE, "%s/truth.db: is damaged: a vector of %zu bytes among those of %zu",
                       p->store->dir, value.n, p->dim * sizeof(float));
    float *v = value.n ? qp_new(p->mem, float, p->dim) : NULL; /* a blob may lie at any address */
    if (value.n && !v)
        return qp_oom(err);
    if (v)
        memcpy(v, value.at, value.n);
    qp_code code = qp_maker_vector(p->maker, v, err);
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

static qp_code put_heads(qp_gathering *p, qp_str value, qp_err *err)
{
    size_t bytes = (size_t)p->heads * p->head_dim * sizeof(float);
    float *v = value.n == bytes ? qp_new(p->mem, float, bytes / sizeof(float)) : NULL;
    if (value.n && value.n != bytes)
        return qp_fail(err, QP_STORE, "%s/truth.db: is damaged: attention heads of %zu bytes among those of %zu",
                       p->store->dir, value.n, bytes);
    if (value.n && !v)
        return qp_oom(err);
    if (v)
        memcpy(v, value.at, bytes);
    qp_code code = qp_maker_heads(p->maker, v, err);
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

/* Rows of each_made. */
static qp_code add_vector(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_arena_reset(p->mem);
    return put_vector(p, qp_truth_column(stmt, 0), err);
}

static qp_code add_heads(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_arena_reset(p->mem);
    return put_heads(p, qp_truth_column(stmt, 0), err);
}

/* Pairs of id and weight, as encode_terms wrote them; null: there are none. */
static const qp_sparse *read_terms(qp_gathering *p, qp_str value, qp_sparse *out)
{
    uint32_t n = (uint32_t)(value.n / 8), *term = qp_new(p->mem, uint32_t, n + 1);
    float *weight = qp_new(p->mem, float, n + 1);
    if (!term || !weight)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&term[i], value.at + 8 * (size_t)i, sizeof *term);
        memcpy(&weight[i], value.at + 8 * (size_t)i + 4, sizeof *weight);
    }
    *out = (qp_sparse){term, weight, n};
    return out;
}

static qp_code put_terms(qp_gathering *p, qp_str value, qp_err *err)
{
    qp_sparse found;
    const qp_sparse *terms = read_terms(p, value, &found);
    qp_code code = terms ? qp_maker_terms(p->maker, terms, err) : qp_oom(err);
    if (code == QP_BUG)
        code = qp_fail(err, QP_STORE, "%s/truth.db: is damaged: learned terms that no model makes", p->store->dir);
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

static qp_code add_terms(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_arena_reset(p->mem);
    return put_terms(p, qp_truth_column(stmt, 0), err);
}

static qp_code add_tokens(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_str value = qp_truth_column(stmt, 0);
    size_t bytes = qp_token_bytes(p->token_dim), head = sizeof p->token_dim;
    if (value.n && (value.n < head || (value.n - head) % bytes || memcmp(value.at, &p->token_dim, head)))
        return qp_fail(err, QP_STORE, "%s/truth.db: is damaged: tokens of %zu bytes among those of %u numbers",
                       p->store->dir, value.n, p->token_dim);
    qp_code code = value.n ? qp_maker_tokens(p->maker, value.at + head, (uint32_t)((value.n - head) / bytes), err)
                           : qp_maker_tokens(p->maker, "", 0, err);
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

/* One more than the largest id of all terms, so that it is a function of what is there. */
static qp_code count_terms(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_sparse found;
    const qp_sparse *terms = read_terms(p, qp_truth_column(stmt, 0), &found);
    qp_code code = terms ? QP_OK : qp_oom(err);
    for (uint32_t i = 0; !code && i < terms->n; i++) {
        if (terms->term[i] >= MOST_TERMS)
            code = qp_fail(err, QP_STORE, "%s/truth.db: is damaged: a learned term %u", p->store->dir, terms->term[i]);
        p->terms = terms->term[i] >= p->terms ? terms->term[i] + 1 : p->terms;
    }
    qp_arena_reset(p->mem);
    return code;
}

/* What a model made of a text, or nothing; until the next call. A vector may be that of the text's place in a passage. */
static qp_code look_up(qp_gathering *p, const char *digest, qp_str model, qp_str *value, bool *found, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(
        p->store,
        "SELECT value FROM vector WHERE digest = coalesce((SELECT digest FROM place WHERE text = ?1 AND ?3),"
        " ?1) AND model = ?2",
        err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest));
    qp_truth_bind(stmt, 2, model);
    sqlite3_bind_int(stmt, 3, qp_str_eq(model, p->model));
    int rc = sqlite3_step(stmt);
    *found = rc == SQLITE_ROW;
    if (*found) {
        *value = qp_arena_str(p->mem, qp_truth_column(stmt, 0));
        if (!value->at)
            rc = SQLITE_NOMEM;
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? QP_OK
           : rc == SQLITE_NOMEM                  ? qp_oom(err)
                                                 : qp_truth_fail(p->store, err);
}

/* For the maker: what was made of a relation or a triple. */
qp_code qp_gather_made_of(void *ctx, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_str value;
    size_t bytes = (what == QP_MADE_HEADS ? p->heads * p->head_dim : p->dim) * sizeof(float);
    qp_arena_reset(p->mem);
    qp_code code =
        look_up(p, qp_digest_of(text).hex, what == QP_MADE_HEADS ? p->attention : p->model, &value, found, err);
    *found = *found && value.n == bytes;
    if (!code && *found)
        memcpy(out, value.at, bytes);
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

static qp_code each_entity(qp_gathering *p, qp_str model, qp_code (*row)(qp_gathering *, qp_str, qp_err *), qp_err *err)
{
    qp_code code = QP_OK;
    uint64_t size = p->entities ? qp_scratch_size(p->entities) : 0;
    for (uint64_t at = 0; !code && at < size; at += sizeof(qp_digest)) {
        qp_digest digest;
        qp_str value = {0};
        bool found = false;
        qp_arena_reset(p->mem);
        code = qp_scratch_read(p->entities, at, &digest, sizeof digest, err);
        code = code ? code : look_up(p, digest.hex, model, &value, &found, err);
        if (!code)
            code = row(p, found ? value : (qp_str){0}, err);
    }
    return code;
}

/* Of the first that are there. */
static qp_code read_token_dim(qp_gathering *p, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(p->store, "SELECT value FROM vector WHERE model = ? LIMIT 1", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, p->tokens);
    int rc = sqlite3_step(stmt);
    qp_str value = rc == SQLITE_ROW ? qp_truth_column(stmt, 0) : (qp_str){0};
    if (value.n >= sizeof p->token_dim)
        memcpy(&p->token_dim, value.at, sizeof p->token_dim);
    qp_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? QP_OK : qp_truth_fail(p->store, err);
    sqlite3_reset(stmt);
    return !code && p->token_dim > UINT16_MAX
               ? qp_fail(err, QP_STORE, "%s/truth.db: is damaged: tokens of %u numbers", p->store->dir, p->token_dim)
               : code;
}

static qp_code read_dim(qp_store *s, qp_str model, uint32_t *dim, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "SELECT length(value) FROM vector WHERE model = ? LIMIT 1", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, model);
    int rc = sqlite3_step(stmt);
    *dim = rc == SQLITE_ROW ? (uint32_t)(sqlite3_column_int64(stmt, 0) / (int64_t)sizeof(float)) : 0;
    qp_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? QP_OK : qp_truth_fail(s, err);
    sqlite3_reset(stmt);
    return code;
}

/* What a model made of each node's text, in order of node. */
static qp_code each_made(qp_gathering *p, qp_str model, qp_code (*row)(void *, sqlite3_stmt *, qp_err *), qp_err *err)
{
    sqlite3_stmt *stmt =
        qp_truth_use(p->store,
                     "SELECT v.value FROM document d JOIN chunk c ON c.document = d.row LEFT JOIN vector v"
                     " ON v.digest = c.digest AND v.model = ? ORDER BY d.key, c.ordinal",
                     err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, model);
    return qp_truth_each(p->store, stmt, row, p, err);
}

qp_code qp_gather_made(qp_gathering *p, qp_err *err)
{
    qp_code code = QP_OK;
    if (!code && p->dim)
        code = each_made(p, p->model, add_vector, err);
    if (!code && p->dim)
        code = each_entity(p, p->model, put_vector, err);
    if (!code && p->terms)
        code = each_made(p, p->sparse, add_terms, err);
    if (!code && p->terms)
        code = each_entity(p, p->sparse, put_terms, err);
    if (!code && p->heads)
        code = each_made(p, p->attention, add_heads, err);
    if (!code && p->heads)
        code = each_entity(p, p->attention, put_heads, err);
    return !code && p->token_dim ? each_made(p, p->tokens, add_tokens, err) : code;
}

/* The shape of what the heads gave: "heads x head_dim", kept when they were made. */
static qp_code read_heads(qp_gathering *p, qp_arena *a, qp_err *err)
{
    qp_str shape;
    uint32_t width = 0;
    qp_code code = qp_state_get(p->store, "heads", &shape, a, err);
    if (!code && p->attention.n)
        code = read_dim(p->store, p->attention, &width, err);
    if (!code && width &&
        (sscanf(shape.at, "%u x %u", &p->heads, &p->head_dim) != 2 || (uint64_t)p->heads * p->head_dim != width))
        code = qp_fail(err, QP_STORE, "%s/truth.db: is damaged: attention heads of an unknown shape", p->store->dir);
    if (!width)
        p->heads = p->head_dim = 0;
    return code;
}

qp_code qp_gather_shape(qp_gathering *p, qp_arena *a, qp_err *err)
{
    qp_store *s = p->store;
    int64_t documents = 0, graphs = 0;
    qp_code code = qp_state_get(s, "model", &p->model, a, err);
    if (!code)
        code = qp_state_get(s, "sparse", &p->sparse, a, err);
    if (!code)
        code = qp_state_get(s, "attention", &p->attention, a, err);
    if (!code)
        code = qp_state_get(s, "questions", &p->expander, a, err);
    if (!code)
        code = qp_state_get(s, "tokens", &p->tokens, a, err);
    if (!code && p->tokens.n)
        code = read_token_dim(p, err);
    if (!code)
        code = read_dim(s, p->model, &p->dim, err);
    if (!code && p->sparse.n)
        code = each_made(p, p->sparse, count_terms, err);
    if (!code)
        code = read_heads(p, a, err);
    if (!code)
        code = qp_truth_number(s, "SELECT count(*) FROM document", &documents, err);
    if (!code)
        code = qp_truth_number(s, "SELECT coalesce(sum(entities + triples), 0) FROM graph", &graphs, err);
    p->total = (uint64_t)(documents + graphs);
    return code;
}
