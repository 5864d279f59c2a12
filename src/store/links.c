#include "store/links.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/scratch.h"
#include "base/sorter.h"
#include "quipu_op.h"
#include "store/rows.h"

enum { BLOCK = 1024, WAITING = 1 << 18 /* bytes of the log in memory */ };

struct link {
    uint32_t from, to;
    uint32_t type; /* in order of arrival; in order of name once it is read again */
    float weight;
    uint32_t said; /* 0: nothing; else the place among the texts, from 1 */
};

struct qp_links {
    char *folder;
    size_t memory;
    qp_scratch *log; /* of links, as they came */
    qp_sorter *sorted;
    uint64_t n;                       /* added; once written, those that are left */
    qp_map *types, *texts;            /* as edges share types, they share texts: "source: Wikipedia" */
    uint32_t *order;                  /* of the types, by name; behind it the place of each in that order */
    const uint32_t *from, *to, *type; /* once written: mapped */
    uint64_t *arcs;                   /* if they are kept: nodes + 1 starts, */
    uint32_t *arc_node;               /* and neighbours on the same side */
};

qp_code qp_links_open(const char *folder, size_t memory, qp_links **out, qp_err *err)
{
    qp_links *l = *out = calloc(1, sizeof *l);
    if (!l)
        return qp_oom(err);
    l->memory = memory ? memory : QP_LINKS_MEMORY;
    l->folder = strdup(folder);
    l->types = qp_map_new();
    l->texts = qp_map_new();
    qp_code code = l->folder && l->types && l->texts ? qp_scratch_open(folder, WAITING, &l->log, err) : qp_oom(err);
    if (!code)
        return QP_OK;
    qp_links_free(l);
    *out = NULL;
    return code;
}

void qp_links_free(qp_links *l)
{
    if (!l)
        return;
    qp_scratch_close(l->log);
    qp_sorter_close(l->sorted);
    qp_map_free(l->types);
    qp_map_free(l->texts);
    free(l->arcs);
    free(l->arc_node);
    free(l->order);
    free(l->folder);
    free(l);
}

/* ---- adding ---- */

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
    const struct link is = {from, to, (uint32_t)*slot, weight, said};
    l->n++;
    return qp_scratch_add(l->log, &is, sizeof is, err);
}

/* ---- types and texts in order ---- */

static int by_name(const void *a, const void *b, void *names)
{
    return qp_str_cmp(qp_map_key(names, *(const uint32_t *)a), qp_map_key(names, *(const uint32_t *)b));
}

/* The keys in byte order, then the place of each in it; null without memory. */
static uint32_t *order_of(qp_map *names)
{
    size_t n = qp_map_size(names);
    uint32_t *order = malloc((n ? n : 1) * 2 * sizeof *order);
    for (size_t i = 0; order && i < n; i++)
        order[i] = (uint32_t)i;
    if (order)
        qsort_r(order, n, sizeof *order, by_name, names);
    for (size_t i = 0; order && i < n; i++)
        order[n + order[i]] = (uint32_t)i;
    return order;
}

/* Numbers the types in order of name, so that nothing depends on the order of arrival. */
static qp_code write_types(qp_links *l, qp_writer *w, qp_info *info, qp_err *err)
{
    l->order = order_of(l->types);
    if (!l->order)
        return qp_oom(err);
    info->types = qp_map_size(l->types);
    qp_writer_begin(w, QP_S_TYPES);
    for (uint32_t i = 0; i < info->types; i++) {
        qp_str name = qp_links_type(l, i);
        qp_ref ref = {qp_writer_aside(w, QP_S_STRINGS, name.at, name.n), name.n};
        qp_writer_add(w, &ref, sizeof ref);
    }
    return QP_OK;
}

/* ---- the log again ---- */

struct reading { /* as edges came; or sorted */
    const qp_links *l;
    uint64_t at;
    struct link block[BLOCK];
};

static qp_code read_log(struct reading *r, struct link *out, qp_err *err)
{
    const qp_links *l = r->l;
    uint64_t left = l->n - r->at;
    qp_code code = QP_OK;
    if (r->at % BLOCK == 0)
        code = qp_scratch_read(l->log, r->at * sizeof *out, r->block, (left < BLOCK ? left : BLOCK) * sizeof *out, err);
    *out = r->block[r->at++ % BLOCK];
    out->type = l->order[qp_map_size(l->types) + out->type];
    return code;
}

/* A record: from, to, type, weight (the largest first: it stays), the text's place in byte order; then the link itself. */
enum { KEY = 20 };

static uint32_t falling(float weight)
{
    uint32_t bits;
    weight += 0.0f; /* -0 is 0 */
    memcpy(&bits, &weight, sizeof bits);
    return bits >> 31 ? bits : ~bits ^ 0x80000000u;
}

static qp_code sort_one(qp_links *l, const struct link *is, const uint32_t *text_rank, qp_err *err)
{
    char record[KEY + sizeof *is];
    const uint32_t key[] = {is->from, is->to, is->type, falling(is->weight),
                            is->said ? text_rank[is->said - 1] + 1 : 0};
    for (size_t i = 0; i < KEY / sizeof *key; i++)
        qp_key_put32(record + 4 * i, key[i]);
    memcpy(record + KEY, is, sizeof *is);
    return qp_sorter_add(l->sorted, (qp_str){record, sizeof record}, err);
}

static qp_code sort_all(qp_links *l, qp_err *err)
{
    uint32_t *order = order_of(l->texts);
    struct reading r = {.l = l};
    struct link is;
    qp_code code = order ? qp_sorter_open(l->folder, l->memory, &l->sorted, err) : qp_oom(err);
    while (!code && r.at < l->n) {
        code = read_log(&r, &is, err);
        code = code ? code : sort_one(l, &is, order + qp_map_size(l->texts), err);
    }
    free(order);
    return code ? code : qp_sorter_sort(l->sorted, err);
}

static int by_ends(const struct link *x, const struct link *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

/* As those of a large graph are; edges that repeat are put in order of weight and text. */
static qp_code sort_if_needed(qp_links *l, qp_err *err)
{
    struct reading r = {.l = l};
    struct link before = {0}, is = {0};
    bool rises = true;
    qp_code code = QP_OK;
    for (; rises && !code && r.at < l->n; before = is) {
        bool first = !r.at;
        code = read_log(&r, &is, err);
        rises = first || by_ends(&before, &is) < 0;
    }
    return code || rises ? code : sort_all(l, err);
}

static qp_code next_link(struct reading *r, struct link *out, qp_err *err)
{
    qp_str record;
    if (!r->l->sorted)
        return read_log(r, out, err);
    qp_code code = qp_sorter_next(r->l->sorted, &record, err);
    r->at++;
    if (!code)
        memcpy(out, record.at + KEY, sizeof *out);
    return code;
}

/* ---- columns ---- */

struct columns { /* on their way to the file */
    qp_links *l;
    qp_writer *file;
    qp_info *info;
    qp_rows across;
    uint32_t from[BLOCK], to[BLOCK], type[BLOCK];
    float weight[BLOCK];
    uint32_t n;
    uint64_t written;
    uint32_t out; /* nodes whose rows have begun */
    qp_ref *ref;  /* of each text that was put */
    size_t n_ref;
};

static void flush(struct columns *c)
{
    qp_writer_aside(c->file, QP_S_EDGE_FROM, c->from, c->n * sizeof *c->from);
    qp_writer_aside(c->file, QP_S_EDGE_TO, c->to, c->n * sizeof *c->to);
    qp_writer_aside(c->file, QP_S_EDGE_TYPE, c->type, c->n * sizeof *c->type);
    qp_writer_aside(c->file, QP_S_EDGE_WEIGHT, c->weight, c->n * sizeof *c->weight);
    c->n = 0;
}

/* That the edge has a text, and where; each text is kept once. */
static qp_code put_text(struct columns *c, uint32_t said, qp_err *err)
{
    uint32_t edge = (uint32_t)c->written;
    if (said >= c->n_ref) {
        size_t n = qp_map_size(c->l->texts) + 1;
        qp_ref *more = realloc(c->ref, 2 * n * sizeof *more);
        if (!more)
            return qp_oom(err);
        memset(more + c->n_ref, 0, (2 * n - c->n_ref) * sizeof *more);
        c->ref = more;
        c->n_ref = 2 * n;
    }
    qp_ref *ref = &c->ref[said];
    if (!ref->n) {
        qp_str text = text_at(c->l, said);
        *ref = (qp_ref){qp_writer_aside(c->file, QP_S_STRINGS, text.at, text.n), text.n};
    }
    qp_writer_aside(c->file, QP_S_SAID_EDGE, &edge, sizeof edge);
    qp_writer_aside(c->file, QP_S_SAID, ref, sizeof *ref);
    c->info->said++;
    return QP_OK;
}

static void begin_rows(struct columns *c, uint32_t below)
{
    for (; c->out < below; c->out++)
        qp_writer_aside(c->file, QP_S_OUT, &c->written, sizeof c->written);
}

static qp_code put_link(struct columns *c, const struct link *is, qp_err *err)
{
    qp_code code = is->said ? put_text(c, is->said, err) : QP_OK;
    begin_rows(c, is->from + 1);
    c->from[c->n] = is->from;
    c->to[c->n] = is->to;
    c->type[c->n] = is->type;
    c->weight[c->n] = is->weight;
    c->info->crossing += qp_rows_across(&c->across, is->from, is->to, is->type);
    c->written++;
    if (++c->n == BLOCK)
        flush(c);
    return code;
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

static qp_code put_all(struct columns *c, volatile const int *cancel, qp_err *err)
{
    struct reading r = {.l = c->l};
    struct link kept, is;
    qp_code code = c->l->n ? next_link(&r, &kept, err) : QP_OK;
    while (!code && r.at < c->l->n) {
        code = r.at % BLOCK ? QP_OK : qp_writer_stopped(cancel, err);
        code = code ? code : next_link(&r, &is, err);
        if (!code && !by_ends(&kept, &is)) {
            code = join_texts(c->l, &kept, &is, err);
        } else if (!code) {
            code = put_link(c, &kept, err);
            kept = is;
        }
    }
    return code || !c->l->n ? code : put_link(c, &kept, err);
}

static qp_code write_columns(struct columns *c, const qp_links_how *how, qp_err *err)
{
    static const qp_section in_order[] = {QP_S_SAID_EDGE, QP_S_SAID,        QP_S_EDGE_FROM, QP_S_EDGE_TO,
                                          QP_S_EDGE_TYPE, QP_S_EDGE_WEIGHT, QP_S_OUT};
    qp_code code = put_all(c, how->cancel, err);
    if (code)
        return code;
    qp_links *l = c->l;
    qp_scratch_close(l->log); /* their disk is wanted */
    qp_sorter_close(l->sorted);
    l->log = NULL;
    l->sorted = NULL;
    l->n = c->written;
    flush(c);
    begin_rows(c, how->nodes);
    qp_writer_aside(c->file, QP_S_OUT, &c->written, sizeof c->written);
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
        qp_writer_paste(c->file, in_order[i]);
    c->info->edges = c->written;
    return QP_OK;
}

/* What the log held is in the file now, and read from there. */
static qp_code map_columns(const struct columns *c, qp_err *err)
{
    qp_links *l = c->l;
    const void *from, *to, *type;
    qp_code code = qp_writer_map(c->file, QP_S_EDGE_FROM, &from, err);
    code = code ? code : qp_writer_map(c->file, QP_S_EDGE_TO, &to, err);
    code = code ? code : qp_writer_map(c->file, QP_S_EDGE_TYPE, &type, err);
    if (code)
        return code;
    l->from = from;
    l->to = to;
    l->type = type;
    return QP_OK;
}

/* ---- the whole ---- */

static uint32_t synonym_of(const qp_links *l, const qp_info *info)
{
    for (uint32_t t = 0; info->synonyms && t < info->types; t++)
        if (qp_str_eq(qp_links_type(l, t), QP_STR(QP_SYNONYM)))
            return t;
    return UINT32_MAX;
}

static qp_code write_rows(const struct columns *c, const qp_links_how *how, qp_err *err)
{
    qp_links *l = c->l;
    qp_rows rows = c->across;
    rows.nodes = how->nodes;
    rows.edges = l->n;
    rows.from = l->from;
    rows.to = l->to;
    rows.type = l->type;
    rows.memory = l->memory;
    rows.cancel = how->cancel;
    if (how->keep) {
        rows.kept = l->arcs = calloc((size_t)how->nodes + 1, sizeof *l->arcs);
        rows.kept_node = l->arc_node = malloc((2 * l->n + 1) * sizeof *l->arc_node);
        if (!l->arcs || !l->arc_node)
            return qp_oom(err);
    }
    return qp_rows_write(&rows, c->file, &c->info->arcs, err);
}

qp_code qp_links_write(qp_links *l, const qp_links_how *how, qp_writer *w, qp_info *info, qp_err *err)
{
    qp_code code = write_types(l, w, info, err);
    code = code ? code : sort_if_needed(l, err);
    code = code ? code : qp_writer_stopped(how->cancel, err);
    struct columns *c = code ? NULL : calloc(1, sizeof *c);
    if (!c)
        return code ? code : qp_oom(err);
    c->l = l;
    c->file = w;
    c->info = info;
    c->across = (qp_rows){.entity = info->entity, .synonym = synonym_of(l, info)};
    code = write_columns(c, how, err);
    code = code ? code : map_columns(c, err);
    code = code ? code : write_rows(c, how, err);
    free(c->ref);
    free(c);
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
    *from = l->from[i];
    *to = l->to[i];
    *type = l->type[i];
}
