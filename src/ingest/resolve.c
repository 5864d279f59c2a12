#include "ingest/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "ingest/names.h"

enum { MOST_TYPES = 1 << 20 };

struct link { /* an edge by document number: sorts fast, takes 24 bytes */
    uint32_t from, from_chunk, to, to_chunk;
    uint32_t type;
    float weight;
};

struct resolver {
    qp_names names;
    qp_map *rows;    /* document row -> number */
    qp_map *anchors; /* document number and name -> chunk */
    qp_map *types;   /* name -> number */
    struct link *links;
    size_t n, cap;
    uint64_t unknown;
    char example[200];
    qp_arena *scratch;
};

static size_t number_of(const struct resolver *r, int64_t row)
{
    const uint64_t *slot = qp_map_get(r->rows, (qp_str){(const char *)&row, sizeof row});
    return slot ? (size_t)*slot : QP_NOBODY;
}

/* The key under which an anchor is kept: HTML ids are compared as they are. */
static qp_str anchor_key(size_t document, qp_str anchor, qp_arena *a)
{
    char *key = qp_arena_alloc(a, sizeof document + anchor.n + 1);

    if (!key)
        return (qp_str){0};
    memcpy(key, &document, sizeof document);
    if (anchor.n)
        memcpy(key + sizeof document, anchor.at, anchor.n);
    return (qp_str){key, sizeof document + anchor.n};
}

/* The chunk an anchor of a document stands in, `otherwise` if the anchor is not there. "@12": chunk 12. */
static uint32_t anchored(const struct resolver *r, size_t document, qp_str anchor, uint32_t otherwise)
{
    uint32_t n_chunks = r->names.documents[document].n_chunks;

    if (!anchor.n)
        return 0;
    const uint64_t *slot = qp_map_get(r->anchors, anchor_key(document, anchor, r->scratch));
    if (slot)
        return (uint32_t)*slot;
    if (anchor.at[0] != '@' || anchor.n > 9)
        return otherwise;
    uint32_t chunk = 0;
    for (size_t i = 1; i < anchor.n && anchor.at[i] >= '0' && anchor.at[i] <= '9'; i++)
        chunk = chunk * 10 + (uint32_t)(anchor.at[i] - '0');
    return chunk < n_chunks ? chunk : otherwise;
}

static qp_code add(struct resolver *r, struct link link, qp_err *err)
{
    if (link.from == link.to && link.from_chunk == link.to_chunk)
        return QP_OK;
    struct link *grown = qp_array_room(r->links, r->n, &r->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    r->links = grown;
    r->links[r->n++] = link;
    return QP_OK;
}

/* From one chunk, or (QP_WHOLE) from each. */
static qp_code add_from(struct resolver *r, struct link link, qp_err *err)
{
    qp_code code = QP_OK;
    uint32_t n = r->names.documents[link.from].n_chunks;

    if (link.to_chunk >= r->names.documents[link.to].n_chunks)
        return QP_OK;
    if (link.from_chunk != QP_WHOLE)
        return link.from_chunk < n ? add(r, link, err) : QP_OK;
    for (uint32_t i = 0; !code && i < n; i++) {
        link.from_chunk = i;
        if (link.from != link.to) /* a document that cites itself as a whole says nothing */
            code = add(r, link, err);
    }
    return code;
}

static qp_code type_number(struct resolver *r, qp_str type, uint32_t *number, qp_err *err)
{
    bool added;
    uint64_t *slot = qp_map_put(r->types, type, &added);

    if (!slot)
        return qp_oom(err);
    if (added) {
        *slot = qp_map_size(r->types) - 1;
        if (*slot >= MOST_TYPES)
            return qp_fail(err, QP_INPUT, "edges have more than %d types, '%.*s' among them; merge some", MOST_TYPES,
                           (int)type.n, type.at);
    }
    *number = (uint32_t)*slot;
    return QP_OK;
}

static qp_code take_anchor(void *ctx, int64_t row, qp_str anchor, uint32_t chunk, qp_err *err)
{
    struct resolver *r = ctx;
    size_t document = number_of(r, row);
    bool added;

    qp_arena_reset(r->scratch);
    uint64_t *slot = qp_map_put(r->anchors, anchor_key(document, anchor, r->scratch), &added);
    if (!slot)
        return qp_oom(err);
    if (added) /* the first of a name, as browsers have it */
        *slot = chunk;
    return QP_OK;
}

static qp_code take_reference(void *ctx, int64_t row, const qp_reference *ref, qp_err *err)
{
    struct resolver *r = ctx;
    size_t from = number_of(r, row), to;

    qp_arena_reset(r->scratch);
    if (from == QP_NOBODY)
        return QP_OK;
    if (qp_str_eq(ref->type, QP_STR("man")))
        to = qp_names_man(&r->names, ref->target, r->scratch);
    else if (qp_str_eq(ref->type, QP_STR("cites")))
        to = qp_names_cited(&r->names, ref->target, r->scratch);
    else
        to = qp_names_link(&r->names, from, ref->target, r->scratch);
    if (to == QP_NOBODY)
        return QP_OK; /* it points out of the set: most links of most documents do */
    if (from == to && !ref->anchor.n)
        return QP_OK;
    /* An unknown name in another document means that document; in the document itself it means nothing. */
    uint32_t to_chunk = anchored(r, to, ref->anchor, from == to ? QP_WHOLE : 0);
    struct link link = {(uint32_t)from, ref->chunk, (uint32_t)to, to_chunk, 0, ref->weight};
    qp_code code = to_chunk == QP_WHOLE ? QP_OK : type_number(r, ref->type, &link.type, err);
    return code || to_chunk == QP_WHOLE ? code : add_from(r, link, err);
}

/* A given end: a document's key, or "key#anchor", or "key#3" for its chunk 3. */
static size_t given_end(struct resolver *r, qp_str end, bool *exact, uint32_t *chunk)
{
    size_t found = qp_names_key(&r->names, end);

    *exact = false;
    *chunk = 0;
    for (size_t i = end.n; found == QP_NOBODY && i > 1; i--) {
        if (end.at[i - 1] != '#')
            continue;
        qp_str anchor = qp_str_slice(end, i, end.n), number;
        found = qp_names_key(&r->names, qp_str_slice(end, 0, i - 1));
        if (found == QP_NOBODY)
            break;
        *exact = true;
        number = qp_arena_fmt(r->scratch, "@%.*s", (int)anchor.n, anchor.at);
        *chunk = anchored(r, found, anchor, 0);
        if (!*chunk && anchor.n && anchor.at[0] >= '0' && anchor.at[0] <= '9')
            *chunk = anchored(r, found, number, 0);
    }
    return found;
}

static qp_code take_given(void *ctx, const qp_given *g, qp_err *err)
{
    struct resolver *r = ctx;
    bool exact, ignored;
    uint32_t from_chunk, to_chunk, type = 0;

    qp_arena_reset(r->scratch);
    size_t from = given_end(r, g->from, &exact, &from_chunk), to = given_end(r, g->to, &ignored, &to_chunk);
    if (from == QP_NOBODY || to == QP_NOBODY) {
        if (!r->unknown++)
            snprintf(r->example, sizeof r->example, "'%.*s' to '%.*s'", (int)(g->from.n < 60 ? g->from.n : 60),
                     g->from.at, (int)(g->to.n < 60 ? g->to.n : 60), g->to.at);
        return QP_OK;
    }
    qp_code code = type_number(r, g->type, &type, err);
    return code ? code
                : add_from(r,
                           (struct link){(uint32_t)from, exact ? from_chunk : QP_WHOLE, (uint32_t)to, to_chunk, type,
                                         g->weight},
                           err);
}

static qp_code add_neighbours(struct resolver *r, qp_err *err)
{
    uint32_t type = 0;
    qp_code code = type_number(r, QP_STR("next"), &type, err);

    for (size_t i = 0; !code && i < r->names.n; i++)
        for (uint32_t k = 0; !code && k + 1 < r->names.documents[i].n_chunks; k++)
            code = add(r, (struct link){(uint32_t)i, k, (uint32_t)i, k + 1, type, 1}, err);
    return code;
}

static int by_ends(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    const uint32_t left[] = {x->from, x->from_chunk, x->to, x->to_chunk, x->type},
                   right[] = {y->from, y->from_chunk, y->to, y->to_chunk, y->type};

    for (int i = 0; i < 5; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return (y->weight > x->weight) - (y->weight < x->weight); /* the heavier first: it stays */
}

static qp_code keep_edges(struct resolver *r, qp_store *store, qp_err *err)
{
    size_t n = 0;

    if (r->n) /* qsort wants an array even of nothing */
        qsort(r->links, r->n, sizeof *r->links, by_ends);
    for (size_t i = 0; i < r->n; i++) {
        const struct link *l = &r->links[i], *p = n ? &r->links[n - 1] : NULL;
        if (!p || p->from != l->from || p->from_chunk != l->from_chunk || p->to != l->to ||
            p->to_chunk != l->to_chunk || p->type != l->type)
            r->links[n++] = *l;
    }
    r->n = n;
    qp_edge *edges = malloc((n ? n : 1) * sizeof *edges);
    if (!edges)
        return qp_oom(err);
    for (size_t i = 0; i < n; i++) {
        const struct link *l = &r->links[i];
        edges[i] = (qp_edge){.from = r->names.documents[l->from].row,
                             .to = r->names.documents[l->to].row,
                             .from_chunk = l->from_chunk,
                             .to_chunk = l->to_chunk,
                             .type = qp_map_key(r->types, l->type),
                             .weight = l->weight};
    }
    qp_code code = qp_store_edges(store, edges, n, r->unknown, err);
    free(edges);
    return code;
}

static qp_code resolve(struct resolver *r, qp_store *store, qp_err *err)
{
    qp_code code = qp_names_load(store, &r->names, err);

    if (code)
        return code;
    r->rows = qp_map_new();
    r->anchors = qp_map_new();
    r->types = qp_map_new();
    r->scratch = qp_arena_new();
    if (!r->rows || !r->anchors || !r->types || !r->scratch)
        return qp_oom(err);
    for (size_t i = 0; i < r->names.n; i++) {
        int64_t row = r->names.documents[i].row;
        uint64_t *slot = qp_map_put(r->rows, (qp_str){(const char *)&row, sizeof row}, NULL);
        if (!slot)
            return qp_oom(err);
        *slot = i;
    }
    code = qp_store_anchors(store, take_anchor, r, err);
    code = code ? code : add_neighbours(r, err);
    code = code ? code : qp_store_references(store, take_reference, r, err);
    code = code ? code : qp_store_givens(store, take_given, r, err);
    return code ? code : keep_edges(r, store, err);
}

qp_code qp_resolve(qp_store *store, const qp_watch *watch, qp_index_report *report, qp_err *err)
{
    struct resolver r = {0};
    qp_code code = resolve(&r, store, err);

    if (!code && r.unknown && watch && watch->warn) {
        char line[320];
        snprintf(line, sizeof line, "edges: %" PRIu64 " given edges have an end that is no document here, the first %s",
                 r.unknown, r.example);
        watch->warn(watch->user, line);
    }
    if (!code && report) {
        report->edges = r.n;
        report->edges_unknown = r.unknown;
        report->chunks = 0;
        for (size_t i = 0; i < r.names.n; i++)
            report->chunks += r.names.documents[i].n_chunks;
    }
    qp_names_free(&r.names);
    qp_map_free(r.rows);
    qp_map_free(r.anchors);
    qp_map_free(r.types);
    qp_arena_free(r.scratch);
    free(r.links);
    return code;
}
