#include "store/links.h"

#include <stdlib.h>

#include "store/limit.h"
#include "store/links_parts.h"

enum { WAITING = 1 << 18 }; /* bytes of the log in memory */

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
qp_code qp_links_text_place(qp_links *l, qp_str text, uint32_t *place, qp_err *err)
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

qp_str qp_links_text(const qp_links *l, uint32_t place)
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
    qp_code code = qp_limit_look(l->n, "edges", err);
    code = code ? code : qp_links_text_place(l, text, &said, err);
    if (code)
        return code;
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
qp_code qp_links_write_types(qp_links *l, qp_writer *w, qp_info *info, qp_err *err)
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

static qp_code read_log(qp_links_reading *r, struct link *out, qp_err *err)
{
    const qp_links *l = r->l;
    uint64_t left = l->n - r->at;
    qp_code code = QP_OK;
    if (r->at % QP_LINKS_BLOCK == 0)
        code = qp_scratch_read(l->log, r->at * sizeof *out, r->block,
                               (left < QP_LINKS_BLOCK ? left : QP_LINKS_BLOCK) * sizeof *out, err);
    *out = r->block[r->at++ % QP_LINKS_BLOCK];
    out->type = l->order[qp_map_size(l->types) + out->type];
    return code;
}

/* A record: from, to, type, weight (the largest first: it stays), the text's place in byte order; then the link
 * itself. */
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
    qp_links_reading r = {.l = l};
    struct link is;
    qp_code code = order ? qp_sorter_open(l->folder, l->memory, &l->sorted, err) : qp_oom(err);
    while (!code && r.at < l->n) {
        code = read_log(&r, &is, err);
        code = code ? code : sort_one(l, &is, order + qp_map_size(l->texts), err);
    }
    free(order);
    return code ? code : qp_sorter_sort(l->sorted, err);
}

int qp_links_by_ends(const struct link *x, const struct link *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

/* As those of a large graph are; edges that repeat are put in order of weight and text. */
qp_code qp_links_sort(qp_links *l, qp_err *err)
{
    qp_links_reading r = {.l = l};
    struct link before = {0}, is = {0};
    bool rises = true;
    qp_code code = QP_OK;
    for (; rises && !code && r.at < l->n; before = is) {
        bool first = !r.at;
        code = read_log(&r, &is, err);
        rises = first || qp_links_by_ends(&before, &is) < 0;
    }
    return code || rises ? code : sort_all(l, err);
}

qp_code qp_links_next(qp_links_reading *r, struct link *out, qp_err *err)
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

/* ---- read once they are written ---- */

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
