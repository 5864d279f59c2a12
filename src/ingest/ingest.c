#include "ingest/ingest.h"

#include <stdlib.h>

#include "base/clock.h"
#include "ingest/resolve.h"
#include "ingest/source.h"

enum { EMBED_BATCH = 128 }; /* texts between two commits: about two seconds of a core's work */

static void begin_stage(qp_job *job, uint64_t total)
{
    job->began = qp_now_ms();
    job->told = 0;
    job->done = 0;
    job->total = total;
}

/* Every text of the index that has no vector of this model yet gets one, in batches of like lengths. */
static qp_code embed(qp_job *job, qp_err *err)
{
    const qp_model *m = job->embedder;
    qp_arena *mem = qp_arena_new();
    float *vectors = malloc(EMBED_BATCH * (size_t)m->dim * sizeof *vectors);
    qp_pending pending[EMBED_BATCH];
    qp_str texts[EMBED_BATCH];
    uint32_t n = 1;
    uint64_t left = 0;
    qp_code code = mem && vectors ? QP_OK : qp_oom(err);
    double began = qp_now_ms();

    for (bool first = true; !code; first = false) {
        qp_arena_reset(mem);
        code = qp_store_pending(job->store, m->digest, EMBED_BATCH, pending, &n, &left, mem, err);
        if (code || !n)
            break;
        if (first)
            begin_stage(job, left);
        code = qp_job_tell(job, "embed", NULL, first, err);
        if (code)
            break;
        for (uint32_t i = 0; i < n; i++)
            texts[i] = pending[i].text;
        code = m->embed(m->self, QP_PASSAGE, texts, n, vectors, err);
        code = code ? code : qp_store_vectors(job->store, m->digest, m->dim, pending, n, vectors, err);
        if (!code) {
            job->done += n;
            job->report->chunks_embedded += n;
        }
    }
    if (!code && job->report->chunks_embedded)
        code = qp_job_tell(job, "embed", NULL, true, err);
    job->report->seconds_embed = (qp_now_ms() - began) / 1e3;
    free(vectors);
    qp_arena_free(mem);
    return code;
}

static bool embeds(const qp_job *job)
{
    return job->embedder && job->embedder->embed;
}

static qp_code link_all(qp_job *job, qp_err *err)
{
    begin_stage(job, 0);
    qp_code code = qp_resolve(job->store, &job->options->watch, job->report, err);
    job->done = job->report->edges;
    return code ? code : qp_job_tell(job, "link", NULL, true, err);
}

static qp_code say_there_are_no_vectors(qp_job *job, qp_err *err)
{
    qp_pending none;
    uint32_t n;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_store_pending(job->store, "", 0, &none, &n, NULL, mem, err) : qp_oom(err);
    qp_arena_free(mem);
    return code;
}

static qp_code publish(qp_job *job, qp_err *err)
{
    begin_stage(job, 0);
    qp_code code = qp_store_publish(job->store, &job->options->watch, err);
    job->report->seconds_publish = (qp_now_ms() - job->began) / 1e3;
    if (!code)
        (void)qp_job_tell(job, "publish", NULL, true, NULL); /* it is done: too late to stop */
    return code;
}

static qp_code start(qp_job *job, const qp_index_options *options, qp_err *err)
{
    qp_code code = qp_reading_load(job->store, options->settings, options->n_settings, &job->reading, job->mem, err);

    code = code ? code : qp_reading_cutting(&job->reading, job->embedder, false, &job->files, err);
    code = code ? code : qp_reading_cutting(&job->reading, job->embedder, true, &job->records, err);
    code = code ? code : qp_reading_keep(job->store, &job->reading, err);
    if (code)
        return code;
    job->files_digest = qp_reading_digest(&job->reading, &job->files);
    job->records_digest = qp_reading_digest(&job->reading, &job->records);
    return qp_source_prepare(job, err);
}

static void end(qp_job *job)
{
    qp_map_free(job->seen);
    qp_map_free(job->path_of);
    qp_map_free(job->key_of);
    qp_map_free(job->broken);
    qp_arena_free(job->mem);
}

qp_code qp_ingest(qp_store *store, const qp_model *embedder, int threads, const char *const *sources, size_t n,
                  const qp_index_options *options, qp_index_report *report, qp_err *err)
{
    static const qp_index_options plain;
    qp_index_report unread = {0};
    qp_job job = {.store = store,
                  .embedder = embedder,
                  .threads = threads,
                  .options = options ? options : &plain,
                  .report = report ? report : &unread,
                  .mem = qp_arena_new()};
    double began = qp_now_ms();

    *job.report = (qp_index_report){0};
    qp_code code = job.mem ? start(&job, job.options, err) : qp_oom(err);
    for (size_t i = 0; !code && i < n; i++)
        code = qp_source_read(&job, sources[i], err);
    job.report->seconds_read = (qp_now_ms() - began) / 1e3;
    code = code ? code : link_all(&job, err);
    if (!code)
        code = embeds(&job) ? embed(&job, err) : say_there_are_no_vectors(&job, err);
    code = code ? code : publish(&job, err);
    if (!code && !job.report->chunks && !job.report->documents_failed)
        code = qp_fail(err, QP_NONE, "%s: no document found; quipu index wants files, folders or a data set",
                       n ? sources[0] : "no source");
    end(&job);
    return code;
}

qp_code qp_ingest_refresh(qp_store *store, const qp_model *embedder, const qp_watch *watch, qp_err *err)
{
    qp_index_options options = {0};
    qp_index_report report = {0};
    qp_job job = {.store = store, .embedder = embedder, .options = &options, .report = &report};

    if (watch)
        options.watch = *watch;
    qp_code code = link_all(&job, err);
    if (!code && embeds(&job))
        code = embed(&job, err);
    return code ? code : publish(&job, err);
}
