#include "op/eem.h"

#include "base/clock.h"
#include "base/vector.h"
#include "op/idmap.h"

enum { BATCH = 256 }; /* texts between two looks at the clock */

static float *room(qp_query *q, size_t n)
{
    float *out = q->err.code == QP_OK ? qp_new(q->mem, float, n + 1) : NULL;
    if (!out)
        qp_oom(&q->err);
    return out;
}

static void dot_texts(qp_query *q, const qp_model *m, const float *v, const qp_str *text, uint32_t n, float *out)
{
    uint32_t dim = m ? m->dim : 0;
    float *rows = v ? room(q, (size_t)BATCH * dim) : NULL;
    for (uint32_t from = 0, some; rows && from < n && !qp_query_over(q, "eem"); from += some) {
        some = n - from < BATCH ? n - from : BATCH;
        double start = qp_now_ms();
        qp_code code = m->embed(m->self, QP_PASSAGE, text + from, some, rows, &q->err);
        qp_trace_add_model_ms(q, "embed", qp_now_ms() - start);
        for (uint32_t i = 0; code == QP_OK && i < some; i++)
            out[from + i] = qp_dot(v, rows + (size_t)i * dim, dim);
    }
}

static void embed_texts(qp_query *q, const qp_str *text, uint32_t n, float *out)
{
    dot_texts(q, q->embedder, qp_query_vector(q), text, n, out);
}

static void writer_texts(qp_query *q, const qp_str *text, uint32_t n, float *out)
{
    const qp_model *m = q->writer;
    if (!m || !m->embed) {
        qp_fail(&q->err, QP_MODEL,
                "eem=writer needs a writer that shows its last layer, and %s: name a GGUF file with --writer, or take "
                "eem=embed",
                m ? "a service does not" : "there is none");
        return;
    }
    float *v = room(q, m->dim);
    if (v && !m->embed(m->self, QP_QUERY, &q->text, 1, v, &q->err))
        dot_texts(q, m, v, text, n, out);
}

static void rank_texts(qp_query *q, const qp_str *text, uint32_t n, float *out)
{
    if (!q->ranker || !q->ranker->rank)
        qp_fail(&q->err, QP_MODEL,
                "eem=rerank needs a reranker and there is none: `quipu model pull` one, or eem=embed");
    for (uint32_t from = 0, some; from < n && !qp_query_over(q, "eem"); from += some) {
        some = n - from < BATCH ? n - from : BATCH;
        double start = qp_now_ms();
        q->ranker->rank(q->ranker->self, q->text, text + from, some, out + from, &q->err);
        qp_trace_add_model_ms(q, "rank", qp_now_ms() - start);
        q->model_passes += some;
    }
}

const float *qp_eem_texts(qp_query *q, const char *eem, const qp_str *text, uint32_t n)
{
    float *out = room(q, n);
    if (out && n)
        (*eem == 'r' ? rank_texts : *eem == 'w' ? writer_texts : embed_texts)(q, text, n, out);
    return q->err.code == QP_OK ? out : NULL;
}

/* Inner products with what the index keeps; null where it keeps nothing, or after an error. */
static float *kept_dots(qp_query *q, const char *index, const qp_id *ids, uint32_t n)
{
    const float *v = qp_query_vector(q);
    uint32_t dim = q->graph->dim;
    float *rows = v ? room(q, (size_t)BATCH * dim) : NULL, *out = rows ? room(q, n) : NULL;
    qp_err none = {0};
    for (uint32_t from = 0, some; out && from < n; from += some) {
        some = n - from < BATCH ? n - from : BATCH;
        if (q->graph->vectors(q->graph->self, index, ids + from, some, rows, &none))
            return NULL;
        for (uint32_t i = 0; i < some; i++)
            out[from + i] = qp_dot(v, rows + (size_t)i * dim, dim);
    }
    return out;
}

const float *qp_eem_told(qp_query *q, const char *eem, qp_kind kind, const qp_id *ids, uint32_t n)
{
    qp_str *text = qp_new(q->mem, qp_str, n + 1u);
    if (!text) {
        qp_oom(&q->err);
        return NULL;
    }
    if (q->graph->text(q->graph->self, kind, ids, n, text, q->mem, &q->err))
        return NULL;
    return qp_eem_texts(q, eem, text, n);
}

/* Each relation once, though thousands of edges have it. */
static const float *relation_scores(qp_query *q, const char *eem, const qp_id *edge, uint32_t n)
{
    qp_link *link = qp_new(q->mem, qp_link, n + 1u);
    qp_str *name = qp_new(q->mem, qp_str, n + 1u);
    uint32_t *which = qp_new(q->mem, uint32_t, n + 1u), names = 0;
    float *out = room(q, n);
    if (!link || !name || !which || !out) {
        qp_oom(&q->err);
        return NULL;
    }
    if (q->graph->link(q->graph->self, edge, n, link, &q->err))
        return NULL;
    for (uint32_t i = 0; i < n; i++) { /* a type's name lies at one address */
        uint32_t at = 0;
        while (at < names && name[at].at != link[i].type.at)
            at++;
        if (at == names)
            name[names++] = link[i].type;
        which[i] = at;
    }
    const float *score = qp_eem_texts(q, eem, name, names);
    for (uint32_t i = 0; score && i < n; i++)
        out[i] = score[which[i]];
    return score ? out : NULL;
}

static const float *node_scores(qp_query *q, const char *eem, const qp_id *ids, uint32_t n)
{
    const float *kept = *eem == 'e' ? kept_dots(q, "node.dense", ids, n) : NULL;
    return kept || q->err.code != QP_OK ? kept : qp_eem_told(q, eem, QP_NODE, ids, n);
}

/* The mean of both ends'. */
static const float *end_scores(qp_query *q, const char *eem, const qp_id *edge, uint32_t n)
{
    qp_link *link = qp_new(q->mem, qp_link, n + 1u);
    qp_id *ends = qp_new(q->mem, qp_id, 2 * (size_t)n + 1);
    uint32_t m = 0;
    qp_idmap at = qp_idmap_in(q->mem);
    float *out = room(q, n);
    if (!link || !ends || !out) {
        qp_oom(&q->err);
        return NULL;
    }
    if (q->graph->link(q->graph->self, edge, n, link, &q->err))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        for (int end = 0; end < 2; end++) {
            bool added;
            qp_id id = end ? link[i].to : link[i].from;
            if (!qp_idmap_put(&at, id, m, &added)) {
                qp_oom(&q->err);
                return NULL;
            }
            if (added)
                ends[m++] = id;
        }
    const float *score = node_scores(q, eem, ends, m);
    for (uint32_t i = 0; score && i < n; i++)
        out[i] = (score[*qp_idmap_get(&at, link[i].from)] + score[*qp_idmap_get(&at, link[i].to)]) / 2;
    return score ? out : NULL;
}

const float *qp_eem_edges(qp_query *q, const char *eem, const char *item, const qp_id *edge, uint32_t n)
{
    if (q->err.code != QP_OK)
        return NULL;
    if (*item == 'n')
        return end_scores(q, eem, edge, n);
    const char *index = *item == 'e' ? "edge.dense" : "triple.dense";
    const float *kept = *eem == 'e' ? kept_dots(q, index, edge, n) : NULL;
    if (kept || q->err.code != QP_OK)
        return kept;
    return *item == 'e' ? relation_scores(q, eem, edge, n) : qp_eem_told(q, eem, QP_TRIPLE, edge, n);
}

/* ---- paths as text ---- */

/* A hit and how it was reached; false after an error. */
static bool say(qp_query *q, const qp_hit *h, qp_buf *out)
{
    qp_about about;
    qp_link link;
    if (q->graph->about(q->graph->self, &h->id, 1, &about, q->mem, &q->err))
        return false;
    if (h->from && h->via != QP_NO_ID) {
        if (q->graph->link(q->graph->self, &h->via, 1, &link, &q->err))
            return false;
        qp_buf_text(out, link.from == h->from->id ? " -> " : " -> ~");
        qp_buf_str(out, link.type);
    }
    if (h->from)
        qp_buf_text(out, " -> ");
    qp_buf_str(out, about.name);
    return true;
}

qp_str qp_path_text(qp_query *q, const qp_hit *last)
{
    const qp_hit **chain;
    uint32_t n = qp_path_chain(q, last, &chain), i = 0;
    qp_buf text = {0};
    while (i < n && say(q, chain[i], &text))
        i++;
    qp_str out = q->err.code == QP_OK ? qp_arena_str(q->mem, qp_buf_view(&text)) : (qp_str){"", 0};
    if (q->err.code == QP_OK && (text.oom || !out.at))
        qp_oom(&q->err);
    qp_buf_free(&text);
    return out;
}
