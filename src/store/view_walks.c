/* Walks over a snapshot's edges: neighbours, degrees, rows for the graph kernels. */
#include <stdlib.h>

#include "base/vector.h"
#include "graph/components.h"
#include "store/mapped.h"

enum { SHARED = 63 }; /* the bit of a walk's mask that all types have which are not among the first */

/* Of a type, by number or, where there are more types than bits, as told. */
static uint32_t bit_of(const qp_snapshot *s, uint32_t type)
{
    const uint8_t *bit = s->types > SHARED + 1 ? __atomic_load_n(&s->type_bit, __ATOMIC_ACQUIRE) : NULL;
    return bit && type < s->types ? bit[type] : type < SHARED ? type : SHARED;
}

static bool walks(const qp_snapshot *s, qp_walk walk, uint32_t edge)
{
    return (walk.across || !qp_snapshot_crosses(s, edge)) && walk.types >> bit_of(s, s->edge_type[edge]) & 1;
}

/* With thousands of relations of a knowledge graph, those that documents are joined by (`cites`, ...) can still be
 * walked apart: they get their bits first, in order of the edges, then the others in order of name. Told once, before
 * the first mask that is not of all types. */
static qp_code tell_bits(qp_snapshot *s, qp_err *err)
{
    uint32_t next = 0;
    uint8_t *bit = malloc(s->types);
    if (!bit)
        return qp_oom(err);
    memset(bit, SHARED, s->types);
    for (uint64_t e = 0; e < s->edges && s->edge_from[e] < s->entity && next < SHARED; e++)
        if (s->edge_to[e] < s->entity && s->edge_type[e] < s->types && bit[s->edge_type[e]] == SHARED)
            bit[s->edge_type[e]] = (uint8_t)next++;
    for (uint32_t t = 0; t < s->types && next < SHARED; t++)
        if (bit[t] == SHARED)
            bit[t] = (uint8_t)next++;
    __atomic_store_n(&s->type_bit, bit, __ATOMIC_RELEASE);
    return QP_OK;
}

static qp_code bits_told(qp_snapshot *s, qp_err *err)
{
    qp_code code = QP_OK;
    if (s->types <= SHARED + 1)
        return QP_OK;
    pthread_mutex_lock(&s->lock);
    if (!s->type_bit)
        code = tell_bits(s, err);
    pthread_mutex_unlock(&s->lock);
    return code;
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

/* The next edge in the merge of both rows, parallel ones too; false at the end. Both rows rise by neighbour, and edges
 * of one neighbour rise by id. Ids from a damaged file are only compared, except where `bad` says so. */
static bool next_edge(const qp_snapshot *s, qp_id v, qp_walk walk, struct rows *r, qp_id *node, qp_id *edge, bool *bad)
{
    while (r->out < r->out_end && (s->edge_to[r->out] == v || !walks(s, walk, (uint32_t)r->out)))
        r->out++;
    if (r->in + QP_AHEAD < r->in_end && s->in_edge[r->in + QP_AHEAD] < s->edges) {
        __builtin_prefetch(&s->edge_from[s->in_edge[r->in + QP_AHEAD]]);
        __builtin_prefetch(&s->edge_type[s->in_edge[r->in + QP_AHEAD]]);
    }
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

/* The next neighbour after *node, with the smallest edge that leads to it; false at the end. */
static bool next_neighbour(const qp_snapshot *s, qp_id v, qp_walk walk, struct rows *r, qp_id *node, qp_id *edge,
                           bool *bad)
{
    qp_id last = *node;
    while (next_edge(s, v, walk, r, node, edge, bad))
        if (*node != last) {
            *bad |= last != QP_NO_ID && *node < last;
            return !*bad;
        }
    return false;
}

qp_code qp_snapshot_no_node(const qp_snapshot *s, qp_id v, qp_err *err)
{
    if (v >= s->nodes)
        return qp_fail(err, QP_BUG, "view: node %u of %u is asked for", v, s->nodes);
    return qp_snapshot_damaged(s, "out", "a node's edges lie outside", err);
}

static qp_code no_edge(const qp_snapshot *s, qp_err *err)
{
    return qp_snapshot_damaged(s, "in.edge", "an edge or its end does not exist", err);
}

typedef bool (*next_fn)(const qp_snapshot *, qp_id, qp_walk, struct rows *, qp_id *node, qp_id *edge, bool *bad);

static qp_code listed(const qp_snapshot *s, const qp_id *ids, uint32_t n, qp_walk walk, next_fn next, qp_adj *adj,
                      qp_arena *a, qp_err *err)
{
    uint64_t room = 0;
    struct rows r;
    for (uint32_t i = 0; i < n; i++) {
        if (!rows_of(s, ids[i], walk.direction, &r))
            return qp_snapshot_no_node(s, ids[i], err);
        room += r.out_end - r.out + r.in_end - r.in;
    }
    uint32_t *start = qp_new(a, uint32_t, (size_t)n + 1), count = 0;
    qp_id *node = qp_new(a, qp_id, room ? room : 1), *edge = qp_new(a, qp_id, room ? room : 1);
    bool bad = false;
    if (!start || !node || !edge || room > UINT32_MAX)
        return qp_oom(err);
    for (uint32_t i = 0; i < n && !bad; i++) {
        rows_of(s, ids[i], walk.direction, &r);
        for (qp_id to = QP_NO_ID, by = QP_NO_ID; next(s, ids[i], walk, &r, &to, &by, &bad); count++) {
            node[count] = to;
            edge[count] = by;
        }
        start[i + 1] = count;
    }
    *adj = (qp_adj){n, start, node, edge};
    return bad ? no_edge(s, err) : QP_OK;
}

qp_code qp_snapshot_adjacent(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_adj *adj, qp_arena *a,
                             qp_err *err)
{
    return listed(self, ids, n, walk, next_neighbour, adj, a, err);
}

qp_code qp_snapshot_incident(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_adj *adj, qp_arena *a,
                             qp_err *err)
{
    return listed(self, ids, n, walk, next_edge, adj, a, err);
}

/* What leads out of a node stands together and rises by its end, so the edges are a graph whose arcs are their ids. */
qp_code qp_snapshot_between(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_id **edge, uint32_t *m,
                            qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = self;
    const qp_csr all = {s->nodes, s->out, s->edge_to, NULL};
    qp_induced in;
    struct rows r;
    *m = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!rows_of(s, ids[i], QP_OUT, &r))
            return qp_snapshot_no_node(s, ids[i], err);
    qp_code code = qp_induce(&all, ids, n, &in, a, err);
    *edge = code ? NULL : qp_new(a, qp_id, in.graph.start[n] + 1);
    if (!*edge)
        return code ? code : qp_oom(err);
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t j = in.graph.start[i]; j < in.graph.start[i + 1]; j++) {
            qp_id e = (qp_id)in.arc[j];
            if (s->edge_from[e] != ids[i])
                return no_edge(s, err);
            if (in.graph.target[j] != i && walks(s, walk, e))
                (*edge)[(*m)++] = e;
        }
    return QP_OK;
}

qp_code qp_snapshot_degree(void *self, const qp_id *ids, uint32_t n, qp_walk walk, uint32_t *out, qp_err *err)
{
    const qp_snapshot *s = self;
    bool whole = is_whole(s, walk), bad = false;
    for (uint32_t i = 0; i < n; i++) {
        struct rows r;
        if (!rows_of(s, ids[i], walk.direction, &r))
            return qp_snapshot_no_node(s, ids[i], err);
        out[i] = whole ? (uint32_t)(s->both[ids[i] + 1] - s->both[ids[i]]) : 0;
        for (qp_id last = QP_NO_ID, by; !whole && next_neighbour(s, ids[i], walk, &r, &last, &by, &bad);)
            out[i]++;
    }
    return bad ? no_edge(s, err) : QP_OK;
}

/* Rows of a walk that is not over everything: made node by node, as many as there are neighbours. */
static qp_code walked_arcs(const qp_snapshot *s, qp_walk walk, qp_arcs *out, qp_arena *a, qp_err *err)
{
    uint64_t *start = qp_new(a, uint64_t, (size_t)s->nodes + 1), n = 0;
    bool bad = false;
    struct rows r;
    for (uint32_t v = 0; start && v < s->nodes; v++) {
        if (!rows_of(s, v, walk.direction, &r))
            return qp_snapshot_no_node(s, v, err);
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
    return bad ? no_edge(s, err) : QP_OK;
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

qp_code qp_snapshot_arcs(void *self, qp_walk walk, qp_arcs *out, qp_arena *a, qp_err *err)
{
    return is_whole(self, walk) ? whole_arcs(self, out, err) : walked_arcs(self, walk, out, a, err);
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

qp_code qp_snapshot_types(void *self, const char *names, uint64_t *bits, qp_err *err)
{
    qp_snapshot *s = self;
    qp_str rest = qp_str_trim(qp_str_of(names));
    *bits = qp_str_eq(rest, QP_STR("*")) ? UINT64_MAX : 0;
    qp_code code = *bits == UINT64_MAX ? QP_OK : bits_told(s, err);
    if (code)
        return code;
    while (*bits != UINT64_MAX && rest.n) {
        qp_str name = qp_str_trim(qp_str_split(rest, ',', &rest));
        uint32_t i = 0;
        while (i < s->types && !qp_str_eq(name, qp_snapshot_string(s, s->type[i])))
            i++;
        if (i == s->types)
            return unknown_type(s, name, err);
        if (bit_of(s, i) == SHARED && s->types > SHARED + 1)
            return qp_fail(err, QP_INPUT,
                           "edges of type '%.*s' cannot be walked apart from others: of %u types those between "
                           "documents can, and of the others the first in order of name, %d in all; walk '*'",
                           (int)name.n, name.at, s->types, SHARED);
        *bits |= UINT64_C(1) << bit_of(s, i);
    }
    return QP_OK;
}
