/* The reference lists of files, as quipu reads them: a JSON object an entry.
 *
 *     references FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/file.h"
#include "ingest/bibliography.h"
#include "ingest/format.h"

static void tell(const char *path, const qp_entry *c)
{
    const struct {
        const char *name;
        qp_str value;
    } fields[] = {{"text", c->text}, {"authors", c->authors}, {"surname", c->surname}, {"title", c->title},
                  {"year", c->year}, {"doi", c->doi},         {"arxiv", c->arxiv}};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "file", path);
    yyjson_mut_obj_add_uint(doc, root, "number", c->number);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        yyjson_mut_obj_add_strn(doc, root, fields[i].name, fields[i].value.at ? fields[i].value.at : "",
                                fields[i].value.n);
    char *json = yyjson_mut_write(doc, 0, NULL);
    puts(json ? json : "{}");
    free(json);
    yyjson_mut_doc_free(doc);
}

static int list(const char *path)
{
    qp_arena *mem = qp_arena_new();
    qp_buf bytes = {0};
    qp_extract x;
    qp_err err = {0};
    qp_bibliography found = {0};

    qp_extract_init(&x, mem);
    qp_code code = qp_file_read(path, 0, &bytes, &err);
    const qp_format *format = code ? NULL : qp_format_of(qp_str_of(path), qp_str_slice(qp_buf_view(&bytes), 0, 4096));
    if (format && format->read)
        code = format->read(&(qp_input){qp_buf_view(&bytes), path}, &x, &err);
    if (!code && qp_bibliography_find(&x, &found))
        for (size_t i = 0; i < found.n; i++)
            tell(path, &found.at[i]);
    if (code)
        fprintf(stderr, "%s: %s\n", path, err.message);
    qp_buf_free(&bytes);
    qp_extract_free(&x);
    qp_arena_free(mem);
    return code;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++)
        rc |= list(argv[i]);
    return rc ? 1 : 0;
}
