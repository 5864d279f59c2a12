/* What a snapshot's nodes and edges say: the texts that were indexed, and what people are shown. */
#include "base/sorted.h"
#include "base/vector.h"
#include "store/mapped.h"
#include "store/store.h"

static qp_str entity_text(const qp_snapshot *s, qp_id v, qp_arena *a)
{
    const qp_node_entry *e = &s->node[v];
    qp_str said = {0};
    if (e->from <= e->to)
        qp_snapshot_ref(s, QP_S_TEXTS, (qp_ref){e->from, e->to - e->from}, &said);
    return qp_entity_text(a, qp_snapshot_string(s, e->name), said);
}

/* What its file says of an edge. */
static qp_str said_of(const qp_snapshot *s, qp_id e)
{
    const uint64_t at = qp_lower_bound(s->said_edge, 0, s->info->said, e);
    return at < s->info->said && s->said_edge[at] == e ? qp_snapshot_string(s, s->said[at]) : (qp_str){"", 0};
}

/* Its type, then what is said of it. */
static qp_str edge_text(const qp_snapshot *s, qp_id e, qp_arena *a)
{
    qp_str type = s->edge_type[e] < s->types ? qp_snapshot_string(s, s->type[s->edge_type[e]]) : QP_STR("");
    qp_str said = said_of(s, e);
    return said.n ? qp_indexed_text(a, type, (qp_str){"", 0}, said) : type;
}

static qp_str triple_text(const qp_snapshot *s, qp_id e, qp_arena *a)
{
    qp_id from = s->edge_from[e], to = s->edge_to[e];
    uint32_t type = s->edge_type[e];
    qp_buf text = {0};
    if (from < s->nodes && to < s->nodes && type < s->types)
        qp_triple_text(&text, qp_snapshot_string(s, s->node[from].name), qp_snapshot_string(s, s->type[type]),
                       qp_snapshot_string(s, s->node[to].name));
    for (qp_str rest = said_of(s, e), line; rest.n;) {
        line = qp_str_split(rest, '\n', &rest);
        qp_buf_fmt(&text, "; %.*s", (int)line.n, line.at); /* a triple stays a line: writers are shown them in lists */
    }
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(a, text.n ? qp_buf_view(&text) : QP_STR(""));
    qp_buf_free(&text);
    return out;
}

static qp_str node_text(const qp_snapshot *s, qp_id v, qp_arena *a)
{
    const qp_node_entry *e = &s->node[v];
    if (v >= s->entity)
        return entity_text(s, v, a);
    uint32_t document = qp_snapshot_document_of(s, v);
    qp_str whole = {"", 0}, title = {"", 0};
    if (document != UINT32_MAX) {
        qp_snapshot_ref(s, QP_S_TEXTS, s->document[document].text, &whole);
        title = qp_snapshot_string(s, s->document[document].title);
    }
    return qp_indexed_text(a, title, qp_snapshot_string(s, e->heading), qp_str_slice(whole, e->from, e->to));
}

qp_code qp_snapshot_text(void *self, qp_kind kind, const qp_id *ids, uint32_t n, qp_str *out, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= (kind == QP_NODE ? s->nodes : s->edges))
            return qp_fail(err, QP_BUG, "view: the text of %s %u is asked for", kind == QP_NODE ? "node" : "edge",
                           ids[i]);
        out[i] = kind == QP_NODE     ? node_text(s, ids[i], a)
                 : kind == QP_TRIPLE ? triple_text(s, ids[i], a)
                                     : edge_text(s, ids[i], a);
        if (!out[i].at)
            return qp_oom(err);
    }
    return QP_OK;
}

/* An entity stands for itself: no document, its name as title. */
static void about_entity(const qp_snapshot *s, qp_id v, qp_about *out)
{
    qp_str name = qp_snapshot_string(s, s->node[v].name);
    *out = (qp_about){.name = name, .document = {"", 0}, .title = name, .heading = {"", 0}};
}

qp_code qp_snapshot_about(void *self, const qp_id *ids, uint32_t n, qp_about *out, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    (void)a;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->nodes)
            return qp_snapshot_no_node(s, ids[i], err);
        const qp_node_entry *e = &s->node[ids[i]];
        uint32_t document = qp_snapshot_document_of(s, ids[i]);
        if (ids[i] >= s->entity) {
            about_entity(s, ids[i], &out[i]);
            continue;
        }
        if (e->from > e->to || document == UINT32_MAX || e->to > s->document[document].text.n)
            return qp_snapshot_damaged(s, "nodes", "a node's text lies outside its document", err);
        out[i] = (qp_about){.name = qp_snapshot_string(s, e->name),
                            .heading = qp_snapshot_string(s, e->heading),
                            .page = e->page,
                            .from = e->from,
                            .to = e->to};
        out[i].document = qp_snapshot_document_key(s, document);
        out[i].title = qp_snapshot_string(s, s->document[document].title);
        out[i].meta = qp_snapshot_document_meta(s, document);
    }
    return QP_OK;
}

qp_code qp_snapshot_link(void *self, const qp_id *ids, uint32_t n, qp_link *out, qp_err *err)
{
    const qp_snapshot *s = self;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->edges)
            return qp_fail(err, QP_BUG, "view: edge %u of %u is asked for", ids[i], s->edges);
        if (i + QP_AHEAD < n && ids[i + QP_AHEAD] < s->edges) {
            __builtin_prefetch(&s->edge_from[ids[i + QP_AHEAD]]);
            __builtin_prefetch(&s->edge_to[ids[i + QP_AHEAD]]);
            __builtin_prefetch(&s->edge_type[ids[i + QP_AHEAD]]);
            __builtin_prefetch(&s->edge_weight[ids[i + QP_AHEAD]]);
        }
        uint32_t type = s->edge_type[ids[i]];
        out[i] = (qp_link){s->edge_from[ids[i]], s->edge_to[ids[i]],
                           type < s->types ? qp_snapshot_string(s, s->type[type]) : QP_STR(""), s->edge_weight[ids[i]],
                           said_of(s, ids[i])};
        if (out[i].from >= s->nodes || out[i].to >= s->nodes)
            return qp_snapshot_damaged(s, "edge.to", "an edge's end does not exist", err);
    }
    return QP_OK;
}
