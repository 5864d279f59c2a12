/* From the truth to a published snapshot. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "store/maker.h"
#include "store/mapped.h"
#include "base/hash.h"
#include "store/graph_merge.h"
#include "store/truth.h"

enum { MOST_TERMS = 1 << 24 }; /* of a sparse encoder's vocabulary; the largest have a quarter of a million */

struct place { /* a document's row in the truth, and its nodes in the snapshot */
    int64_t row;
    uint32_t first, n;
};

struct publishing {
    qp_store *store;
    qp_maker *maker;
    const qp_watch *watch;
    qp_arena *mem; /* strings of one document */
    qp_buf text, places;
    uint64_t done, total;
    double began, told;
    uint32_t dim, terms; /* of vectors; ids of learned terms are below it */
    uint32_t heads, head_dim;
    qp_str model, sparse, attention; /* digests of those that made them */
    qp_buf entities;                 /* qp_digest of the text of each */
    uint32_t first_entity;
};

static qp_code tell(struct publishing *p, const char *item, bool end, qp_err *err)
{
    const qp_watch *w = p->watch;
    double now = qp_now_ms();
    if (w && qp_cancelled(w->cancel))
        return qp_fail(err, QP_STOPPED, "stopped before the index was published; run it again to go on");
    if (w && w->progress && (end || now - p->told >= 100)) {
        w->progress(w->user, &(qp_progress){"publish", item, p->done, p->total, (now - p->began) / 1000});
        p->told = now;
    }
    return QP_OK;
}

/* ---- documents ---- */

static qp_code read_chunks(struct publishing *p, int64_t row, qp_chunk *chunks, uint32_t n, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(p->store,
                                      "SELECT start, stop, page, heading FROM chunk WHERE document = ?"
                                      " ORDER BY ordinal",
                                      err);
    if (!stmt)
        return QP_STORE;
    sqlite3_bind_int64(stmt, 1, row);
    uint32_t i = 0;
    int rc;
    qp_code code = QP_OK;
    for (; !code && (rc = sqlite3_step(stmt)) == SQLITE_ROW; i++) {
        if (i == n)
            break;
        chunks[i] = (qp_chunk){(uint64_t)sqlite3_column_int64(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1),
                               (uint32_t)sqlite3_column_int64(stmt, 2), qp_arena_str(p->mem, qp_truth_column(stmt, 3))};
        code = chunks[i].heading.at ? QP_OK : qp_oom(err);
    }
    if (!code && (rc != SQLITE_DONE || i != n))
        code = rc != SQLITE_DONE && rc != SQLITE_ROW
                   ? qp_truth_fail(p->store, err)
                   : qp_fail(err, QP_STORE,
                             "%s/truth.db: is damaged: a document has %u chunks or more where %u were kept: "
                             "restore a copy, or remove the folder and index again",
                             p->store->dir, i, n);
    sqlite3_reset(stmt);
    return code;
}

static qp_code add_document(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
    qp_arena_reset(p->mem);
    qp_document d = {.key = qp_truth_column(stmt, 1),
                     .title = qp_truth_column(stmt, 2),
                     .path = qp_truth_column(stmt, 3),
                     .format = qp_truth_column(stmt, 4),
                     .language = qp_truth_column(stmt, 5),
                     .meta = qp_truth_column(stmt, 6),
                     .n_chunks = (uint32_t)sqlite3_column_int64(stmt, 8)};
    struct place place = {sqlite3_column_int64(stmt, 0), qp_maker_nodes(p->maker), d.n_chunks};
    qp_chunk *chunks = qp_new(p->mem, qp_chunk, d.n_chunks ? d.n_chunks : 1);
    d.chunks = chunks;
    qp_code code = chunks ? read_chunks(p, place.row, chunks, d.n_chunks, err) : qp_oom(err);
    if (!code)
        code = qp_truth_text(p->store, place.row, 0, (uint64_t)sqlite3_column_int64(stmt, 7), &p->text, err);
    d.text = qp_buf_view(&p->text);
    if (!code)
        code = qp_maker_document(p->maker, &d, err);
    qp_buf_add(&p->places, &place, sizeof place);
    p->done++;
    return code ? code : tell(p, (const char *)sqlite3_column_text(stmt, 1), false, err);
}

/* ---- edges ---- */

static int by_row(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static const struct place *place_of(const struct publishing *p, int64_t row)
{
    return bsearch(&(struct place){row, 0, 0}, p->places.at, p->places.n / sizeof(struct place), sizeof(struct place),
                   by_row);
}

/* An edge whose document or chunk went since it was resolved is no edge. */
static qp_code add_edge(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
    const struct place *from = place_of(p, sqlite3_column_int64(stmt, 0)),
                       *to = place_of(p, sqlite3_column_int64(stmt, 2));
    int64_t tail = sqlite3_column_int64(stmt, 1), head = sqlite3_column_int64(stmt, 3);
    if (!from || !to || tail < 0 || tail >= from->n || head < 0 || head >= to->n)
        return QP_OK;
    return qp_maker_edge(p->maker, from->first + (uint32_t)tail, to->first + (uint32_t)head, qp_truth_column(stmt, 4),
                         (float)sqlite3_column_double(stmt, 5), QP_STR(""), err);
}

/* ---- vectors ---- */

static qp_code put_vector(struct publishing *p, qp_str value, qp_err *err)
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
    return code ? code : tell(p, NULL, false, err);
}

static qp_code put_heads(struct publishing *p, qp_str value, qp_err *err)
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
    return code ? code : tell(p, NULL, false, err);
}

/* Rows of each_made. */
static qp_code add_vector(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
    qp_arena_reset(p->mem);
    return put_vector(p, qp_truth_column(stmt, 0), err);
}

static qp_code add_heads(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
    qp_arena_reset(p->mem);
    return put_heads(p, qp_truth_column(stmt, 0), err);
}

/* Pairs of id and weight, as encode_terms wrote them; null: there are none. */
static const qp_sparse *read_terms(struct publishing *p, qp_str value, qp_sparse *out)
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

static qp_code put_terms(struct publishing *p, qp_str value, qp_err *err)
{
    qp_sparse found;
    const qp_sparse *terms = read_terms(p, value, &found);
    qp_code code = terms ? qp_maker_terms(p->maker, terms, err) : qp_oom(err);
    if (code == QP_BUG)
        code = qp_fail(err, QP_STORE, "%s/truth.db: is damaged: learned terms that no model makes", p->store->dir);
    return code ? code : tell(p, NULL, false, err);
}

static qp_code add_terms(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
    qp_arena_reset(p->mem);
    return put_terms(p, qp_truth_column(stmt, 0), err);
}

/* One more than the largest id of all terms, so that it is a function of what is there. */
static qp_code count_terms(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct publishing *p = ctx;
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

/* ---- entities ---- */

static qp_code add_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    struct publishing *p = ctx;
    qp_code code = qp_maker_entity(p->maker, scope, name, text, err);
    if (!code && (p->dim || p->terms || p->heads)) {
        qp_arena_reset(p->mem);
        qp_str whole = qp_entity_text(p->mem, name, text);
        qp_digest digest = qp_digest_of(whole);
        qp_buf_add(&p->entities, &digest, sizeof digest);
        code = whole.at && !p->entities.oom ? QP_OK : qp_oom(err);
    }
    p->done++;
    return code ? code : tell(p, NULL, false, err);
}

static qp_code add_relation(void *ctx, uint32_t head, qp_str relation, uint32_t tail, float weight, qp_str text,
                            qp_err *err)
{
    struct publishing *p = ctx;
    qp_code code = qp_maker_edge(p->maker, p->first_entity + head, p->first_entity + tail, relation, weight, text, err);
    return code ? code : tell(p, NULL, false, err);
}

/* An entity's document may have gone since. */
static qp_code add_mention(void *ctx, uint32_t entity, int64_t document, uint32_t chunk, qp_err *err)
{
    struct publishing *p = ctx;
    const struct place *in = place_of(p, document);
    if (!in || chunk >= in->n)
        return QP_OK;
    return qp_maker_edge(p->maker, p->first_entity + entity, in->first + chunk, QP_STR(QP_CONTAINS), 1, QP_STR(""),
                         err);
}

/* What a model made of a text, or nothing; until the next call. */
static qp_code look_up(struct publishing *p, const char *digest, qp_str model, qp_str *value, bool *found, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(p->store, "SELECT value FROM vector WHERE digest = ? AND model = ?", err);
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(digest));
    qp_truth_bind(stmt, 2, model);
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
static qp_code made_of(void *ctx, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    struct publishing *p = ctx;
    qp_str value;
    size_t bytes = (what == QP_MADE_HEADS ? p->heads * p->head_dim : p->dim) * sizeof(float);
    qp_arena_reset(p->mem);
    qp_code code =
        look_up(p, qp_digest_of(text).hex, what == QP_MADE_HEADS ? p->attention : p->model, &value, found, err);
    *found = *found && value.n == bytes;
    if (!code && *found)
        memcpy(out, value.at, bytes);
    return code ? code : tell(p, NULL, false, err);
}

static qp_code each_entity(struct publishing *p, qp_str model, qp_code (*row)(struct publishing *, qp_str, qp_err *),
                           qp_err *err)
{
    qp_code code = QP_OK;
    for (size_t at = 0; !code && at < p->entities.n; at += sizeof(qp_digest)) {
        qp_digest digest;
        qp_str value = {0};
        bool found = false;
        memcpy(&digest, p->entities.at + at, sizeof digest);
        qp_arena_reset(p->mem);
        code = look_up(p, digest.hex, model, &value, &found, err);
        if (!code)
            code = row(p, found ? value : (qp_str){0}, err);
    }
    return code;
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

/* ---- the whole ---- */

/* What a model made of each node's text, in order of node. */
static qp_code each_made(struct publishing *p, qp_str model, qp_code (*row)(void *, sqlite3_stmt *, qp_err *),
                         qp_err *err)
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

/* Documents, entities, edges; then vectors, learned terms and heads of all of them. */
static qp_code fill(struct publishing *p, qp_err *err)
{
    qp_store *s = p->store;
    const qp_merged graphs = {add_entity, add_relation, add_mention, p};
    qp_code code = qp_truth_each(s,
                                 qp_truth_use(s,
                                              "SELECT row, key, title, path, format, language, meta, bytes, chunks"
                                              " FROM document ORDER BY key",
                                              err),
                                 add_document, p, err);
    if (!code && p->places.oom)
        code = qp_oom(err);
    if (code)
        return code;
    if (p->places.n)
        qsort(p->places.at, p->places.n / sizeof(struct place), sizeof(struct place), by_row);
    p->first_entity = qp_maker_nodes(p->maker);
    code = qp_graph_merge_all(s, &graphs, err);
    if (!code)
        code =
            qp_truth_each(s, qp_truth_use(s, "SELECT tail, tail_chunk, head, head_chunk, type, weight FROM edge", err),
                          add_edge, p, err);
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
    return !code && p->heads ? each_entity(p, p->attention, put_heads, err) : code;
}

/* The shape of what the heads gave: "heads x head_dim", kept when they were made. */
static qp_code read_heads(struct publishing *p, qp_arena *a, qp_err *err)
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

static qp_code read_shape(struct publishing *p, qp_arena *a, qp_err *err)
{
    qp_store *s = p->store;
    int64_t documents = 0, entities = 0;
    qp_code code = qp_state_get(s, "model", &p->model, a, err);
    if (!code)
        code = qp_state_get(s, "sparse", &p->sparse, a, err);
    if (!code)
        code = qp_state_get(s, "attention", &p->attention, a, err);
    if (!code)
        code = read_dim(s, p->model, &p->dim, err);
    if (!code && p->sparse.n)
        code = each_made(p, p->sparse, count_terms, err);
    if (!code)
        code = read_heads(p, a, err);
    if (!code)
        code = qp_truth_number(s, "SELECT count(*) FROM document", &documents, err);
    if (!code)
        code = qp_truth_number(s, "SELECT coalesce(sum(entities), 0) FROM graph", &entities, err);
    p->total = (uint64_t)(documents + entities);
    return code;
}

static qp_code make(struct publishing *p, const char *path, qp_err *err)
{
    qp_store *s = p->store;
    qp_str language, names, phi, partition, walks;
    bool triples = false;
    qp_arena *a = qp_arena_new();
    qp_code code = a ? read_shape(p, a, err) : qp_oom(err);
    if (!code)
        code = qp_store_get(s, "language", &language, a, err);
    if (!code)
        code = qp_store_get(s, "names", &names, a, err);
    if (!code)
        code = qp_store_get(s, "phi", &phi, a, err);
    if (!code)
        code = qp_store_get(s, "partition", &partition, a, err);
    if (!code)
        code = qp_store_get(s, "walks", &walks, a, err);
    if (!code)
        code = qp_store_has_triples(s, &triples, err);
    if (!code)
        code = qp_maker_open(path,
                             &(qp_maker_options){.language = language.n ? language.at : "en",
                                                 .embedder = p->dim ? p->model.at : "",
                                                 .dim = p->dim,
                                                 .sparse = p->terms ? p->sparse.at : "",
                                                 .terms = p->terms,
                                                 .attention = p->heads ? p->attention.at : "",
                                                 .heads = p->heads,
                                                 .head_dim = p->head_dim,
                                                 .triples = triples,
                                                 .phi = phi.n ? strtof(phi.at, NULL) : 0,
                                                 .made = made_of,
                                                 .ctx = p,
                                                 .unindexed_entities = qp_str_eq(names, QP_STR("no")),
                                                 .partition = qp_str_eq(partition, QP_STR("yes")),
                                                 .walks = qp_str_eq(walks, QP_STR("yes")),
                                                 .cancel = p->watch ? p->watch->cancel : NULL},
                             &p->maker, err);
    if (!code) {
        code = fill(p, err);
        if (code)
            qp_maker_drop(p->maker);
        else
            code = qp_maker_finish(p->maker, err);
    }
    qp_arena_free(a);
    return code;
}

/* The same bytes as the current one? Its head carries the checksum of all checksums. */
static bool same_head(const char *a, const char *b)
{
    qp_head head[2];
    const char *const path[] = {a, b};
    for (int i = 0; i < 2; i++) {
        FILE *f = path[i] ? fopen(path[i], "rbe") : NULL;
        bool read = f && fread(&head[i], sizeof head[i], 1, f) == 1;
        if (f)
            fclose(f);
        if (!read)
            return false;
    }
    return !memcmp(&head[0], &head[1], sizeof head[0]);
}

/* What is not current is removed: older snapshots (readers that map them keep them), and leavings of a killed run. */
static void tidy(const qp_store *s, uint64_t current)
{
    DIR *dir = opendir(s->dir);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        unsigned long long n = 0;
        int end = 0;
        bool snapshot = sscanf(e->d_name, "snapshot-%llu.qp%n", &n, &end) == 1 && end;
        qp_str name = qp_str_of(e->d_name);
        bool ours = (snapshot && (!e->d_name[end] || !strcmp(e->d_name + end, ".tmp"))) ||
                    (qp_str_starts(name, QP_STR("CURRENT.")) && qp_str_ends(name, QP_STR(".tmp")));
        if (ours && !(snapshot && !e->d_name[end] && n == current))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

static qp_code put_in_place(const char *dir, const char *temporary, uint64_t number, qp_arena *a, qp_err *err)
{
    qp_str name = qp_arena_fmt(a, "snapshot-%llu.qp", (unsigned long long)number);
    if (!name.at)
        return qp_oom(err);
    char *path = qp_path_join(a, dir, name.at), *pointer = qp_path_join(a, dir, "CURRENT");
    qp_str line = qp_arena_fmt(a, "%s\n", name.at);
    if (!path || !pointer || !line.at)
        return qp_oom(err);
    qp_code code = qp_file_publish(temporary, path, err);
    return code ? code : qp_file_write(pointer, line, err);
}

/* Best effort, as on a full disk: all that matters is done. What was not noted is made once more, found to be the same
 * and dropped; with readers about, the log is folded in later. */
static void note_published(qp_store *s, int64_t revision)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)revision);
    if (!qp_truth_enter(s, NULL))
        qp_truth_leave(s, qp_state_set(s, "published", qp_str_of(text), NULL), NULL);
    sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
}

static qp_code publish(struct publishing *p, bool whole, int64_t revision, qp_arena *a, qp_err *err)
{
    qp_store *s = p->store;
    char *current = NULL;
    uint64_t number = 0;
    qp_err none = {0};
    (void)qp_snapshot_current(s->dir, &current, &number, a, &none); /* a damaged pointer is written anew */
    qp_str temporary = qp_arena_fmt(a, "%s/snapshot-%llu.qp.tmp", s->dir, (unsigned long long)number + 1);
    if (!temporary.n)
        return qp_oom(err);
    qp_code code = make(p, temporary.at, err);
    if (code)
        return code;
    if (whole && same_head(temporary.at, current))
        unlink(temporary.at);
    else
        code = put_in_place(s->dir, temporary.at, ++number, a, err);
    if (code) {
        unlink(temporary.at);
        return code;
    }
    tidy(s, number);
    note_published(s, revision);
    return QP_OK;
}

/* Is the current snapshot there and undamaged? Reading all of it costs less than the promise that `quipu index` mends
 * what `quipu check` finds is worth. */
static bool is_whole(const qp_store *s)
{
    qp_snapshot *now = NULL;
    bool whole = !qp_snapshot_open(s->dir, &now, NULL) && !qp_snapshot_sums(now, NULL);
    qp_snapshot_close(now);
    return whole;
}

qp_code qp_store_publish(qp_store *s, const qp_watch *watch, qp_err *err)
{
    int64_t revision = 0, published = -1;
    if (s->batch)
        return qp_fail(err, QP_BUG, "store: publishing inside a batch");
    qp_code code = qp_truth_number(s, "SELECT value FROM state WHERE name = 'revision'", &revision, err);
    if (!code)
        code =
            qp_truth_number(s,
                            "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM state WHERE name = 'published'), -1)",
                            &published, err);
    bool whole = !code && is_whole(s);
    if (code || (whole && revision == published))
        return code;
    /* Vectors of texts that are in no document any more go, so that a removed text leaves nothing behind. */
    code = qp_truth_enter(s, err);
    if (!code)
        code = qp_truth_leave(s,
                              qp_truth_exec(s,
                                            "DELETE FROM vector WHERE NOT EXISTS"
                                            " (SELECT 1 FROM chunk WHERE chunk.digest = vector.digest) AND NOT EXISTS"
                                            " (SELECT 1 FROM graph_text g WHERE g.digest = vector.digest)",
                                            err),
                              err);
    if (code)
        return code;
    struct publishing p = {.store = s, .watch = watch, .mem = qp_arena_new(), .began = qp_now_ms()};
    qp_arena *a = qp_arena_new();
    code = p.mem && a ? publish(&p, whole, revision, a, err) : qp_oom(err);
    if (!code)
        code = tell(&p, NULL, true, err);
    qp_buf_free(&p.text);
    qp_buf_free(&p.places);
    qp_buf_free(&p.entities);
    qp_arena_free(p.mem);
    qp_arena_free(a);
    return code;
}
