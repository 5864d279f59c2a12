#include "model/trained.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

typedef struct kept {
    struct kept *next;
    char *path;
    struct stat file; /* another inode or time: it was written anew */
    qp_lesegr *model;
    const char *sparse; /* in the arena */
} kept;

struct qp_trained {
    char *folder;
    pthread_mutex_t lock; /* guards what follows */
    kept *first;          /* what a question may still read stays */
    qp_arena *mem;
};

qp_trained *qp_trained_new(const char *folder)
{
    qp_trained *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->folder = strdup(folder);
    s->mem = qp_arena_new();
    if (s->folder && s->mem)
        return s;
    qp_trained_free(s);
    return NULL;
}

void qp_trained_free(qp_trained *s)
{
    if (!s)
        return;
    for (kept *k = s->first, *next; k; k = next) {
        next = k->next;
        qp_lesegr_free(k->model);
        free(k->path);
        free(k);
    }
    pthread_mutex_destroy(&s->lock);
    qp_arena_free(s->mem);
    free(s->folder);
    free(s);
}

char *qp_trained_path(qp_arena *mem, const char *folder, const char *encoder)
{
    return (char *)(uintptr_t)qp_arena_fmt(mem, "%s/lesegr-%s.gguf", folder, encoder).at;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The file that a name means; null: auto, and nothing was trained. */
static const char *file_of(const qp_trained *s, const char *name, qp_arena *mem)
{
    bool any = !strcmp(name, "auto");
    const char *best = NULL;
    struct stat newest = {0}, info;
    for (const char *const *kind = qp_lesegr_kinds; *kind; kind++) {
        char *path = any || !strcmp(name, *kind) ? qp_trained_path(mem, s->folder, *kind) : NULL;
        if (path && !any)
            return path;
        if (path && !stat(path, &info) && (!best || is_newer(&info, &newest))) {
            best = path;
            newest = info;
        }
    }
    return any ? best : name;
}

static qp_code load(qp_trained *s, const char *path, const struct stat *file, uint32_t dim, const char *embedder,
                    kept **out, qp_err *err)
{
    qp_lesegr_about about = {.embedder = embedder};
    kept *k = calloc(1, sizeof *k);
    if (!k || !(k->path = strdup(path))) {
        free(k);
        return qp_oom(err);
    }
    qp_code code = qp_lesegr_load(path, dim, &k->model, &about, s->mem, err);
    if (code) {
        free(k->path);
        free(k);
        return code;
    }
    k->file = *file;
    k->sparse = about.sparse;
    k->next = s->first;
    s->first = *out = k;
    return QP_OK;
}

static qp_code find(qp_trained *s, const char *path, uint32_t dim, const char *embedder, kept **out, qp_err *err)
{
    struct stat file;
    if (stat(path, &file))
        return qp_fail(err, QP_MODEL,
                       "%s: weights of LeSeGR were wanted and are not there: `quipu train lesegr` makes them", path);
    kept *k = s->first;
    while (k && (strcmp(k->path, path) || k->file.st_ino != file.st_ino || is_newer(&file, &k->file)))
        k = k->next;
    *out = k;
    return k ? QP_OK : load(s, path, &file, dim, embedder, out, err);
}

qp_code qp_trained_lesegr(qp_trained *s, const char *name, uint32_t dim, const char *embedder, const qp_lesegr **out,
                          const char **sparse, qp_err *err)
{
    kept *k = NULL;
    qp_arena *mem = qp_arena_new();
    if (!mem)
        return qp_oom(err);
    pthread_mutex_lock(&s->lock);
    const char *path = file_of(s, name, mem);
    qp_code code = path ? find(s, path, dim, embedder, &k, err) : QP_OK;
    pthread_mutex_unlock(&s->lock);
    qp_arena_free(mem);
    *out = k && !code ? k->model : NULL;
    *sparse = *out ? k->sparse : NULL;
    return code;
}
