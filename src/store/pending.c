/* Which texts a model has made nothing of yet. */
#include <stdio.h>

#include "base/hash.h"
#include "base/map.h"
#include "store/graph_merge.h"
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

/* ---- what is remembered of models ---- */

static const struct {
    const char *model; /* whose work the snapshot is made with */
    const char *done;  /* done_mark of the last time when nothing was left to make */
} facts[] = {[QP_MADE_VECTOR] = {"model", "model done"},
             [QP_MADE_TERMS] = {"sparse", "sparse done"},
             [QP_MADE_HEADS] = {"attention", "attention done"},
             [QP_MADE_QUESTIONS] = {"questions", "questions done"},
             [QP_MADE_TOKENS] = {"tokens", "tokens done"}};

/* The snapshot is made with what the model that was last asked about made. */
static qp_code note_model(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    qp_str now;
    qp_arena_reset(s->mem);
    qp_code code = qp_state_get(s, facts[what].model, &now, s->mem, err);
    if (code || qp_str_eq(now, qp_str_of(model)))
        return code;
    code = qp_truth_enter(s, err);
    if (code)
        return code;
    s->changed = true;
    return qp_truth_leave(s, qp_state_set(s, facts[what].model, qp_str_of(model), err), err);
}

/* "digest revision": while neither changes, nothing is looked for. */
static qp_code done_mark(qp_store *s, const char *model, char mark[96], qp_err *err)
{
    int64_t revision = 0;
    qp_code code =
        qp_truth_number(s, "SELECT coalesce((SELECT value FROM state WHERE name = 'revision'), 0)", &revision, err);
    snprintf(mark, 96, "%.60s %lld", model, (long long)revision);
    return code;
}

static qp_code was_done(qp_store *s, qp_made what, const char *model, bool *yes, qp_err *err)
{
    char mark[96];
    qp_str said;
    qp_arena_reset(s->mem);
    qp_code code = done_mark(s, model, mark, err);
    if (!code)
        code = qp_state_get(s, facts[what].done, &said, s->mem, err);
    *yes = !code && qp_str_eq(said, qp_str_of(mark));
    return code;
}

static qp_code note_done(qp_store *s, qp_made what, const char *model, qp_err *err)
{
    char mark[96];
    qp_code code = done_mark(s, model, mark, err);
    if (!code)
        code = qp_truth_enter(s, err);
    return code ? code : qp_truth_leave(s, qp_state_set(s, facts[what].done, qp_str_of(mark), err), err);
}

/* ---- the next ---- */

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

qp_code qp_pending_strike(qp_store *s, const char *model, const char *digest, qp_err *err)
{
    if (strcmp(s->pending, model))
        return QP_OK;
    sqlite3_stmt *stmt = qp_truth_use(s, "DELETE FROM temp.pending WHERE digest = ?", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest));
    qp_code code = qp_truth_run(s, stmt, err);
    s->left -= code ? 0 : sqlite3_changes64(s->db);
    return code;
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
