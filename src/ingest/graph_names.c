#include <stdlib.h>

#include "base/array.h"
#include "ingest/graph_parts.h"

/* ---- all that is known of one id ---- */

struct gathered {
    qp_buf key; /* scope NUL id NUL */
    qp_buf mentions, name, text;
    unsigned rank; /* of the name */
    qp_map *texts; /* those in text, once there are several */
    uint64_t cut;
};

static void forget(struct gathered *g)
{
    qp_buf_clear(&g->key);
    qp_buf_clear(&g->mentions);
    qp_buf_clear(&g->name);
    qp_buf_clear(&g->text);
    qp_map_free(g->texts);
    g->texts = NULL;
    g->rank = UNNAMED;
}

static void release(struct gathered *g)
{
    qp_buf_free(&g->key);
    qp_buf_free(&g->mentions);
    qp_buf_free(&g->name);
    qp_buf_free(&g->text);
    qp_map_free(g->texts);
}

/* The bytes up to and with the n-th NUL, which is there: records are ours. */
static size_t through_nul(qp_str s, int n)
{
    const char *at = s.at;

    for (; n; n--)
        at = (const char *)memchr(at, 0, s.n - (size_t)(at - s.at)) + 1;
    return (size_t)(at - s.at);
}

/* Joins texts, each once. */
static qp_code add_text(struct gathered *g, qp_str text, qp_err *err)
{
    bool added = true;

    if (!text.n || qp_str_eq(text, qp_buf_view(&g->text)))
        return QP_OK;
    if (g->text.n) {
        if (!g->texts) {
            g->texts = qp_map_new();
            if (!g->texts || !qp_map_put(g->texts, qp_buf_view(&g->text), NULL))
                return qp_oom(err);
        }
        if (qp_map_get(g->texts, text))
            return QP_OK;
        if (g->text.n + 1 + text.n > QP_BUILD_TEXT) {
            g->cut++;
            return QP_OK;
        }
        if (!qp_map_put(g->texts, text, &added))
            return qp_oom(err);
        qp_buf_char(&g->text, '\n');
    }
    qp_buf_str(&g->text, text);
    return g->text.oom ? qp_oom(err) : QP_OK;
}

static qp_code add_known(struct gathered *g, qp_str rest, qp_err *err)
{
    enum { NAME = 1 + 1 + 8 + 4 }; /* where the name begins: kind, rank, order, length */

    if (rest.at[0] == MENTION) {
        qp_buf_add(&g->mentions, rest.at + 1, 8);
        return g->mentions.oom ? qp_oom(err) : QP_OK;
    }
    qp_str name = {rest.at + NAME, qp_key_get32(rest.at + NAME - 4)};
    if (name.n && !g->name.n) { /* descriptions come with the best name first */
        qp_buf_str(&g->name, name);
        g->rank = (unsigned char)rest.at[1];
    }
    return g->name.oom ? qp_oom(err) : add_text(g, qp_str_slice(rest, NAME + name.n, rest.n), err);
}

/* An ontology says of its relations, as of entities, what they are called. Gives whether the id is nothing else. */
static qp_code name_relation(qp_build *b, const struct gathered *g, qp_str id, bool *relation, qp_err *err)
{
    const uint64_t *place = qp_map_get(b->relations, id);
    struct relation *r = place ? &b->relation[*place] : NULL;

    *relation = r && r->told && !g->mentions.n;
    if (!r || !r->told || !g->name.n || g->rank >= r->rank)
        return QP_OK;
    r->rank = g->rank;
    r->name = qp_arena_str(b->mem, qp_buf_view(&g->name));
    return r->name.at ? QP_OK : qp_oom(err);
}

static qp_code put_named(qp_build *b, const struct gathered *g, qp_sorter *named, qp_err *err)
{
    qp_str key = qp_buf_view(&g->key);
    size_t scope = through_nul(key, 1);
    qp_str id = qp_str_slice(key, scope, key.n - 1);
    qp_buf *out = &b->record;
    char count[4];
    bool relation;
    qp_code code = name_relation(b, g, id, &relation, err);

    if (code || relation)
        return code;
    qp_key_put32(count, (uint32_t)(g->mentions.n / 8));
    qp_buf_clear(out);
    qp_buf_str(out, qp_str_slice(key, 0, scope));
    qp_buf_str(out, g->name.n ? qp_buf_view(&g->name) : id);
    qp_buf_char(out, 0);
    qp_buf_str(out, id);
    qp_buf_char(out, 0);
    qp_buf_add(out, count, 4);
    qp_buf_str(out, qp_buf_view(&g->mentions));
    qp_buf_str(out, qp_buf_view(&g->text));
    return out->oom ? qp_oom(err) : qp_sorter_add(named, qp_buf_view(out), err);
}

static qp_code gather(qp_build *b, qp_sorter *named, uint64_t *cut, qp_err *err)
{
    struct gathered g = {.rank = UNNAMED};
    qp_str r;
    qp_code code = qp_sorter_sort(b->known, err);

    while (!code) {
        code = qp_sorter_next(b->known, &r, err);
        size_t n = code || !r.at ? 0 : through_nul(r, 2);
        if (!code && g.key.n && !qp_str_eq(qp_buf_view(&g.key), qp_str_slice(r, 0, n))) {
            code = put_named(b, &g, named, err);
            forget(&g);
        }
        if (code || !r.at)
            break;
        if (!g.key.n)
            qp_buf_add(&g.key, r.at, n);
        code = g.key.oom ? qp_oom(err) : add_known(&g, qp_str_slice(r, n, r.n), err);
        code = code ? code : qp_build_look(b, err);
    }
    *cut = g.cut;
    release(&g);
    return code;
}

/* ---- unique names ---- */

qp_named_record qp_named_parse(qp_str r)
{
    size_t scope = through_nul(r, 1), name = through_nul(r, 2), id = through_nul(r, 3);
    size_t mentions = 8 * (size_t)qp_key_get32(r.at + id);

    return (qp_named_record){.scope = qp_str_slice(r, 0, scope - 1),
                             .name = qp_str_slice(r, scope, name - 1),
                             .id = qp_str_slice(r, name, id - 1),
                             .mentions = qp_str_slice(r, id + 4, id + 4 + mentions),
                             .text = qp_str_slice(r, id + 4 + mentions, r.n)};
}

static void rename_record(qp_str r, qp_buf *out)
{
    qp_named_record p = qp_named_parse(r);
    size_t name = (size_t)(p.name.at - r.at) + p.name.n;

    qp_buf_clear(out);
    qp_buf_str(out, qp_str_slice(r, 0, name));
    qp_buf_text(out, " (");
    qp_buf_str(out, p.id);
    qp_buf_text(out, ")");
    qp_buf_str(out, qp_str_slice(r, name, r.n));
}

/* Reads all records; *n: how many have the name of the one before. With `to`, all are put there, those renamed. */
static qp_code rename_equal(qp_build *b, qp_sorter *from, qp_sorter *to, uint64_t *n, qp_err *err)
{
    qp_buf before = {0};
    qp_str r;
    qp_code code = qp_sorter_sort(from, err);

    *n = 0;
    while (!code) {
        code = qp_sorter_next(from, &r, err);
        if (code || !r.at)
            break;
        qp_str key = qp_str_slice(r, 0, through_nul(r, 2));
        bool equal = qp_str_eq(key, qp_buf_view(&before));
        *n += equal;
        if (!equal) {
            qp_buf_clear(&before);
            qp_buf_str(&before, key);
        } else if (to) {
            rename_record(r, &b->record);
            r = qp_buf_view(&b->record);
        }
        code = before.oom || b->record.oom ? qp_oom(err) : to ? qp_sorter_add(to, r, err) : QP_OK;
        code = code ? code : qp_build_look(b, err);
    }
    qp_buf_free(&before);
    return code;
}

qp_code qp_build_name(qp_build *b, qp_sorter **out, qp_build_counts *counts, qp_err *err)
{
    qp_sorter *named = NULL, *renamed = NULL;
    uint64_t cut = 0, equal = 0;
    qp_code code = qp_sorter_open(b->folder, b->budget / 4, &named, err);

    code = code ? code : gather(b, named, &cut, err);
    counts->texts_cut += cut;
    counts->spilled += qp_sorter_spilled(b->known);
    qp_sorter_close(b->known);
    b->known = NULL;
    code = code ? code : rename_equal(b, named, NULL, &equal, err);
    while (!code && equal) { /* a new name may be another's: until there is none */
        counts->renamed += equal;
        code = qp_sorter_open(b->folder, b->budget / 4, &renamed, err);
        code = code ? code : rename_equal(b, named, renamed, &equal, err);
        if (code)
            break;
        counts->spilled += qp_sorter_spilled(named);
        qp_sorter_close(named);
        named = renamed;
        renamed = NULL;
        code = rename_equal(b, named, NULL, &equal, err);
    }
    qp_sorter_close(renamed);
    if (code) {
        qp_sorter_close(named);
        return code;
    }
    *out = named;
    return QP_OK;
}

/* ---- relations, which memory holds ---- */

static int by_name(const void *a, const void *b)
{
    const struct relation *const *x = a, *const *y = b;
    int order = qp_str_cmp((*x)->name, (*y)->name);

    return order ? order : qp_str_cmp((*x)->id, (*y)->id);
}

qp_code qp_build_relations(qp_build *b, uint32_t *place, const qp_build_out *out, qp_build_counts *counts, qp_err *err)
{
    struct relation **order = calloc(b->n_relations + 1, sizeof *order);
    size_t n = 0;
    qp_code code = order ? QP_OK : qp_oom(err);

    for (size_t i = 0; i < b->n_relations && !code; i++)
        if (b->relation[i].used)
            order[n++] = &b->relation[i];
    for (bool again = !code; again;) {
        qsort(order, n, sizeof *order, by_name);
        again = false;
        for (size_t i = n; i-- > 1;) { /* from behind: the first keeps its name */
            struct relation *r = order[i];
            if (!qp_str_eq(r->name, order[i - 1]->name))
                continue;
            r->name = qp_arena_fmt(b->mem, "%.*s (%.*s)", (int)r->name.n, r->name.at, (int)r->id.n, r->id.at);
            again = r->name.at;
            code = r->name.at ? code : qp_oom(err);
            counts->renamed++;
        }
    }
    for (size_t i = 0; i < n && !code; i++) {
        place[order[i] - b->relation] = (uint32_t)i;
        code = out->relation(out->ctx, order[i]->name, err);
    }
    counts->relations = n;
    free(order);
    return code;
}
