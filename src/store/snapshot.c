/* Opening a snapshot, and what is read of it besides the view. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/shelf.h"
#include "store/mapped.h"

static char *copy_text(qp_str s)
{
    return strndup(s.at, s.n);
}

qp_code qp_snapshot_open_file(const char *path, uint64_t number, qp_snapshot **out, qp_err *err)
{
    *out = NULL;
    qp_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return qp_oom(err);
    pthread_mutex_init(&s->lock, NULL);
    s->number = number;
    s->path = strdup(path);
    qp_err why = {0};
    qp_code code = s->path ? QP_OK : qp_oom(err);
    if (!code && qp_file_map(path, &s->map, &why))
        code = qp_fail(err, QP_STORE, "%s", why.message);
    if (!code)
        code = qp_snapshot_sections(s, err);
    if (!code) {
        qp_view_of(s);
        s->view.shelf = qp_shelf_new();
        s->embedder = copy_text(qp_snapshot_string(s, s->info->embedder));
        s->language = copy_text(qp_snapshot_string(s, s->info->language));
        s->sparse = copy_text(qp_snapshot_string(s, s->info->sparse));
        s->attention = copy_text(qp_snapshot_string(s, s->info->attention));
        s->expander = copy_text(qp_snapshot_string(s, s->info->expander));
        code = s->embedder && s->language && s->sparse && s->attention && s->expander && s->view.shelf ? QP_OK
                                                                                                       : qp_oom(err);
    }
    if (code)
        qp_snapshot_close(s);
    else
        *out = s;
    return code;
}

qp_code qp_snapshot_current(const char *dir, char **path, uint64_t *number, qp_arena *a, qp_err *err)
{
    char *pointer = qp_path_join(a, dir, "CURRENT");
    *path = NULL;
    *number = 0;
    if (!pointer)
        return qp_oom(err);
    if (!qp_path_exists(pointer))
        return qp_fail(err, QP_NONE, "%s: holds no published index: make one with `quipu index SOURCE`", dir);
    qp_buf name = {0};
    qp_err why = {0};
    unsigned long long n = 0;
    int end = 0;
    qp_code code = QP_OK;
    if (qp_file_read(pointer, 64, &name, &why))
        code = qp_fail(err, QP_STORE, "%s", why.message);
    else if (!name.n || sscanf(name.at, "snapshot-%llu.qp\n%n", &n, &end) != 1 || (size_t)end != name.n)
        code = qp_fail(err, QP_STORE, "%s: is damaged, it names no snapshot: run `quipu index` again to rebuild it",
                       pointer);
    else if (!(*path = qp_path_join(a, dir, qp_arena_fmt(a, "snapshot-%llu.qp", n).at)))
        code = qp_oom(err);
    *number = n;
    qp_buf_free(&name);
    return code;
}

qp_code qp_snapshot_open(const char *dir, qp_snapshot **out, qp_err *err)
{
    *out = NULL;
    qp_arena *a = qp_arena_new();
    if (!a)
        return qp_oom(err);
    /* A writer may publish and remove the old file between our reading its name and opening it: look again. */
    qp_code code = QP_STORE;
    for (int tries = 5; code && tries > 0; tries--) {
        char *path;
        uint64_t number;
        qp_err why = {0};
        code = qp_snapshot_current(dir, &path, &number, a, &why);
        if (!code)
            code = qp_snapshot_open_file(path, number, out, &why);
        if (code && (tries == 1 || !path || qp_path_exists(path))) {
            qp_fail(err, QP_STORE, "%s", why.message);
            break;
        }
    }
    qp_arena_free(a);
    return code ? QP_STORE : QP_OK;
}

bool qp_snapshot_is_lost(const qp_snapshot *s)
{
    return qp_file_is_lost(&s->map);
}

void qp_snapshot_close(qp_snapshot *s)
{
    if (!s)
        return;
    qp_shelf_free(s->view.shelf); /* what stands on it reads the map */
    for (int i = 0; i < QP_KEPT_WORDS; i++)
        qp_terms_close(s->words[i]);
    pthread_mutex_destroy(&s->lock);
    free(s->type_bit);
    qp_file_unmap(&s->map);
    free(s->embedder);
    free(s->language);
    free(s->sparse);
    free(s->attention);
    free(s->expander);
    free(s->path);
    free(s);
}

/* ---- reading ---- */

qp_str qp_snapshot_string(const qp_snapshot *s, qp_ref ref)
{
    qp_str out;
    qp_snapshot_ref(s, QP_S_STRINGS, ref, &out);
    return out;
}

qp_code qp_snapshot_take_words(qp_snapshot *s, qp_terms **out, qp_err *err)
{
    *out = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; !*out && i < QP_KEPT_WORDS; i++) {
        *out = s->words[i];
        s->words[i] = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return *out ? QP_OK : qp_terms_open(s->language, out, err);
}

void qp_snapshot_give_words(qp_snapshot *s, qp_terms *words)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; words && i < QP_KEPT_WORDS; i++)
        if (!s->words[i]) {
            s->words[i] = words;
            words = NULL;
        }
    pthread_mutex_unlock(&s->lock);
    qp_terms_close(words);
}

const qp_view *qp_snapshot_view(const qp_snapshot *s)
{
    return &s->view;
}

uint32_t qp_snapshot_documents(const qp_snapshot *s)
{
    return s->documents;
}

qp_str qp_snapshot_document_key(const qp_snapshot *s, uint32_t document)
{
    return document < s->documents ? qp_snapshot_string(s, s->document[document].key) : QP_STR("");
}

qp_str qp_snapshot_document_meta(const qp_snapshot *s, uint32_t document)
{
    return document < s->documents ? qp_snapshot_string(s, s->document[document].meta) : QP_STR("");
}

uint32_t qp_snapshot_find(const qp_snapshot *s, const qp_ref *names, size_t stride, uint32_t n, qp_str name)
{
    for (uint32_t low = 0, high = n; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        int order = qp_str_cmp(name, qp_snapshot_string(s, *(const qp_ref *)((const char *)names + middle * stride)));
        if (!order)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return UINT32_MAX;
}

uint32_t qp_snapshot_document_find(const qp_snapshot *s, qp_str key)
{
    return qp_snapshot_find(s, &s->document->key, sizeof *s->document, s->documents, key);
}

uint32_t qp_snapshot_document_of(const qp_snapshot *s, qp_id node)
{
    uint32_t document = node < s->nodes ? s->node[node].document : UINT32_MAX;
    return document < s->documents ? document : UINT32_MAX;
}

void qp_snapshot_document_nodes(const qp_snapshot *s, uint32_t document, qp_id *first, uint32_t *n)
{
    *first = *n = 0;
    if (document >= s->documents)
        return;
    const qp_document_entry *d = &s->document[document];
    if (d->first <= s->nodes && d->n <= s->nodes - d->first) {
        *first = d->first;
        *n = d->n;
    }
}

void qp_snapshot_tokens(const qp_snapshot *s, uint64_t *n, uint64_t *bytes)
{
    *n = s->info->tokens;
    *bytes = 0;
    for (int i = QP_S_TOKEN_START; i <= QP_S_CENTROID_POSTINGS; i++)
        *bytes += s->toc[i].bytes;
}

const char *qp_snapshot_expander(const qp_snapshot *s)
{
    return s->expander;
}

const char *qp_snapshot_embedder(const qp_snapshot *s)
{
    return s->embedder;
}

const char *qp_snapshot_sparse(const qp_snapshot *s)
{
    return s->sparse;
}

const char *qp_snapshot_attention(const qp_snapshot *s)
{
    return s->attention;
}

uint32_t qp_snapshot_entities(const qp_snapshot *s)
{
    return s->nodes - s->entity;
}

uint64_t qp_snapshot_number(const qp_snapshot *s)
{
    return s->number;
}
