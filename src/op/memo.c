/* Everything a question asks of view and ranker is asked once: latents (the expensive part), adjacency, degrees and
 * inner products. FastInsight asks for nearly the same nodes in each of its rounds. */
#include "op/memo.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vector.h"

enum { ROW = 1, DEGREE = 2, DOT = 4, LATENT = 8, RANK = 16 };
enum { BATCH = 32, VECTORS = 128 }; /* nodes in one call of the ranker, between two looks at the clock; of the view */

qp_memo *qp_memo_new(void)
{
    qp_memo *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->mem = qp_arena_new();
    m->kept = qp_map_new();
    if (!m->mem || !m->kept) {
        qp_memo_free(m);
        return NULL;
    }
    m->of = qp_idmap_in(m->mem);
    return m;
}

void qp_memo_free(qp_memo *m)
{
    if (!m)
        return;
    qp_arena_free(m->mem);
    qp_map_free(m->kept);
    free(m->cells);
    free(m);
}

void qp_memo_clear(qp_memo *m)
{
    qp_arena_reset(m->mem);
    m->of = qp_idmap_in(m->mem);
    m->n = 0;
    if (qp_map_size(m->kept)) {
        qp_map_free(m->kept);
        m->kept = qp_map_new(); /* null without memory: qp_query_keep says so */
    }
}

static void forget(qp_memo *m, unsigned what)
{
    for (uint32_t i = 0; i < m->n; i++)
        m->cells[i].known &= ~what;
}

/* The query's memo, holding nothing that belongs to another text. */
static qp_memo *memo_of(qp_query *q)
{
    if (q->err.code != QP_OK)
        return NULL;
    if (!q->memo) {
        q->memo = qp_memo_new();
        if (!q->memo) {
            qp_oom(&q->err);
            return NULL;
        }
        q->memo->own = true;
    }
    uint64_t text = qp_hash64(q->text);
    if (q->memo->text != text)
        qp_memo_clear(q->memo);
    q->memo->text = text;
    return q->memo;
}

/* The node's cell; null after an error. Cells move when there are more of them. */
static qp_cell *cell_of(qp_query *q, qp_id id)
{
    qp_memo *m = q->memo;
    if (m->n == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 256;
        qp_cell *cells = realloc(m->cells, (size_t)cap * sizeof *cells);
        if (!cells) {
            qp_oom(&q->err);
            return NULL;
        }
        m->cells = cells;
        m->cap = cap;
    }
    bool added;
    uint32_t *at = qp_idmap_put(&m->of, id, m->n, &added);
    if (!at) {
        qp_oom(&q->err);
        return NULL;
    }
    if (added)
        m->cells[m->n++] = (qp_cell){0};
    return &m->cells[*at];
}

static qp_cell *known_cell(const qp_memo *m, qp_id id)
{
    return &m->cells[*qp_idmap_get(&m->of, id)];
}

/* The distinct ids whose cell does not know `what` yet; marked as known, since the caller now asks for it and forgets
 * it after an error. Null after an error. */
static qp_id *missing(qp_query *q, unsigned what, const qp_id *ids, uint32_t n, uint32_t *n_out)
{
    qp_id *out = qp_new(q->mem, qp_id, n);
    *n_out = 0;
    if (!out) {
        qp_oom(&q->err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        qp_cell *c = cell_of(q, ids[i]);
        if (!c)
            return NULL;
        if (!(c->known & what))
            out[(*n_out)++] = ids[i];
        c->known |= what;
    }
    return out;
}

/* ---- adjacency ---- */
static bool same_walk(qp_walk a, qp_walk b)
{
    return a.types == b.types && a.direction == b.direction && a.across == b.across;
}

static void fetch_rows(qp_query *q, qp_walk walk, const qp_id *ids, uint32_t n)
{
    qp_adj adj = {0};
    if (!n || q->graph->adjacent(q->graph->self, ids, n, walk, &adj, q->memo->mem, &q->err) != QP_OK)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = adj.start[i];
        known_cell(q->memo, ids[i])->row = (qp_row){adj.node + at, adj.edge + at, adj.start[i + 1] - at};
    }
}

const qp_row *qp_query_rows(qp_query *q, qp_walk walk, const qp_id *ids, uint32_t n)
{
    qp_memo *m = memo_of(q);
    if (!m)
        return NULL;
    if (!same_walk(m->rows, walk))
        forget(m, ROW);
    m->rows = walk;
    uint32_t n_ask;
    qp_id *ask = missing(q, ROW, ids, n, &n_ask);
    qp_row *out = qp_new(q->mem, qp_row, n);
    if (ask && out)
        fetch_rows(q, walk, ask, n_ask);
    else
        qp_oom(&q->err);
    if (q->err.code != QP_OK) {
        forget(m, ROW);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = known_cell(m, ids[i])->row;
    return out;
}

static void fetch_degrees(qp_query *q, qp_walk walk, const qp_id *ids, uint32_t n)
{
    uint32_t *degree = qp_new(q->mem, uint32_t, n);
    if (!degree) {
        qp_oom(&q->err);
        return;
    }
    if (!n || q->graph->degree(q->graph->self, ids, n, walk, degree, &q->err) != QP_OK)
        return;
    for (uint32_t i = 0; i < n; i++)
        known_cell(q->memo, ids[i])->degree = degree[i];
}

const uint32_t *qp_query_degrees(qp_query *q, qp_walk walk, const qp_id *ids, uint32_t n)
{
    qp_memo *m = memo_of(q);
    if (!m)
        return NULL;
    if (!same_walk(m->degrees, walk))
        forget(m, DEGREE);
    m->degrees = walk;
    uint32_t n_ask;
    qp_id *ask = missing(q, DEGREE, ids, n, &n_ask);
    uint32_t *out = qp_new(q->mem, uint32_t, n);
    if (ask && out)
        fetch_degrees(q, walk, ask, n_ask);
    else
        qp_oom(&q->err);
    if (q->err.code != QP_OK) {
        forget(m, DEGREE);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = known_cell(m, ids[i])->degree;
    return out;
}

/* ---- inner products ---- */
static void fetch_dots(qp_query *q, const float *v, const qp_id *ids, uint32_t n)
{
    uint32_t dim = q->graph->dim;
    float *rows = qp_new(q->mem, float, (size_t)(n < VECTORS ? n : VECTORS) * dim);
    if (!rows) {
        qp_oom(&q->err);
        return;
    }
    for (uint32_t from = 0; from < n; from += VECTORS) {
        uint32_t m = n - from < VECTORS ? n - from : VECTORS;
        if (q->graph->vectors(q->graph->self, "node.dense", ids + from, m, rows, &q->err) != QP_OK)
            return;
        for (uint32_t i = 0; i < m; i++)
            known_cell(q->memo, ids[from + i])->dot = qp_dot(v, rows + (size_t)i * dim, dim);
    }
}

const float *qp_query_dots(qp_query *q, const qp_id *ids, uint32_t n)
{
    qp_memo *m = memo_of(q);
    const float *v = m ? qp_query_vector(q) : NULL;
    if (!v)
        return NULL;
    uint64_t vector = qp_hash64((qp_str){(const char *)v, q->graph->dim * sizeof *v});
    if (m->vector != vector)
        forget(m, DOT);
    m->vector = vector;
    uint32_t n_ask;
    qp_id *ask = missing(q, DOT, ids, n, &n_ask);
    float *out = qp_new(q->mem, float, n);
    if (ask && out)
        fetch_dots(q, v, ask, n_ask);
    else
        qp_oom(&q->err);
    if (q->err.code != QP_OK) {
        forget(m, DOT);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = known_cell(m, ids[i])->dot;
    return out;
}

/* ---- the ranker ---- */
/* One batch of texts through the cross-encoder: latents to `out` if the model is asked for those, else scores. */
static void encode(qp_query *q, const qp_id *ids, uint32_t n, bool latents, float *out)
{
    qp_str *text = qp_new(q->mem, qp_str, n);
    if (!text) {
        qp_oom(&q->err);
        return;
    }
    if (q->graph->text(q->graph->self, QP_NODE, ids, n, text, q->mem, &q->err) != QP_OK)
        return;
    const qp_model *r = q->ranker;
    double start = qp_now_ms();
    if (latents)
        r->latent(r->self, q->text, text, n, out, &q->err);
    else
        r->rank(r->self, q->text, text, n, out, &q->err);
    qp_trace_add_model_ms(q, "rank", qp_now_ms() - start);
    q->model_passes += n;
}

static bool has_ranker(qp_query *q)
{
    if (!q->ranker)
        qp_fail(&q->err, QP_MODEL,
                "reranking needs a reranker and there is none: `quipu model pull` one, or ask with -m hybrid");
    return q->ranker != NULL;
}

const float *const *qp_query_latents(qp_query *q, const qp_id *ids, uint32_t n)
{
    qp_memo *m = memo_of(q);
    if (!m || !has_ranker(q))
        return NULL;
    if (!q->ranker->latent || !q->ranker->head) {
        qp_fail(&q->err, QP_MODEL,
                "the reranker %s gives scores only, and latents are needed: use a local one, or ask with -m gar",
                q->ranker->name);
        return NULL;
    }
    uint32_t n_ask, width = q->ranker->width;
    qp_id *ask = missing(q, LATENT, ids, n, &n_ask);
    const float **out = qp_new(q->mem, const float *, n);
    float *fresh = ask && out ? qp_new(m->mem, float, (size_t)n_ask *width) : NULL;
    if (!fresh)
        qp_oom(&q->err);
    for (uint32_t i = 0; i < n_ask && !qp_query_over(q, "reranker"); i += BATCH)
        encode(q, ask + i, n_ask - i < BATCH ? n_ask - i : BATCH, true, fresh + (size_t)i * width);
    if (q->err.code != QP_OK) {
        forget(m, LATENT);
        return NULL;
    }
    for (uint32_t i = 0; i < n_ask; i++)
        known_cell(m, ask[i])->latent = fresh + (size_t)i * width;
    for (uint32_t i = 0; i < n; i++)
        out[i] = known_cell(m, ids[i])->latent;
    return out;
}

/* Scores of nodes that have none yet: by the head from latents where the model gives them, so that a node is encoded
 * once whether a latent or a score is asked for first. */
static void fetch_ranks(qp_query *q, const qp_id *ids, uint32_t n, float *score)
{
    const qp_model *r = q->ranker;
    if (!r->latent || !r->head) {
        if (!r->rank)
            qp_fail(&q->err, QP_MODEL, "the model %s cannot rerank: choose a reranker", r->name);
        for (uint32_t i = 0; i < n && !qp_query_over(q, "reranker"); i += BATCH)
            encode(q, ids + i, n - i < BATCH ? n - i : BATCH, false, score + i);
        return;
    }
    const float *const *latent = qp_query_latents(q, ids, n);
    float *rows = latent ? qp_new(q->mem, float, (size_t)n * r->width) : NULL;
    if (!rows) {
        qp_oom(&q->err);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(rows + (size_t)i * r->width, latent[i], r->width * sizeof *rows);
    r->head(r->self, rows, n, score, &q->err);
}

const float *qp_query_rank(qp_query *q, const qp_id *ids, uint32_t n)
{
    qp_memo *m = memo_of(q);
    if (!m || !has_ranker(q))
        return NULL;
    uint32_t n_ask;
    qp_id *ask = missing(q, RANK, ids, n, &n_ask);
    float *out = qp_new(q->mem, float, n), *fresh = ask ? qp_new(q->mem, float, n_ask) : NULL;
    if (!out || !fresh)
        qp_oom(&q->err);
    else if (n_ask)
        fetch_ranks(q, ask, n_ask, fresh);
    if (q->err.code != QP_OK) {
        forget(m, RANK);
        return NULL;
    }
    for (uint32_t i = 0; i < n_ask; i++)
        known_cell(m, ask[i])->rank = fresh[i];
    for (uint32_t i = 0; i < n; i++)
        out[i] = known_cell(m, ids[i])->rank;
    return out;
}

bool qp_query_kept(qp_query *q, qp_str key, float *value)
{
    qp_memo *m = memo_of(q);
    const uint64_t *slot = m && m->kept ? qp_map_get(m->kept, key) : NULL;
    if (slot)
        memcpy(value, slot, sizeof *value);
    return slot != NULL;
}

void qp_query_keep(qp_query *q, qp_str key, float value)
{
    qp_memo *m = memo_of(q);
    uint64_t *slot = m && m->kept ? qp_map_put(m->kept, key, NULL) : NULL;
    if (slot)
        memcpy(slot, &value, sizeof value);
    else
        qp_oom(&q->err);
}
