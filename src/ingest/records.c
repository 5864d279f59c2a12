#include "ingest/records.h"

#include <csv.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/array.h"
#include "base/file.h"
#include "text/utf8.h"

enum { CSV_BLOCK = 64 << 10, MOST_COLUMNS = 4096, LONGEST_FIELD = 64 << 20 };

struct row { /* of a CSV: its JSON text */
    char *json;
    size_t n;
    uint64_t line;
};

struct qp_records {
    qp_record_kind kind;
    char *path;
    FILE *file;
    char *line; /* JSONL: getline's */
    size_t room;
    uint64_t number; /* lines read, or records of a JSON array */
    /* CSV */
    struct csv_parser csv;
    bool csv_open, csv_done;
    qp_buf field;
    qp_str *columns;
    size_t n_columns, column;
    yyjson_mut_doc *row;
    struct row *rows;
    size_t n_rows, cap_rows, next_row;
    bool has_text; /* a column is called what the text is called; else all columns together are the text */
    qp_buf table;  /* of the row at hand: "name: value" lines */
    bool oom;
    qp_arena *mem; /* of column names */
    /* JSON */
    qp_buf bytes;
    yyjson_doc *doc;
    yyjson_arr_iter items;
    yyjson_val *one; /* the file is one document */
    char *item;
};

void qp_records_close(qp_records *r)
{
    if (!r)
        return;
    if (r->file)
        fclose(r->file);
    if (r->csv_open)
        csv_free(&r->csv);
    for (size_t i = r->next_row ? r->next_row - 1 : 0; i < r->n_rows; i++) /* the one at hand was the reader's */
        free(r->rows[i].json);
    free(r->rows);
    yyjson_mut_doc_free(r->row);
    qp_buf_free(&r->field);
    qp_buf_free(&r->table);
    qp_arena_free(r->mem);
    free(r->line);
    free(r->item);
    yyjson_doc_free(r->doc);
    qp_buf_free(&r->bytes);
    free(r->path);
    free(r);
}

/* Spreadsheets write semicolons where a comma is the decimal point. A file that cannot be read twice has commas. */
static unsigned char delimiter_of(FILE *file)
{
    int commas = 0, semicolons = 0;
    if (fseek(file, 0, SEEK_SET))
        return ',';
    for (int c; (c = getc(file)) != EOF && c != '\n';) {
        commas += c == ',';
        semicolons += c == ';';
    }
    rewind(file);
    return semicolons > commas ? ';' : ',';
}

static qp_code open_json(qp_records *r, const char *path, qp_str bytes, qp_err *err)
{
    yyjson_read_err why;
    qp_code code = QP_OK;

    if (path)
        code = qp_file_read(path, 0, &r->bytes, err);
    else
        qp_buf_str(&r->bytes, bytes);
    if (code || r->bytes.oom)
        return code ? code : qp_oom(err);
    r->doc = yyjson_read_opts(r->bytes.at, r->bytes.n, YYJSON_READ_NOFLAG, NULL, &why);
    if (!r->doc)
        return qp_fail(err, QP_INPUT, "%s: no JSON at byte %zu: %s", r->path, why.pos, why.msg);
    yyjson_val *root = yyjson_doc_get_root(r->doc);
    if (yyjson_is_obj(root)) /* {"corpus": [...]}, or one document */
        for (size_t i = 0; i < 3 && !yyjson_is_arr(root); i++) {
            static const char *const names[] = {"corpus", "documents", "docs"};
            yyjson_val *inside = yyjson_obj_get(yyjson_doc_get_root(r->doc), names[i]);
            root = yyjson_is_arr(inside) ? inside : root;
        }
    if (yyjson_is_obj(root)) {
        r->one = root;
        return QP_OK;
    }
    if (!yyjson_arr_iter_init(root, &r->items))
        return qp_fail(err, QP_INPUT, "%s: wanted a JSON array of documents ({\"title\", \"text\"}), found %s", r->path,
                       yyjson_get_type_desc(root));
    return QP_OK;
}

qp_code qp_records_open(qp_record_kind kind, const char *path, qp_str bytes, qp_records **out, qp_err *err)
{
    qp_records *r = calloc(1, sizeof *r);
    qp_code code = QP_OK;

    if (!r)
        return qp_oom(err);
    r->kind = kind;
    r->path = strdup(path ? path : "standard input");
    r->mem = qp_arena_new();
    if (!r->path || !r->mem) {
        code = qp_oom(err);
    } else if (kind == QP_JSON) {
        code = open_json(r, path, bytes, err);
    } else {
        /* fmemopen refuses an empty buffer; an empty file has no records either way */
        r->file = path ? fopen(path, "re")
                       : fmemopen((char *)(uintptr_t)(bytes.n ? bytes.at : "\n"), bytes.n ? bytes.n : 1, "r");
        if (!r->file)
            code = qp_fail(err, QP_INPUT, "%s: cannot be read: %s", r->path, strerror(errno));
    }
    if (!code && kind != QP_JSONL && kind != QP_JSON) {
        if (csv_init(&r->csv, 0))
            code = qp_oom(err);
        r->csv_open = !code;
        csv_set_delim(&r->csv, kind == QP_TSV ? '\t' : delimiter_of(r->file));
    }
    if (code) {
        qp_records_close(r);
        return code;
    }
    *out = r;
    return QP_OK;
}

/* ---- CSV: libcsv pushes fields and rows, here they wait until they are asked for ---- */

static bool names_text(qp_str s)
{
    return qp_str_eq(s, QP_STR("text")) || qp_str_eq(s, QP_STR("contents")) || qp_str_eq(s, QP_STR("content")) ||
           qp_str_eq(s, QP_STR("body"));
}

static void take_field(void *bytes, size_t n, void *ctx)
{
    qp_records *r = ctx;

    qp_buf_clear(&r->field);
    qp_utf8_repair((qp_str){bytes ? bytes : "", bytes ? n : 0}, &r->field);
    qp_str s = qp_buf_view(&r->field);
    if (r->number == 0) { /* the first row: names */
        if (!r->columns)
            r->columns = qp_new(r->mem, qp_str, MOST_COLUMNS);
        if (r->columns && r->n_columns < MOST_COLUMNS)
            r->columns[r->n_columns++] = qp_arena_str(r->mem, qp_str_trim(s));
        r->has_text |= names_text(qp_str_trim(s));
        return;
    }
    if (!r->row) {
        r->row = yyjson_mut_doc_new(NULL);
        yyjson_mut_doc_set_root(r->row, yyjson_mut_obj(r->row));
    }
    if (r->row && r->column < r->n_columns && s.n) {
        qp_str name = r->columns[r->column];
        r->oom |= !yyjson_mut_obj_add(yyjson_mut_doc_get_root(r->row), yyjson_mut_strn(r->row, name.at, name.n),
                                      yyjson_mut_strncpy(r->row, s.at, s.n));
        if (!r->has_text)
            qp_buf_fmt(&r->table, "%.*s: %.*s\n", (int)name.n, name.at, (int)s.n, s.at);
    }
    r->column++;
}

static void take_row(int end, void *ctx)
{
    qp_records *r = ctx;
    (void)end;

    if (r->number++ == 0 || !r->row)
        return;
    if (r->table.n)
        r->oom |= !yyjson_mut_obj_add_strncpy(r->row, yyjson_mut_doc_get_root(r->row), "text", r->table.at, r->table.n);
    qp_buf_clear(&r->table);
    struct row *grown = qp_array_room(r->rows, r->n_rows, &r->cap_rows, sizeof *grown);
    if (!grown) {
        r->oom = true;
        return;
    }
    r->rows = grown;
    struct row *row = &r->rows[r->n_rows];
    row->json = yyjson_mut_write(r->row, 0, &row->n);
    row->line = r->number;
    r->n_rows += row->json != NULL;
    r->oom |= !row->json;
    yyjson_mut_doc_free(r->row);
    r->row = NULL;
    r->column = 0;
}

static qp_code next_csv(qp_records *r, qp_str *json, uint64_t *line, qp_err *err)
{
    char block[CSV_BLOCK];

    if (r->next_row)
        free(r->rows[r->next_row - 1].json), r->rows[r->next_row - 1].json = NULL;
    if (r->next_row == r->n_rows)
        r->next_row = r->n_rows = 0;
    while (!r->n_rows && !r->csv_done && !r->oom) {
        size_t n = fread(block, 1, sizeof block, r->file);
        if (n && csv_parse(&r->csv, block, n, take_field, take_row, r) != n)
            r->oom = true;
        if (r->csv.entry_pos > LONGEST_FIELD)
            return qp_fail(err, QP_INPUT,
                           "%s: a field of more than %d MiB after line %llu: a quote that is never closed?", r->path,
                           LONGEST_FIELD >> 20, (unsigned long long)r->number);
        if (n < sizeof block) {
            r->csv_done = true;
            csv_fini(&r->csv, take_field, take_row, r);
            if (ferror(r->file))
                return qp_fail(err, QP_INPUT, "%s: reading failed: %s", r->path, strerror(errno));
        }
    }
    if (r->oom || r->field.oom || r->table.oom)
        return qp_oom(err);
    if (!r->n_rows)
        return QP_OK;
    struct row *row = &r->rows[r->next_row++];
    *json = (qp_str){row->json, row->n};
    *line = row->line;
    return QP_OK;
}

static qp_code next_line(qp_records *r, qp_str *json, uint64_t *line, qp_err *err)
{
    for (;;) {
        ssize_t n = getline(&r->line, &r->room, r->file);
        if (n < 0)
            return ferror(r->file) ? qp_fail(err, QP_INPUT, "%s:%llu: reading failed: %s", r->path,
                                             (unsigned long long)r->number + 1, strerror(errno))
                                   : QP_OK;
        *line = ++r->number;
        *json = qp_str_trim((qp_str){r->line, (size_t)n});
        if (r->number == 1 && qp_str_starts(*json, QP_STR("\xEF\xBB\xBF")))
            *json = qp_str_slice(*json, 3, json->n);
        if (json->n)
            return QP_OK;
    }
}

static qp_code next_item(qp_records *r, qp_str *json, uint64_t *line, qp_err *err)
{
    yyjson_val *item = r->one ? r->one : yyjson_arr_iter_next(&r->items);

    r->one = NULL;
    if (!item)
        return QP_OK;
    free(r->item);
    r->item = yyjson_val_write(item, 0, &json->n);
    json->at = r->item;
    *line = ++r->number;
    return r->item ? QP_OK : qp_oom(err);
}

qp_code qp_records_next(qp_records *r, qp_str *json, uint64_t *line, qp_err *err)
{
    *json = (qp_str){0};
    qp_code code = r->kind == QP_JSONL  ? next_line(r, json, line, err)
                   : r->kind == QP_JSON ? next_item(r, json, line, err)
                                        : next_csv(r, json, line, err);
    if (code || !json->n)
        json->at = NULL;
    return code;
}

/* ---- one record ---- */

static qp_str as_text(yyjson_val *v, qp_arena *a)
{
    if (yyjson_is_str(v))
        return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
    if (yyjson_is_uint(v))
        return qp_arena_fmt(a, "%llu", (unsigned long long)yyjson_get_uint(v));
    if (yyjson_is_int(v))
        return qp_arena_fmt(a, "%lld", (long long)yyjson_get_sint(v));
    if (yyjson_is_real(v))
        return qp_arena_fmt(a, "%.17g", yyjson_get_real(v));
    return (qp_str){0};
}

/* The first field of these names that is there, taken out of the metadata. */
static qp_str take(yyjson_mut_val *meta, yyjson_val *root, const char *const *names, size_t n, qp_arena *a)
{
    for (size_t i = 0; i < n; i++) {
        yyjson_val *v = yyjson_obj_get(root, names[i]);
        qp_str s = as_text(v, a);
        if (!v || (!s.n && !yyjson_is_str(v)))
            continue;
        yyjson_mut_obj_remove_key(meta, names[i]);
        return s;
    }
    return (qp_str){0};
}

/* A copy in the arena; a NUL (JSON can say \u0000) becomes U+FFFD. */
static qp_str whole(qp_str s, qp_record *out, qp_arena *a)
{
    qp_buf fixed = {0};

    if (!s.n || qp_utf8_valid(s) == s.n)
        return qp_arena_str(a, s);
    out->replaced += qp_utf8_repair(s, &fixed);
    qp_str kept = qp_arena_str(a, qp_buf_view(&fixed));
    qp_buf_free(&fixed);
    return kept;
}

static qp_code parse(yyjson_doc *doc, yyjson_mut_doc *rest, qp_record *out, qp_arena *a, qp_err *err)
{
    static const char *const ids[] = {"_id", "id", "docid", "idx"}, *const titles[] = {"title"},
                             *const texts[] = {"text", "contents", "content", "body"};
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_doc_get_root(rest);
    size_t n = 0;

    out->id = whole(take(meta, root, ids, 4, a), out, a);
    out->title = whole(take(meta, root, titles, 1, a), out, a);
    out->text = whole(take(meta, root, texts, 4, a), out, a);
    char *json = yyjson_mut_obj_size(meta) ? yyjson_mut_write(rest, 0, &n) : NULL;
    out->meta = json ? qp_arena_str(a, (qp_str){json, n}) : QP_STR("{}");
    free(json);
    if (!out->id.at || !out->title.at || !out->text.at || !out->meta.at)
        return qp_oom(err);
    if (!out->text.n && !out->title.n)
        return qp_fail(err, QP_INPUT,
                       "wanted a record with \"text\" (or contents, content, body), found neither that nor a "
                       "title");
    return QP_OK;
}

qp_code qp_record_parse(qp_str json, qp_record *out, qp_arena *a, qp_err *err)
{
    qp_buf fixed = {0};
    yyjson_read_err why = {0};
    qp_code code;

    *out = (qp_record){0};
    if (qp_utf8_valid(json) < json.n) {
        out->replaced = qp_utf8_repair(json, &fixed);
        json = qp_buf_view(&fixed);
    }
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json.at, json.n, YYJSON_READ_NOFLAG, NULL, &why);
    if (!doc) {
        code = qp_fail(err, QP_INPUT, "no JSON at byte %zu: %s", why.pos, why.msg);
    } else if (!yyjson_is_obj(yyjson_doc_get_root(doc))) {
        code = qp_fail(err, QP_INPUT, "wanted a JSON object, found %s", yyjson_get_type_desc(yyjson_doc_get_root(doc)));
    } else {
        yyjson_mut_doc *rest = yyjson_doc_mut_copy(doc, NULL);
        code = rest ? parse(doc, rest, out, a, err) : qp_oom(err);
        yyjson_mut_doc_free(rest);
    }
    yyjson_doc_free(doc);
    qp_buf_free(&fixed);
    return code;
}
