#include "ingest/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <yyjson.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "ingest/cut.h"
#include "ingest/tell.h"

enum { MOST = 256, MOST_BYTES = 32 << 20, COMMIT_DOCUMENTS = 256, LONGEST = 1 << 30 /* bytes of a file */ };
static const double commit_ms = 1000;

struct work {
    qp_item item;
    char *own_key; /* behind item.key, unless a record names itself */
    qp_arena *mem;
    qp_extract extract;
    qp_buf bytes; /* of a file */
    qp_record record;
    qp_digest digest;
    qp_document document;
    bool wanted; /* not there yet, and not broken */
    qp_err err;  /* why not */
};

struct qp_batch {
    qp_job *job;
    qp_str source;
    struct work work[MOST];
    size_t n, size;
    qp_str *keys; /* of this source; in the job's arena */
    size_t n_keys, cap_keys;
};

/* ---- what the driver shares ---- */

void qp_job_warn(qp_job *job, const char *format, ...)
{
    const qp_watch *watch = &job->options->watch;
    char line[1100];
    va_list args;

    if (!watch->warn)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    watch->warn(watch->user, line);
}

qp_code qp_job_failed(qp_job *job, const qp_err *why, qp_err *err)
{
    job->report->documents_failed++;
    if (job->options->strict)
        return qp_fail(err, QP_INPUT, "%s", why->message);
    qp_job_warn(job, "%s; skipped", why->message);
    return QP_OK;
}

qp_code qp_job_tell(qp_job *job, const char *stage, const char *item, bool last, qp_err *err)
{
    qp_tell tell = {&job->options->watch, stage, item, job->done, job->total, job->began, job->told};
    qp_code code = qp_tell_step(&tell, last, err);
    job->told = tell.told;
    return code;
}

qp_code qp_job_commit(qp_job *job, qp_err *err)
{
    if (!job->transaction)
        return QP_OK;
    job->transaction = 0;
    job->put = 0;
    return qp_store_commit(job->store, err);
}

/* ---- one document: bytes to digest, bytes to chunks ---- */

/* A message about an item says which. */
static void blame(struct work *w, const qp_err *why)
{
    const char *path = w->item.path ? w->item.path : "standard input";

    w->err = (qp_err){0};
    if (w->item.line)
        qp_fail(&w->err, why->code, "%s:%llu: %s", path, (unsigned long long)w->item.line, why->message);
    else if (!strncmp(why->message, path, strlen(path)))
        qp_fail(&w->err, why->code, "%s", why->message);
    else
        qp_fail(&w->err, why->code, "%s: %s", path, why->message);
}

static qp_code identify_record(struct work *w, const qp_job *job, qp_err *err)
{
    const qp_str parts[] = {w->item.bytes, qp_str_of(job->records_digest.hex)};

    w->digest = qp_digest_parts(parts, 2);
    qp_code code = qp_record_parse(w->item.bytes, &w->record, w->mem, err);
    if (code)
        return code;
    if (w->record.id.n > 500)
        return qp_fail(err, QP_INPUT, "an id of %zu bytes; at most 500 are kept", w->record.id.n);
    w->item.key = w->record.id.n ? w->record.id
                                 : qp_arena_fmt(w->mem, "%.*s#%llu", (int)w->item.key.n, w->item.key.at,
                                                (unsigned long long)w->item.line);
    return QP_OK;
}

static qp_code identify_file(struct work *w, const qp_job *job, qp_err *err)
{
    qp_code code = w->item.bytes.at ? QP_OK : qp_file_read(w->item.path, LONGEST, &w->bytes, err);

    if (code)
        return code;
    if (!w->item.bytes.at)
        w->item.bytes = qp_buf_view(&w->bytes);
    const qp_str parts[] = {w->item.bytes, qp_str_of(job->files_digest.hex), qp_str_of(w->item.path),
                            qp_str_of(w->item.format->name)};
    w->digest = qp_digest_parts(parts, 4);
    return QP_OK;
}

static qp_code identify(void *ctx, int worker, size_t i, qp_err *err)
{
    qp_batch *b = ctx;
    struct work *w = &b->work[i];
    qp_err why = {0};
    (void)worker;

    w->mem = qp_arena_new();
    if (!w->mem)
        return qp_oom(err);
    qp_code code = w->item.line ? identify_record(w, b->job, &why) : identify_file(w, b->job, &why);
    w->wanted = !code;
    if (code && code != QP_INPUT)
        return qp_fail(err, code, "%s", why.message);
    if (code)
        blame(w, &why);
    return QP_OK;
}

/* "file.mtime", "file.size", "file.extension" beside what the file itself says. */
static qp_code add_file_meta(struct work *w, qp_err *err)
{
    struct stat st;
    struct tm tm;
    char date[40] = "";
    qp_extract *x = &w->extract;

    if (!w->item.path || stat(w->item.path, &st))
        return QP_OK;
    if (gmtime_r(&st.st_mtim.tv_sec, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    yyjson_doc *old = x->meta.n ? yyjson_read(x->meta.at, x->meta.n, 0) : NULL;
    yyjson_mut_doc *doc = old ? yyjson_doc_mut_copy(old, NULL) : yyjson_mut_doc_new(NULL);
    if (doc && !old)
        yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    yyjson_mut_val *root = doc ? yyjson_mut_doc_get_root(doc) : NULL;
    const char *dot = strrchr(w->item.path, '.');
    yyjson_mut_obj_add_strcpy(doc, root, "file.mtime", date);
    yyjson_mut_obj_add_uint(doc, root, "file.size", (uint64_t)st.st_size);
    yyjson_mut_obj_add_strcpy(doc, root, "file.extension", dot && !strchr(dot, '/') ? dot + 1 : "");
    size_t n = 0;
    char *json = doc ? yyjson_mut_write(doc, 0, &n) : NULL;
    qp_buf_clear(&x->meta);
    qp_buf_add(&x->meta, json ? json : "{}", json ? n : 2);
    free(json);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(old);
    return json ? QP_OK : qp_oom(err);
}

static void scan(qp_extract *x, const char *format)
{
    qp_scan_references(x, format);
    qp_scan_cross_references(x);
}

static qp_code read_item(struct work *w, const qp_job *job, qp_err *err)
{
    qp_extract *x = &w->extract;
    qp_code code;

    qp_extract_init(x, w->mem);
    if (w->item.line) {
        qp_extract_title(x, w->record.title);
        qp_buf_str(&x->text, w->record.text);
        qp_buf_str(&x->meta, w->record.meta);
        x->replaced = w->record.replaced;
        if (!strcmp(job->reading.references, "on"))
            scan(x, w->item.format->name);
        return QP_OK;
    }
    code = w->item.format->read(&(qp_input){w->item.bytes, w->item.path}, x, err);
    if (code)
        return code;
    qp_buf_free(&w->bytes);
    if (x->replaced > 16 && x->replaced * 6 > x->text.n) /* each is three bytes of it */
        return qp_fail(err, QP_INPUT, "no text: half of it or more is no UTF-8");
    if (strcmp(job->reading.references, "off"))
        scan(x, w->item.format->name);
    return add_file_meta(w, err);
}

static qp_str base_name(qp_str key)
{
    size_t at = key.n;

    while (at && key.at[at - 1] != '/')
        at--;
    return qp_str_slice(key, at, key.n);
}

static qp_code stopped(const qp_job *job, qp_err *err)
{
    return qp_cancelled(job->options->watch.cancel)
               ? qp_fail(err, QP_STOPPED, "stopped while it read; what is done is kept, run it again to go on")
               : QP_OK;
}

static qp_code convert(void *ctx, int worker, size_t i, qp_err *err)
{
    qp_batch *b = ctx;
    struct work *w = &b->work[i];
    qp_document *d = &w->document;
    qp_err why = {0};
    (void)worker;

    if (!w->wanted)
        return QP_OK;
    qp_code code = stopped(b->job, err);
    if (code)
        return code;
    code = read_item(w, b->job, &why);
    code = code ? code : qp_cut(&w->extract, w->item.line ? &b->job->records : &b->job->files, d, w->mem, &why);
    if (code && stopped(b->job, err)) /* Ctrl-C ends child programs too: nobody is to blame */
        return QP_STOPPED;
    if (code == QP_INPUT) {
        w->wanted = false;
        blame(w, &why);
        return QP_OK;
    }
    if (code)
        return qp_fail(err, code, "%s", why.message);
    d->key = w->item.key;
    d->source = b->source;
    d->path = qp_str_of(w->item.path);
    d->format = qp_str_of(w->item.format->name);
    if (!w->item.line && !d->title.n)
        d->title = base_name(d->key);
    d->language = qp_str_of(strcmp(b->job->reading.language, "none") ? b->job->reading.language : "");
    d->meta = w->extract.meta.n ? qp_buf_view(&w->extract.meta) : QP_STR("{}");
    d->digest = qp_str_of(w->digest.hex);
    return QP_OK;
}

/* ---- the batch ---- */

qp_code qp_batch_open(qp_job *job, const char *source, qp_batch **out, qp_err *err)
{
    qp_batch *b = calloc(1, sizeof *b);

    if (!b)
        return qp_oom(err);
    b->job = job;
    b->source = qp_arena_str(job->mem, qp_str_of(source));
    *out = b;
    return QP_OK;
}

static void empty(qp_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct work *w = &b->work[i];
        qp_extract_free(&w->extract);
        qp_buf_free(&w->bytes);
        qp_arena_free(w->mem);
        free(w->item.path);
        free(w->own_key);
    }
    memset(b->work, 0, b->n * sizeof *b->work);
    b->n = b->size = 0;
}

void qp_batch_close(qp_batch *b)
{
    if (!b)
        return;
    empty(b);
    free(b->keys);
    free(b);
}

const qp_str *qp_batch_keys(const qp_batch *b, size_t *n)
{
    *n = b->n_keys;
    return b->keys;
}

qp_code qp_batch_keep(qp_batch *b, qp_str key, qp_err *err)
{
    qp_str *grown = qp_array_room(b->keys, b->n_keys, &b->cap_keys, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    b->keys = grown;
    qp_str copy = qp_arena_str(b->job->mem, key);
    if (!copy.at)
        return qp_oom(err);
    b->keys[b->n_keys++] = copy;
    return QP_OK;
}

/* Is it to be read: no key twice in a job (the first stays), nothing that the store has already. */
static qp_code sift(qp_batch *b, struct work *w, qp_err *err)
{
    bool added, same = false;

    if (!w->wanted && w->item.line)
        return QP_OK;                                  /* a broken record has no key */
    qp_code code = qp_batch_keep(b, w->item.key, err); /* also of a file that broke: it stays as it was */
    if (code || !w->wanted)
        return code;
    uint64_t *slot = qp_map_put(b->job->seen, w->item.key, &added);
    if (!slot)
        return qp_oom(err);
    if (!added) {
        qp_err why = {0};
        qp_fail(&why, QP_INPUT, "a second document with the id '%.*s'; the first one (line %llu) stays",
                (int)(w->item.key.n < 100 ? w->item.key.n : 100), w->item.key.at, (unsigned long long)*slot);
        w->wanted = false;
        if (w->item.line || *slot) /* else the same file, by another source */
            blame(w, &why);
        return QP_OK;
    }
    *slot = w->item.line;
    code = qp_store_same(b->job->store, w->item.key, qp_str_of(w->digest.hex), &same, err);
    b->job->report->documents_same += same;
    w->wanted = !same;
    return code;
}

static qp_code put(qp_batch *b, struct work *w, qp_err *err)
{
    qp_job *job = b->job;
    qp_str name = w->item.path && !w->item.line ? qp_str_of(w->item.path) : w->item.key;
    bool replaced = false;
    qp_code code = QP_OK;

    job->done++;
    if (w->err.code)
        return qp_job_failed(job, &w->err, err);
    if (!w->wanted)
        return QP_OK;
    if (w->extract.replaced)
        qp_job_warn(job, "%.*s: %llu broken byte sequences or NULs are now U+FFFD", (int)name.n, name.at,
                    (unsigned long long)w->extract.replaced);
    if (!job->transaction) {
        code = qp_store_begin(job->store, err);
        job->transaction = qp_now_ms();
    }
    code = code ? code : qp_store_put(job->store, &w->document, &replaced, err);
    if (code)
        return code;
    job->report->documents_changed += replaced;
    job->report->documents_added += !replaced;
    if (++job->put >= COMMIT_DOCUMENTS || qp_now_ms() - job->transaction > commit_ms)
        return qp_job_commit(job, err);
    return QP_OK;
}

qp_code qp_batch_flush(qp_batch *b, qp_err *err)
{
    qp_job *job = b->job;
    qp_code code = b->n ? qp_parallel(job->threads, b->n, identify, b, err) : QP_OK;

    for (size_t i = 0; !code && i < b->n; i++)
        code = sift(b, &b->work[i], err);
    code = code ? code : qp_parallel(job->threads, b->n, convert, b, err);
    for (size_t i = 0; !code && i < b->n; i++) {
        code = put(b, &b->work[i], err);
        if (!code)
            code = qp_job_tell(job, "read", b->work[i].item.path, false, err);
    }
    empty(b);
    return code;
}

qp_code qp_batch_add(qp_batch *b, const qp_item *item, qp_err *err)
{
    struct work *w = &b->work[b->n];
    qp_buf copy = {0};

    *w = (struct work){.item = *item};
    w->item.path = item->path ? strdup(item->path) : NULL;
    char *key = w->own_key = malloc(item->key.n + 1);
    if (key && item->key.n)
        memcpy(key, item->key.at, item->key.n);
    w->item.key = (qp_str){key, item->key.n};
    if (item->line && item->bytes.at) { /* a record's bytes move on with the next one */
        qp_buf_str(&copy, item->bytes);
        w->bytes = copy;
        w->item.bytes = qp_buf_view(&w->bytes);
    }
    b->n++;
    b->size += item->bytes.n + item->size;
    if (!key || (item->path && !w->item.path) || copy.oom)
        return qp_oom(err);
    return b->n == MOST || b->size >= MOST_BYTES ? qp_batch_flush(b, err) : QP_OK;
}
