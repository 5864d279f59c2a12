/* What models made of the texts: vectors, learned terms, attention heads. */
#include "store/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "store/tokens.h"

enum { MOST_TERMS = 1 << 24 }; /* of a sparse encoder's vocabulary; the largest have a quarter of a million */

/* ---- into the maker ---- */

/* The row of a text of which a model made nothing is given as an empty one. */
typedef qp_code put_fn(qp_gathering *, qp_str value, qp_err *);

/* `wanted` floats where they can be read as such: a blob may lie at any address. Null with QP_OK: there are none. */
static qp_code floats_of(qp_gathering *p, qp_str value, size_t wanted, const char *what, const float **out, qp_err *err)
{
    *out = NULL;
    if (!value.n)
        return QP_OK;
    if (value.n != wanted * sizeof(float))
        return qp_fail(err, QP_STORE, "%s/truth.db: is damaged: %s of %zu bytes among those of %zu", p->store->dir,
                       what, value.n, wanted * sizeof(float));
    float *v = qp_new(p->mem, float, wanted);
    if (!v)
        return qp_oom(err);
    memcpy(v, value.at, value.n);
    *out = v;
    return QP_OK;
}

static qp_code put_vector(qp_gathering *p, qp_str value, qp_err *err)
{
    const float *v;
    qp_code code = floats_of(p, value, p->dim, "a vector", &v, err);
    return code ? code : qp_maker_vector(p->maker, v, err);
}

static qp_code put_heads(qp_gathering *p, qp_str value, qp_err *err)
{
    const float *v;
    qp_code code = floats_of(p, value, (size_t)p->heads * p->head_dim, "attention heads", &v, err);
    return code ? code : qp_maker_heads(p->maker, v, err);
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
    return code;
}

static qp_code put_tokens(qp_gathering *p, qp_str value, qp_err *err)
{
    size_t bytes = qp_token_bytes(p->token_dim), head = sizeof p->token_dim;
    if (value.n && (value.n < head || (value.n - head) % bytes || memcmp(value.at, &p->token_dim, head)))
        return qp_fail(err, QP_STORE, "%s/truth.db: is damaged: tokens of %zu bytes among those of %u numbers",
                       p->store->dir, value.n, p->token_dim);
    return value.n ? qp_maker_tokens(p->maker, value.at + head, (uint32_t)((value.n - head) / bytes), err)
                   : qp_maker_tokens(p->maker, "", 0, err);
}

/* One more than the largest id of all terms, so that it is a function of what is there. */
static qp_code count_terms(qp_gathering *p, qp_str value, qp_err *err)
{
    qp_sparse found;
    const qp_sparse *terms = read_terms(p, value, &found);
    qp_code code = terms ? QP_OK : qp_oom(err);
    for (uint32_t i = 0; !code && i < terms->n; i++) {
        if (terms->term[i] >= MOST_TERMS)
            code = qp_fail(err, QP_STORE, "%s/truth.db: is damaged: a learned term %u", p->store->dir, terms->term[i]);
        p->terms = terms->term[i] >= p->terms ? terms->term[i] + 1 : p->terms;
    }
    return code;
}

/* ---- out of the truth ---- */

/* What a model made of a text, or nothing; in the arena. A vector may be that of the text's place in a passage. */
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
    return qp_truth_value(p->store, stmt, value, found, p->mem, err);
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

struct visit { /* of the passages' rows */
    qp_gathering *p;
    put_fn *put;
};

static qp_code visit_passage(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    const struct visit *v = ctx;
    qp_arena_reset(v->p->mem);
    qp_code code = v->put(v->p, qp_truth_column(stmt, 0), err);
    return code ? code : qp_gather_tell(v->p, NULL, false, err);
}

/* What a model made of each passage, in order of node. */
static qp_code each_passage(qp_gathering *p, qp_str model, put_fn *put, qp_err *err)
{
    sqlite3_stmt *stmt =
        qp_truth_use(p->store,
                     "SELECT v.value FROM document d JOIN chunk c ON c.document = d.row LEFT JOIN vector v"
                     " ON v.digest = c.digest AND v.model = ? ORDER BY d.key, c.ordinal",
                     err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, model);
    return qp_truth_each(p->store, stmt, visit_passage, &(struct visit){p, put}, err);
}

static qp_code each_entity(qp_gathering *p, qp_str model, put_fn *put, qp_err *err)
{
    qp_code code = QP_OK;
    uint64_t size = p->entities ? qp_scratch_size(p->entities) : 0;
    for (uint64_t at = 0; !code && at < size; at += sizeof(qp_digest)) {
        qp_digest digest;
        qp_str value;
        bool found;
        qp_arena_reset(p->mem);
        code = qp_scratch_read(p->entities, at, &digest, sizeof digest, err);
        code = code ? code : look_up(p, digest.hex, model, &value, &found, err);
        code = code ? code : put(p, value, err);
        code = code ? code : qp_gather_tell(p, NULL, false, err);
    }
    return code;
}

qp_code qp_gather_made(qp_gathering *p, qp_err *err)
{
    const struct {
        uint32_t there; /* 0: nothing was made */
        qp_str model;
        put_fn *put;
        bool entities; /* or passages alone */
    } kinds[] = {{p->dim, p->model, put_vector, true},
                 {p->terms, p->sparse, put_terms, true},
                 {p->heads, p->attention, put_heads, true},
                 {p->token_dim, p->tokens, put_tokens, false}};
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].there)
            continue;
        code = each_passage(p, kinds[i].model, kinds[i].put, err);
        if (!code && kinds[i].entities)
            code = each_entity(p, kinds[i].model, kinds[i].put, err);
    }
    return code;
}

/* ---- shapes ---- */

/* Of the first tokens that are there. */
static qp_code read_token_dim(qp_gathering *p, qp_err *err)
{
    qp_str value;
    bool found;
    sqlite3_stmt *stmt = qp_truth_use(p->store, "SELECT value FROM vector WHERE model = ? LIMIT 1", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, p->tokens);
    qp_code code = qp_truth_value(p->store, stmt, &value, &found, p->mem, err);
    if (value.n >= sizeof p->token_dim)
        memcpy(&p->token_dim, value.at, sizeof p->token_dim);
    return !code && p->token_dim > UINT16_MAX
               ? qp_fail(err, QP_STORE, "%s/truth.db: is damaged: tokens of %u numbers", p->store->dir, p->token_dim)
               : code;
}

/* Of the first vector that is there; 0: there is none. */
static qp_code read_dim(qp_store *s, qp_str model, uint32_t *dim, qp_err *err)
{
    int64_t bytes = 0;
    qp_code code = qp_truth_find(s, "SELECT length(value) FROM vector WHERE model = ? LIMIT 1", &model, 1, &bytes, err);
    *dim = (uint32_t)(bytes / (int64_t)sizeof(float));
    return code;
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
    const struct {
        const char *fact;
        qp_str *digest;
    } makers[] = {{"model", &p->model},
                  {"sparse", &p->sparse},
                  {"attention", &p->attention},
                  {"questions", &p->expander},
                  {"tokens", &p->tokens}};
    int64_t documents = 0, graphs = 0;
    qp_code code = qp_truth_number(s, "SELECT count(*) FROM document", &documents, err);
    if (!code)
        code = qp_truth_number(s, "SELECT coalesce(sum(entities + triples), 0) FROM graph", &graphs, err);
    p->total = (uint64_t)(documents + graphs);
    for (size_t i = 0; !code && i < sizeof makers / sizeof *makers; i++)
        code = qp_state_get(s, makers[i].fact, makers[i].digest, a, err);
    if (!code && p->tokens.n)
        code = read_token_dim(p, err);
    if (!code)
        code = read_dim(s, p->model, &p->dim, err);
    if (!code && p->sparse.n)
        code = each_passage(p, p->sparse, count_terms, err);
    return code ? code : read_heads(p, a, err);
}
