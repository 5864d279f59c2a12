#include "model/schema.h"

#include <stdlib.h>
#include <yyjson.h>

#include "base/map.h"

enum { DEEPEST = 32, MOST_REPEATS = 1000 };

typedef struct writer {
    yyjson_val *root;
    qp_buf *out;  /* rules that are finished */
    qp_map *refs; /* "#/$defs/x": number of its rule */
    uint32_t rules;
    int depth;
    qp_err *err;
} writer;

static const char basics[] =
    "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n"
    "char ::= [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" [0-9a-fA-F]{4})\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,15})\n"
    "number ::= integer (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?\n"
    "boolean ::= \"true\" | \"false\"\n"
    "null ::= \"null\"\n"
    "value ::= any-object | any-array | string | number | boolean | null\n"
    "any-object ::= \"{\" ws (string ws \":\" ws value ws (\",\" ws string ws \":\" ws value ws)*)? \"}\"\n"
    "any-array ::= \"[\" ws (value ws (\",\" ws value ws)*)? \"]\"\n";

static qp_code write_schema(writer *, yyjson_val *, qp_buf *);

/* A GBNF literal of exactly these bytes. */
static void add_literal(qp_buf *b, qp_str s)
{
    qp_buf_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.at[i];
        if (c == '"' || c == '\\')
            qp_buf_fmt(b, "\\%c", c);
        else if (c < 32 || c == 127)
            qp_buf_fmt(b, "\\x%02X", c);
        else
            qp_buf_char(b, (char)c);
    }
    qp_buf_char(b, '"');
}

static qp_code add_constant(writer *w, yyjson_val *v, qp_buf *b)
{
    size_t n;
    char *json = yyjson_val_write(v, 0, &n);
    if (!json)
        return qp_oom(w->err);
    add_literal(b, (qp_str){json, n});
    free(json);
    return QP_OK;
}

/* {from,to} of a repetition; to is SIZE_MAX for no end. */
static qp_code read_range(writer *w, yyjson_val *s, const char *least, const char *most, size_t *from, size_t *to)
{
    yyjson_val *a = yyjson_obj_get(s, least), *z = yyjson_obj_get(s, most);
    *from = a ? yyjson_get_uint(a) : 0;
    *to = z ? yyjson_get_uint(z) : SIZE_MAX;
    if ((a && !yyjson_is_uint(a)) || (z && !yyjson_is_uint(z)) || *from > *to || *from > MOST_REPEATS ||
        (z && *to > MOST_REPEATS))
        return qp_fail(w->err, QP_INPUT, "JSON schema: %s and %s must be whole numbers, rising, up to %d", least, most,
                       MOST_REPEATS);
    return QP_OK;
}

static void add_range(qp_buf *b, size_t from, size_t to)
{
    if (to == SIZE_MAX)
        qp_buf_fmt(b, "{%zu,}", from);
    else
        qp_buf_fmt(b, "{%zu,%zu}", from, to);
}

/* ---- the types ---- */

static bool is_required(yyjson_val *s, const char *name)
{
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(yyjson_obj_get(s, "required"), i, n, v)
        if (yyjson_equals_str(v, name))
            return true;
    return false;
}

static qp_code add_member(writer *w, yyjson_val *key, yyjson_val *value, qp_buf *b)
{
    qp_code code = add_constant(w, key, b);
    qp_buf_text(b, " ws \":\" ws ");
    if (!code)
        code = write_schema(w, value, b);
    qp_buf_text(b, " ws");
    return code;
}

/* Members stand in the schema's order. The first that stands has no comma before it, so a rule for "what may follow the
 * i-th" is written twice: rest-i-0 while nothing stands yet, rest-i-1 after something does. */
static qp_code write_object(writer *w, yyjson_val *s, qp_buf *b)
{
    yyjson_val *properties = yyjson_obj_get(s, "properties"), *key, *value;
    uint32_t object = w->rules++;
    qp_code code = QP_OK;
    size_t i, n;
    if (!yyjson_obj_size(properties)) {
        qp_buf_text(b, "any-object");
        return QP_OK;
    }
    yyjson_obj_foreach(properties, i, n, key, value) {
        qp_buf member = {0};
        if (code || (code = add_member(w, key, value, &member))) {
            qp_buf_free(&member);
            break;
        }
        const char *skip = is_required(s, yyjson_get_str(key)) ? "" : " | ";
        qp_buf_fmt(w->out, "m%u-%zu ::= %s\n", object, i, member.at);
        for (int after = 0; after < 2; after++) {
            qp_buf_fmt(w->out, "o%u-%zu-%d ::= %sm%u-%zu o%u-%zu-1", object, i, after, after ? "\",\" ws " : "", object,
                       i, object, i + 1);
            if (*skip)
                qp_buf_fmt(w->out, "%so%u-%zu-%d", skip, object, i + 1, after);
            qp_buf_char(w->out, '\n');
        }
        qp_buf_free(&member);
    }
    for (int after = 0; after < 2; after++)
        qp_buf_fmt(w->out, "o%u-%zu-%d ::= \"\"\n", object, yyjson_obj_size(properties), after);
    qp_buf_fmt(b, "(\"{\" ws o%u-0-0 \"}\")", object);
    return code;
}

static qp_code write_array(writer *w, yyjson_val *s, qp_buf *b)
{
    size_t from, to;
    uint32_t rule = w->rules++;
    qp_buf item = {0};
    qp_code code = read_range(w, s, "minItems", "maxItems", &from, &to);
    yyjson_val *items = yyjson_obj_get(s, "items");
    if (!code && items)
        code = write_schema(w, items, &item);
    else
        qp_buf_text(&item, "value");
    qp_buf_fmt(w->out, "i%u ::= %s ws\n", rule, item.at ? item.at : "");
    qp_buf_free(&item);
    if (to == 0) {
        qp_buf_text(b, "(\"[\" ws \"]\")");
        return code;
    }
    qp_buf_fmt(b, "(\"[\" ws (i%u (\",\" ws i%u)", rule, rule);
    add_range(b, from ? from - 1 : 0, to == SIZE_MAX ? to : to - 1);
    qp_buf_fmt(b, ")%s \"]\")", from ? "" : "?");
    return code;
}

static qp_code write_string(writer *w, yyjson_val *s, qp_buf *b)
{
    size_t from, to;
    qp_code code = read_range(w, s, "minLength", "maxLength", &from, &to);
    if (from || to != SIZE_MAX) {
        qp_buf_text(b, "(\"\\\"\" char");
        add_range(b, from, to);
        qp_buf_text(b, " \"\\\"\")");
    } else {
        qp_buf_text(b, "string");
    }
    return code;
}

static qp_code write_type(writer *w, yyjson_val *s, yyjson_val *type, qp_buf *b)
{
    static const char *const plain[] = {"number", "integer", "boolean", "null"};
    if (yyjson_equals_str(type, "object"))
        return write_object(w, s, b);
    if (yyjson_equals_str(type, "array"))
        return write_array(w, s, b);
    if (yyjson_equals_str(type, "string"))
        return write_string(w, s, b);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (yyjson_equals_str(type, plain[i])) {
            qp_buf_text(b, plain[i]);
            return QP_OK;
        }
    return qp_fail(w->err, QP_INPUT, "JSON schema: there is no type '%.40s'",
                   yyjson_is_str(type) ? yyjson_get_str(type) : "?");
}

/* ---- choices and references ---- */

static qp_code one_constant(writer *w, yyjson_val *unused, yyjson_val *v, qp_buf *b)
{
    (void)unused;
    return add_constant(w, v, b);
}

static qp_code one_schema(writer *w, yyjson_val *unused, yyjson_val *v, qp_buf *b)
{
    (void)unused;
    return write_schema(w, v, b);
}

static qp_code write_choice(writer *w, yyjson_val *s, yyjson_val *list, const char *keyword,
                            qp_code (*one)(writer *, yyjson_val *, yyjson_val *, qp_buf *), qp_buf *b)
{
    size_t i, n;
    yyjson_val *v;
    qp_code code = QP_OK;
    if (!yyjson_arr_size(list))
        return qp_fail(w->err, QP_INPUT, "JSON schema: %s must be a list of at least one", keyword);
    yyjson_arr_foreach(list, i, n, v) {
        qp_buf_text(b, i ? " | " : "(");
        if ((code = one(w, s, v, b)))
            return code;
    }
    qp_buf_char(b, ')');
    return code;
}

static qp_code write_reference(writer *w, yyjson_val *reference, qp_buf *b)
{
    qp_str name = {yyjson_get_str(reference), yyjson_get_len(reference)};
    yyjson_val *target = NULL;
    if (yyjson_is_str(reference) && name.n && name.at[0] == '#')
        target = name.n == 1 ? w->root : yyjson_ptr_getn(w->root, name.at + 1, name.n - 1);
    if (!target)
        return qp_fail(w->err, QP_INPUT, "JSON schema: $ref '%.60s' is not in the schema", name.at ? name.at : "?");
    bool added;
    uint64_t *slot = qp_map_put(w->refs, name, &added);
    if (!slot)
        return qp_oom(w->err);
    if (added)
        *slot = w->rules++;
    uint64_t rule = *slot;
    qp_buf_fmt(b, "r%llu", (unsigned long long)rule);
    if (!added)
        return QP_OK;
    qp_buf body = {0};
    qp_code code = write_schema(w, target, &body);
    qp_buf_fmt(w->out, "r%llu ::= %s\n", (unsigned long long)rule, body.at ? body.at : "value");
    qp_buf_free(&body);
    return code;
}

/* ---- a schema ---- */

static qp_code check_keywords(writer *w, yyjson_val *s)
{
    static const char *const known[] = {"type",      "properties",  "required", "items",    "minItems",
                                        "maxItems",  "enum",        "const",    "anyOf",    "oneOf",
                                        "minLength", "maxLength",   "$ref",     "$defs",    "definitions",
                                        "title",     "description", "default",  "examples", "additionalProperties",
                                        "$schema",   "$id",         "$comment"};
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(s, i, n, key, value) {
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known && !found; k++)
            found = yyjson_equals_str(key, known[k]);
        if (!found)
            return qp_fail(w->err, QP_INPUT, "JSON schema: the keyword '%.40s' is not supported here",
                           yyjson_get_str(key));
    }
    return QP_OK;
}

static qp_code write_object_schema(writer *w, yyjson_val *s, qp_buf *b)
{
    yyjson_val *v;
    qp_code code = check_keywords(w, s);
    if (code)
        return code;
    if ((v = yyjson_obj_get(s, "$ref")))
        return write_reference(w, v, b);
    if ((v = yyjson_obj_get(s, "const")))
        return add_constant(w, v, b);
    if ((v = yyjson_obj_get(s, "enum")))
        return write_choice(w, s, v, "enum", one_constant, b);
    if ((v = yyjson_obj_get(s, "anyOf")))
        return write_choice(w, s, v, "anyOf", one_schema, b);
    if ((v = yyjson_obj_get(s, "oneOf")))
        return write_choice(w, s, v, "oneOf", one_schema, b);
    if ((v = yyjson_obj_get(s, "type")) && yyjson_is_arr(v))
        return write_choice(w, s, v, "type", write_type, b);
    if (v)
        return write_type(w, s, v, b);
    if (yyjson_obj_get(s, "properties"))
        return write_object(w, s, b);
    qp_buf_text(b, "value");
    return QP_OK;
}

static qp_code write_schema(writer *w, yyjson_val *s, qp_buf *b)
{
    if (yyjson_is_true(s)) {
        qp_buf_text(b, "value");
        return QP_OK;
    }
    if (!yyjson_is_obj(s))
        return qp_fail(w->err, QP_INPUT, "JSON schema: an object was wanted where a %s stands",
                       yyjson_get_type_desc(s));
    if (w->depth >= DEEPEST)
        return qp_fail(w->err, QP_INPUT, "JSON schema: nested deeper than %d", DEEPEST);
    w->depth++;
    qp_code code = write_object_schema(w, s, b);
    w->depth--;
    return code;
}

qp_code qp_schema_grammar(qp_str schema, qp_buf *grammar, qp_err *err)
{
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts((char *)schema.at, schema.n, 0, NULL, &why);
    if (!doc)
        return qp_fail(err, QP_INPUT, "JSON schema: byte %zu: %s", why.pos, why.msg);
    qp_buf root = {0};
    writer w = {.root = yyjson_doc_get_root(doc), .out = grammar, .refs = qp_map_new(), .err = err};
    qp_buf_text(grammar, basics);
    qp_code code = w.refs ? write_schema(&w, w.root, &root) : qp_oom(err);
    qp_buf_fmt(grammar, "root ::= %s\n", root.at ? root.at : "value");
    if (!code && (root.oom || grammar->oom))
        code = qp_oom(err);
    qp_buf_free(&root);
    qp_map_free(w.refs);
    yyjson_doc_free(doc);
    return code;
}
