#include "store/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/graph_put.h"

enum { PIECE = 1 << 20 };

/* ---- putting ---- */

static qp_code row_of(qp_store *s, qp_str source, int64_t *row, qp_err *err)
{
    return qp_truth_find(s, "SELECT row FROM graph WHERE source = ?", &source, 1, row, err);
}

static qp_code remove_row(qp_store *s, int64_t row, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "DELETE FROM graph WHERE row = ?", err);
    if (!stmt)
        return QP_STORE;
    sqlite3_bind_int64(stmt, 1, row);
    s->changed = true;
    s->pending[0] = 0; /* listed anew */
    qp_code code = qp_places_leave(s, row, err);
    code = code ? code : qp_truth_run(s, stmt, err);
    return code ? code : qp_truth_exec(s, "DELETE FROM graph_text", err); /* listed anew: store/pending.c */
}

qp_code qp_store_graph_same(qp_store *s, qp_str source, qp_str digest, bool *same, qp_err *err)
{
    int64_t found = 0;
    qp_code code = qp_truth_find(s, "SELECT 1 FROM graph WHERE source = ? AND digest = ?", (qp_str[]){source, digest},
                                 2, &found, err);
    *same = found;
    return code;
}

static qp_code make_row(qp_graph_put *g, qp_str source, qp_str digest, bool *existed, qp_err *err)
{
    qp_store *s = g->store;
    int64_t old = 0;
    qp_code code = row_of(s, source, &old, err);
    if (!code && old)
        code = remove_row(s, old, err);
    if (existed)
        *existed = old != 0;
    sqlite3_stmt *stmt =
        code ? NULL
             : qp_truth_use(s, "INSERT INTO graph(source, digest, relations, entities, triples) VALUES (?, ?, 0, 0, 0)",
                            err);
    if (!stmt)
        return code ? code : QP_STORE;
    qp_truth_bind(stmt, 1, source);
    qp_truth_bind(stmt, 2, digest);
    code = qp_truth_run(s, stmt, err);
    g->row = sqlite3_last_insert_rowid(s->db);
    s->changed = true;
    s->pending[0] = 0;
    return code;
}

qp_code qp_graph_begin(qp_store *s, qp_str source, qp_str digest, qp_graph_put **out, bool *existed, qp_err *err)
{
    *out = NULL;
    qp_graph_put *g = calloc(1, sizeof *g);
    if (!g)
        return qp_oom(err);
    g->store = s;
    qp_code code = qp_truth_enter(s, err);
    if (code) {
        free(g);
        return code;
    }
    code = make_row(g, source, digest, existed, err);
    if (code)
        return qp_graph_end(g, code, err);
    *out = g;
    return QP_OK;
}

static qp_code flush(qp_graph_put *g, qp_err *err)
{
    if (g->piece.oom)
        return qp_oom(err);
    if (!g->piece.n)
        return QP_OK;
    sqlite3_stmt *stmt =
        qp_truth_use(g->store, "INSERT INTO graph_piece(graph, kind, number, bytes) VALUES (?, ?, ?, ?)", err);
    if (!stmt)
        return QP_STORE;
    sqlite3_bind_int64(stmt, 1, g->row);
    sqlite3_bind_int(stmt, 2, g->kind);
    sqlite3_bind_int64(stmt, 3, g->number++);
    sqlite3_bind_blob64(stmt, 4, g->piece.at, g->piece.n, SQLITE_STATIC);
    qp_code code = qp_truth_run(g->store, stmt, err);
    qp_buf_clear(&g->piece);
    return code;
}

/* Room for the next record, in the piece of its kind. */
static qp_code turn_to(qp_graph_put *g, int kind, qp_err *err)
{
    if (kind < g->kind)
        return qp_fail(err, QP_BUG, "store: a graph's parts come out of order");
    qp_code code = kind != g->kind || g->piece.n >= PIECE ? flush(g, err) : QP_OK;
    if (kind != g->kind)
        g->number = 0;
    g->kind = kind;
    g->count[kind]++;
    return code;
}

static void add_length(qp_buf *b, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        qp_buf_char(b, (char)(n | 128));
    qp_buf_char(b, (char)n);
}

static void add_string(qp_buf *b, qp_str s)
{
    add_length(b, s.n);
    qp_buf_str(b, s);
}

qp_code qp_graph_relation(qp_graph_put *g, qp_str name, qp_err *err)
{
    qp_code code = turn_to(g, QP_GRAPH_RELATIONS, err);
    add_string(&g->piece, name);
    return code;
}

qp_code qp_graph_entity(qp_graph_put *g, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    qp_code code = turn_to(g, QP_GRAPH_ENTITIES, err);
    add_string(&g->piece, scope);
    add_string(&g->piece, name);
    add_string(&g->piece, text);
    return code;
}

/* Weights are 0 or above, so a sign says that a text follows. */
qp_code qp_graph_triple(qp_graph_put *g, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                        qp_err *err)
{
    if (head >= g->count[QP_GRAPH_ENTITIES] || tail >= g->count[QP_GRAPH_ENTITIES] ||
        relation >= g->count[QP_GRAPH_RELATIONS] || !isfinite(weight) || weight < 0)
        return qp_fail(err, QP_BUG, "store: a triple %u %u %u of weight %g", head, relation, tail, (double)weight);
    qp_code code = turn_to(g, QP_GRAPH_TRIPLES, err);
    const uint32_t numbers[3] = {head, relation, tail};
    qp_buf_add(&g->piece, numbers, sizeof numbers);
    weight = copysignf(weight, text.n ? -1 : 1);
    qp_buf_add(&g->piece, &weight, sizeof weight);
    if (text.n)
        add_string(&g->piece, text);
    return code;
}

qp_code qp_graph_mention(qp_graph_put *g, uint32_t entity, int64_t document, uint32_t chunk, qp_err *err)
{
    if (entity >= g->count[QP_GRAPH_ENTITIES])
        return qp_fail(err, QP_BUG, "store: a mention of entity %u", entity);
    qp_code code = turn_to(g, QP_GRAPH_MENTIONS, err);
    const uint32_t numbers[2] = {entity, chunk};
    qp_buf_add(&g->piece, numbers, sizeof numbers);
    qp_buf_add(&g->piece, &document, sizeof document);
    return code;
}

static qp_code put_counts(qp_graph_put *g, qp_err *err)
{
    sqlite3_stmt *stmt =
        qp_truth_use(g->store, "UPDATE graph SET relations = ?, entities = ?, triples = ? WHERE row = ?", err);
    if (!stmt)
        return QP_STORE;
    for (int i = 0; i < QP_GRAPH_MENTIONS; i++)
        sqlite3_bind_int64(stmt, i + 1, (sqlite3_int64)g->count[i]);
    sqlite3_bind_int64(stmt, 4, g->row);
    return qp_truth_run(g->store, stmt, err);
}

qp_code qp_graph_end(qp_graph_put *g, qp_code code, qp_err *err)
{
    if (!code)
        code = flush(g, err);
    if (!code)
        code = put_counts(g, err);
    if (!code && g->places)
        code = qp_places_put(g, err);
    qp_sorter_close(g->places);
    code = qp_truth_leave(g->store, code, err);
    qp_buf_free(&g->piece);
    free(g);
    return code;
}

/* ---- what is gone ---- */

struct gone {
    qp_str source;
    const qp_str *seen;
    size_t n_seen;
    qp_buf rows; /* int64_t */
};

static qp_code note_gone(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct gone *g = ctx;
    qp_str name = qp_truth_column(stmt, 1);
    (void)err;
    bool below = qp_str_starts(name, g->source) && (name.n == g->source.n || name.at[g->source.n] == '/');
    for (size_t i = 0; below && i < g->n_seen; i++)
        below = !qp_str_eq(name, g->seen[i]);
    int64_t row = sqlite3_column_int64(stmt, 0);
    if (below)
        qp_buf_add(&g->rows, &row, sizeof row);
    return QP_OK;
}

qp_code qp_store_graph_prune(qp_store *s, qp_str source, const qp_str *seen, size_t n_seen, uint64_t *n, qp_err *err)
{
    struct gone gone = {source, seen, n_seen, {0}};
    *n = 0;
    qp_code code = qp_truth_each(s, qp_truth_use(s, "SELECT row, source FROM graph", err), note_gone, &gone, err);
    if (!code && gone.rows.oom)
        code = qp_oom(err);
    size_t rows = gone.rows.n / sizeof(int64_t);
    if (!code && rows)
        code = qp_truth_enter(s, err);
    if (!code && rows) {
        for (size_t i = 0; !code && i < rows; i++) {
            int64_t row;
            memcpy(&row, gone.rows.at + i * sizeof row, sizeof row);
            code = remove_row(s, row, err);
        }
        code = qp_truth_leave(s, code, err);
        *n = code ? 0 : rows;
    }
    qp_buf_free(&gone.rows);
    return code;
}

/* ---- reading ---- */

struct all_graphs {
    qp_graph_row *at;
    size_t n, cap;
    qp_arena *mem;
};

static qp_code take_graph(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    struct all_graphs *g = ctx;
    if (g->n == g->cap)
        return QP_OK;
    qp_graph_row *row = &g->at[g->n++];
    *row = (qp_graph_row){sqlite3_column_int64(stmt, 0), qp_arena_str(g->mem, qp_truth_column(stmt, 4)),
                          (uint64_t)sqlite3_column_int64(stmt, 1), (uint64_t)sqlite3_column_int64(stmt, 2),
                          (uint64_t)sqlite3_column_int64(stmt, 3)};
    return row->source.at ? QP_OK : qp_oom(err);
}

qp_code qp_store_graphs(qp_store *s, qp_graph_row **out, size_t *n, qp_arena *a, qp_err *err)
{
    int64_t count = 0;
    qp_code code = qp_truth_number(s, "SELECT count(*) FROM graph", &count, err);
    struct all_graphs g = {qp_new(a, qp_graph_row, (size_t)count + 1), 0, (size_t)count, a};
    if (!code && !g.at)
        code = qp_oom(err);
    if (!code)
        code =
            qp_truth_each(s,
                          qp_truth_use(s, "SELECT row, relations, entities, triples, source FROM graph ORDER BY source",
                                       err),
                          take_graph, &g, err);
    *out = g.at;
    *n = g.n;
    return code;
}

struct qp_graph_reader {
    qp_store *store;
    sqlite3_stmt *stmt; /* its own: several graphs are read at once */
    qp_graph_kind kind;
    const uint8_t *at, *end; /* what is left of the piece */
};

qp_code qp_graph_open(qp_store *s, int64_t row, qp_graph_kind kind, qp_graph_reader **out, qp_err *err)
{
    qp_graph_reader *r = *out = calloc(1, sizeof *r);
    if (!r)
        return qp_oom(err);
    r->store = s;
    r->kind = kind;
    if (sqlite3_prepare_v2(s->db, "SELECT bytes FROM graph_piece WHERE graph = ? AND kind = ? ORDER BY number", -1,
                           &r->stmt, NULL) != SQLITE_OK) {
        qp_graph_close(r);
        *out = NULL;
        return qp_truth_fail(s, err);
    }
    sqlite3_bind_int64(r->stmt, 1, row);
    sqlite3_bind_int(r->stmt, 2, (int)kind);
    return QP_OK;
}

void qp_graph_close(qp_graph_reader *r)
{
    if (r)
        sqlite3_finalize(r->stmt);
    free(r);
}

static qp_code damaged(const qp_graph_reader *r, qp_err *err)
{
    return qp_fail(
        err, QP_STORE,
        "%s/truth.db: is damaged: a piece of a graph cannot be read: restore a copy, or remove the folder and "
        "index again",
        r->store->dir);
}

static bool read_string(qp_graph_reader *r, qp_str *out)
{
    uint64_t n = 0;
    for (int shift = 0; r->at < r->end && shift < 63; shift += 7) {
        uint8_t byte = *r->at++;
        n |= (uint64_t)(byte & 127) << shift;
        if (byte >= 128)
            continue;
        if (n > (uint64_t)(r->end - r->at))
            return false;
        *out = (qp_str){(const char *)r->at, n};
        r->at += n;
        return true;
    }
    return false;
}

static bool read_triple(qp_graph_reader *r, qp_graph_record *out)
{
    uint32_t numbers[3];
    if (r->end - r->at < (ptrdiff_t)(sizeof numbers + sizeof out->weight))
        return false;
    memcpy(numbers, r->at, sizeof numbers);
    memcpy(&out->weight, r->at + sizeof numbers, sizeof out->weight);
    r->at += sizeof numbers + sizeof out->weight;
    out->head = numbers[0];
    out->relation = numbers[1];
    out->tail = numbers[2];
    out->text = out->documents = (qp_str){"", 0};
    bool more = signbit(out->weight);
    out->weight = fabsf(out->weight);
    if (!isfinite(out->weight) || (more && !read_string(r, &out->text)))
        return false;
    out->text = qp_str_split(out->text, 0, &out->documents);
    return true;
}

static bool read_mention(qp_graph_reader *r, qp_graph_record *out)
{
    uint32_t numbers[2];
    if (r->end - r->at < (ptrdiff_t)(sizeof numbers + sizeof out->document))
        return false;
    memcpy(numbers, r->at, sizeof numbers);
    memcpy(&out->document, r->at + sizeof numbers, sizeof out->document);
    r->at += sizeof numbers + sizeof out->document;
    out->entity = numbers[0];
    out->chunk = numbers[1];
    return true;
}

qp_code qp_graph_next(qp_graph_reader *r, qp_graph_record *out, bool *more, qp_err *err)
{
    *more = true;
    while (r->at == r->end) {
        int rc = sqlite3_step(r->stmt);
        if (rc == SQLITE_DONE) {
            *more = false;
            return QP_OK;
        }
        if (rc != SQLITE_ROW)
            return qp_truth_fail(r->store, err);
        r->at = sqlite3_column_blob(r->stmt, 0);
        r->end = r->at + sqlite3_column_bytes(r->stmt, 0);
    }
    bool whole = r->kind == QP_GRAPH_TRIPLES    ? read_triple(r, out)
                 : r->kind == QP_GRAPH_MENTIONS ? read_mention(r, out)
                 : r->kind == QP_GRAPH_RELATIONS
                     ? read_string(r, &out->name)
                     : read_string(r, &out->scope) && read_string(r, &out->name) && read_string(r, &out->text);
    return whole ? QP_OK : damaged(r, err);
}
