/* Which nodes a metadata filter lets through: it is tried on each document. */
#include <yyjson.h>

#include "base/map.h"
#include "store/mapped.h"
#include "store/where.h"

struct trial { /* of one document */
    const qp_snapshot *s;
    const qp_document_entry *document;
    yyjson_val *meta; /* null: none, or no JSON */
    qp_buf *folded;
};

static bool is_true(const struct trial *t, const qp_where *w);

/* -1, 0, 1; 2 if the two cannot be compared. */
static int compare(const qp_value *field, const qp_value *wanted)
{
    double a = field->number, b = wanted->number;
    bool numbers = (field->kind == QP_V_NUMBER || (field->kind == QP_V_TEXT && qp_number_of(field->text, &a))) &&
                   (wanted->kind == QP_V_NUMBER || (wanted->kind == QP_V_TEXT && qp_number_of(wanted->text, &b)));
    if (field->kind == QP_V_TEXT && wanted->kind == QP_V_TEXT) {
        int order = qp_str_cmp(field->text, wanted->text);
        return (order > 0) - (order < 0);
    }
    if (numbers)
        return (a > b) - (a < b);
    return field->kind == wanted->kind && field->kind != QP_V_NUMBER ? 0 : 2;
}

static bool has(const struct trial *t, const qp_value *field, const qp_value *part)
{
    if (field->kind != QP_V_TEXT)
        return false;
    qp_buf_clear(t->folded);
    qp_fold(field->text, t->folded);
    return !part->text.n || (t->folded->n && memmem(t->folded->at, t->folded->n, part->text.at, part->text.n));
}

static bool passes(const struct trial *t, const qp_value *field, const qp_where *w)
{
    int order = w->n_values ? compare(field, &w->values[0]) : 2;
    switch (w->kind) {
    case QP_W_EQUAL:
    case QP_W_UNEQUAL: return order == 0; /* the caller turns it round, for all items of a list */
    case QP_W_LESS: return order == -1;
    case QP_W_AT_MOST: return order == -1 || order == 0;
    case QP_W_MORE: return order == 1;
    case QP_W_AT_LEAST: return order == 1 || order == 0;
    case QP_W_HAS: return has(t, field, &w->values[0]);
    case QP_W_IN:
        for (uint32_t i = 0; i < w->n_values; i++)
            if (compare(field, &w->values[i]) == 0)
                return true;
        return false;
    default: return w->kind == QP_W_EXISTS;
    }
}

static bool json_passes(const struct trial *t, yyjson_val *v, const qp_where *w)
{
    qp_value field = {0};
    if (yyjson_is_str(v))
        field = (qp_value){QP_V_TEXT, 0, {yyjson_get_str(v), yyjson_get_len(v)}};
    else if (yyjson_is_num(v))
        field = (qp_value){QP_V_NUMBER, yyjson_get_num(v), {0}};
    else if (yyjson_is_bool(v))
        field.kind = yyjson_is_true(v) ? QP_V_TRUE : QP_V_FALSE;
    else if (!yyjson_is_null(v))
        return w->kind == QP_W_EXISTS; /* an object or a list in a list is there, and equals nothing */
    return passes(t, &field, w);
}

/* A field may have dots in its name ("file.mtime"); else they go into objects. */
static yyjson_val *meta_field(const struct trial *t, const qp_where *w)
{
    const char *whole = w->path[0].at;
    const qp_str *last = &w->path[w->n_path - 1];
    yyjson_val *v = yyjson_obj_getn(t->meta, whole, (size_t)(last->at + last->n - whole));
    if (v)
        return v;
    v = t->meta;
    for (uint32_t i = 0; v && i < w->n_path; i++)
        v = yyjson_obj_getn(v, w->path[i].at, w->path[i].n);
    return v;
}

static bool meta_passes(const struct trial *t, const qp_where *w, bool *there)
{
    yyjson_val *v = meta_field(t, w);
    *there = v != NULL;
    if (!yyjson_is_arr(v))
        return v && json_passes(t, v, w);
    if (w->kind == QP_W_EXISTS)
        return true;
    yyjson_arr_iter items = yyjson_arr_iter_with(v);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items));)
        if (json_passes(t, item, w))
            return true;
    return false;
}

/* The document's own fields; false: w asks for something of the metadata. */
static bool own_field(const struct trial *t, const qp_where *w, qp_str *out)
{
    const qp_document_entry *d = t->document;
    const struct {
        const char *name;
        qp_ref ref;
    } own[] = {
        {"id", d->key}, {"title", d->title}, {"path", d->path}, {"format", d->format}, {"language", d->language}};
    for (size_t i = 0; w->n_path == 1 && i < sizeof own / sizeof *own; i++)
        if (qp_str_eq(w->path[0], qp_str_of(own[i].name))) {
            *out = qp_snapshot_string(t->s, own[i].ref);
            return true;
        }
    return false;
}

static bool holds(const struct trial *t, const qp_where *w)
{
    qp_value own = {.kind = QP_V_TEXT};
    bool there, passed;
    if (own_field(t, w, &own.text)) {
        there = own.text.n > 0;
        passed = there && passes(t, &own, w);
    } else {
        passed = meta_passes(t, w, &there);
    }
    return w->kind == QP_W_UNEQUAL ? there && !passed : passed;
}

static bool is_true(const struct trial *t, const qp_where *w)
{
    switch (w->kind) {
    case QP_W_AND: return is_true(t, w->left) && is_true(t, w->right);
    case QP_W_OR: return is_true(t, w->left) || is_true(t, w->right);
    case QP_W_NOT: return !is_true(t, w->left);
    default: return holds(t, w);
    }
}

static void let_through(const qp_snapshot *s, uint32_t document, uint64_t *allow)
{
    qp_id first;
    uint32_t n;
    qp_snapshot_document_nodes(s, document, &first, &n);
    for (qp_id v = first; v < first + n; v++)
        allow[v / 64] |= UINT64_C(1) << (v % 64);
}

/* ---- why nothing is let through ---- */

enum { MOST_NAMES = 256 };

/* Does a document have the field that this test asks for? The names of fields that are passed on the way are kept. */
static qp_code look_for(const qp_snapshot *s, const qp_where *test, bool *found, qp_map *names, qp_err *err)
{
    qp_code code = QP_OK;
    qp_str own;
    *found = false;
    for (uint32_t d = 0; !code && !*found && d < s->documents; d++) {
        qp_str meta = qp_snapshot_document_meta(s, d);
        yyjson_doc *json = yyjson_read(meta.at, meta.n, 0);
        struct trial t = {s, &s->document[d], yyjson_doc_get_root(json), NULL};
        yyjson_obj_iter fields = yyjson_obj_iter_with(t.meta);
        yyjson_val *name;
        *found = own_field(&t, test, &own) || meta_field(&t, test);
        while (!code && qp_map_size(names) < MOST_NAMES && (name = yyjson_obj_iter_next(&fields)))
            if (!qp_map_put(names, (qp_str){yyjson_get_str(name), yyjson_get_len(name)}, NULL))
                code = qp_oom(err);
        yyjson_doc_free(json);
    }
    return code;
}

static qp_code say_unknown(const qp_where *test, const qp_map *names, qp_arena *a, qp_err *err)
{
    enum { TOLD = 12 };
    const qp_str *last = &test->path[test->n_path - 1];
    const char *name = qp_arena_fmt(a, "%.*s", (int)(last->at + last->n - test->path[0].at), test->path[0].at).at;
    const char *known[MOST_NAMES + 5] = {"id", "title", "path", "format", "language"};
    size_t n = 5;
    for (size_t i = 0; i < qp_map_size(names); i++)
        if ((known[n] = qp_arena_str(a, qp_map_key(names, i)).at))
            n++;
    const char *near = name ? qp_nearest(name, known, n) : NULL;
    qp_buf list = {0};
    for (size_t i = 0; i < n && i < TOLD && !near; i++)
        qp_buf_fmt(&list, "%s%s", i ? ", " : "; there are ", known[i]);
    qp_buf_fmt(&list, near ? " (did you mean '%s'?)" : n > TOLD ? " and more%s" : "%s", near ? near : "");
    qp_code code = list.oom ? qp_oom(err)
                            : qp_fail(err, QP_NONE, "--where: no document has a field '%.200s'%.*s", name ? name : "",
                                      (int)list.n, list.at);
    qp_buf_free(&list);
    return code;
}

/* QP_NONE: a test asks for a field that no document has. */
static qp_code find_unknown(const qp_snapshot *s, const qp_where *w, qp_map *names, qp_arena *a, qp_err *err)
{
    bool found;
    if (w->kind == QP_W_NOT)
        return find_unknown(s, w->left, names, a, err);
    if (w->kind == QP_W_AND || w->kind == QP_W_OR) {
        qp_code code = find_unknown(s, w->left, names, a, err);
        return code ? code : find_unknown(s, w->right, names, a, err);
    }
    qp_code code = look_for(s, w, &found, names, err);
    return code || found ? code : say_unknown(w, names, a, err);
}

static qp_code explain_nothing(const qp_snapshot *s, const qp_where *w, qp_arena *a, qp_err *err)
{
    qp_map *names = qp_map_new();
    qp_code code = names ? find_unknown(s, w, names, a, err) : qp_oom(err);
    qp_map_free(names);
    return code;
}

qp_code qp_snapshot_where(const qp_snapshot *s, const char *expression, const uint64_t **allow, qp_arena *a,
                          qp_err *err)
{
    const qp_where *w;
    qp_buf folded = {0};
    uint64_t *bits = qp_new(a, uint64_t, (size_t)s->nodes / 64 + 1);
    bool any = false;
    qp_code code = bits ? qp_where_parse(expression, &w, a, err) : qp_oom(err);
    for (uint32_t d = 0; !code && d < s->documents; d++) {
        qp_str meta = qp_snapshot_document_meta(s, d);
        yyjson_doc *json = meta.n > 2 ? yyjson_read(meta.at, meta.n, 0) : NULL; /* "{}" is soon read */
        struct trial t = {s, &s->document[d], yyjson_doc_get_root(json), &folded};
        if (is_true(&t, w)) {
            let_through(s, d, bits);
            any = true;
        }
        yyjson_doc_free(json);
    }
    if (!code && folded.oom)
        code = qp_oom(err);
    if (!code && !any && s->documents)
        code = explain_nothing(s, w, a, err);
    qp_buf_free(&folded);
    *allow = code ? NULL : bits;
    return code;
}
