#include "op/overlay.h"

enum { BATCH = 256 };

typedef struct overlay {
    const qp_view *below;
    const qp_led *led; /* by number, from below->edges on */
    uint32_t n;
    qp_view view;
} overlay;

/* ---- as below ---- */

static const qp_view *below(void *self)
{
    return ((const overlay *)self)->below;
}

static qp_code search(void *self, const char *index, const qp_probe *p, uint32_t k, qp_list *out, qp_arena *mem,
                      qp_err *err)
{
    return below(self)->search(below(self)->self, index, p, k, out, mem, err);
}

static qp_code adjacent(void *self, const qp_id *id, uint32_t n, qp_walk w, qp_adj *out, qp_arena *mem, qp_err *err)
{
    return below(self)->adjacent(below(self)->self, id, n, w, out, mem, err);
}

static qp_code incident(void *self, const qp_id *id, uint32_t n, qp_walk w, qp_adj *out, qp_arena *mem, qp_err *err)
{
    return below(self)->incident(below(self)->self, id, n, w, out, mem, err);
}

static qp_code between(void *self, const qp_id *id, uint32_t n, qp_walk w, qp_id **edge, uint32_t *m, qp_arena *mem,
                       qp_err *err)
{
    return below(self)->between(below(self)->self, id, n, w, edge, m, mem, err);
}

static qp_code arcs(void *self, qp_walk w, qp_arcs *out, qp_arena *mem, qp_err *err)
{
    return below(self)->arcs(below(self)->self, w, out, mem, err);
}

static qp_code parts(void *self, qp_parts *out, qp_err *err)
{
    return below(self)->parts(below(self)->self, out, err);
}

static qp_code stops(void *self, qp_stops *out, qp_err *err)
{
    return below(self)->stops(below(self)->self, out, err);
}

static qp_code degree(void *self, const qp_id *id, uint32_t n, qp_walk w, uint32_t *out, qp_err *err)
{
    return below(self)->degree(below(self)->self, id, n, w, out, err);
}

static qp_code about(void *self, const qp_id *id, uint32_t n, qp_about *out, qp_arena *mem, qp_err *err)
{
    return below(self)->about(below(self)->self, id, n, out, mem, err);
}

static qp_code find(void *self, qp_str in, const qp_str *name, uint32_t n, qp_id *out, qp_err *err)
{
    return below(self)->find(below(self)->self, in, name, n, out, err);
}

static qp_code scope(void *self, qp_str id, qp_id *first, uint32_t *n, qp_err *err)
{
    return below(self)->scope(below(self)->self, id, first, n, err);
}

static qp_code types(void *self, const char *names, uint64_t *bits, qp_err *err)
{
    return below(self)->types(below(self)->self, names, bits, err);
}

/* ---- edges ---- */

/* Null: not one of ours. */
static const qp_led *led_of(const overlay *o, qp_id edge)
{
    return edge >= o->below->edges && edge - o->below->edges < o->n ? &o->led[edge - o->below->edges] : NULL;
}

/* The numbers that the view below knows of the edges from `at` on, as many as there is room for; how many. */
static uint32_t under(const overlay *o, const qp_id *edge, uint32_t at, uint32_t n, qp_id out[BATCH])
{
    uint32_t m = n - at < BATCH ? n - at : BATCH;
    for (uint32_t i = 0; i < m; i++) {
        const qp_led *led = led_of(o, edge[at + i]);
        out[i] = led ? led->edge : edge[at + i];
    }
    return m;
}

static qp_code link(void *self, const qp_id *id, uint32_t n, qp_link *out, qp_err *err)
{
    const overlay *o = self;
    const qp_view *g = o->below;
    qp_id edge[BATCH];
    qp_code code = QP_OK;
    for (uint32_t at = 0, m; at < n && !code; at += m) {
        m = under(o, id, at, n, edge);
        code = g->link(g->self, edge, m, out + at, err);
    }
    for (uint32_t i = 0; i < n && !code; i++) {
        const qp_led *led = led_of(o, id[i]);
        if (led) {
            out[i].from = led->from;
            out[i].to = led->to;
        }
    }
    return code;
}

/* "head -> type -> tail; key: value", as the store has it. */
static qp_code triple(const qp_view *g, const qp_led *led, qp_str *out, qp_arena *mem, qp_err *err)
{
    const qp_id end[] = {led->from, led->to};
    qp_about end_is[2];
    qp_link is;
    qp_buf text = {0};
    qp_code code = g->link(g->self, &led->edge, 1, &is, err);
    if (code || (code = g->about(g->self, end, 2, end_is, mem, err)))
        return code;
    qp_buf_fmt(&text, "%.*s -> %.*s -> %.*s", (int)end_is[0].name.n, end_is[0].name.at, (int)is.type.n, is.type.at,
               (int)end_is[1].name.n, end_is[1].name.at);
    for (qp_str rest = is.text; rest.n;) {
        qp_str line = qp_str_split(rest, '\n', &rest);
        qp_buf_fmt(&text, "; %.*s", (int)line.n, line.at);
    }
    *out = text.oom ? (qp_str){0} : qp_arena_str(mem, qp_buf_view(&text));
    qp_buf_free(&text);
    return out->at ? QP_OK : qp_oom(err);
}

static qp_code text(void *self, qp_kind kind, const qp_id *id, uint32_t n, qp_str *out, qp_arena *mem, qp_err *err)
{
    const overlay *o = self;
    const qp_view *g = o->below;
    qp_id edge[BATCH];
    qp_code code = QP_OK;
    if (kind == QP_NODE)
        return g->text(g->self, kind, id, n, out, mem, err);
    for (uint32_t at = 0, m; at < n && !code; at += m) {
        m = under(o, id, at, n, edge);
        code = g->text(g->self, kind, edge, m, out + at, mem, err);
    }
    for (uint32_t i = 0; i < n && !code && kind == QP_TRIPLE; i++) {
        const qp_led *led = led_of(o, id[i]);
        if (led)
            code = triple(g, led, &out[i], mem, err);
    }
    return code;
}

static qp_code vectors(void *self, const char *index, const qp_id *id, uint32_t n, float *out, qp_err *err)
{
    const overlay *o = self;
    const qp_view *g = o->below;
    bool heads = qp_str_ends(qp_str_of(index), QP_STR(".head"));
    size_t width = heads ? (size_t)g->heads * g->head_dim : g->dim;
    qp_id edge[BATCH];
    qp_code code = QP_OK;
    if (qp_str_starts(qp_str_of(index), QP_STR("node.")) || !n) /* of none: is there such an index? */
        return g->vectors(g->self, index, id, n, out, err);
    for (uint32_t at = 0, m; at < n && !code; at += m) {
        m = under(o, id, at, n, edge);
        code = g->vectors(g->self, index, edge, m, out + at * width, err);
    }
    return code;
}

/* ---- laying it ---- */

static bool lay(qp_query *q, const qp_led *led, uint32_t n)
{
    overlay *o = qp_new(q->mem, overlay, 1);
    if (!o)
        return qp_oom(&q->err), false;
    *o = (overlay){.below = q->graph, .led = led, .n = n, .view = *q->graph};
    o->view.self = o;
    o->view.edges += n;
    o->view.search = search;
    o->view.adjacent = adjacent;
    o->view.incident = incident;
    o->view.between = between;
    o->view.arcs = arcs;
    o->view.parts = parts;
    o->view.stops = stops;
    o->view.degree = degree;
    o->view.text = text;
    o->view.vectors = vectors;
    o->view.about = about;
    o->view.link = link;
    o->view.find = find;
    o->view.scope = scope;
    o->view.types = types;
    q->graph = &o->view;
    return true;
}

qp_list qp_overlay(qp_query *q, const qp_led *edges, uint32_t n)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, n + 1u);
    qp_led *led = qp_new(q->mem, qp_led, n + 1u);
    qp_id *id = qp_new(q->mem, qp_id, n + 1u);
    qp_link *is = qp_new(q->mem, qp_link, n + 1u);
    uint32_t moved = 0;
    if (!hit || !led || !id || !is)
        return qp_oom(&q->err), (qp_list){0};
    for (uint32_t i = 0; i < n; i++)
        id[i] = edges[i].edge;
    if (q->graph->link(q->graph->self, id, n, is, &q->err))
        return (qp_list){0};
    for (uint32_t i = 0; i < n; i++) {
        bool stays = is[i].from == edges[i].from && is[i].to == edges[i].to;
        hit[i] = (qp_hit){stays ? edges[i].edge : q->graph->edges + moved, QP_NO_ID, 0, NULL};
        if (!stays)
            led[moved++] = edges[i];
    }
    if (moved && !lay(q, led, moved))
        return (qp_list){0};
    return qp_list_sorted(q, hit, n, n);
}
