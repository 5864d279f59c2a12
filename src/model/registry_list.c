/* `quipu model list`: the registry, and what is on this machine. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <yyjson.h>

#include "base/file.h"
#include "model/registry.h"

static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *key, uint64_t n)
{
    if (n)
        yyjson_mut_obj_add_uint(doc, item, key, n);
    else
        yyjson_mut_obj_add_null(doc, item, key);
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *key, const char *text)
{
    if (text)
        yyjson_mut_obj_add_strcpy(doc, item, key, text);
    else
        yyjson_mut_obj_add_null(doc, item, key);
}

/* Where the file is and how large; "path": null if it is not here. */
static void add_place(yyjson_mut_doc *doc, yyjson_mut_val *item, const char *path)
{
    struct stat info;
    bool here = path && !stat(path, &info);
    yyjson_mut_obj_add_bool(doc, item, "here", here);
    add_text(doc, item, "path", here ? path : NULL);
    add_number(doc, item, "bytes", here ? (uint64_t)info.st_size : 0);
}

static void add_sources(yyjson_mut_doc *doc, yyjson_mut_val *item, const qp_model_entry *m, qp_arena *mem)
{
    static const char *const kinds[] = {"hub", "package", "ships", "path"};
    yyjson_mut_val *sources = yyjson_mut_obj_add_arr(doc, item, "sources");
    for (size_t i = 0; i < m->n_sources; i++) {
        const qp_model_source *s = &m->source[i];
        qp_str line = qp_arena_fmt(mem, "%s %s%s%s", kinds[s->kind], s->name, s->version ? " " : "",
                                   s->version ? s->version : "");
        yyjson_mut_arr_add_strncpy(doc, sources, line.at, line.n);
    }
}

static qp_code add_registered(yyjson_mut_doc *doc, yyjson_mut_val *list, const qp_registry *r, qp_arena *mem,
                              qp_err *err)
{
    for (size_t i = 0; i < r->n; i++) {
        const qp_model_entry *m = &r->model[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        char *path;
        qp_code code = qp_registry_locate(m, &path, mem, err);
        if (code)
            return code;
        yyjson_mut_obj_add_str(doc, item, "name", m->name);
        yyjson_mut_obj_add_str(doc, item, "kind", qp_purpose_name(m->purpose));
        yyjson_mut_obj_add_bool(doc, item, "default", m->standard);
        add_text(doc, item, "about", m->about);
        add_number(doc, item, "dimension", m->dim);
        add_number(doc, item, "max_tokens", m->max_tokens);
        add_text(doc, item, "pooling", m->pooling);
        yyjson_mut_obj_add_str(doc, item, "license", m->license);
        add_place(doc, item, path);
        add_sources(doc, item, m, mem);
    }
    return QP_OK;
}

/* Files of the folder that the registry does not name: what the user imported. */
static qp_code add_imported(yyjson_mut_doc *doc, yyjson_mut_val *list, const qp_registry *r, qp_arena *mem, qp_err *err)
{
    char *folder;
    struct dirent **entry;
    qp_code code = qp_models_folder(&folder, mem, err);
    int n = code ? 0 : scandir(folder, &entry, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        qp_str name = qp_str_of(entry[i]->d_name);
        if (name.n > 5 && *name.at != '.' && qp_str_ends(name, QP_STR(".gguf"))) {
            char *path = qp_path_join(mem, folder, name.at);
            qp_str bare = qp_arena_str(mem, qp_str_slice(name, 0, name.n - 5));
            if (bare.at && path && !qp_registry_get(r, bare.at)) {
                yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
                yyjson_mut_obj_add_str(doc, item, "name", bare.at);
                yyjson_mut_obj_add_str(doc, item, "kind", "imported");
                add_place(doc, item, path);
            }
        }
        free(entry[i]);
    }
    if (n >= 0 && !code)
        free(entry);
    return code;
}

qp_code qp_model_list(char **json, qp_err *err)
{
    qp_arena *mem = qp_arena_new();
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    qp_registry r;
    qp_code code = mem && list ? qp_registry_load(&r, mem, err) : qp_oom(err);

    yyjson_mut_doc_set_root(doc, list);
    if (!code)
        code = add_registered(doc, list, &r, mem, err);
    if (!code)
        code = add_imported(doc, list, &r, mem, err);
    if (!code && !(*json = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL)))
        code = qp_oom(err);
    yyjson_mut_doc_free(doc);
    qp_arena_free(mem);
    return code;
}
