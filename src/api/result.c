#include "api/result.h"

#include <yyjson.h>

#include "base/err.h"
#include "base/str.h"
#include "op/sub.h"
#include "text/json.h"

typedef struct writer {
    yyjson_mut_doc *doc;
    qp_query *q;
} writer;

static yyjson_mut_val *text_of(writer *w, qp_str s)
{
    return yyjson_mut_strncpy(w->doc, s.n ? s.at : "", s.n);
}

static void add_text(writer *w, yyjson_mut_val *object, const char *key, qp_str s)
{
    yyjson_mut_obj_add_val(w->doc, object, key, s.n ? text_of(w, s) : yyjson_mut_null(w->doc));
}

static yyjson_mut_val *span_of(writer *w, uint64_t from, uint64_t to)
{
    yyjson_mut_val *span = yyjson_mut_arr(w->doc);
    yyjson_mut_arr_add_uint(w->doc, span, from);
    yyjson_mut_arr_add_uint(w->doc, span, to);
    return span;
}

static void add_name(writer *w, yyjson_mut_val *object, const qp_about *about)
{
    add_text(w, object, "id", about->name);
    add_text(w, object, "title", about->title);
    if (about->heading.n)
        add_text(w, object, "heading", about->heading);
}

/* The way from where the search began to this hit: nodes, and the relation each was reached by. */
static yyjson_mut_val *via_of(writer *w, const qp_hit *hit)
{
    const qp_view *graph = w->q->graph;
    yyjson_mut_val *via = yyjson_mut_arr(w->doc);
    for (const qp_hit *h = hit; h && h->from; h = h->from) {
        qp_about about;
        qp_link link = {0};
        bool by_edge = h->via != QP_NO_ID;
        if (graph->about(graph->self, &h->from->id, 1, &about, w->q->mem, &w->q->err) ||
            (by_edge && graph->link(graph->self, &h->via, 1, &link, &w->q->err)))
            break;
        yyjson_mut_val *step = yyjson_mut_obj(w->doc);
        add_name(w, step, &about);
        if (by_edge) {
            add_text(w, step, "relation", link.type);
            yyjson_mut_obj_add_bool(w->doc, step, "forward", link.from == h->from->id);
            if (link.text.n)
                add_text(w, step, "properties", link.text);
        }
        yyjson_mut_arr_prepend(via, step);
    }
    return via;
}

static void add_place(writer *w, yyjson_mut_val *object, const qp_about *about)
{
    add_text(w, object, "document", about->document);
    if (about->page)
        yyjson_mut_obj_add_uint(w->doc, object, "page", about->page);
    else
        yyjson_mut_obj_add_null(w->doc, object, "page");
}

static yyjson_mut_val *hit_of(writer *w, const qp_hit *hit, uint32_t rank)
{
    const qp_view *graph = w->q->graph;
    qp_about about;
    qp_str text;
    if (graph->about(graph->self, &hit->id, 1, &about, w->q->mem, &w->q->err) ||
        graph->text(graph->self, QP_NODE, &hit->id, 1, &text, w->q->mem, &w->q->err))
        return NULL;
    uint64_t own = about.to - about.from;
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    yyjson_mut_obj_add_uint(w->doc, object, "rank", rank);
    add_name(w, object, &about);
    yyjson_mut_obj_add_real(w->doc, object, "score", (double)hit->score);
    add_text(w, object, "text", own && own <= text.n ? qp_str_slice(text, text.n - own, text.n) : text);
    add_place(w, object, &about);
    if (about.document.n)
        yyjson_mut_obj_add_val(w->doc, object, "span", span_of(w, about.from, about.to));
    else
        yyjson_mut_obj_add_null(w->doc, object, "span");
    yyjson_mut_obj_add_val(w->doc, object, "via", via_of(w, hit));
    for (uint32_t i = 0; i < w->q->n_summary; i++)
        if (w->q->summary[i].node == hit->id)
            add_text(w, object, "summary", w->q->summary[i].text);
    return object;
}

static yyjson_mut_val *edge_of(writer *w, const qp_hit *hit)
{
    const qp_view *graph = w->q->graph;
    qp_link link;
    if (graph->link(graph->self, &hit->id, 1, &link, &w->q->err))
        return NULL;
    qp_id ends[2] = {link.from, link.to};
    qp_about about[2];
    if (graph->about(graph->self, ends, 2, about, w->q->mem, &w->q->err))
        return NULL;
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    add_text(w, object, "source", about[0].name);
    add_text(w, object, "relation", link.type);
    add_text(w, object, "target", about[1].name);
    if (link.text.n)
        add_text(w, object, "properties", link.text);
    yyjson_mut_obj_add_real(w->doc, object, "score", (double)hit->score);
    return object;
}

/* A path is told from its last hit back to its first. */
static yyjson_mut_val *path_of(writer *w, const qp_hit *last)
{
    const qp_view *graph = w->q->graph;
    yyjson_mut_val *nodes = yyjson_mut_arr(w->doc), *relations = yyjson_mut_arr(w->doc);
    for (const qp_hit *h = last; h; h = h->from) {
        qp_about about;
        qp_link link;
        if (graph->about(graph->self, &h->id, 1, &about, w->q->mem, &w->q->err))
            return NULL;
        yyjson_mut_arr_prepend(nodes, text_of(w, about.name));
        if (h->via == QP_NO_ID)
            continue;
        if (graph->link(graph->self, &h->via, 1, &link, &w->q->err))
            return NULL;
        bool forward = link.from == h->from->id; /* against the arrow: "~relation" */
        qp_str relation = forward ? link.type : qp_arena_fmt(w->q->mem, "~%.*s", (int)link.type.n, link.type.at);
        yyjson_mut_arr_prepend(relations, text_of(w, relation));
    }
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    yyjson_mut_obj_add_val(w->doc, object, "nodes", nodes);
    yyjson_mut_obj_add_val(w->doc, object, "relations", relations);
    yyjson_mut_obj_add_real(w->doc, object, "score", (double)last->score);
    return object;
}

static void add_found(writer *w, yyjson_mut_val *root, const qp_set *found)
{
    yyjson_mut_val *hits = yyjson_mut_arr(w->doc), *edges = yyjson_mut_arr(w->doc), *paths = yyjson_mut_arr(w->doc);
    for (uint32_t i = 0; i < found->nodes.n; i++)
        yyjson_mut_arr_append(hits, hit_of(w, &found->nodes.at[i], i + 1));
    for (uint32_t i = 0; i < found->edges.n; i++)
        yyjson_mut_arr_append(edges, edge_of(w, &found->edges.at[i]));
    for (uint32_t i = 0; i < found->paths.n; i++)
        yyjson_mut_arr_append(paths, path_of(w, &found->paths.at[i]));
    yyjson_mut_obj_add_val(w->doc, root, "hits", hits);
    yyjson_mut_obj_add_val(w->doc, root, "edges", edges);
    yyjson_mut_obj_add_val(w->doc, root, "paths", paths);
}

/* Of a knowledge graph: where the question started, and what was looked at. */
static void add_graph(writer *w, yyjson_mut_val *root)
{
    qp_query *q = w->q;
    const qp_view *graph = q->graph;
    qp_sub sub;
    if (graph->entity == graph->nodes || (!q->started.n && !q->extracted.nodes.n))
        return;
    yyjson_mut_val *names = yyjson_mut_obj_add_arr(w->doc, root, "entities");
    for (uint32_t i = 0; i < q->started.n; i++) {
        qp_about about;
        if (graph->about(graph->self, &q->started.at[i].id, 1, &about, q->mem, &q->err))
            return;
        yyjson_mut_arr_append(names, text_of(w, about.name));
    }
    if (!qp_sub_make(q, q->extracted, q->walk, &sub))
        return;
    yyjson_mut_val *size = yyjson_mut_obj_add_obj(w->doc, root, "subgraph");
    yyjson_mut_obj_add_uint(w->doc, size, "nodes", sub.n);
    yyjson_mut_obj_add_uint(w->doc, size, "edges", sub.graph.start[sub.n] / 2);
    yyjson_mut_obj_add_uint(w->doc, size, "components", qp_sub_components(q, &sub));
    yyjson_mut_obj_add_uint(w->doc, root, "context_tokens", q->context_tokens);
    if (q->report.n)
        add_text(w, root, "report", q->report);
}

static void add_answer(writer *w, yyjson_mut_val *root, const qp_result *r)
{
    const qp_answer *a = r->answer;
    const qp_view *graph = w->q->graph;
    add_text(w, root, "answer", a->text);
    yyjson_mut_val *citations = yyjson_mut_arr(w->doc);
    for (uint32_t i = 0; i < a->n_citations; i++) {
        const qp_citation *c = &a->citations[i];
        qp_about about;
        if (graph->about(graph->self, &c->node, 1, &about, w->q->mem, &w->q->err))
            return;
        yyjson_mut_val *object = yyjson_mut_obj(w->doc);
        yyjson_mut_obj_add_uint(w->doc, object, "n", c->n);
        add_name(w, object, &about);
        add_place(w, object, &about);
        yyjson_mut_obj_add_val(w->doc, object, "span", span_of(w, c->from, c->to));
        add_text(w, object, "quote", c->quote);
        yyjson_mut_obj_add_bool(w->doc, object, "supported", c->supported);
        yyjson_mut_arr_append(citations, object);
    }
    yyjson_mut_obj_add_val(w->doc, root, "citations", citations);
    yyjson_mut_obj_add_uint(w->doc, root, "unsupported", a->unsupported);
    yyjson_mut_val *without = yyjson_mut_obj_add_arr(w->doc, root, "unsupported_sentences");
    for (uint32_t i = 0; i < a->unsupported && i < QP_WITHOUT_MAX; i++)
        yyjson_mut_arr_append(without, text_of(w, a->without[i]));
    yyjson_mut_val *tokens = yyjson_mut_obj_add_obj(w->doc, root, "tokens");
    yyjson_mut_obj_add_uint(w->doc, tokens, "prompt", a->prompt_tokens);
    yyjson_mut_obj_add_uint(w->doc, tokens, "answer", a->answer_tokens);
    if (r->writer)
        yyjson_mut_obj_add_str(w->doc, root, "writer", r->writer);
    else
        yyjson_mut_obj_add_null(w->doc, root, "writer");
}

static void add_labels(writer *w, yyjson_mut_val *root, const qp_result *r)
{
    const qp_view *graph = w->q->graph;
    add_text(w, root, "label", r->labels->at[0].text);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(w->doc, root, "labels");
    for (uint32_t i = 0; i < r->labels->n; i++) {
        const qp_label *l = &r->labels->at[i];
        qp_about about;
        if (graph->about(graph->self, &l->node, 1, &about, w->q->mem, &w->q->err))
            return;
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, list);
        add_text(w, object, "label", l->text);
        yyjson_mut_obj_add_real(w->doc, object, "score", (double)l->score);
        add_text(w, object, "id", about.name);
    }
    if (r->writer)
        yyjson_mut_obj_add_str(w->doc, root, "writer", r->writer);
    else
        yyjson_mut_obj_add_null(w->doc, root, "writer");
}

static void add_timings(writer *w, yyjson_mut_val *root, const qp_result *r)
{
    static const char *const models[] = {"embed", "rank", "write"};
    yyjson_mut_val *timings = yyjson_mut_obj_add_obj(w->doc, root, "timings_ms");
    double inside = r->load_ms;
    yyjson_mut_obj_add_real(w->doc, timings, "load", r->load_ms);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        double ms = qp_trace_model_ms(w->q->trace, models[i]);
        inside += ms;
        yyjson_mut_obj_add_real(w->doc, timings, models[i], ms);
    }
    yyjson_mut_obj_add_real(w->doc, timings, "rest", r->total_ms > inside ? r->total_ms - inside : 0);
    yyjson_mut_obj_add_real(w->doc, timings, "total", r->total_ms);
}

static void add_trace(writer *w, yyjson_mut_val *root)
{
    uint32_t n = 0;
    const qp_step *steps = qp_trace_steps(w->q->trace, &n);
    yyjson_mut_val *trace = yyjson_mut_obj_add_arr(w->doc, root, "trace");
    for (uint32_t i = 0; i < n; i++) {
        yyjson_mut_val *step = yyjson_mut_arr_add_obj(w->doc, trace);
        yyjson_mut_obj_add_strcpy(w->doc, step, "op", steps[i].name);
        yyjson_mut_obj_add_int(w->doc, step, "depth", steps[i].depth);
        yyjson_mut_obj_add_uint(w->doc, step, "in", steps[i].in);
        yyjson_mut_obj_add_uint(w->doc, step, "out", steps[i].out);
        yyjson_mut_obj_add_uint(w->doc, step, "model_passes", steps[i].model_passes);
        if (steps[i].paths_cut)
            yyjson_mut_obj_add_uint(w->doc, step, "paths_cut", steps[i].paths_cut);
        yyjson_mut_obj_add_real(w->doc, step, "ms", steps[i].ms);
        yyjson_mut_obj_add_real(w->doc, step, "model_ms", steps[i].model_ms);
        yyjson_mut_obj_add_strcpy(w->doc, step, "options", steps[i].options);
    }
}

qp_code qp_result_json(qp_query *q, const qp_result *r, char **json, qp_err *err)
{
    writer w = {yyjson_mut_doc_new(NULL), q};
    if (!w.doc)
        return qp_oom(err);
    yyjson_mut_val *root = yyjson_mut_obj(w.doc);
    yyjson_mut_doc_set_root(w.doc, root);
    if (r->id)
        yyjson_mut_obj_add_strcpy(w.doc, root, "_id", r->id);
    yyjson_mut_obj_add_val(w.doc, root, "query", text_of(&w, q->text));
    yyjson_mut_obj_add_strcpy(w.doc, root, "method", r->method->name);
    if (r->degraded)
        yyjson_mut_obj_add_strcpy(w.doc, root, "degraded", r->degraded);
    if (q->note)
        yyjson_mut_obj_add_strcpy(w.doc, root, "note", q->note);
    yyjson_mut_val *options = yyjson_mut_obj_add_obj(w.doc, root, "options");
    for (size_t i = 0; i < r->n_settings; i++)
        yyjson_mut_obj_add_strcpy(w.doc, options, r->settings[i].key, r->settings[i].value);
    if (r->answer)
        add_answer(&w, root, r);
    if (r->labels)
        add_labels(&w, root, r);
    add_found(&w, root, &r->found);
    add_graph(&w, root);
    add_timings(&w, root, r);
    yyjson_mut_obj_add_uint(w.doc, root, "model_passes", q->model_passes);
    if (q->paths_cut)
        yyjson_mut_obj_add_uint(w.doc, root, "paths_cut", q->paths_cut);
    if (r->explain)
        add_trace(&w, root);
    qp_code code = q->err.code ? qp_fail(err, q->err.code, "%s", q->err.message) : QP_OK;
    *json = code ? NULL : qp_json_text(w.doc, false);
    if (!code && !*json)
        code = qp_oom(err);
    yyjson_mut_doc_free(w.doc);
    return code;
}
