#include <strings.h>
#include <yyjson.h>

#include "ingest/records.h"
#include "ingest/triples_reader.h"
#include "ingest/weight.h"
#include "text/utf8.h"

/* Names of columns, the best first; one that begins with ':' may stand behind a name of its own (personId:ID). */
static const char *const ids[] = {"id", "_id", "node", "node_id", ":ID", NULL};
static const char *const names[] = {"name", "label", "title", NULL};
static const char *const sources[] = {"source", "src", "from", "head", "subject", "start", ":START_ID", NULL};
static const char *const targets[] = {"target", "dst", "to", "tail", "object", "end", ":END_ID", NULL};
static const char *const relations[] = {"type", "relation", "label", "predicate", "rel", ":TYPE", NULL};
static const char *const weights[] = {"weight", NULL};

struct cell { /* of a row; key null: there is none, or it is empty */
    yyjson_val *key;
    qp_str value;
};

static qp_str text_of(yyjson_val *v)
{
    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

static bool is_called(qp_str column, const char *name)
{
    size_t n = strlen(name);

    if (name[0] == ':' && column.n > n)
        column = qp_str_slice(column, column.n - n, column.n);
    return column.n == n && !strncasecmp(column.at, name, n);
}

static struct cell find(yyjson_val *row, const char *const *called)
{
    size_t i, n;
    yyjson_val *key, *value;

    for (; *called; called++)
        yyjson_obj_foreach(row, i, n, key, value) {
            if (is_called(text_of(key), *called) && qp_str_trim(text_of(value)).n)
                return (struct cell){key, text_of(value)};
        }
    return (struct cell){0};
}

static void add_column(qp_buf *out, qp_str column, qp_str value)
{
    qp_buf_fmt(out, "%.*s: %.*s\n", (int)column.n, column.at, (int)value.n, value.at);
}

/* "column: value" lines of all columns but some. The records' own "text", where it only repeats all of them, is
 * none. */
static void describe(yyjson_val *row, yyjson_val *const *but, int n_but, qp_buf *all, qp_buf *out)
{
    qp_str text = text_of(yyjson_obj_get(row, "text"));
    size_t i, n;
    yyjson_val *key, *value;

    qp_buf_clear(all);
    qp_buf_clear(out);
    yyjson_obj_foreach(row, i, n, key, value) {
        if (qp_str_eq(text_of(key), QP_STR("text")))
            continue;
        add_column(all, text_of(key), text_of(value));
        bool told = false;
        for (int b = 0; b < n_but; b++)
            told |= key == but[b];
        if (!told)
            add_column(out, text_of(key), text_of(value));
    }
    if (text.n && !qp_str_eq(text, qp_buf_view(all)))
        add_column(out, QP_STR("text"), text);
}

/* What the row has instead of what was wanted. */
static qp_code no_columns(qp_reading_triples *r, yyjson_val *row, const char *wanted, qp_err *err)
{
    qp_buf found = {0};
    size_t i, n;
    yyjson_val *key, *value;

    yyjson_obj_foreach(row, i, n, key, value) {
        if (found.n < 200 && qp_str_trim(text_of(value)).n && !qp_str_eq(text_of(key), QP_STR("text")))
            qp_buf_fmt(&found, "%s%.*s", found.n ? ", " : "", (int)yyjson_get_len(key), yyjson_get_str(key));
    }
    qp_code code = found.oom
                       ? qp_oom(err)
                       : qp_reading_left_out(r, err, "wanted %s, found no more than '%.*s'", wanted,
                                             (int)qp_utf8_floor(qp_buf_view(&found), 200), found.at ? found.at : "");
    qp_buf_free(&found);
    return code;
}

static qp_code take_node(qp_reading_triples *r, yyjson_val *row, qp_err *err)
{
    struct cell id = find(row, ids), name = find(row, names);
    qp_buf all = {0}, text = {0};

    if (!id.key && !name.key)
        return no_columns(r, row, "a node with a column id or name", err);
    describe(row, name.key ? &name.key : &id.key, 1, &all, &text);
    qp_entity e = {.id = id.key ? id.value : name.value, .name = name.value, .text = qp_buf_view(&text)};
    qp_code code = all.oom || text.oom ? qp_oom(err) : qp_reading_entity(r, e, err);
    qp_buf_free(&all);
    qp_buf_free(&text);
    return code;
}

static qp_code take_edge(qp_reading_triples *r, yyjson_val *row, qp_err *err)
{
    struct cell source = find(row, sources), target = find(row, targets), relation = find(row, relations);
    struct cell weight = find(row, weights);
    yyjson_val *const told[] = {source.key, target.key, relation.key, weight.key};
    qp_triple t = {source.value, relation.key ? relation.value : QP_STR("link"), target.value, 1, {0}, {0}};
    qp_buf all = {0}, text = {0};

    if (!source.key || !target.key)
        return no_columns(r, row, "an edge with columns source and target", err);
    if (!qp_weight_parse(weight.value, &t.weight))
        return qp_reading_left_out(r, err, "wanted a weight that is a number of at least 0, found '%.*s'",
                                   (int)(weight.value.n < 40 ? weight.value.n : 40), weight.value.at);
    describe(row, told, 4, &all, &text);
    t.text = qp_buf_view(&text);
    qp_code code = all.oom || text.oom ? qp_oom(err) : qp_reading_triple(r, t, NULL, err);
    qp_buf_free(&all);
    qp_buf_free(&text);
    return code;
}

static qp_code read_rows(qp_reading_triples *r, qp_code (*take)(qp_reading_triples *, yyjson_val *, qp_err *),
                         qp_err *err)
{
    qp_records *records = NULL;
    qp_str json;
    qp_code code = qp_records_open(QP_CSV, r->source->path, r->source->bytes, &records, err);

    while (!code) {
        code = qp_records_next(records, &json, &r->line, err);
        if (code || !json.at)
            break;
        yyjson_doc *row = yyjson_read(json.at, json.n, 0);
        code = row ? take(r, yyjson_doc_get_root(row), err) : qp_oom(err); /* it was written by us */
        yyjson_doc_free(row);
        code = code ? code : qp_reading_look(r, err);
    }
    qp_records_close(records);
    return code;
}

qp_code qp_triples_nodes(qp_reading_triples *r, qp_err *err)
{
    return read_rows(r, take_node, err);
}

qp_code qp_triples_edges(qp_reading_triples *r, qp_err *err)
{
    return read_rows(r, take_edge, err);
}
