#include "op/describe.h"

#include "base/str.h"
#include "op/eem.h"
#include "op/op.h"
#include "op/sub.h"

typedef struct tour {
    qp_query *q;
    qp_sub sub;
    uint32_t *queue;
    bool *queued, *left; /* left: all its edges are told */
    uint32_t head, tail;
    qp_buf text;
} tour;

static void line(tour *t, qp_str text)
{
    if (t->text.n)
        qp_buf_char(&t->text, '\n');
    qp_buf_str(&t->text, text);
}

static void name_alone(tour *t, qp_id node)
{
    qp_about about;
    if (!t->q->graph->about(t->q->graph->self, &node, 1, &about, t->q->mem, &t->q->err))
        line(t, about.name);
}

static void tell_edges(tour *t, uint32_t v)
{
    const qp_csr *g = &t->sub.graph;
    for (uint64_t i = g->start[v]; i < g->start[v + 1] && t->q->err.code == QP_OK; i++) {
        uint32_t to = g->target[i];
        qp_str triple;
        if (t->left[to])
            continue;
        if (!t->q->graph->text(t->q->graph->self, QP_TRIPLE, &t->sub.edge[i], 1, &triple, t->q->mem, &t->q->err))
            line(t, triple);
        if (!t->queued[to])
            t->queue[t->tail++] = to;
        t->queued[to] = true;
    }
    t->left[v] = true;
}

static void tour_from(tour *t, uint32_t root)
{
    if (t->queued[root])
        return;
    t->queue[t->tail++] = root;
    t->queued[root] = true;
    if (t->sub.graph.start[root] == t->sub.graph.start[root + 1])
        name_alone(t, t->sub.node[root]);
    while (t->head < t->tail)
        tell_edges(t, t->queue[t->head++]);
}

qp_str qp_describe(qp_query *q, qp_set set)
{
    tour t = {.q = q};
    qp_str out = {"", 0};
    if (!qp_sub_make(q, set, q->walk, &t.sub))
        return out;
    t.queue = qp_new(q->mem, uint32_t, t.sub.n + 1u);
    t.queued = qp_new(q->mem, bool, t.sub.n + 1u);
    t.left = qp_new(q->mem, bool, t.sub.n + 1u);
    if (!t.queue || !t.queued || !t.left) {
        qp_oom(&q->err);
        return out;
    }
    for (uint32_t i = 0; i < set.nodes.n; i++)
        tour_from(&t, qp_sub_place(&t.sub, set.nodes.at[i].id));
    for (uint32_t v = 0; v < t.sub.n; v++)
        tour_from(&t, v);
    if (q->err.code == QP_OK)
        out = qp_arena_str(q->mem, qp_buf_view(&t.text));
    if (t.text.oom || !out.at) {
        qp_oom(&q->err);
        out = (qp_str){"", 0};
    }
    qp_buf_free(&t.text);
    return out;
}

uint32_t qp_tokens(qp_query *q, qp_str text)
{
    const qp_model *m = q->writer ? q->writer : q->embedder ? q->embedder : q->attention;
    uint32_t n = 0;
    if (m && m->count && text.n && q->err.code == QP_OK)
        m->count(m->self, &text, 1, &n, &q->err);
    return n;
}

uint32_t qp_path_tokens(qp_query *q, qp_list paths)
{
    qp_buf text = {0};
    for (uint32_t i = 0; i < paths.n && q->err.code == QP_OK; i++) {
        qp_buf_str(&text, qp_path_text(q, &paths.at[i]));
        qp_buf_char(&text, '\n');
    }
    uint32_t n = text.oom ? 0 : qp_tokens(q, qp_buf_view(&text));
    qp_buf_free(&text);
    return n;
}
