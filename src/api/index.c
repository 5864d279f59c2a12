#include "api/index.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "model/trained.h"
#include "store/store.h"

struct qp_held {
    qp_snapshot *snapshot;
    pthread_mutex_t *lock; /* the index's; guards users */
    int users;             /* questions that read it, and the index itself while it is current */
    struct stat published; /* of CURRENT when this one was opened: another inode or time means a newer one */
};

struct qp_index {
    char *folder;
    bool create;
    int threads;
    uint64_t seed;
    pthread_mutex_t lock; /* guards what follows */
    qp_held *current;
    char *names[QP_PURPOSES]; /* null: the default */
    bool named[QP_PURPOSES];  /* by whoever opened it; else names are the index's own */
    qp_model *models[QP_PURPOSES];
    qp_trained *trained;
};

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

static bool made_by(qp_purpose purpose) /* does the index hold what such a model made? */
{
    return purpose == QP_EMBEDDER || purpose == QP_SPARSE || purpose == QP_ATTENTION;
}

/* What the index was made with stands in its settings; a reader falls back on it. */
static qp_code remembered_models(qp_index *index, qp_err *err)
{
    qp_store *store = NULL;
    qp_arena *arena = qp_arena_new();
    if (!arena)
        return qp_oom(err);
    qp_code code = qp_store_open(index->folder, false, false, &store, err);
    for (int p = 0; !code && p < QP_PURPOSES; p++) {
        qp_str name = {0};
        if (!made_by((qp_purpose)p) || index->names[p])
            continue;
        code = qp_store_get(store, qp_index_setting((qp_purpose)p), &name, arena, err);
        if (!code && name.n)
            index->names[p] = strndup(name.at, name.n);
    }
    qp_store_close(store);
    qp_arena_free(arena);
    return code;
}

bool qp_index_is_published(const qp_index *index)
{
    char *path = NULL;
    bool there = asprintf(&path, "%s/CURRENT", index->folder) >= 0 && qp_path_exists(path);
    free(path);
    return there;
}

qp_code qp_index_open(const char *dir, bool create, const qp_open_options *options, qp_index **out, qp_err *err)
{
    static const qp_open_options standard = {0};
    const qp_open_options *o = options ? options : &standard;
    bool there = qp_path_exists(dir);
    if (!there && !create)
        return qp_fail(err, QP_STORE, "%s: no index is here; make one with `quipu -s %s index FOLDER`", dir, dir);
    qp_index *index = calloc(1, sizeof *index);
    if (!index)
        return qp_oom(err);
    *index = (qp_index){.folder = strdup(dir),
                        .create = create,
                        .threads = o->threads,
                        .seed = o->seed,
                        .names = {copy_of(o->embedder), copy_of(o->ranker), copy_of(o->writer), copy_of(o->sparse),
                                  copy_of(o->attention)}};
    for (int p = 0; p < QP_PURPOSES; p++)
        index->named[p] = index->names[p] && strcmp(index->names[p], "none") != 0;
    pthread_mutex_init(&index->lock, NULL);
    index->trained = qp_trained_new(dir);
    qp_code code = index->folder && index->trained ? QP_OK : qp_oom(err);
    if (!code && there && (!o->embedder || !o->sparse || !o->attention)) {
        /* A reader needs the snapshot alone, and a wrong embedder is refused by its digest; `check` tells of the truth.
         * A folder without an index yet is fine for a writer. */
        qp_err why = {0};
        code = remembered_models(index, &why);
        code = code && !o->embedder && !create && !qp_index_is_published(index) ? qp_fail(err, code, "%s", why.message)
                                                                                : QP_OK;
    }
    if (code) {
        qp_index_close(index);
        return code;
    }
    *out = index;
    return QP_OK;
}

void qp_index_close(qp_index *index)
{
    if (!index)
        return;
    qp_held_release(index->current);
    for (int p = 0; p < QP_PURPOSES; p++) {
        qp_model_close(index->models[p]);
        free(index->names[p]);
    }
    qp_trained_free(index->trained);
    pthread_mutex_destroy(&index->lock);
    free(index->folder);
    free(index);
}

qp_trained *qp_index_trained(qp_index *index)
{
    return index->trained;
}

const char *qp_index_setting(qp_purpose purpose)
{
    static const char *const name[QP_PURPOSES] = {"embedder", "ranker", "writer", "sparse", "attention"};
    return name[purpose];
}

const char *qp_index_folder(const qp_index *index)
{
    return index->folder;
}

bool qp_index_creates(const qp_index *index)
{
    return index->create;
}

int qp_index_threads(const qp_index *index)
{
    return index->threads;
}

uint64_t qp_index_seed(const qp_index *index)
{
    return index->seed;
}

/* ---- snapshots ---- */

static void release_locked(qp_held *held)
{
    if (held && --held->users == 0) {
        qp_snapshot_close(held->snapshot);
        free(held);
    }
}

void qp_held_release(qp_held *held)
{
    if (!held)
        return;
    pthread_mutex_t *lock = held->lock;
    pthread_mutex_lock(lock);
    release_locked(held);
    pthread_mutex_unlock(lock);
}

const qp_snapshot *qp_held_snapshot(const qp_held *held)
{
    return held->snapshot;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_ino != b->st_ino || a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

/* Opens what CURRENT names now, unless that is open already. CURRENT is looked at before the snapshot is opened, so a
 * publication in between is seen the next time, never missed. */
static qp_code refresh_locked(qp_index *index, qp_err *err)
{
    struct stat published = {0};
    char *path = NULL;
    if (asprintf(&path, "%s/CURRENT", index->folder) < 0)
        return qp_oom(err);
    int missing = stat(path, &published);
    free(path);
    if (!missing && index->current && !is_newer(&published, &index->current->published) &&
        !qp_snapshot_is_lost(index->current->snapshot))
        return QP_OK;
    qp_held *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return qp_oom(err);
    qp_code code = qp_snapshot_open(index->folder, &fresh->snapshot, err);
    if (code) {
        free(fresh);
        return code;
    }
    fresh->lock = &index->lock;
    fresh->users = 1;
    fresh->published = published;
    release_locked(index->current);
    index->current = fresh;
    return QP_OK;
}

qp_code qp_index_hold(qp_index *index, qp_held **out, qp_err *err)
{
    pthread_mutex_lock(&index->lock);
    qp_code code = refresh_locked(index, err);
    if (!code) {
        index->current->users++;
        *out = index->current;
    }
    pthread_mutex_unlock(&index->lock);
    return code;
}

/* ---- models ---- */

qp_code qp_index_model(qp_index *index, qp_purpose purpose, const qp_model **out, qp_err *err)
{
    *out = NULL;
    const char *name = index->names[purpose];
    if (name ? strcmp(name, "none") == 0 : purpose == QP_SPARSE || purpose == QP_ATTENTION) /* which have no default */
        return QP_OK;
    pthread_mutex_lock(&index->lock);
    qp_code code = QP_OK;
    if (!index->models[purpose])
        code = qp_model_open(purpose, name, index->threads, &index->models[purpose], err);
    *out = index->models[purpose];
    pthread_mutex_unlock(&index->lock);
    return code;
}

const char *qp_index_name(const qp_index *index, qp_purpose purpose)
{
    return index->names[purpose];
}

bool qp_index_names(const qp_index *index, qp_purpose purpose)
{
    return index->named[purpose];
}

static qp_code same_maker(const char *what, const char *flag, const char *made_with, const qp_model *model, qp_err *err)
{
    if (strcmp(made_with, model->digest) != 0)
        return qp_fail(err, QP_INPUT,
                       "the index was made with another %s (%.12s...) than %s (%.12s...): ask with that one, or "
                       "index again with %s",
                       what, made_with, model->name, model->digest, flag);
    return QP_OK;
}

qp_code qp_index_optional(qp_index *index, qp_purpose purpose, const qp_model **model, qp_err *why, qp_err *err)
{
    bool failed = qp_index_model(index, purpose, model, why) != QP_OK;
    return failed && qp_index_names(index, purpose) ? qp_fail(err, why->code, "%s", why->message) : QP_OK;
}

qp_code qp_index_equip(qp_index *index, const qp_snapshot *snapshot, unsigned needs, qp_query *q, qp_err *err)
{
    qp_code code = QP_OK;
    if ((needs & QP_NEEDS_EMBEDDER) && *qp_snapshot_embedder(snapshot)) { /* no vectors: who wants them says so */
        code = qp_index_model(index, QP_EMBEDDER, &q->embedder, err);
        if (!code && q->embedder)
            code = same_maker("embedder", "--embedder", qp_snapshot_embedder(snapshot), q->embedder, err);
    }
    if (!code && (needs & QP_NEEDS_RANKER))
        code = qp_index_model(index, QP_RANKER, &q->ranker, err);
    if (!code && (needs & QP_NEEDS_WRITER || (needs & QP_LIKES_WRITER && qp_index_names(index, QP_WRITER))))
        code = qp_index_model(index, QP_WRITER, &q->writer, err);
    if (!code && (needs & QP_NEEDS_SPARSE) && *qp_snapshot_sparse(snapshot)) {
        code = qp_index_model(index, QP_SPARSE, &q->sparse, err);
        if (!code && q->sparse)
            code = same_maker("sparse encoder", "--sparse", qp_snapshot_sparse(snapshot), q->sparse, err);
    }
    if (!code && (needs & QP_NEEDS_ATTENTION) && *qp_snapshot_attention(snapshot)) {
        code = qp_index_model(index, QP_ATTENTION, &q->attention, err);
        if (!code && q->attention)
            code =
                same_maker("model of attention heads", "--heads", qp_snapshot_attention(snapshot), q->attention, err);
    }
    return code;
}

/* ---- checking ---- */

qp_code qp_index_check(qp_index *index, char **json, qp_err *err)
{
    qp_held *held = NULL;
    qp_store *store = NULL;
    qp_code code = qp_store_open(index->folder, false, false, &store, err);
    if (!code)
        code = qp_store_check(store, err);
    qp_store_close(store);
    if (!code)
        code = qp_index_hold(index, &held, err);
    if (!code)
        code = qp_snapshot_check(qp_held_snapshot(held), err);
    if (!code && asprintf(json, "{\"store\":\"whole\",\"snapshot\":%lu}",
                          (unsigned long)qp_snapshot_number(qp_held_snapshot(held))) < 0)
        code = qp_oom(err);
    qp_held_release(held);
    return code;
}

void qp_free(void *p)
{
    free(p);
}
