#include "store/links.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/thread.h"
#include "quipu_op.h"

struct link {
    uint32_t from, to;
    uint32_t type; /* in order of arrival; in order of name once written */
    float weight;
    uint32_t said; /* 0: nothing; else the place among the texts, from 1 */
};

struct qp_links {
    struct link *at;
    size_t n, cap;
    qp_map *types, *texts; /* as edges share types, they share texts: "source: Wikipedia" */
    uint64_t *arcs;        /* once written, where they are kept: nodes + 1 starts, */
    uint32_t *arc_node;    /* and neighbours on the same side */
    uint32_t *order;       /* of the types, by name; once written */
};

qp_links *qp_links_new(void)
{
    qp_links *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->types = qp_map_new();
    l->texts = qp_map_new();
    if (l->types && l->texts)
        return l;
    qp_links_free(l);
    return NULL;
}

void qp_links_free(qp_links *l)
{
    if (!l)
        return;
    qp_map_free(l->types);
    qp_map_free(l->texts);
    free(l->arcs);
    free(l->arc_node);
    free(l->order);
    free(l->at);
    free(l);
}

/* The text's place, from 1; 0 of an empty one. */
static qp_code text_place(qp_links *l, qp_str text, uint32_t *place, qp_err *err)
{
    bool added;
    uint64_t *slot = text.n ? qp_map_put(l->texts, text, &added) : NULL;
    *place = 0;
    if (text.n && !slot)
        return qp_oom(err);
    if (slot && added)
        *slot = qp_map_size(l->texts);
    if (slot)
        *place = (uint32_t)*slot;
    return QP_OK;
}

static qp_str text_at(const qp_links *l, uint32_t place)
{
    return place ? qp_map_key(l->texts, place - 1) : (qp_str){"", 0};
}

qp_code qp_links_add(qp_links *l, uint32_t from, uint32_t to, qp_str type, float weight, qp_str text, qp_err *err)
{
    bool added;
    uint32_t said;
    uint64_t *slot = qp_map_put(l->types, type, &added);
    if (!slot)
        return qp_oom(err);
    if (added)
        *slot = qp_map_size(l->types) - 1;
    qp_code code = text_place(l, text, &said, err);
    if (code)
        return code;
    if (l->n == UINT32_MAX - 1)
        return qp_fail(err, QP_INPUT, "an index of more than %u edges was asked for; make two", UINT32_MAX - 1);
    struct link *more = qp_array_room(l->at, l->n, &l->cap, sizeof *more);
    if (!more)
        return qp_oom(err);
    l->at = more;
    l->at[l->n++] = (struct link){from, to, (uint32_t)*slot, weight, said};
    return QP_OK;
}

static int by_name(const void *a, const void *b, void *types)
{
    return qp_str_cmp(qp_map_key(types, *(const uint32_t *)a), qp_map_key(types, *(const uint32_t *)b));
}

/* Numbers the types in order of name, so that nothing depends on the order of arrival. */
static qp_code write_types(qp_links *l, qp_writer *w, qp_buf *strings, qp_info *info, qp_err *err)
{
    size_t n = qp_map_size(l->types);
    uint32_t *order = l->order = malloc((n ? n : 1) * 2 * sizeof *order);
    if (!order)
        return qp_oom(err);
    uint32_t *rank = order + n;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, by_name, l->types);
    qp_writer_begin(w, QP_S_TYPES);
    for (size_t i = 0; i < n; i++) {
        qp_str name = qp_map_key(l->types, order[i]);
        qp_ref ref = {strings->n, name.n};
        qp_buf_str(strings, name);
        qp_writer_add(w, &ref, sizeof ref);
        rank[order[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < l->n; i++)
        l->at[i].type = rank[l->at[i].type];
    info->types = n;
    return strings->oom ? qp_oom(err) : QP_OK;
}

static int by_ends(const void *a, const void *b, void *links)
{
    const struct link *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1; /* the largest first: it stays */
    return x->said == y->said ? 0 : qp_str_cmp(text_at(links, x->said), text_at(links, y->said));
}

static qp_code join_texts(qp_links *l, struct link *kept, const struct link *more, qp_err *err)
{
    qp_str a = text_at(l, kept->said), b = text_at(l, more->said);
    if (!a.n)
        kept->said = more->said;
    if (!a.n || !b.n || qp_str_has_lines(a, b))
        return QP_OK;
    qp_buf both = {0};
    qp_buf_fmt(&both, "%.*s\n%.*s", (int)a.n, a.at, (int)b.n, b.at);
    qp_code code = both.oom ? qp_oom(err) : text_place(l, qp_buf_view(&both), &kept->said, err);
    qp_buf_free(&both);
    return code;
}

static qp_code sort_and_join(qp_links *l, qp_err *err)
{
    qp_code code = QP_OK;
    size_t n = 0;
    bool sorted = true; /* as those of a large graph are */
    for (size_t i = 1; sorted && i < l->n; i++)
        sorted = by_ends(&l->at[i - 1], &l->at[i], l) <= 0;
    if (!sorted)
        qsort_r(l->at, l->n, sizeof *l->at, by_ends, l);
    for (size_t i = 0; !code && i < l->n; i++)
        if (!n || l->at[i].from != l->at[n - 1].from || l->at[i].to != l->at[n - 1].to ||
            l->at[i].type != l->at[n - 1].type)
            l->at[n++] = l->at[i];
        else
            code = join_texts(l, &l->at[n - 1], &l->at[i], err);
    l->n = n;
    return code;
}

/* Of the edges that have a text, which they are, and the text's place; each text is kept once. */
static qp_code write_said(const qp_links *l, qp_writer *w, qp_buf *strings, qp_info *info, qp_err *err)
{
    size_t n = qp_map_size(l->texts);
    qp_ref *ref = calloc(n + 1, sizeof *ref);
    if (!ref)
        return qp_oom(err);
    qp_writer_begin(w, QP_S_SAID_EDGE);
    for (uint32_t i = 0; n && i < l->n; i++)
        if (l->at[i].said) {
            qp_writer_add(w, &i, sizeof i);
            info->said++;
        }
    qp_writer_begin(w, QP_S_SAID);
    for (size_t i = 0; n && i < l->n; i++) {
        qp_ref *r = &ref[l->at[i].said];
        if (!l->at[i].said)
            continue;
        if (!r->n) {
            qp_str text = text_at(l, l->at[i].said);
            *r = (qp_ref){strings->n, text.n};
            qp_buf_str(strings, text);
        }
        qp_writer_add(w, r, sizeof *r);
    }
    free(ref);
    return strings->oom ? qp_oom(err) : QP_OK;
}

static void write_columns(const qp_links *l, qp_writer *w)
{
    qp_writer_begin(w, QP_S_EDGE_FROM);
    for (size_t i = 0; i < l->n; i++)
        qp_writer_add(w, &l->at[i].from, sizeof l->at[i].from);
    qp_writer_begin(w, QP_S_EDGE_TO);
    for (size_t i = 0; i < l->n; i++)
        qp_writer_add(w, &l->at[i].to, sizeof l->at[i].to);
    qp_writer_begin(w, QP_S_EDGE_TYPE);
    for (size_t i = 0; i < l->n; i++)
        qp_writer_add(w, &l->at[i].type, sizeof l->at[i].type);
    qp_writer_begin(w, QP_S_EDGE_WEIGHT);
    for (size_t i = 0; i < l->n; i++)
        qp_writer_add(w, &l->at[i].weight, sizeof l->at[i].weight);
}

/* What is only walked across: edges between a passage and an entity, and those of synonyms. */
struct across {
    uint64_t entity;
    uint32_t synonym; /* the type; UINT32_MAX: there is none */
};

static struct across across_of(const qp_links *l, const qp_info *info)
{
    struct across x = {info->entity, UINT32_MAX};
    for (uint32_t t = 0; info->synonyms && t < info->types; t++)
        if (qp_str_eq(qp_links_type(l, t), QP_STR(QP_SYNONYM)))
            x.synonym = t;
    return x;
}

static bool is_across(const struct link *e, const struct across *x)
{
    return x && ((e->from < x->entity) != (e->to < x->entity) || e->type == x->synonym);
}

/* Distinct neighbours of v, but over edges of `without`, if that is given: both rows rise, so they are merged. */
static uint32_t neighbours(const qp_links *l, uint32_t v, const uint64_t *out, const uint64_t *in,
                           const uint32_t *in_edge, const struct across *without, uint32_t *row)
{
    uint64_t a = out[v], b = in[v];
    uint32_t count = 0, last = v;
    for (;;) {
        while (a < out[v + 1] && is_across(&l->at[a], without))
            a++;
        while (b < in[v + 1] && is_across(&l->at[in_edge[b]], without))
            b++;
        if (a == out[v + 1] && b == in[v + 1])
            return count;
        uint32_t x = a < out[v + 1] ? l->at[a].to : UINT32_MAX, y = b < in[v + 1] ? l->at[in_edge[b]].from : UINT32_MAX;
        uint32_t next = x < y ? x : y;
        a += x == next;
        b += y == next;
        if (next != v && next != last)
            row[count++] = next;
        last = next;
    }
}

static qp_code stopped(qp_err *err)
{
    return qp_fail(err, QP_STOPPED, "stopped before the index was published; run it again to go on");
}

/* The longest row; of all rows together, each edge gives two arcs at most. */
static uint64_t room_of(const qp_links *l, const qp_links_how *how, const uint64_t *out, const uint64_t *in)
{
    uint64_t longest = 0;
    for (uint32_t v = 0; v < how->nodes; v++) {
        uint64_t n = out[v + 1] - out[v] + in[v + 1] - in[v];
        longest = n > longest ? n : longest;
    }
    return how->keep ? 2 * l->n : longest;
}

/* The starts overwrite `in`, which is written by then. */
static qp_code write_both(qp_links *l, const qp_links_how *how, qp_writer *w, const uint64_t *out, uint64_t *in,
                          const uint32_t *in_edge, qp_info *info, qp_err *err)
{
    const struct across x = across_of(l, info);
    uint64_t arcs = 0, kept = 0;
    l->arc_node = malloc((room_of(l, how, out, in) + 1) * sizeof *l->arc_node);
    l->arcs = how->keep ? calloc((size_t)how->nodes + 1, sizeof *l->arcs) : NULL;
    if (!l->arc_node || (how->keep && !l->arcs))
        return qp_oom(err);
    qp_writer_begin(w, QP_S_BOTH_NODE);
    for (uint32_t v = 0; v < how->nodes; v++) {
        uint32_t *row = l->arc_node + kept, n = neighbours(l, v, out, in, in_edge, NULL, row);
        qp_writer_add(w, row, n * sizeof *row);
        if (how->keep)
            l->arcs[v + 1] = kept += neighbours(l, v, out, in, in_edge, &x, row);
        in[v] = arcs;
        arcs += n;
        if (v % 4096 == 0 && qp_cancelled(how->cancel))
            return stopped(err);
    }
    in[how->nodes] = info->arcs = arcs;
    qp_writer_put(w, QP_S_BOTH, in, ((size_t)how->nodes + 1) * sizeof *in);
    return QP_OK;
}

static void write_rows(const qp_links *l, uint32_t nodes, qp_writer *w, uint64_t *out, uint64_t *in, uint32_t *in_edge)
{
    for (size_t i = 0; i < l->n; i++) {
        out[l->at[i].from + 1]++;
        in[l->at[i].to + 1]++;
    }
    for (uint32_t v = 0; v < nodes; v++) {
        out[v + 1] += out[v];
        in[v + 1] += in[v];
    }
    for (size_t i = 0; i < l->n; i++) /* in[] moves to its rows' ends, ... */
        in_edge[in[l->at[i].to]++] = (uint32_t)i;
    for (uint32_t v = nodes; v > 0; v--) /* ... which are the next rows' starts */
        in[v] = in[v - 1];
    in[0] = 0;
    qp_writer_put(w, QP_S_OUT, out, ((size_t)nodes + 1) * sizeof *out);
    qp_writer_put(w, QP_S_IN, in, ((size_t)nodes + 1) * sizeof *in);
    qp_writer_put(w, QP_S_IN_EDGE, in_edge, l->n * sizeof *in_edge);
}

qp_code qp_links_write(qp_links *l, const qp_links_how *how, qp_writer *w, qp_buf *strings, qp_info *info, qp_err *err)
{
    uint32_t nodes = how->nodes;
    qp_code code = write_types(l, w, strings, info, err);
    code = code ? code : sort_and_join(l, err);
    code = code ? code : write_said(l, w, strings, info, err);
    if (!code && qp_cancelled(how->cancel))
        code = stopped(err);
    if (code)
        return code;
    info->edges = l->n;
    const struct across x = across_of(l, info);
    for (size_t i = 0; i < l->n; i++)
        info->crossing += is_across(&l->at[i], &x);
    uint64_t *out = calloc((size_t)nodes + 1, sizeof *out), *in = calloc((size_t)nodes + 1, sizeof *in);
    uint32_t *in_edge = malloc((l->n ? l->n : 1) * sizeof *in_edge);
    if (out && in && in_edge) {
        write_columns(l, w);
        write_rows(l, nodes, w, out, in, in_edge);
        code = write_both(l, how, w, out, in, in_edge, info, err);
    } else {
        code = qp_oom(err);
    }
    free(out);
    free(in);
    free(in_edge);
    return code;
}

qp_csr qp_links_graph(const qp_links *l, uint32_t nodes)
{
    return (qp_csr){nodes, l->arcs, l->arc_node, NULL};
}

qp_str qp_links_type(const qp_links *l, uint32_t type)
{
    return qp_map_key(l->types, l->order[type]);
}

size_t qp_links_count(const qp_links *l)
{
    return l->n;
}

void qp_links_at(const qp_links *l, size_t i, uint32_t *from, uint32_t *to, uint32_t *type)
{
    *from = l->at[i].from;
    *to = l->at[i].to;
    *type = l->at[i].type;
}
