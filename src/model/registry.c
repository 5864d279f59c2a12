#include "model/registry.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <yyjson.h>

#include "base/file.h"
#include "base/share.h"

static const char *const purposes[QP_PURPOSES] = {[QP_EMBEDDER] = "embedder",
                                                  [QP_RANKER] = "reranker",
                                                  [QP_WRITER] = "writer",
                                                  [QP_SPARSE] = "sparse encoder",
                                                  [QP_ATTENTION] = "attention model"};

enum { KINDS = QP_ATTENTION }; /* what a registered model is: one of those before it */

const char *qp_purpose_name(qp_purpose purpose)
{
    return purposes[purpose];
}

/* ---- reading ---- */

typedef struct reader { /* the first error sticks; what follows reads as nothing */
    qp_arena *mem;
    const char *where, *model;
    qp_err *err;
    qp_code code;
} reader;

static void refuse(reader *r, const char *what)
{
    if (!r->code)
        r->code = qp_fail(r->err, QP_INPUT, "%s: model '%.60s': %s", r->where, r->model, what);
}

static const char *text(reader *r, yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    if (!yyjson_is_str(value))
        return NULL;
    const char *copy = qp_arena_cstr(r->mem, yyjson_get_str(value));
    if (!copy && !r->code)
        r->code = qp_oom(r->err);
    return copy;
}

static uint32_t number(yyjson_val *object, const char *key)
{
    uint64_t value = yyjson_get_uint(yyjson_obj_get(object, key));
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static bool is_sha256(const char *hex)
{
    return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

/* A relative path that stays below where it starts. */
static bool is_inside(const char *path)
{
    return *path && *path != '/' && !strstr(path, "..");
}

static void read_file(reader *r, yyjson_val *item, qp_model_file *f)
{
    f->path = text(r, item, "path");
    f->sha256 = text(r, item, "sha256");
    if (!f->path || !is_inside(f->path))
        refuse(r, "a source's file has no path, or one that leads outside");
    else if (f->sha256 && !is_sha256(f->sha256))
        refuse(r, "a sha256 is not 64 lower-case hexadecimal digits (null: what the hub says is checked)");
}

static void read_source(reader *r, yyjson_val *item, qp_model_source *s)
{
    static const char *const kinds[] = {
        [QP_FROM_HUB] = "hub", [QP_FROM_PACKAGE] = "package", [QP_FROM_SHARE] = "ships", [QP_FROM_PATH] = "path"};
    yyjson_val *files = yyjson_obj_get(item, "files"), *file;
    size_t i, n;

    for (int k = 0; k < 4 && !s->name; k++) {
        s->kind = (qp_source_kind)k;
        s->name = text(r, item, kinds[k]);
    }
    if (!s->name || !*s->name)
        refuse(r, "a source names none of hub, package, ships, path");
    s->version = text(r, item, s->kind == QP_FROM_HUB ? "revision" : "version");
    if (s->kind <= QP_FROM_PACKAGE && (!s->version || *s->version == '-' || (s->name && *s->name == '-')))
        refuse(r, "a hub source needs a revision, a package source a version");
    s->folder = text(r, item, "folder");
    if (s->folder && *s->folder && !is_inside(s->folder))
        refuse(r, "a source's folder leads outside");
    if (!s->folder)
        s->folder = "";
    s->n_files = yyjson_arr_size(files);
    s->file = qp_new(r->mem, qp_model_file, s->n_files + 1);
    if (!s->file) {
        r->code = r->code ? r->code : qp_oom(r->err);
        return;
    }
    yyjson_arr_foreach(files, i, n, file)
        read_file(r, file, &s->file[i]);
    if (s->kind <= QP_FROM_PACKAGE && !s->n_files)
        refuse(r, "a source lists no files");
}

static void read_model(reader *r, yyjson_val *item, qp_model_entry *m)
{
    yyjson_val *sources = yyjson_obj_get(item, "sources"), *source;
    size_t i, n;

    r->model = "(no name)";
    m->name = text(r, item, "name");
    r->model = m->name ? m->name : r->model;
    const char *kind = text(r, item, "kind");
    int k = 0;
    while (k < KINDS && (!kind || strcmp(kind, purposes[k])))
        k++;
    m->purpose = (qp_purpose)(k % KINDS);
    if (!m->name || k == KINDS)
        refuse(r, "wants a name and a kind (embedder, reranker, writer or sparse encoder)");
    m->about = text(r, item, "about");
    m->license = text(r, item, "license");
    m->pooling = text(r, item, "pooling");
    m->type = text(r, item, "type");
    m->query_prefix = text(r, item, "query_prefix");
    m->passage_prefix = text(r, item, "passage_prefix");
    m->standard = yyjson_get_bool(yyjson_obj_get(item, "default"));
    m->dim = number(item, "dimension");
    m->max_tokens = number(item, "max_tokens");
    m->n_sources = yyjson_arr_size(sources);
    m->source = qp_new(r->mem, qp_model_source, m->n_sources + 1);
    if (!m->source) {
        r->code = r->code ? r->code : qp_oom(r->err);
        return;
    }
    if (!m->n_sources || !m->license)
        refuse(r, "wants a license and at least one source");
    yyjson_arr_foreach(sources, i, n, source)
        read_source(r, source, &m->source[i]);
}

qp_code qp_registry_parse(qp_str json, const char *where, qp_registry *out, qp_arena *mem, qp_err *err)
{
    reader r = {.mem = mem, .where = qp_arena_cstr(mem, where), .model = "", .err = err};
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json.at, json.n, 0, NULL, &why);
    if (!doc)
        return qp_fail(err, QP_INPUT, "%s: is not JSON: %s at byte %zu", where, why.msg, why.pos);
    yyjson_val *root = yyjson_doc_get_root(doc), *models = yyjson_obj_get(root, "models"), *item;
    size_t i, n;
    qp_model_entry *model = qp_new(mem, qp_model_entry, yyjson_arr_size(models) + 1);

    if (!model || !r.where)
        r.code = qp_oom(err);
    else if (!yyjson_is_arr(models))
        r.code = qp_fail(err, QP_INPUT, "%s: has no list of models", where);
    *out = (qp_registry){.hub = text(&r, root, "hub"), .model = model};
    yyjson_arr_foreach(models, i, n, item) {
        if (r.code)
            break;
        read_model(&r, item, &model[i]);
        if (!r.code && qp_registry_get(out, model[i].name))
            refuse(&r, "is there twice");
        out->n += !r.code;
    }
    yyjson_doc_free(doc);
    return r.code;
}

qp_code qp_registry_load(qp_registry *out, qp_arena *mem, qp_err *err)
{
    const char *path = qp_share_find(mem, "models/registry.json");
    qp_buf json = {0};
    if (!path)
        return qp_fail(err, QP_INPUT, "models/registry.json is neither installed nor under $QUIPU_SHARE");
    qp_code code = qp_file_read(path, 16 << 20, &json, err);
    if (!code)
        code = qp_registry_parse(qp_buf_view(&json), path, out, mem, err);
    qp_buf_free(&json);
    return code;
}

const qp_model_entry *qp_registry_get(const qp_registry *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->model[i].name, name))
            return &r->model[i];
    return NULL;
}

const qp_model_entry *qp_registry_standard(const qp_registry *r, qp_purpose purpose)
{
    const qp_purpose kind = purpose == QP_ATTENTION ? QP_WRITER : purpose; /* GEAR's heads are a decoder's */
    for (size_t i = 0; i < r->n; i++)
        if (r->model[i].purpose == kind && r->model[i].standard)
            return &r->model[i];
    return NULL;
}

/* ---- on this machine ---- */

qp_code qp_models_folder(char **path, qp_arena *mem, qp_err *err)
{
    const char *own = getenv("QUIPU_MODELS"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (own && *own)
        *path = qp_arena_cstr(mem, own);
    else if (data && *data == '/')
        *path = qp_path_join(mem, data, "quipu/models");
    else if (home && *home)
        *path = qp_path_join(mem, home, ".local/share/quipu/models");
    else
        return qp_fail(err, QP_INPUT, "no folder for models: neither QUIPU_MODELS nor HOME is set");
    return *path ? QP_OK : qp_oom(err);
}

qp_code qp_models_file(const char *name, char **path, qp_arena *mem, qp_err *err)
{
    char *folder;
    size_t n = strlen(name);
    if (!n || n > 100 || *name == '.' || *name == '-' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != n)
        return qp_fail(
            err, QP_INPUT,
            "'%.100s' is no name for a model: letters, digits, '.', '_' and '-', at most 100, and none of the "
            "last three first",
            name);
    qp_code code = qp_models_folder(&folder, mem, err);
    if (code)
        return code;
    qp_str file = qp_arena_fmt(mem, "%s/%s.gguf", folder, name);
    *path = (char *)(uintptr_t)file.at;
    return file.at ? QP_OK : qp_oom(err);
}

qp_code qp_registry_locate(const qp_model_entry *m, char **path, qp_arena *mem, qp_err *err)
{
    qp_code code = qp_models_file(m->name, path, mem, err);
    if (code || qp_path_exists(*path))
        return code;
    *path = NULL;
    for (size_t i = 0; i < m->n_sources && !*path; i++) {
        if (m->source[i].kind != QP_FROM_SHARE)
            continue;
        char *shipped = qp_path_join(mem, "models", m->source[i].name);
        if (!shipped)
            return qp_oom(err);
        *path = qp_share_find(mem, shipped);
    }
    return QP_OK;
}

/* A name that the registry does not have may still be a file in the folder: an imported model. */
static qp_code find_unregistered(const qp_registry *r, const char *name, char **path, qp_arena *mem, qp_err *err)
{
    const char **names = qp_new(mem, const char *, r->n + 1);
    qp_code code = qp_models_file(name, path, mem, err);
    if (code || qp_path_exists(*path))
        return code;
    for (size_t i = 0; names && i < r->n; i++)
        names[i] = r->model[i].name;
    const char *near = names ? qp_nearest(name, names, r->n) : NULL;
    return qp_fail(err, QP_MODEL,
                   "there is no model '%.100s'%s%s%s: neither in the registry (quipu model list) nor as %s; a file of "
                   "yours: quipu model import PATH",
                   name, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", *path);
}

qp_code qp_registry_find(qp_purpose purpose, const char *name, char **path, qp_arena *mem, qp_err *err)
{
    qp_registry r;
    qp_code code = qp_registry_load(&r, mem, err);
    if (code)
        return code;
    const qp_model_entry *m = name ? qp_registry_get(&r, name) : qp_registry_standard(&r, purpose);
    if (!m && name)
        return find_unregistered(&r, name, path, mem, err);
    if (!m)
        return qp_fail(err, QP_MODEL, "the registry names no default %s; give one by name", purposes[purpose]);
    if (m->purpose != purpose && purpose != QP_ATTENTION)
        return qp_fail(err, QP_MODEL, "the model '%s' is for use as %s, not as %s", m->name, purposes[m->purpose],
                       purposes[purpose]);
    code = qp_registry_locate(m, path, mem, err);
    if (!code && !*path)
        code = qp_fail(err, QP_MODEL, "the %s '%s' is not on this machine yet; fetch it: quipu model pull %s",
                       purposes[m->purpose], m->name, m->name);
    return code;
}
