/* A question's life: begin, its vector, when it is over, end. */
#include "base/clock.h"
#include "base/thread.h"
#include "op/memo.h"
#include "op/op.h"

qp_code qp_query_begin(qp_query *q, qp_str text, qp_err *err)
{
    *q = (qp_query){.text = text, .walk = {.types = ~0ull, .direction = QP_BOTH}};
    q->mem = qp_arena_new();
    return q->mem ? QP_OK : qp_oom(err);
}

void qp_query_end(qp_query *q)
{
    if (q->memo && q->memo->own)
        qp_memo_free(q->memo);
    qp_arena_free(q->mem);
    q->memo = NULL;
    q->mem = NULL;
}

bool qp_query_over(qp_query *q, const char *where)
{
    if (q->err.code != QP_OK)
        return true;
    if (qp_cancelled(q->cancel))
        qp_fail(&q->err, QP_STOPPED, "stopped at '%s' by the caller", where);
    else if (q->deadline > 0 && qp_now_ms() > q->deadline)
        qp_fail(&q->err, QP_STOPPED, "the deadline passed at '%s': allow more time, or ask for less (budget, k)",
                where);
    return q->err.code != QP_OK;
}

qp_code qp_query_in_scope(qp_query *q, qp_str id, qp_err *err)
{
    const qp_view *g = q->graph;
    qp_id first;
    uint32_t n = 0;
    if (!id.n || g->entity == g->nodes)
        return QP_OK;
    qp_code code = g->scope(g->self, id, &first, &n, err);
    if (code || !n)
        return code;
    uint64_t *allow = qp_new(q->mem, uint64_t, g->nodes / 64 + 1);
    if (!allow)
        return qp_oom(err);
    for (qp_id v = first; v < first + n; v++)
        if (!q->allow || q->allow[v / 64] >> (v % 64) & 1)
            allow[v / 64] |= UINT64_C(1) << (v % 64);
    q->allow = allow;
    q->scope = id;
    return QP_OK;
}

/* Refuses an embedder whose vectors cannot be compared with the index's. */
static bool embedder_fits(qp_query *q)
{
    if (!q->graph->dim)
        qp_fail(&q->err, QP_INPUT, "the index has no vectors: index it again with an embedder, or ask with -m bm25");
    else if (!q->embedder || !q->embedder->embed)
        qp_fail(&q->err, QP_MODEL,
                "dense search needs an embedder and there is none: `quipu model pull` one, or ask with -m bm25");
    else if (q->embedder->dim != q->graph->dim)
        qp_fail(&q->err, QP_MODEL,
                "the index has vectors of %u numbers, the embedder %s makes %u: use the one it was indexed with",
                q->graph->dim, q->embedder->name, q->embedder->dim);
    return q->err.code == QP_OK;
}

const float *qp_query_vector(qp_query *q)
{
    if (q->err.code != QP_OK)
        return NULL;
    if (q->vector)
        return q->vector;
    if (!embedder_fits(q))
        return NULL;
    float *v = qp_new(q->mem, float, q->embedder->dim);
    if (!v) {
        qp_oom(&q->err);
        return NULL;
    }
    double start = qp_now_ms();
    qp_code code = q->embedder->embed(q->embedder->self, QP_QUERY, &q->text, 1, v, &q->err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
    if (code != QP_OK)
        return NULL;
    q->vector = v;
    return v;
}

const qp_sparse *qp_query_terms(qp_query *q)
{
    if (q->err.code != QP_OK || q->terms)
        return q->err.code == QP_OK ? q->terms : NULL;
    if (!q->graph->terms) {
        qp_fail(&q->err, QP_INPUT,
                "the index has no learned terms: index it again with --sparse MODEL (quipu model list), or ask with "
                "-m bm25");
        return NULL;
    }
    if (!q->sparse) {
        qp_fail(&q->err, QP_MODEL,
                "learned sparse search needs the sparse encoder that the index was made with, and there is none: name "
                "it with --sparse, or ask with -m bm25");
        return NULL;
    }
    qp_sparse *terms = qp_new(q->mem, qp_sparse, 1);
    double start = qp_now_ms();
    qp_code code =
        terms ? q->sparse->weigh(q->sparse->self, QP_QUERY, &q->text, 1, terms, q->mem, &q->err) : qp_oom(&q->err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
    q->terms = code == QP_OK ? terms : NULL;
    return q->terms;
}

static bool heads_fit(qp_query *q)
{
    const qp_model *m = q->attention;
    if (!q->graph->heads)
        qp_fail(&q->err, QP_INPUT,
                "the index has no attention heads: index it again with --heads MODEL (quipu model list)");
    else if (!m || !m->attend)
        qp_fail(&q->err, QP_MODEL,
                "attention heads need the model that the index was made with, and there is none: name it with --heads");
    else if (m->heads != q->graph->heads || m->head_dim != q->graph->head_dim)
        qp_fail(&q->err, QP_MODEL,
                "the index has %u heads of %u numbers, the model %s has %u of %u: use the one it was "
                "made with",
                q->graph->heads, q->graph->head_dim, m->name, m->heads, m->head_dim);
    return q->err.code == QP_OK;
}

const float *qp_query_heads(qp_query *q)
{
    if (q->err.code != QP_OK || q->heads)
        return q->err.code == QP_OK ? q->heads : NULL;
    if (!heads_fit(q))
        return NULL;
    float *out = qp_new(q->mem, float, (size_t)q->attention->heads * q->attention->head_dim);
    double start = qp_now_ms();
    qp_code code =
        out ? q->attention->attend(q->attention->self, QP_QUERY, &q->text, 1, out, &q->err) : qp_oom(&q->err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
    q->heads = code == QP_OK ? out : NULL;
    return q->heads;
}

static bool tokens_fit(qp_query *q)
{
    const qp_model *m = q->embedder;
    if (!q->graph->token_dim)
        qp_fail(&q->err, QP_INPUT, "the index has no vectors of tokens: index it again with -o tokens=yes");
    else if (!m || !m->tokens || m->token_dim != q->graph->token_dim)
        qp_fail(&q->err, QP_MODEL,
                "vectors of tokens need the embedder that the index was made with, and %s: name it with --embedder",
                m ? "this one makes others" : "there is none");
    return q->err.code == QP_OK;
}

const qp_token_rows *qp_query_tokens(qp_query *q)
{
    if (q->err.code != QP_OK || q->tokens)
        return q->err.code == QP_OK ? q->tokens : NULL;
    if (!tokens_fit(q))
        return NULL;
    qp_token_rows *rows = qp_new(q->mem, qp_token_rows, 1);
    double start = qp_now_ms();
    qp_code code =
        rows ? q->embedder->tokens(q->embedder->self, QP_QUERY, &q->text, 1, rows, q->mem, &q->err) : qp_oom(&q->err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
    q->tokens = code == QP_OK ? rows : NULL;
    return q->tokens;
}

qp_walk qp_query_walk(qp_query *q, const char *edges, const char *direction)
{
    qp_walk walk = q->walk;
    if (edges && strcmp(edges, "*") == 0)
        walk.types = ~0ull;
    else if (edges && *edges)
        q->graph->types(q->graph->self, edges, &walk.types, &q->err);
    if (direction && strcmp(direction, "query") != 0)
        walk.direction = *direction == 'o' ? QP_OUT : *direction == 'i' ? QP_IN : QP_BOTH;
    return walk;
}
