/* YAML front matter: scalars and lists of scalars on the top level become metadata; what nests deeper is left out. */
#include <stdlib.h>
#include <yaml.h>
#include <yyjson.h>

#include "ingest/reader.h"

struct front {
    qp_extract *x;
    yyjson_mut_doc *doc;
    yyjson_mut_val *root, *list; /* list: the sequence at hand, or null */
    char *key;
    int depth;
    bool table; /* the document is a mapping */
};

static yyjson_mut_val *scalar(yyjson_mut_doc *doc, const yaml_event_t *e)
{
    const char *s = (const char *)e->data.scalar.value;
    size_t n = e->data.scalar.length;
    char *end;

    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && n && n < 30) {
        if (!strcmp(s, "true") || !strcmp(s, "false"))
            return yyjson_mut_bool(doc, s[0] == 't');
        long long whole = strtoll(s, &end, 10);
        if (!*end)
            return yyjson_mut_sint(doc, whole);
        double number = strspn(s, "0123456789+-.eE") == n ? strtod(s, &end) : 0;
        if (!*end && number - number == 0)
            return yyjson_mut_real(doc, number);
    }
    return yyjson_mut_strncpy(doc, s, n);
}

static void take_scalar(struct front *f, const yaml_event_t *e)
{
    if (f->depth == 2 && f->list) {
        yyjson_mut_arr_append(f->list, scalar(f->doc, e));
    } else if (f->depth == 1 && !f->key) {
        f->key = strndup((const char *)e->data.scalar.value, e->data.scalar.length);
    } else if (f->depth == 1) {
        if (!strcmp(f->key, "title"))
            qp_extract_title(f->x, (qp_str){(const char *)e->data.scalar.value, e->data.scalar.length});
        else
            yyjson_mut_obj_put(f->root, yyjson_mut_strcpy(f->doc, f->key), scalar(f->doc, e));
        free(f->key);
        f->key = NULL;
    }
}

static bool take_event(struct front *f, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT: take_scalar(f, e); return true;
    case YAML_SEQUENCE_START_EVENT:
        if (f->depth == 1 && f->key) {
            f->list = yyjson_mut_arr(f->doc);
            yyjson_mut_obj_put(f->root, yyjson_mut_strcpy(f->doc, f->key), f->list);
        }
        f->depth++;
        return true;
    case YAML_MAPPING_START_EVENT:
        f->table |= !f->depth;
        f->depth++;
        return f->depth < 64;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        f->depth--;
        if (f->depth == 1) {
            free(f->key);
            f->key = NULL;
            f->list = NULL;
        }
        return f->depth > 0;
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return false;
    case YAML_ALIAS_EVENT: /* an anchor's copy: not followed */
        free(f->key);
        f->key = NULL;
        return true;
    default: return true;
    }
}

/* False: it is no mapping, so it is no front matter. */
static bool parse(qp_str yaml, qp_extract *x)
{
    struct front f = {.x = x, .doc = yyjson_mut_doc_new(NULL)};
    yaml_parser_t parser;
    yaml_event_t event;
    bool more = true;

    if (!f.doc || !yaml_parser_initialize(&parser)) {
        x->oom = true;
        yyjson_mut_doc_free(f.doc);
        return false;
    }
    f.root = yyjson_mut_obj(f.doc);
    yyjson_mut_doc_set_root(f.doc, f.root);
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml.at, yaml.n);
    while (more && yaml_parser_parse(&parser, &event)) {
        more = take_event(&f, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    free(f.key);
    if (yyjson_mut_obj_size(f.root)) {
        size_t n = 0;
        char *json = yyjson_mut_write(f.doc, 0, &n);
        if (json) {
            qp_buf_clear(&x->meta);
            qp_buf_add(&x->meta, json, n);
        }
        free(json);
    }
    yyjson_mut_doc_free(f.doc);
    return f.table;
}

qp_str qp_front_matter(qp_str s, qp_extract *x)
{
    size_t at = 4;

    if (!qp_str_starts(s, QP_STR("---\n")))
        return s;
    while (at < s.n) {
        const char *end = memchr(s.at + at, '\n', s.n - at);
        size_t next = end ? (size_t)(end - s.at) : s.n;
        qp_str line = qp_str_trim(qp_str_slice(s, at, next));
        if (qp_str_eq(line, QP_STR("---")) || qp_str_eq(line, QP_STR("..."))) {
            bool read = at <= 1 << 16 && parse(qp_str_slice(s, 4, at), x);
            return read ? qp_str_slice(s, next, s.n) : s; /* a rule, and prose below it */
        }
        at = next + 1;
    }
    return s;
}
