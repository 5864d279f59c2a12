#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "ingest/graph_parts.h"
#include "text/utf8.h"

enum {
    LEAST_BUDGET = 1 << 20,
    NAME_COSTS = 144, /* bytes of a dictionary for a name, beside its own: pair, table, rounding, struct named */
    RELATION_BYTES = 64 << 20
};

qp_code qp_build_open(const char *folder, size_t budget, const qp_watch *watch, qp_build **out, qp_err *err)
{
    qp_build *b = calloc(1, sizeof *b);
    qp_code code = QP_OK;

    if (!b)
        return qp_oom(err);
    b->budget = budget > LEAST_BUDGET ? budget : LEAST_BUDGET;
    b->tell = (qp_tell){.watch = watch, .stage = "sort"};
    b->folder = strdup(folder);
    b->mem = qp_arena_new();
    b->names = qp_map_new();
    b->relations = qp_map_new();
    qp_buf_char(&b->key, 0); /* the shared graph */
    b->scope = 1;
    if (!b->folder || !b->mem || !b->names || !b->relations || b->key.oom)
        code = qp_oom(err);
    /* Half is the dictionary's; an eighth is left for what is small. */
    code = code ? code : qp_sorter_open(folder, b->budget / 4, &b->known, err);
    code = code ? code : qp_scratch_open(folder, b->budget / 8, &b->log, err);
    if (code) {
        qp_build_close(b);
        return code;
    }
    *out = b;
    return QP_OK;
}

void qp_build_close(qp_build *b)
{
    if (!b)
        return;
    qp_sorter_close(b->known);
    qp_scratch_close(b->log);
    qp_scratch_close(b->said);
    qp_scratch_close(b->provenance);
    qp_map_free(b->names);
    qp_map_free(b->relations);
    qp_arena_free(b->mem);
    qp_buf_free(&b->key);
    qp_buf_free(&b->record);
    free(b->named);
    free(b->relation);
    free(b->dictionaries);
    free(b->folder);
    free(b);
}

/* ---- what is taken ---- */

static qp_code check(qp_str s, const char *what, bool may_be_empty, qp_err *err)
{
    if (!s.n && !may_be_empty)
        return qp_fail(err, QP_INPUT, "wanted %s, found nothing", what);
    if (s.n > QP_BUILD_NAME)
        return qp_fail(err, QP_INPUT, "%s of %zu bytes; at most %d are kept", what, s.n, QP_BUILD_NAME);
    if (qp_utf8_valid(s) < s.n)
        return qp_fail(err, QP_INPUT, "wanted %s in UTF-8, found a broken byte or NUL at byte %zu of it", what,
                       qp_utf8_valid(s));
    return QP_OK;
}

/* ---- the dictionary ---- */

/* The record begins with the key. */
static void begin_record(qp_build *b, qp_str key, char kind)
{
    qp_buf_clear(&b->record);
    qp_buf_str(&b->record, key);
    qp_buf_char(&b->record, 0);
    qp_buf_char(&b->record, kind);
}

static void add32(qp_build *b, uint32_t x)
{
    char bytes[4];

    qp_key_put32(bytes, x);
    qp_buf_add(&b->record, bytes, 4);
}

static qp_code add_record(qp_build *b, qp_err *err)
{
    return b->record.oom ? qp_oom(err) : qp_sorter_add(b->known, qp_buf_view(&b->record), err);
}

qp_code qp_build_turn(qp_build *b, qp_err *err)
{
    size_t n = qp_map_size(b->names);
    struct dictionary *grown =
        qp_array_room(b->dictionaries, b->n_dictionaries, &b->cap_dictionaries, sizeof *b->dictionaries);
    qp_code code = QP_OK;

    if (!grown)
        return qp_oom(err);
    b->dictionaries = grown;
    struct dictionary *d = &b->dictionaries[b->n_dictionaries];
    *d = (struct dictionary){.triples = b->triples - b->triples_before, .names = (uint32_t)n};
    for (uint32_t i = 0; i < n && !code; i++) {
        if (!b->named[i].mentioned)
            continue;
        d->mentioned++;
        begin_record(b, qp_map_key(b->names, i), MENTION);
        add32(b, (uint32_t)b->n_dictionaries);
        add32(b, i);
        code = add_record(b, err);
    }
    b->n_dictionaries++;
    b->triples_before = b->triples;
    b->bytes = 0;
    qp_map_free(b->names);
    b->names = qp_map_new();
    return code || b->names ? code : qp_oom(err);
}

/* The number of an id in the scope at hand. */
static qp_code number_of(qp_build *b, qp_str id, uint32_t *number, qp_err *err)
{
    bool added;

    b->key.n = b->scope;
    qp_buf_str(&b->key, id);
    uint64_t *slot = b->key.oom ? NULL : qp_map_put(b->names, qp_buf_view(&b->key), &added);
    if (!slot)
        return qp_oom(err);
    if (added) {
        *slot = qp_map_size(b->names) - 1;
        struct named *grown = qp_array_room(b->named, (size_t)*slot, &b->cap_named, sizeof *grown);
        if (!grown)
            return qp_oom(err);
        b->named = grown;
        b->named[*slot] = (struct named){0};
        b->bytes += b->key.n + NAME_COSTS;
    }
    *number = (uint32_t)*slot;
    return QP_OK;
}

/* A triple's ends must be in one dictionary, so it is turned only between triples. */
static qp_code make_room(qp_build *b, qp_err *err)
{
    return b->bytes > b->budget / 2 ? qp_build_turn(b, err) : QP_OK;
}

/* ---- adding ---- */

static qp_code relation_of(qp_build *b, qp_str id, struct relation **out, qp_err *err)
{
    const uint64_t *there = qp_map_get(b->relations, id);
    bool added;

    if (there) {
        *out = &b->relation[*there];
        return QP_OK;
    }
    if (b->n_relations == QP_BUILD_RELATIONS)
        return qp_fail(
            err, QP_STORE,
            "more than %d relations; '%.*s' is one too many (are the columns head, relation, tail in order?)",
            QP_BUILD_RELATIONS, (int)(id.n < 80 ? qp_utf8_floor(id, 80) : id.n), id.at);
    if (b->relation_bytes + id.n > RELATION_BYTES)
        return qp_fail(err, QP_STORE, "the names of %zu relations take more than %d MiB; are they texts?",
                       b->n_relations, RELATION_BYTES >> 20);
    struct relation *grown = qp_array_room(b->relation, b->n_relations, &b->cap_relations, sizeof *grown);
    uint64_t *slot = grown ? qp_map_put(b->relations, id, &added) : NULL;
    if (grown)
        b->relation = grown;
    if (!slot)
        return qp_oom(err);
    *slot = b->n_relations;
    qp_str kept = qp_map_key(b->relations, b->n_relations);
    b->relation[b->n_relations] = (struct relation){.id = kept, .name = kept, .rank = UNNAMED};
    b->relation_bytes += id.n;
    *out = &b->relation[b->n_relations++];
    return QP_OK;
}

/* Waits beside the triple, which is logged next: its text, then a NUL and its document, if it has one. */
static qp_code log_said(qp_build *b, qp_str text, qp_str document, qp_err *err)
{
    qp_buf *all = &b->record;
    qp_buf_clear(all);
    qp_buf_str(all, text);
    if (document.n)
        qp_buf_char(all, 0);
    qp_buf_str(all, document);
    const struct said said = {b->triples, all->n};
    qp_code code = all->oom ? qp_oom(err) : QP_OK;
    if (code || !all->n)
        return code;
    code = b->said ? QP_OK : qp_scratch_open(b->folder, b->budget / 16, &b->said, err);
    code = code ? code : qp_scratch_add(b->said, &said, sizeof said, err);
    return code ? code : qp_scratch_add(b->said, all->at, all->n, err);
}

qp_code qp_build_triple(qp_build *b, const qp_triple *t, qp_err *err)
{
    struct logged logged = {.weight = t->weight + 0.0f}; /* -0 is 0 */
    struct relation *relation = NULL;
    bool cut = t->text.n > QP_BUILD_TEXT;
    qp_code code = check(t->head, "a head", false, err);

    code = code ? code : check(t->relation, "a relation", false, err);
    code = code ? code : check(t->tail, "a tail", false, err);
    if (!code && !(isfinite(t->weight) && t->weight >= 0))
        code = qp_fail(err, QP_INPUT, "wanted a weight that is a number of at least 0, found %g", t->weight);
    code = code || cut ? code : check(t->text, "an edge's text", true, err);
    code = code ? code : check(t->document, "the document of a triple", true, err);
    code = code ? code : make_room(b, err);
    code = code ? code : relation_of(b, t->relation, &relation, err);
    code = code ? code : number_of(b, t->head, &logged.head, err);
    code = code ? code : number_of(b, t->tail, &logged.tail, err);
    code = code ? code : log_said(b, cut ? QP_STR("") : t->text, t->document, err);
    if (code)
        return code;
    b->texts_cut += cut;
    relation->used = true;
    logged.relation = (uint32_t)(relation - b->relation);
    b->named[logged.head].mentioned = b->named[logged.tail].mentioned = true;
    b->triples++;
    return qp_scratch_add(b->log, &logged, sizeof logged, err);
}

static uint64_t hash_of(const qp_entity *e)
{
    const uint64_t parts[3] = {e->rank, qp_hash64(e->name), qp_hash64(e->text)};

    return qp_hash64((qp_str){(const char *)parts, sizeof parts});
}

qp_code qp_build_entity(qp_build *b, const qp_entity *e, qp_err *err)
{
    bool cut = e->text.n > QP_BUILD_TEXT;
    uint32_t number;
    qp_code code = check(e->id, "the name of an entity", false, err);

    code = code ? code : check(e->name, "the name of an entity", true, err);
    code = code || cut ? code : check(e->text, "an entity's text", true, err);
    code = code ? code : make_room(b, err);
    code = code ? code : number_of(b, e->id, &number, err);
    if (code)
        return code;
    struct named *named = &b->named[number];
    uint64_t hash = hash_of(e), order = __builtin_bswap64(b->descriptions);
    if (named->described == hash) /* readers of RDF say the same at each mention */
        return QP_OK;
    named->described = hash;
    b->descriptions++;
    b->texts_cut += cut;
    begin_record(b, qp_buf_view(&b->key), DESCRIPTION);
    qp_buf_char(&b->record, (char)(e->name.n ? e->rank < UNNAMED ? e->rank : UNNAMED - 1 : UNNAMED));
    qp_buf_add(&b->record, &order, sizeof order);
    add32(b, (uint32_t)e->name.n);
    qp_buf_str(&b->record, e->name);
    if (!cut)
        qp_buf_str(&b->record, e->text);
    return add_record(b, err);
}

qp_code qp_build_relation(qp_build *b, const qp_entity *e, qp_err *err)
{
    struct relation *r = NULL;
    qp_code code = check(e->id, "a relation", false, err);

    code = code ? code : check(e->name, "the name of a relation", true, err);
    code = code ? code : relation_of(b, e->id, &r, err);
    if (code)
        return code;
    r->told = true;
    if (!e->name.n || e->rank >= r->rank)
        return QP_OK;
    qp_str name = qp_arena_str(b->mem, e->name);
    if (!name.at)
        return qp_oom(err);
    r->name = name;
    r->rank = e->rank;
    return QP_OK;
}

qp_code qp_build_scope(qp_build *b, qp_str id, qp_err *err)
{
    qp_code code = check(id, "the id of a graph", true, err);

    if (code)
        return code;
    qp_buf_clear(&b->key);
    qp_buf_str(&b->key, id);
    qp_buf_char(&b->key, 0);
    b->scope = b->key.n;
    return b->key.oom ? qp_oom(err) : QP_OK;
}

qp_code qp_build_provenance(qp_build *b, qp_str entity, qp_str document, qp_err *err)
{
    const uint32_t lengths[2] = {(uint32_t)entity.n, (uint32_t)document.n};
    qp_code code = check(entity, "the name of an entity", false, err);

    code = code ? code : check(document, "the id of a document", false, err);
    if (!code && !b->provenance)
        code = qp_scratch_open(b->folder, b->budget / 16, &b->provenance, err);
    code = code ? code : qp_scratch_add(b->provenance, lengths, sizeof lengths, err);
    code = code ? code : qp_scratch_add(b->provenance, entity.at, entity.n, err);
    return code ? code : qp_scratch_add(b->provenance, document.at, document.n, err);
}

/* ---- as a sink ---- */

static qp_code sink_triple(void *ctx, const qp_triple *t, qp_err *err)
{
    return qp_build_triple(ctx, t, err);
}

static qp_code sink_entity(void *ctx, const qp_entity *e, qp_err *err)
{
    return qp_build_entity(ctx, e, err);
}

static qp_code sink_relation(void *ctx, const qp_entity *e, qp_err *err)
{
    return qp_build_relation(ctx, e, err);
}

static qp_code sink_scope(void *ctx, qp_str id, qp_err *err)
{
    return qp_build_scope(ctx, id, err);
}

static qp_code sink_provenance(void *ctx, qp_str entity, qp_str document, qp_err *err)
{
    return qp_build_provenance(ctx, entity, document, err);
}

qp_triple_sink qp_build_sink(qp_build *b)
{
    return (qp_triple_sink){sink_triple, sink_entity, sink_relation, sink_scope, sink_provenance, b};
}
