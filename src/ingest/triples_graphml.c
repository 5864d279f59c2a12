/* GraphML by libxml2's reader, which keeps no more than what stands open; LightRAG's, too, whose keys mean more. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "ingest/peer.h"
#include "ingest/triples_reader.h"
#include "ingest/weight.h"
#include "ingest/xml.h"

enum { MOST_KEYS = 4096 };

static const char *const names[] = {"name", "label", "title", NULL};
static const char *const relations[] = {"type", "relation", "label", "predicate", "rel", "name", NULL};
static const char *const weights[] = {"weight", NULL};
/* LightRAG's: what an edge is called, what says where its ends were found, and what is no text. */
static const char *const keywords[] = {"keywords", NULL};
static const char *const chunks[] = {"source_id", NULL};
static const char *const bookkeeping[] = {"entity_id", "file_path", "created_at", "truncate", "last_updated", NULL};
#define SEPARATOR QP_STR("<SEP>") /* of several chunks, or descriptions */

struct key { /* <key id for attr.name><default> */
    qp_str id, name, standard;
    bool nodes, edges;
    bool said; /* by the element at hand */
};

struct graphml {
    qp_reading_triples *r;
    xmlTextReaderPtr xml;
    struct key **keys; /* each where it stays: key and data point at them */
    size_t n_keys, cap_keys;
    struct key *key;   /* whose default is read */
    bool node, edge;   /* what is open */
    qp_buf id, target; /* of the node; of the edge: source and target */
    qp_buf name, weight, text, value;
    int best;            /* rank of the name so far */
    qp_buf places;       /* LightRAG's: ids of chunks, with SEPARATOR between them */
    yyjson_doc *passage; /* LightRAG's chunks by id; null: any other's GraphML */
    struct key *data;
    bool in_data, in_default;
    qp_arena *mem; /* keys */
    qp_arena *scratch;
};

static int rank_of(qp_str name, const char *const *called)
{
    for (int i = 0; called[i]; i++)
        if (name.n == strlen(called[i]) && !strncasecmp(name.at, called[i], name.n))
            return i;
    return -1;
}

/* ---- keys ---- */

/* *out null: left out. */
static qp_code add_key(struct graphml *x, struct key key, struct key **out, qp_err *err)
{
    *out = NULL;
    if (x->n_keys == MOST_KEYS || !key.id.n)
        return qp_reading_left_out(x->r, err, key.id.n ? "more than %d keys" : "wanted a key with an id", MOST_KEYS);
    struct key **grown = qp_array_room(x->keys, x->n_keys, &x->cap_keys, sizeof *grown);
    struct key *made = qp_new(x->mem, struct key, 1);
    x->keys = grown ? grown : x->keys;
    if (!grown || !made)
        return qp_oom(err);
    *made = key;
    *out = x->keys[x->n_keys++] = made;
    return QP_OK;
}

static qp_code begin_key(struct graphml *x, qp_err *err)
{
    qp_str id = qp_xml_attribute(x->xml, "id", x->mem), name = qp_xml_attribute(x->xml, "attr.name", x->mem);
    qp_str of = qp_xml_attribute(x->xml, "for", x->mem);
    bool all = !of.n || qp_str_eq(of, QP_STR("all"));

    return add_key(x,
                   (struct key){.id = id,
                                .name = name.n ? name : id,
                                .nodes = all || qp_str_eq(of, QP_STR("node")),
                                .edges = all || qp_str_eq(of, QP_STR("edge"))},
                   &x->key, err);
}

/* The key of a <data>; one that is not declared is called what it says. */
static qp_code find_key(struct graphml *x, qp_str id, struct key **out, qp_err *err)
{
    for (size_t i = 0; i < x->n_keys; i++)
        if (qp_str_eq(x->keys[i]->id, id)) {
            *out = x->keys[i];
            return QP_OK;
        }
    id = qp_arena_str(x->mem, id); /* it was in what is reset */
    return id.at ? add_key(x, (struct key){.id = id, .name = id}, out, err) : qp_oom(err);
}

/* ---- nodes and edges ---- */

static qp_code begin_element(struct graphml *x, bool node, qp_err *err)
{
    x->node = node;
    x->edge = !node;
    x->best = -1;
    qp_buf *const all[] = {&x->id, &x->target, &x->name, &x->weight, &x->text, &x->places};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qp_buf_clear(all[i]);
    for (size_t i = 0; i < x->n_keys; i++)
        x->keys[i]->said = false;
    qp_buf_str(&x->id, qp_xml_attribute(x->xml, node ? "id" : "source", x->scratch));
    if (!node)
        qp_buf_str(&x->target, qp_xml_attribute(x->xml, "target", x->scratch));
    qp_arena_reset(x->scratch);
    return x->id.oom || x->target.oom ? qp_oom(err) : QP_OK;
}

static qp_str part_of(qp_str *rest)
{
    const char *at = rest->n ? memmem(rest->at, rest->n, SEPARATOR.at, SEPARATOR.n) : NULL;
    size_t n = at ? (size_t)(at - rest->at) : rest->n;
    qp_str part = {rest->at, n};

    *rest = qp_str_slice(*rest, at ? n + SEPARATOR.n : n, rest->n);
    return qp_str_trim(part);
}

/* Several descriptions become several lines. */
static void add_lines(qp_buf *out, qp_str name, qp_str value)
{
    while (value.n) {
        qp_str part = part_of(&value);
        if (part.n)
            qp_buf_fmt(out, "%.*s: %.*s\n", (int)name.n, name.at, (int)part.n, part.at);
    }
}

/* Nodes are called as their ids, edges as their keywords. */
static int lightrag_rank(struct graphml *x, qp_str name, qp_str value, bool *taken)
{
    bool place = rank_of(name, chunks) >= 0;

    if (place && x->node)
        qp_buf_str(&x->places, value);
    *taken = place || rank_of(name, bookkeeping) >= 0;
    return x->node ? -1 : rank_of(name, keywords);
}

/* A value of the node or edge at hand: its name, its weight, or a line of its text. */
static void take_value(struct graphml *x, struct key *key, qp_str value)
{
    bool taken = false;

    key->said = true;
    value = qp_str_trim(value);
    int rank =
        x->passage ? lightrag_rank(x, key->name, value, &taken) : rank_of(key->name, x->node ? names : relations);
    if (taken)
        return;
    if (rank >= 0 && value.n && (x->best < 0 || rank < x->best)) {
        x->best = rank;
        qp_buf_clear(&x->name);
        qp_buf_str(&x->name, value);
    }
    bool weight = x->edge && rank_of(key->name, weights) >= 0;
    if (weight) {
        qp_buf_clear(&x->weight);
        qp_buf_str(&x->weight, value);
    }
    if (rank < 0 && !weight && x->passage)
        add_lines(&x->text, key->name, value);
    else if (rank < 0 && !weight && value.n)
        qp_buf_fmt(&x->text, "%.*s: %.*s\n", (int)key->name.n, key->name.at, (int)value.n, value.at);
}

/* A chunk that is gone is no error: LightRAG's own entities outlive some of theirs. */
static qp_code put_provenance(struct graphml *x, qp_err *err)
{
    qp_code code = x->places.oom ? qp_oom(err) : QP_OK;

    for (qp_str rest = qp_buf_view(&x->places); !code && rest.n;) {
        qp_str id = part_of(&rest);
        yyjson_val *chunk = yyjson_obj_getn(yyjson_doc_get_root(x->passage), id.at, id.n);
        if (!chunk)
            continue;
        qp_str document = qp_peer_chunk_key(id, chunk, x->scratch);
        code = document.at ? qp_reading_provenance(x->r, qp_buf_view(&x->id), document, err) : qp_oom(err);
        qp_arena_reset(x->scratch);
    }
    return code;
}

static qp_code end_node(struct graphml *x, qp_err *err)
{
    if (x->best >= 0) /* else the id is the name */
        qp_buf_fmt(&x->text, "id: %.*s\n", (int)x->id.n, x->id.at ? x->id.at : "");
    qp_entity e = {.id = qp_buf_view(&x->id), .name = qp_buf_view(&x->name), .text = qp_buf_view(&x->text)};
    qp_code code = x->text.oom || x->name.oom ? qp_oom(err) : qp_reading_entity(x->r, e, err);
    return code ? code : put_provenance(x, err);
}

static qp_code end_edge(struct graphml *x, qp_err *err)
{
    qp_str weight = qp_buf_view(&x->weight);
    qp_triple t = {qp_buf_view(&x->id),     x->name.n ? qp_buf_view(&x->name) : QP_STR("link"),
                   qp_buf_view(&x->target), 1,
                   qp_buf_view(&x->text),   {0}};

    if (x->name.oom || x->weight.oom || x->text.oom)
        return qp_oom(err);
    if (!qp_weight_parse(weight, &t.weight))
        return qp_reading_left_out(x->r, err, "wanted a weight that is a number of at least 0, found '%.*s'",
                                   (int)(weight.n < 40 ? weight.n : 40), weight.at);
    return qp_reading_triple(x->r, t, NULL, err);
}

static qp_code end_element(struct graphml *x, qp_err *err)
{
    if (!x->node && !x->edge) /* it was closed by one inside it */
        return QP_OK;
    for (size_t i = 0; i < x->n_keys; i++) {
        struct key *key = x->keys[i];
        if (!key->said && key->standard.n && (x->node ? key->nodes : key->edges))
            take_value(x, key, key->standard);
    }
    qp_code code = x->node ? end_node(x, err) : end_edge(x, err);
    x->node = x->edge = false;
    code = code ? code : qp_reading_look(x->r, err);
    return code;
}

/* ---- the stream ---- */

static qp_code begins(struct graphml *x, qp_err *err)
{
    bool node = qp_xml_begins(x->xml, "node");
    qp_code code = QP_OK;

    if (node || qp_xml_begins(x->xml, "edge")) {
        if (x->node || x->edge) /* a graph inside a node: the outer one has said what it says */
            code = end_element(x, err);
        return code ? code : begin_element(x, node, err);
    }
    if (qp_xml_begins(x->xml, "key"))
        return begin_key(x, err);
    if (qp_xml_begins(x->xml, "data") && (x->node || x->edge)) {
        code = find_key(x, qp_xml_attribute(x->xml, "key", x->scratch), &x->data, err);
        qp_arena_reset(x->scratch);
        x->in_data = x->data && !xmlTextReaderIsEmptyElement(x->xml);
        qp_buf_clear(&x->value);
    } else if (qp_xml_begins(x->xml, "default") && x->key) {
        x->in_default = !xmlTextReaderIsEmptyElement(x->xml);
        qp_buf_clear(&x->value);
    }
    return code;
}

static qp_code ends(struct graphml *x, qp_err *err)
{
    if (qp_xml_ends(x->xml, "data") && x->in_data) {
        x->in_data = false;
        if (x->node || x->edge)
            take_value(x, x->data, qp_buf_view(&x->value));
    } else if (qp_xml_ends(x->xml, "default") && x->in_default) {
        x->in_default = false;
        x->key->standard = qp_arena_str(x->mem, qp_str_trim(qp_buf_view(&x->value)));
        return x->key->standard.at ? QP_OK : qp_oom(err);
    } else if (qp_xml_ends(x->xml, "key")) {
        x->key = NULL;
    } else if (qp_xml_ends(x->xml, "node") || qp_xml_ends(x->xml, "edge")) {
        return end_element(x, err);
    }
    return QP_OK;
}

static qp_code take_part(struct graphml *x, qp_err *err)
{
    int type = xmlTextReaderNodeType(x->xml);
    bool text =
        type == XML_READER_TYPE_TEXT || type == XML_READER_TYPE_CDATA || type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE;
    qp_code code = QP_OK;

    if (text && (x->in_data || x->in_default))
        qp_buf_text(&x->value, (const char *)xmlTextReaderConstValue(x->xml));
    if (type == XML_READER_TYPE_ELEMENT)
        code = begins(x, err);
    if (!code && (type == XML_READER_TYPE_END_ELEMENT || xmlTextReaderIsEmptyElement(x->xml) == 1))
        code = ends(x, err);
    return code || !x->value.oom ? code : qp_oom(err);
}

static void release(struct graphml *x)
{
    qp_buf *const all[] = {&x->id, &x->target, &x->name, &x->weight, &x->text, &x->value, &x->places};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qp_buf_free(all[i]);
    if (x->xml)
        xmlFreeTextReader(x->xml);
    qp_arena_free(x->mem);
    qp_arena_free(x->scratch);
    yyjson_doc_free(x->passage);
    free(x->keys);
}

static qp_code read_stream(qp_reading_triples *r, yyjson_doc *passage, qp_err *err)
{
    struct graphml x = {.r = r, .passage = passage, .mem = qp_arena_new(), .scratch = qp_arena_new()};
    qp_xml_broken broken = {0};
    qp_code code = x.mem && x.scratch ? QP_OK : qp_oom(err);

    code = code ? code : qp_xml_open_stream(r->source->path, r->source->bytes, &broken, &x.xml, err);
    while (!code && qp_xml_next(x.xml)) {
        int line = xmlTextReaderGetParserLineNumber(x.xml);
        r->line = line > 0 ? (uint64_t)line : 0;
        code = take_part(&x, err);
    }
    if (!code && broken.line) {
        r->line = broken.line;
        code = qp_reading_left_out(r, err, "the XML breaks off: %s", broken.message);
    }
    release(&x);
    return code;
}

qp_code qp_triples_graphml(qp_reading_triples *r, qp_err *err)
{
    return read_stream(r, NULL, err);
}

qp_code qp_triples_lightrag(qp_reading_triples *r, qp_err *err)
{
    yyjson_doc *passage = NULL;
    if (!r->source->path)
        return qp_fail(err, QP_INPUT, "standard input: LightRAG's graph is read with its passages, from its folder");
    char *path = qp_peer_chunks_beside(r->source->path);
    qp_code code = path ? qp_peer_json(path, (qp_str){0}, &passage, err) : qp_oom(err);

    free(path);
    return code ? code : read_stream(r, passage, err);
}
