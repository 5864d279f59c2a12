/* The view of a snapshot: neighbours, texts, vectors, and what people are shown. */
#include <stdio.h>
#include <stdlib.h>

#include "store/mapped.h"
#include "store/store.h"

/* Types from the 64th on share the last bit of a walk's mask. */
static bool walks(const qp_snapshot *s, qp_walk walk, uint32_t edge)
{
    uint32_t type = s->edge_type[edge];
    return (walk.across || !qp_snapshot_crosses(s, edge)) && walk.types >> (type < 63 ? type : 63) & 1;
}

/* Every edge, both ways: what BOTH holds. */
static bool is_whole(const qp_snapshot *s, qp_walk walk)
{
    return walk.direction == QP_BOTH && walk.types == UINT64_MAX && (walk.across || !s->info->crossing);
}

/* The two rows of a node: ids [out, out_end) and IN_EDGE's places [in, in_end). */
struct rows {
    uint64_t out, out_end, in, in_end;
};

static bool rows_of(const qp_snapshot *s, qp_id v, qp_direction direction, struct rows *r)
{
    *r = (struct rows){0};
    if (v >= s->nodes)
        return false;
    if (direction != QP_IN) {
        r->out = s->out[v];
        r->out_end = s->out[v + 1];
    }
    if (direction != QP_OUT) {
        r->in = s->in[v];
        r->in_end = s->in[v + 1];
    }
    return r->out <= r->out_end && r->out_end <= s->edges && r->in <= r->in_end && r->in_end <= s->edges;
}

/* The next neighbour in the merge of both rows, with the smallest edge that leads to it; false at the end. Both rows
 * rise by neighbour, and edges of one neighbour rise by id. Ids from a damaged file are only compared, except where
 * `bad` says so. */
static bool next_neighbour(const qp_snapshot *s, qp_id v, qp_walk walk, struct rows *r, qp_id *node, qp_id *edge,
                           bool *bad)
{
    for (;;) {
        while (r->out < r->out_end && (s->edge_to[r->out] == v || !walks(s, walk, (uint32_t)r->out)))
            r->out++;
        while (r->in < r->in_end) {
            uint32_t e = s->in_edge[r->in];
            if (e >= s->edges) {
                *bad = true;
                return false;
            }
            if (s->edge_from[e] != v && walks(s, walk, e))
                break;
            r->in++;
        }
        bool has_out = r->out < r->out_end, has_in = r->in < r->in_end;
        if (!has_out && !has_in)
            return false;
        qp_id a = has_out ? s->edge_to[r->out] : QP_NO_ID, b = has_in ? s->edge_from[s->in_edge[r->in]] : QP_NO_ID;
        qp_id least = a < b ? a : b, by = QP_NO_ID;
        if (has_out && a == least)
            by = (qp_id)r->out++;
        if (has_in && b == least) {
            by = s->in_edge[r->in] < by ? s->in_edge[r->in] : by;
            r->in++;
        }
        if (least == *node) /* another edge to the one just given */
            continue;
        if (least >= s->nodes || (*node != QP_NO_ID && least < *node)) {
            *bad = true;
            return false;
        }
        *node = least;
        *edge = by;
        return true;
    }
}

static qp_code no_node(const qp_snapshot *s, qp_id v, qp_err *err)
{
    if (v >= s->nodes)
        return qp_fail(err, QP_BUG, "view: node %u of %u is asked for", v, s->nodes);
    return qp_snapshot_damaged(s, "out", "a node's edges lie outside", err);
}

static qp_code adjacent(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_adj *adj, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    uint64_t room = 0;
    struct rows r;
    for (uint32_t i = 0; i < n; i++) {
        if (!rows_of(s, ids[i], walk.direction, &r))
            return no_node(s, ids[i], err);
        room += r.out_end - r.out + r.in_end - r.in;
    }
    uint32_t *start = qp_new(a, uint32_t, (size_t)n + 1);
    qp_id *node = qp_new(a, qp_id, room ? room : 1), *edge = qp_new(a, qp_id, room ? room : 1);
    if (!start || !node || !edge || room > UINT32_MAX)
        return qp_oom(err);
    uint32_t count = 0;
    bool bad = false;
    for (uint32_t i = 0; i < n && !bad; i++) {
        start[i] = count;
        rows_of(s, ids[i], walk.direction, &r);
        for (qp_id last = QP_NO_ID, by; next_neighbour(s, ids[i], walk, &r, &last, &by, &bad);) {
            node[count] = last;
            edge[count++] = by;
        }
    }
    start[n] = count;
    *adj = (qp_adj){n, start, node, edge};
    return bad ? qp_snapshot_damaged(s, "in.edge", "an edge or its end does not exist", err) : QP_OK;
}

static qp_code degree(void *self, const qp_id *ids, uint32_t n, qp_walk walk, uint32_t *out, qp_err *err)
{
    const qp_snapshot *s = self;
    bool whole = is_whole(s, walk), bad = false;
    for (uint32_t i = 0; i < n; i++) {
        struct rows r;
        if (!rows_of(s, ids[i], walk.direction, &r))
            return no_node(s, ids[i], err);
        out[i] = whole ? (uint32_t)(s->both[ids[i] + 1] - s->both[ids[i]]) : 0;
        for (qp_id last = QP_NO_ID, by; !whole && next_neighbour(s, ids[i], walk, &r, &last, &by, &bad);)
            out[i]++;
    }
    return bad ? qp_snapshot_damaged(s, "in.edge", "an edge or its end does not exist", err) : QP_OK;
}

/* The next edge in the merge of both rows, parallel ones too; false at the end. */
static bool next_edge(const qp_snapshot *s, qp_id v, qp_walk walk, struct rows *r, qp_id *node, qp_id *edge, bool *bad)
{
    while (r->out < r->out_end && (s->edge_to[r->out] == v || !walks(s, walk, (uint32_t)r->out)))
        r->out++;
    while (r->in < r->in_end && s->in_edge[r->in] < s->edges &&
           (s->edge_from[s->in_edge[r->in]] == v || !walks(s, walk, s->in_edge[r->in])))
        r->in++;
    bool has_out = r->out < r->out_end, has_in = r->in < r->in_end;
    if (!has_out && !has_in)
        return false;
    *bad |= has_in && s->in_edge[r->in] >= s->edges;
    if (*bad)
        return false;
    qp_id a = has_out ? s->edge_to[r->out] : QP_NO_ID, b = has_in ? s->edge_from[s->in_edge[r->in]] : QP_NO_ID;
    bool forward = has_out && (!has_in || a < b || (a == b && r->out < s->in_edge[r->in]));
    *node = forward ? a : b;
    *edge = forward ? (qp_id)r->out++ : s->in_edge[r->in++];
    *bad |= *node >= s->nodes;
    return !*bad;
}

static qp_code incident(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_adj *adj, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    uint64_t room = 0;
    struct rows r;
    for (uint32_t i = 0; i < n; i++) {
        if (!rows_of(s, ids[i], walk.direction, &r))
            return no_node(s, ids[i], err);
        room += r.out_end - r.out + r.in_end - r.in;
    }
    uint32_t *start = qp_new(a, uint32_t, (size_t)n + 1), count = 0;
    qp_id *node = qp_new(a, qp_id, room ? room : 1), *edge = qp_new(a, qp_id, room ? room : 1);
    bool bad = false;
    if (!start || !node || !edge || room > UINT32_MAX)
        return qp_oom(err);
    for (uint32_t i = 0; i < n && !bad; i++) {
        rows_of(s, ids[i], walk.direction, &r);
        while (next_edge(s, ids[i], walk, &r, &node[count], &edge[count], &bad))
            count++;
        start[i + 1] = count;
    }
    *adj = (qp_adj){n, start, node, edge};
    return bad ? qp_snapshot_damaged(s, "in.edge", "an edge or its end does not exist", err) : QP_OK;
}

/* Rows of a walk that is not over everything: made node by node, as many as there are neighbours. */
static qp_code walked_arcs(const qp_snapshot *s, qp_walk walk, qp_arcs *out, qp_arena *a, qp_err *err)
{
    uint64_t *start = qp_new(a, uint64_t, (size_t)s->nodes + 1), n = 0;
    bool bad = false;
    struct rows r;
    for (uint32_t v = 0; start && v < s->nodes; v++) {
        if (!rows_of(s, v, walk.direction, &r))
            return no_node(s, v, err);
        for (qp_id last = QP_NO_ID, by; next_neighbour(s, v, walk, &r, &last, &by, &bad);)
            n++;
        start[v + 1] = n;
    }
    qp_id *node = start ? qp_new(a, qp_id, n + 1) : NULL;
    if (!node)
        return qp_oom(err);
    n = 0;
    for (uint32_t v = 0; v < s->nodes; v++) {
        rows_of(s, v, walk.direction, &r);
        for (qp_id last = QP_NO_ID, by; n < start[v + 1] && next_neighbour(s, v, walk, &r, &last, &by, &bad);)
            node[n++] = last;
    }
    *out = (qp_arcs){s->nodes, start, node};
    return bad ? qp_snapshot_damaged(s, "in.edge", "an edge or its end does not exist", err) : QP_OK;
}

/* BOTH is foreign as all the file is: rows are looked at once, here, and then may be walked freely. */
static qp_code whole_arcs(const qp_snapshot *s, qp_arcs *out, qp_err *err)
{
    if (!__atomic_load_n(&s->arcs_seen, __ATOMIC_ACQUIRE)) {
        bool fits = !s->both[0] && s->both[s->nodes] == s->info->arcs;
        for (uint32_t v = 0; fits && v < s->nodes; v++)
            fits = s->both[v] <= s->both[v + 1];
        for (uint64_t i = 0; fits && i < s->info->arcs; i++)
            fits = s->both_node[i] < s->nodes;
        if (!fits)
            return qp_snapshot_damaged(s, "both", "a row or a neighbour lies outside", err);
        __atomic_store_n((bool *)(uintptr_t)&s->arcs_seen, true, __ATOMIC_RELEASE);
    }
    *out = (qp_arcs){s->nodes, s->both, s->both_node};
    return QP_OK;
}

static qp_code arcs(void *self, qp_walk walk, qp_arcs *out, qp_arena *a, qp_err *err)
{
    return is_whole(self, walk) ? whole_arcs(self, out, err) : walked_arcs(self, walk, out, a, err);
}

/* ---- texts ---- */

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
    uint32_t low = 0, high = (uint32_t)s->info->said;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->said_edge[middle] < e)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->info->said && s->said_edge[low] == e ? qp_snapshot_string(s, s->said[low]) : (qp_str){"", 0};
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

static qp_code text(void *self, qp_kind kind, const qp_id *ids, uint32_t n, qp_str *out, qp_arena *a, qp_err *err)
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

static qp_code no_index(const char *name, const char *wanted, qp_err *err)
{
    return qp_fail(err, QP_INPUT, "no index '%s' is there; there %s", name, wanted);
}

static qp_code edge_vectors(const qp_snapshot *s, bool triples, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    const float *from = triples ? s->triple_vector : s->type_vector;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->edges)
            return qp_fail(err, QP_BUG, "view: edge %u of %u is asked for", ids[i], s->edges);
        size_t row = triples ? ids[i] : s->edge_type[ids[i]];
        if (!triples && row >= s->types)
            return qp_snapshot_damaged(s, "edge.type", "an edge's type does not exist", err);
        memcpy(out + (size_t)i * s->dim, from + row * s->dim, s->dim * sizeof *out);
    }
    return QP_OK;
}

static qp_code vectors(void *self, const char *index, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    const qp_snapshot *s = self;
    bool triples = !strcmp(index, "triple.dense");
    if (!strcmp(index, "node.head") || !strcmp(index, "edge.head"))
        return qp_snapshot_heads(s, *index == 'n', ids, n, out, err);
    if (triples ? s->triple_vector != NULL : !strcmp(index, "edge.dense") && s->type_vector)
        return edge_vectors(s, triples, ids, n, out, err);
    if (strcmp(index, "node.dense") || !s->dim)
        return no_index(index, s->dim ? "is node.dense" : "are no vectors: index with an embedder", err);
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->nodes)
            return no_node(s, ids[i], err);
        memcpy(out + (size_t)i * s->dim, s->vector + (size_t)ids[i] * s->dim, s->dim * sizeof *out);
    }
    return QP_OK;
}

/* An entity stands for itself: no document, its name as title. */
static void about_entity(const qp_snapshot *s, qp_id v, qp_about *out)
{
    qp_str name = qp_snapshot_string(s, s->node[v].name);
    *out = (qp_about){.name = name, .document = {"", 0}, .title = name, .heading = {"", 0}};
}

static qp_code about(void *self, const qp_id *ids, uint32_t n, qp_about *out, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    (void)a;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->nodes)
            return no_node(s, ids[i], err);
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

static qp_code link_of(void *self, const qp_id *ids, uint32_t n, qp_link *out, qp_err *err)
{
    const qp_snapshot *s = self;
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->edges)
            return qp_fail(err, QP_BUG, "view: edge %u of %u is asked for", ids[i], s->edges);
        uint32_t type = s->edge_type[ids[i]];
        out[i] = (qp_link){s->edge_from[ids[i]], s->edge_to[ids[i]],
                           type < s->types ? qp_snapshot_string(s, s->type[type]) : QP_STR(""), s->edge_weight[ids[i]],
                           said_of(s, ids[i])};
        if (out[i].from >= s->nodes || out[i].to >= s->nodes)
            return qp_snapshot_damaged(s, "edge.to", "an edge's end does not exist", err);
    }
    return QP_OK;
}

static qp_code unknown_type(const qp_snapshot *s, qp_str name, qp_err *err)
{
    qp_buf there = {0};
    for (uint32_t i = 0; i < s->types && i < 40; i++) {
        qp_buf_text(&there, i ? ", " : "");
        qp_buf_str(&there, qp_snapshot_string(s, s->type[i]));
    }
    qp_fail(err, QP_INPUT, "no edges of type '%.*s' are in this index; there are: %s%s", (int)name.n, name.at,
            there.n ? there.at : "none", s->types > 40 ? ", ..." : "");
    qp_buf_free(&there);
    return QP_INPUT;
}

static qp_code types(void *self, const char *names, uint64_t *bits, qp_err *err)
{
    const qp_snapshot *s = self;
    qp_str rest = qp_str_trim(qp_str_of(names));
    *bits = qp_str_eq(rest, QP_STR("*")) ? UINT64_MAX : 0;
    while (*bits != UINT64_MAX && rest.n) {
        qp_str name = qp_str_trim(qp_str_split(rest, ',', &rest));
        uint32_t i = 0;
        while (i < s->types && !qp_str_eq(name, qp_snapshot_string(s, s->type[i])))
            i++;
        if (i == s->types)
            return unknown_type(s, name, err);
        if (i >= 63 && s->types > 64)
            return qp_fail(err, QP_INPUT,
                           "edges of type '%.*s' cannot be walked apart from others: of %u types the first 63 "
                           "in order of name can; walk '*'",
                           (int)name.n, name.at, s->types);
        *bits |= UINT64_C(1) << i;
    }
    return QP_OK;
}

/* Passages; where an index holds none, or `of_entities`, entities. */
static qp_range range_of(const qp_snapshot *s, bool of_entities)
{
    return s->entity && !of_entities ? (qp_range){0, s->entity} : (qp_range){s->entity, s->nodes};
}

static qp_code search_nodes(qp_snapshot *s, const char *index, bool of_entities, const qp_probe *probe, uint32_t k,
                            qp_list *out, qp_arena *a, qp_err *err)
{
    const char *kind = strchr(index, '.') + 1;
    qp_range r = range_of(s, of_entities || (!strcmp(kind, "head") && s->entity < s->nodes));
    k = k < r.to - r.from ? k : r.to - r.from;
    if (!strcmp(kind, "dense"))
        return s->dim ? qp_snapshot_dense(s, r, probe, k, out, a, err)
                      : no_index(index, "are no vectors: index with an embedder, or search node.bm25", err);
    if (!strcmp(kind, "bm25") || !strcmp(kind, "tfidf"))
        return qp_snapshot_lexical(s, r, probe, *kind == 't', k, out, a, err);
    if (!strcmp(kind, "splade"))
        return s->learned_terms ? qp_snapshot_learned(s, r, probe, k, out, a, err)
                                : no_index(index, "are no learned terms: index with --sparse MODEL", err);
    return qp_snapshot_head_search(s, r, probe, true, k, out, a, err);
}

static bool is_index_of_nodes(const char *index, bool *of_entities)
{
    static const char *const kinds[] = {"dense", "bm25", "tfidf", "splade", "head"};
    const char *kind = !strncmp(index, "node.", 5) ? index + 5 : !strncmp(index, "entity.", 7) ? index + 7 : "";
    *of_entities = *index == 'e';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i]))
            return true;
    return false;
}

static qp_code search(void *self, const char *index, const qp_probe *probe, uint32_t k, qp_list *out, qp_arena *a,
                      qp_err *err)
{
    qp_snapshot *s = self;
    *out = (qp_list){0};
    bool of_entities;
    if (is_index_of_nodes(index, &of_entities))
        return search_nodes(s, index, of_entities, probe, k, out, a, err);
    k = k < s->edges ? k : s->edges;
    if (!strcmp(index, "edge.dense") || !strcmp(index, "triple.dense"))
        return qp_snapshot_dense_edges(s, probe, *index == 't', k, out, a, err);
    if (!strcmp(index, "edge.head"))
        return qp_snapshot_head_search(s, (qp_range){0, 0}, probe, false, k, out, a, err);
    return no_index(index,
                    "are node.dense, node.bm25, node.tfidf, node.splade, node.head, the same of entity, edge.dense, "
                    "triple.dense and edge.head",
                    err);
}

void qp_view_of(qp_snapshot *s)
{
    s->view = (qp_view){.self = s,
                        .nodes = s->nodes,
                        .edges = s->edges,
                        .dim = s->dim,
                        .terms = s->learned_terms,
                        .entity = s->entity,
                        .heads = s->heads,
                        .head_dim = s->head_dim,
                        .incident = incident,
                        .arcs = arcs,
                        .parts = qp_snapshot_parts,
                        .stops = qp_snapshot_stops,
                        .find = qp_snapshot_find_entities,
                        .scope = qp_snapshot_scope,
                        .search = search,
                        .adjacent = adjacent,
                        .degree = degree,
                        .text = text,
                        .vectors = vectors,
                        .about = about,
                        .link = link_of,
                        .types = types};
}
