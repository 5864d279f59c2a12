#include "store/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/graph_merge.h"
#include "store/mapped.h"
#include "store/writer.h"

enum { WAITING = 1 << 18 }; /* bytes of digests in memory */

qp_code qp_gather_tell(qp_gathering *p, const char *item, bool end, qp_err *err)
{
    const qp_watch *w = p->watch;
    double now = qp_now_ms();
    qp_code code = w ? qp_writer_stopped(w->cancel, err) : QP_OK;
    if (!code && w && w->progress && (end || now - p->told >= 100)) {
        w->progress(w->user, &(qp_progress){"publish", item, p->done, p->total, (now - p->began) / 1000});
        p->told = now;
    }
    return code;
}

/* ---- documents ---- */

static qp_code read_chunks(qp_gathering *p, int64_t row, qp_chunk *chunks, qp_str *questions, uint32_t n, qp_err *err)
{
    sqlite3_stmt *stmt =
        qp_truth_use(p->store,
                     "SELECT c.start, c.stop, c.page, c.heading, v.value FROM chunk c LEFT JOIN vector v"
                     " ON v.digest = c.digest AND v.model = ?2 WHERE c.document = ?1 ORDER BY c.ordinal",
                     err);
    if (!stmt)
        return QP_STORE;
    sqlite3_bind_int64(stmt, 1, row);
    qp_truth_bind(stmt, 2, p->expander);
    uint32_t i = 0;
    int rc;
    qp_code code = QP_OK;
    for (; !code && (rc = sqlite3_step(stmt)) == SQLITE_ROW; i++) {
        if (i == n)
            break;
        chunks[i] = (qp_chunk){(uint64_t)sqlite3_column_int64(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1),
                               (uint32_t)sqlite3_column_int64(stmt, 2), qp_arena_str(p->mem, qp_truth_column(stmt, 3))};
        questions[i] = qp_arena_str(p->mem, qp_truth_column(stmt, 4));
        code = chunks[i].heading.at && questions[i].at ? QP_OK : qp_oom(err);
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
    qp_gathering *p = ctx;
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
    qp_str *questions = qp_new(p->mem, qp_str, d.n_chunks ? d.n_chunks : 1);
    d.chunks = chunks;
    d.questions = questions;
    qp_code code = chunks && questions ? read_chunks(p, place.row, chunks, questions, d.n_chunks, err) : qp_oom(err);
    if (!code)
        code = qp_truth_text(p->store, place.row, 0, (uint64_t)sqlite3_column_int64(stmt, 7), &p->text, err);
    d.text = qp_buf_view(&p->text);
    if (!code)
        code = qp_maker_document(p->maker, &d, err);
    qp_buf_add(&p->places, &place, sizeof place);
    p->done++;
    return code ? code : qp_gather_tell(p, (const char *)sqlite3_column_text(stmt, 1), false, err);
}

/* ---- edges ---- */

static int by_row(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static const struct place *place_of(const qp_gathering *p, int64_t row)
{
    return bsearch(&(struct place){row, 0, 0}, p->places.at, p->places.n / sizeof(struct place), sizeof(struct place),
                   by_row);
}

/* An edge whose document or chunk went since it was resolved is no edge. */
static qp_code add_edge(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_gathering *p = ctx;
    const struct place *from = place_of(p, sqlite3_column_int64(stmt, 0)),
                       *to = place_of(p, sqlite3_column_int64(stmt, 2));
    int64_t tail = sqlite3_column_int64(stmt, 1), head = sqlite3_column_int64(stmt, 3);
    if (!from || !to || tail < 0 || tail >= from->n || head < 0 || head >= to->n)
        return QP_OK;
    return qp_maker_edge(p->maker, from->first + (uint32_t)tail, to->first + (uint32_t)head, qp_truth_column(stmt, 4),
                         (float)sqlite3_column_double(stmt, 5), QP_STR(""), err);
}

/* ---- entities ---- */

static qp_code add_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    qp_gathering *p = ctx;
    qp_code code = qp_maker_entity(p->maker, scope, name, text, err);
    if (!code && (p->dim || p->terms || p->heads)) {
        qp_arena_reset(p->mem);
        qp_str whole = qp_entity_text(p->mem, name, text);
        qp_digest digest = qp_digest_of(whole);
        code = !whole.at     ? qp_oom(err)
               : p->entities ? QP_OK
                             : qp_scratch_open(p->store->dir, WAITING, &p->entities, err);
        code = code ? code : qp_scratch_add(p->entities, &digest, sizeof digest, err);
    }
    p->done++;
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

static qp_code add_relation(void *ctx, uint32_t head, qp_str relation, uint32_t tail, float weight, qp_str text,
                            qp_err *err)
{
    qp_gathering *p = ctx;
    qp_code code = qp_maker_edge(p->maker, p->first_entity + head, p->first_entity + tail, relation, weight, text, err);
    p->done++;
    return code ? code : qp_gather_tell(p, NULL, false, err);
}

/* An entity's document may have gone since. */
static qp_code add_mention(void *ctx, uint32_t entity, int64_t document, uint32_t chunk, qp_err *err)
{
    qp_gathering *p = ctx;
    const struct place *in = place_of(p, document);
    if (!in || chunk >= in->n)
        return QP_OK;
    return qp_maker_edge(p->maker, p->first_entity + entity, in->first + chunk, QP_STR(QP_CONTAINS), 1, QP_STR(""),
                         err);
}

/* ---- the whole ---- */

/* Documents, entities, edges; then vectors, learned terms and heads of all of them. */
static qp_code fill(qp_gathering *p, qp_err *err)
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
    return code ? code : qp_gather_made(p, err);
}

qp_code qp_gather_all(qp_gathering *p, const char *path, qp_err *err)
{
    qp_store *s = p->store;
    qp_str language, names, phi, partition, walks;
    bool triples = false;
    qp_arena *a = qp_arena_new();
    qp_code code = a ? qp_gather_shape(p, a, err) : qp_oom(err);
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
                                                 .expander = p->expander.at,
                                                 .token_dim = p->token_dim,
                                                 .attention = p->heads ? p->attention.at : "",
                                                 .heads = p->heads,
                                                 .head_dim = p->head_dim,
                                                 .triples = triples,
                                                 .phi = phi.n ? strtof(phi.at, NULL) : 0,
                                                 .made = qp_gather_made_of,
                                                 .ctx = p,
                                                 .unindexed_entities = qp_str_eq(names, QP_STR("no")),
                                                 .partition = qp_str_eq(partition, QP_STR("yes")),
                                                 .walks = qp_str_eq(walks, QP_STR("yes")),
                                                 .memory = p->store->memory,
                                                 .threads = p->store->threads,
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

void qp_gathering_free(qp_gathering *p)
{
    qp_buf_free(&p->text);
    qp_buf_free(&p->places);
    qp_scratch_close(p->entities);
    qp_arena_free(p->mem);
}
