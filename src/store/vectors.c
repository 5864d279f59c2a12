/* Vectors and learned terms in the truth: which texts still need them, and keeping them. Both are rows of `vector`, as a
 * model makes one thing of a text. */
#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/map.h"
#include "store/dot.h"
#include "store/graph_merge.h"
#include "store/tokens.h"
#include "store/truth.h"

/* ---- what a graph's texts are ---- */

struct listing {
    qp_store *s;
    qp_made what;
    const char *model;
    bool triples;
    qp_map *relations;
    qp_buf names; /* of the entities, one after the other, ... */
    qp_buf ends;  /* ... and where each ends: size_t */
    qp_buf text;
};

/* Lists it if this model has made nothing of it, and keeps that a graph has it. */
static qp_code list_text(struct listing *l, qp_str text, qp_err *err)
{
    qp_digest digest = qp_digest_of(text);
    sqlite3_stmt *keep = qp_truth_use(l->s, "INSERT OR IGNORE INTO graph_text(digest) VALUES (?)", err);
    if (!keep)
        return QP_STORE;
    qp_truth_bind(keep, 1, qp_str_of(digest.hex));
    qp_code code = qp_truth_run(l->s, keep, err);
    sqlite3_stmt *stmt = code ? NULL
                              : qp_truth_use(l->s,
                                             "INSERT OR IGNORE INTO temp.pending(digest, text) SELECT ?1, ?2 WHERE NOT"
                                             " EXISTS (SELECT 1 FROM vector WHERE digest = ?1 AND model = ?3) AND NOT"
                                             " (?4 AND EXISTS (SELECT 1 FROM place p WHERE p.text = ?1))",
                                             err);
    if (!stmt)
        return code ? code : QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest.hex));
    qp_truth_bind(stmt, 2, text);
    qp_truth_bind(stmt, 3, qp_str_of(l->model));
    sqlite3_bind_int(stmt, 4, l->what == QP_MADE_VECTOR);
    return qp_truth_run(l->s, stmt, err);
}

static qp_code list_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    struct listing *l = ctx;
    (void)scope;
    qp_arena_reset(l->s->mem);
    qp_str whole = qp_entity_text(l->s->mem, name, text);
    if (l->triples) {
        qp_buf_str(&l->names, name);
        qp_buf_add(&l->ends, &l->names.n, sizeof l->names.n);
    }
    return whole.at && !l->names.oom && !l->ends.oom ? list_text(l, whole, err) : qp_oom(err);
}

static qp_str entity_name(const struct listing *l, uint32_t entity)
{
    size_t from = 0, to;
    if (entity)
        memcpy(&from, l->ends.at + (entity - 1) * sizeof from, sizeof from);
    memcpy(&to, l->ends.at + entity * sizeof to, sizeof to);
    return (qp_str){l->names.at + from, to - from};
}

static qp_code list_edge(void *ctx, uint32_t head, qp_str relation, uint32_t tail, float weight, qp_str text,
                         qp_err *err)
{
    struct listing *l = ctx;
    bool added = false;
    (void)weight, (void)text; /* vectors are of head, relation and tail alone */
    if (!qp_map_put(l->relations, relation, &added))
        return qp_oom(err);
    qp_code code = added ? list_text(l, relation, err) : QP_OK;
    if (code || !l->triples)
        return code;
    qp_buf_clear(&l->text);
    qp_triple_text(&l->text, entity_name(l, head), relation, entity_name(l, tail));
    return l->text.oom ? qp_oom(err) : list_text(l, qp_buf_view(&l->text), err);
}

/* Of entities, and unless terms are wanted, of relations; vectors of triples, too, if the index is to have them. */
static qp_code list_graph_texts(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    struct listing l = {.s = s, .what = what, .model = model, .relations = qp_map_new()};
    qp_code code = l.relations ? QP_OK : qp_oom(err);
    if (!code && what == QP_MADE_VECTOR)
        code = qp_store_has_triples(s, &l.triples, err);
    const qp_merged out = {list_entity, what == QP_MADE_TERMS ? NULL : list_edge, NULL, &l};
    if (!code)
        code = qp_truth_enter(s, err);
    if (!code)
        code = qp_truth_leave(s, qp_graph_merge_all(s, &out, err), err);
    qp_map_free(l.relations);
    qp_buf_free(&l.names);
    qp_buf_free(&l.ends);
    qp_buf_free(&l.text);
    return code;
}

/* ---- what is pending ---- */

/* Once per change of chunks the texts without a vector are listed in a temporary table, longest first; each call then
 * reads its head, and keeping vectors takes rows away: the whole run is linear in the number of chunks. */
static qp_code list_pending(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    qp_code code = qp_truth_exec(s,
                                 "CREATE TEMP TABLE IF NOT EXISTS pending(rank INTEGER PRIMARY KEY, digest TEXT UNIQUE,"
                                 " document INTEGER, ordinal INTEGER, text TEXT); DELETE FROM temp.pending",
                                 err);
    if (code)
        return code;
    sqlite3_stmt *stmt = qp_truth_use(
        s,
        "INSERT INTO temp.pending(digest, document, ordinal)"
        " SELECT digest, document, min(ordinal) FROM chunk c WHERE NOT EXISTS" /* one min(): the rest is of its row */
        "  (SELECT 1 FROM vector v WHERE v.digest = c.digest AND v.model = ?1)"
        " OR (?2 AND EXISTS (SELECT 1 FROM place p WHERE p.passage = c.digest AND NOT EXISTS"
        "  (SELECT 1 FROM vector v WHERE v.digest = p.digest AND v.model = ?1)))"
        " GROUP BY digest ORDER BY bytes DESC, digest",
        err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(model));
    sqlite3_bind_int(stmt, 2, what == QP_MADE_VECTOR);
    code = qp_truth_run(s, stmt, err);
    if (!code && what != QP_MADE_QUESTIONS && what != QP_MADE_TOKENS)
        code = list_graph_texts(s, what, model, err);
    if (!code)
        code = qp_truth_number(s, "SELECT count(*) FROM temp.pending", &s->left, err);
    if (!code)
        snprintf(s->pending, sizeof s->pending, "%s", model);
    return code;
}

static const char *const fact[] = {[QP_MADE_VECTOR] = "model",
                                   [QP_MADE_TERMS] = "sparse",
                                   [QP_MADE_HEADS] = "attention",
                                   [QP_MADE_QUESTIONS] = "questions",
                                   [QP_MADE_TOKENS] = "tokens"};

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

static qp_code chunk_text(qp_store *s, int64_t document, int64_t ordinal, qp_str *out, qp_arena *a, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s,
                                      "SELECT d.title, c.heading, c.start, c.stop FROM chunk c JOIN document d"
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
        *out = qp_indexed_text(a, qp_truth_column(stmt, 0), qp_truth_column(stmt, 1), qp_buf_view(&text));
        code = out->at ? QP_OK : qp_oom(err);
    }
    qp_buf_free(&text);
    sqlite3_reset(stmt);
    return code;
}

struct head { /* of temp.pending */
    qp_store *s;
    qp_pending *at;
    uint32_t n;
    qp_arena *a;
};

static qp_code take_pending(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct head *h = ctx;
    qp_pending *p = &h->at[h->n++];
    snprintf(p->digest, sizeof p->digest, "%s", (const char *)sqlite3_column_text(stmt, 0));
    if (sqlite3_column_type(stmt, 3) == SQLITE_NULL)
        return chunk_text(h->s, sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2), &p->text, h->a, err);
    p->text = qp_arena_str(h->a, qp_truth_column(stmt, 3));
    return p->text.at ? QP_OK : qp_oom(err);
}

/* "digest revision" of the last time when nothing was left to make: while neither changes, nothing is looked for. */
static qp_code done_mark(qp_store *s, const char *model, char mark[96], qp_err *err)
{
    int64_t revision = 0;
    qp_code code =
        qp_truth_number(s, "SELECT coalesce((SELECT value FROM state WHERE name = 'revision'), 0)", &revision, err);
    snprintf(mark, 96, "%.60s %lld", model, (long long)revision);
    return code;
}

static const char *const done_fact[] = {[QP_MADE_VECTOR] = "model done",
                                        [QP_MADE_TERMS] = "sparse done",
                                        [QP_MADE_HEADS] = "attention done",
                                        [QP_MADE_QUESTIONS] = "questions done",
                                        [QP_MADE_TOKENS] = "tokens done"};

static qp_code was_done(qp_store *s, qp_made what, const char *model, bool *yes, qp_err *err)
{
    char mark[96];
    qp_str said;
    qp_arena_reset(s->mem);
    qp_code code = done_mark(s, model, mark, err);
    if (!code)
        code = qp_state_get(s, done_fact[what], &said, s->mem, err);
    *yes = !code && qp_str_eq(said, qp_str_of(mark));
    return code;
}

static qp_code note_done(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    char mark[96];
    qp_code code = done_mark(s, model, mark, err);
    if (!code)
        code = qp_truth_enter(s, err);
    return code ? code : qp_truth_leave(s, qp_state_set(s, done_fact[what], qp_str_of(mark), err), err);
}

qp_code qp_store_pending(qp_store *s, qp_made what, const char *model, uint32_t n, qp_pending *out, uint32_t *n_out,
                         uint64_t *left, qp_arena *a, qp_err *err)
{
    *n_out = 0;
    if (left)
        *left = 0;
    bool done = false;
    qp_code code = note_model(s, what, model, err);
    if (!code && *model)
        code = was_done(s, what, model, &done, err);
    if (code || !*model || done)
        return code;
    if (strcmp(s->pending, model))
        code = list_pending(s, what, model, err);
    struct head head = {s, out, 0, a};
    sqlite3_stmt *stmt =
        code ? NULL
             : qp_truth_use(s, "SELECT digest, document, ordinal, text FROM temp.pending ORDER BY rank LIMIT ?", err);
    if (!stmt)
        return code ? code : QP_STORE;
    sqlite3_bind_int64(stmt, 1, n);
    code = qp_truth_each(s, stmt, take_pending, &head, err);
    if (!code) {
        *n_out = head.n;
        if (left)
            *left = (uint64_t)s->left;
    }
    return code || head.n || !n ? code : note_done(s, what, model, err);
}

static qp_code keep(qp_store *s, const char *model, const char *digest, qp_str value, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "INSERT OR REPLACE INTO vector(digest, model, value) VALUES (?, ?, ?)", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest));
    qp_truth_bind(stmt, 2, qp_str_of(model));
    sqlite3_bind_blob64(stmt, 3, value.at, value.n, SQLITE_STATIC);
    return qp_truth_run(s, stmt, err);
}

static qp_code keep_pending(qp_store *s, const char *model, const qp_pending *p, qp_str value, qp_err *err)
{
    qp_code code = keep(s, model, p->digest, value, err);
    if (code || strcmp(s->pending, model))
        return code;
    sqlite3_stmt *stmt = qp_truth_use(s, "DELETE FROM temp.pending WHERE digest = ?", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(p->digest));
    code = qp_truth_run(s, stmt, err);
    s->left -= code ? 0 : sqlite3_changes64(s->db);
    return code;
}

qp_code qp_store_place_vectors(qp_store *s, const char *model, uint32_t dim, const qp_place *p, uint32_t n,
                               const float *v, qp_err *err)
{
    for (size_t i = 0; i < (size_t)n * dim; i++)
        if (!isfinite(v[i]))
            return qp_fail(
                err, QP_MODEL,
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
        code = keep_pending(s, model, &p[i], (qp_str){(const char *)(v + (size_t)i * dim), dim * sizeof *v}, err);
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
            code = keep_pending(s, model, &p[i], value.n ? qp_buf_view(&value) : QP_STR(""),
                                err); /* a null would be NULL */
    }
    qp_buf_free(&value);
    return qp_truth_leave(s, code, err);
}

qp_code qp_store_questions(qp_store *s, const char *model, const qp_pending *p, qp_str questions, qp_err *err)
{
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    return qp_truth_leave(s, keep_pending(s, model, p, questions.n ? questions : QP_STR(""), err), err);
}

/* The width, then each vector as a snapshot in the making wants it. */
static qp_code encode_tokens(const qp_token_rows *r, uint32_t dim, const qp_pending *p, qp_buf *out, qp_err *err)
{
    qp_buf_clear(out);
    qp_buf_add(out, &dim, sizeof dim);
    for (uint32_t i = 0; i < r->n; i++) {
        const float *v = r->at + (size_t)i * dim;
        char *to = qp_buf_room(out, qp_token_bytes(dim));
        for (uint32_t j = 0; j < dim; j++)
            if (!isfinite(v[j]))
                return qp_fail(err, QP_MODEL,
                               "the embedder gave a token a vector with a number that is not finite, in '%.60s': try "
                               "another model",
                               p->text.at);
        if (!to)
            return qp_oom(err);
        float scale = qp_quantise(v, dim, (int8_t *)to + sizeof scale);
        memcpy(to, &scale, sizeof scale);
        out->n += qp_token_bytes(dim);
    }
    return out->oom ? qp_oom(err) : QP_OK;
}

qp_code qp_store_tokens(qp_store *s, const char *model, uint32_t dim, const qp_pending *p, uint32_t n,
                        const qp_token_rows *rows, qp_err *err)
{
    qp_buf value = {0};
    qp_code code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    for (uint32_t i = 0; !code && i < n; i++) {
        code = encode_tokens(&rows[i], dim, &p[i], &value, err);
        code = code ? code : keep_pending(s, model, &p[i], qp_buf_view(&value), err);
    }
    qp_buf_free(&value);
    return qp_truth_leave(s, code, err);
}

qp_code qp_store_complete(qp_store *s, bool *all, qp_err *err)
{
    int64_t yes = 0;
    qp_code code = qp_truth_number(
        s,
        "SELECT NOT EXISTS (SELECT 1 FROM state m, (SELECT digest, 'model sparse attention questions tokens' AS by "
        "FROM chunk"
        " UNION ALL SELECT digest, 'model' FROM place UNION ALL SELECT digest,"
        " CASE WHEN digest IN (SELECT text FROM place) THEN 'attention' ELSE 'model attention' END FROM graph_text) c"
        " WHERE m.name IN ('model', 'sparse', 'attention', 'questions', 'tokens') AND m.value <> '' AND instr(c.by, "
        "m.name)"
        " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.digest = c.digest AND v.model = m.value))",
        &yes, err);
    *all = yes;
    return code;
}

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

qp_code qp_store_has_triples(qp_store *s, bool *yes, qp_err *err)
{
    qp_str said;
    int64_t triples = 0;
    qp_arena *a = qp_arena_new();
    qp_code code = a ? qp_store_get(s, "triples", &said, a, err) : qp_oom(err);
    if (!code)
        code = qp_truth_number(s, "SELECT coalesce(sum(triples), 0) FROM graph", &triples, err);
    if (!code)
        *yes = triples &&
               (qp_str_eq(said, QP_STR("yes")) || (!qp_str_eq(said, QP_STR("no")) && triples <= QP_TRIPLES_AUTO));
    qp_arena_free(a);
    return code;
}
