/* Adding to an index, and deleting from it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/index.h"
#include "base/file.h"
#include "base/thread.h"
#include "ingest/ingest.h"
#include "ingest/weave.h"
#include "store/graph.h"
#include "store/store.h"

/* What a later open, from any folder, finds the same model by: its file, or its name. */
static qp_code remember_model(qp_index *index, qp_purpose purpose, const qp_model *model, qp_store *store, qp_err *err)
{
    const char *name = qp_index_name(index, purpose);
    char *file = name ? realpath(name, NULL) : NULL;
    if (!name && model)
        name = model->name;
    qp_code code = name ? qp_store_set(store, qp_index_setting(purpose), file ? file : name, err) : QP_OK;
    free(file);
    return code;
}

/* What is published is read with the models that it was made with: until there is an index, those of the run that makes
 * the first, after that those of a run that came to its end. */
static qp_code remember_models(qp_index *index, const qp_makers *models, qp_store *store, qp_err *err)
{
    qp_code code = remember_model(index, QP_EMBEDDER, models->embedder, store, err);
    code = code ? code : remember_model(index, QP_SPARSE, models->sparse, store, err);
    return code ? code : remember_model(index, QP_ATTENTION, models->attention, store, err);
}

static qp_code open_makers(qp_index *index, qp_makers *out, qp_err *err)
{
    qp_code code = qp_index_model(index, QP_EMBEDDER, &out->embedder, err);
    if (!code)
        code = qp_index_model(index, QP_SPARSE, &out->sparse, err);
    return code ? code : qp_index_model(index, QP_ATTENTION, &out->attention, err);
}

/* A writer is opened only where one was named: most indices never ask it. */
static qp_code open_writer(qp_index *index, qp_makers *out, qp_err *err)
{
    return qp_index_names(index, QP_WRITER) ? qp_index_model(index, QP_WRITER, &out->writer, err) : QP_OK;
}

/* A store's folder, which has no folders in it. */
static void remove_files(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static bool took_nothing(const qp_index_report *r)
{
    return !r->documents_added && !r->documents_changed && !r->entities && !r->triples && !r->chunks_embedded;
}

/* As if nothing were indexed yet, in a folder that goes away. */
static qp_code rehearse(qp_index *index, qp_makers models, const char *const *sources, size_t n,
                        const qp_index_options *options, qp_index_report *report, qp_err *err)
{
    const char *base = getenv("TMPDIR");
    qp_store *store = NULL;
    qp_arena *mem = qp_arena_new();
    qp_str folder = mem ? qp_arena_fmt(mem, "%s/quipu-dry-run-XXXXXX", base && *base ? base : P_tmpdir) : (qp_str){0};
    if (!folder.at) {
        qp_arena_free(mem);
        return qp_oom(err);
    }
    char *path = (char *)(uintptr_t)folder.at;
    qp_code code =
        mkdtemp(path) ? QP_OK : qp_fail(err, QP_INPUT, "%s: no folder can be made for a dry run: set TMPDIR", path);
    code = code ? code : qp_store_open(path, true, true, &store, err);
    code = code ? code : qp_ingest(store, models, qp_index_threads(index), sources, n, options, report, err);
    qp_store_close(store);
    remove_files(path);
    qp_arena_free(mem);
    return code;
}

qp_code qp_index_add(qp_index *index, const char *const *sources, size_t n, const qp_index_options *options,
                     qp_index_report *report, qp_err *err)
{
    static const qp_index_options standard = {0};
    qp_index_report unread, *told = report ? report : &unread;
    qp_makers models = {0};
    qp_store *store = NULL;
    *told = (qp_index_report){0};
    const qp_patience before = qp_patience_set((qp_patience){.cancel = options ? options->watch.cancel : NULL});
    qp_code code = open_makers(index, &models, err);
    if (!code)
        code = open_writer(index, &models, err);
    if (!code && options && options->dry_run) {
        code = rehearse(index, models, sources, n, options, told, err);
        qp_patience_set(before);
        return code;
    }
    const bool there = qp_path_exists(qp_index_folder(index)), published = qp_index_is_published(index);
    if (!code)
        code = qp_store_open(qp_index_folder(index), true, qp_index_creates(index), &store, err);
    if (!code && !published)
        code = remember_models(index, &models, store, err);
    if (!code)
        code = qp_ingest(store, models, qp_index_threads(index), sources, n, options ? options : &standard, told, err);
    if (!code && published)
        code = remember_models(index, &models, store, err);
    if (store && !there && (code == QP_USAGE || code == QP_INPUT) && took_nothing(told)) /* refused: no trace */
        remove_files(qp_index_folder(index));
    qp_store_close(store);
    qp_patience_set(before);
    return code;
}

static bool named_before(const char *const *documents, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strcmp(documents[before], documents[i]) == 0)
            return true;
    return false;
}

/* With an unknown name among them nothing is removed: the batch is rolled back. */
static qp_code remove_all(qp_store *store, const char *const *documents, size_t n, uint64_t *all, qp_err *err)
{
    qp_code code = QP_OK;
    for (size_t i = 0; i < n && !code; i++) {
        uint64_t removed = 0;
        if (named_before(documents, i))
            continue;
        code = qp_store_remove(store, qp_str_of(documents[i]), &removed, err);
        char *path = !code && !removed ? realpath(documents[i], NULL) : NULL; /* keys and full paths are known there */
        if (path)
            code = qp_store_remove(store, qp_str_of(path), &removed, err);
        if (!code && path && !removed) /* a source of triples */
            code = qp_store_graph_prune(store, qp_str_of(path), NULL, 0, &removed, err);
        free(path);
        if (!code && !removed)
            code = qp_fail(err, QP_NONE, "%s: no document, and no graph, has this id or path; nothing was removed",
                           documents[i]);
        *all += removed;
    }
    return code;
}

qp_code qp_index_delete(qp_index *index, const char *const *documents, size_t n, const qp_watch *watch,
                        uint64_t *removed, qp_err *err)
{
    uint64_t all = 0;
    qp_makers models = {0};
    qp_store *store = NULL;
    bool complete = false, woven = false;
    qp_code code = qp_store_open(qp_index_folder(index), true, false, &store, err);
    if (!code)
        code = qp_store_begin(store, err);
    if (!code)
        code = remove_all(store, documents, n, &all, err);
    if (!code)
        code = qp_store_complete(store, &complete, err);
    if (!code && complete)
        code = qp_weave_there(store, &woven, err);
    if (!code && (!complete || woven)) /* a run was stopped before all was made, or the texts' graph will be another */
        code = open_makers(index, &models, err);
    if (!code && (!complete || woven))
        code = open_writer(index, &models, err);
    if (!code)
        code = qp_store_commit(store, err);
    if (!code) {
        qp_store_threads(store, qp_index_threads(index));
        code = qp_ingest_refresh(store, models, watch, err);
    }
    if (removed)
        *removed = code ? 0 : all;
    qp_store_close(store); /* rolls back what was not committed */
    return code;
}
