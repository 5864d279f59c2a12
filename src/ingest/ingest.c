#include "ingest/ingest.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/vector.h"
#include "ingest/resolve.h"
#include "ingest/source.h"
#include "ingest/weave.h"
#include "ingest/writing.h"

enum { EMBED_BATCH = 128, TOKEN_BATCH = 32 }; /* texts between two commits: about two seconds of a core's work */

static void begin_stage(qp_job *job, uint64_t total)
{
    job->began = qp_now_ms();
    job->told = 0;
    job->done = 0;
    job->total = total;
}

/* ---- what models make of the texts ---- */

typedef struct making {
    qp_made what;
    const char *stage;
    const char *model; /* digest of what makes it; "": the index is to be without */
    uint32_t n;        /* texts between two commits */
    qp_code (*batch)(qp_job *, const qp_pending *, const qp_str *text, uint32_t n, qp_arena *, qp_err *);
    uint64_t *made; /* in the report */
} making;

/* Places that the model did not read, past its longest input, are read by themselves. */
static qp_code embed_unread(const qp_model *m, const qp_str *text, const qp_text_span *span, uint32_t n, float *vectors,
                            qp_arena *mem, qp_err *err)
{
    qp_str *part = qp_new(mem, qp_str, n + 1u);
    uint32_t *of = qp_new(mem, uint32_t, n + 1u), unread = 0;
    if (!part || !of)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++)
        if (!qp_is_there(vectors + (size_t)i * m->dim, m->dim)) {
            part[unread] = qp_str_slice(text[span[i].text], span[i].from, span[i].to);
            of[unread++] = i;
        }
    if (!unread)
        return QP_OK;
    float *own = qp_new(mem, float, (size_t)unread * m->dim);
    qp_code code = own ? m->embed(m->self, QP_PASSAGE, part, unread, own, err) : qp_oom(err);
    for (uint32_t i = 0; !code && i < unread; i++)
        memcpy(vectors + (size_t)of[i] * m->dim, own + (size_t)i * m->dim, m->dim * sizeof *own);
    return code;
}

/* Vectors of passages and, out of the same passes, of the places in them. */
static qp_code embed_places(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, float *vectors,
                            qp_arena *mem, qp_err *err)
{
    const qp_model *m = job->embedder;
    qp_place *place = NULL;
    uint32_t k = 0;
    qp_code code = qp_store_places(job->store, m->digest, p, n, &place, &k, mem, err);
    if (code || !k)
        return code ? code : m->embed(m->self, QP_PASSAGE, text, n, vectors, err);
    qp_text_span *span = qp_new(mem, qp_text_span, k);
    float *of_places = qp_new(mem, float, (size_t)k * m->dim);
    if (!span || !of_places)
        return qp_oom(err);
    for (uint32_t i = 0; i < k; i++)
        span[i] = (qp_text_span){place[i].passage, place[i].from, place[i].to};
    code = m->embed_spans(m->self, text, n, span, k, vectors, of_places, err);
    code = code ? code : embed_unread(m, text, span, k, of_places, mem, err);
    return code ? code : qp_store_place_vectors(job->store, m->digest, m->dim, place, k, of_places, err);
}

static qp_code make_vectors(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, qp_arena *mem,
                            qp_err *err)
{
    const qp_model *m = job->embedder;
    float *vectors = qp_new(mem, float, (size_t)n * m->dim);
    qp_code code = !vectors         ? qp_oom(err)
                   : m->embed_spans ? embed_places(job, p, text, n, vectors, mem, err)
                                    : m->embed(m->self, QP_PASSAGE, text, n, vectors, err);
    return code ? code : qp_store_vectors(job->store, m->digest, m->dim, p, n, vectors, err);
}

static qp_code make_terms(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, qp_arena *mem, qp_err *err)
{
    const qp_model *m = job->sparse;
    qp_sparse *terms = qp_new(mem, qp_sparse, n);
    qp_code code = terms ? m->weigh(m->self, QP_PASSAGE, text, n, terms, mem, err) : qp_oom(err);
    return code ? code : qp_store_terms(job->store, m->digest, p, n, terms, err);
}

/* Every text of the index for which this model has made nothing yet, in batches of like lengths. */
static qp_code make(qp_job *job, const making *how, qp_err *err)
{
    qp_arena *mem = qp_arena_new();
    qp_pending pending[EMBED_BATCH];
    qp_str texts[EMBED_BATCH];
    uint32_t n = 1;
    uint64_t left = 0;
    qp_code code = mem ? QP_OK : qp_oom(err);

    for (bool first = true; !code; first = false) {
        qp_arena_reset(mem);
        code = qp_store_pending(job->store, how->what, how->model, how->n, pending, &n, &left, mem, err);
        if (code || !n)
            break;
        if (first)
            begin_stage(job, left);
        code = qp_job_tell(job, how->stage, NULL, first, err);
        if (code)
            break;
        for (uint32_t i = 0; i < n; i++)
            texts[i] = pending[i].text;
        code = how->batch(job, pending, texts, n, mem, err);
        if (!code) {
            job->done += n;
            *how->made += n;
        }
    }
    if (!code && *how->made)
        code = qp_job_tell(job, how->stage, NULL, true, err);
    qp_arena_free(mem);
    return code;
}

/* Beside the outputs their shape is kept: how many heads, how wide. */
static qp_code make_heads(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, qp_arena *mem, qp_err *err)
{
    const qp_model *m = job->attention;
    float *out = qp_new(mem, float, (size_t)n * m->heads * m->head_dim);
    qp_code code = out ? m->attend(m->self, QP_PASSAGE, text, n, out, err) : qp_oom(err);
    if (!code)
        code = qp_store_vectors(job->store, m->digest, m->heads * m->head_dim, p, n, out, err);
    return code ? code : qp_store_heads(job->store, m->heads, m->head_dim, err);
}

static qp_code make_tokens(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, qp_arena *mem, qp_err *err)
{
    const qp_model *m = job->embedder;
    qp_token_rows *rows = qp_new(mem, qp_token_rows, n);
    qp_code code = rows ? m->tokens(m->self, QP_PASSAGE, text, n, rows, mem, err) : qp_oom(err);
    return code ? code : qp_store_tokens(job->store, job->tokens.hex, m->token_dim, p, n, rows, err);
}

/* Under which digest vectors of tokens are kept; "": there are to be none. */
static qp_code choose_tokens(qp_job *job, qp_err *err)
{
    const qp_model *m = job->embedder;
    job->tokens = (qp_digest){""};
    if (strcmp(job->reading.tokens, "yes"))
        return QP_OK;
    if (!m || !m->tokens)
        return qp_fail(
            err, QP_MODEL,
            "-o tokens=yes needs an embedder that gives vectors of tokens, one of ours with WordPiece tokens, and %s: "
            "name one with --embedder, or leave it at no",
            m ? m->name : "there is none");
    const qp_str parts[] = {QP_STR("tokens 1"), qp_str_of(m->digest)};
    job->tokens = qp_digest_parts(parts, 2);
    return QP_OK;
}

struct expanding {
    qp_job *job;
    const qp_pending *pending;
    const qp_str *text;
    pthread_mutex_t lock; /* guards the store */
};

/* An answer is kept the moment it is there. */
static qp_code expand_one(void *ctx, int worker, size_t i, qp_err *err)
{
    struct expanding *x = ctx;
    const qp_expander *e = &x->job->expander;
    qp_arena *mem = qp_arena_new();
    qp_str questions = {0};
    (void)worker;
    qp_code code = mem ? qp_expander_write(e, x->text[i], &questions, mem, err) : qp_oom(err);
    pthread_mutex_lock(&x->lock);
    code = code ? code : qp_store_questions(x->job->store, e->digest, &x->pending[i], questions, err);
    pthread_mutex_unlock(&x->lock);
    qp_arena_free(mem);
    return code;
}

static uint32_t asked_at_once(const qp_job *job)
{
    return job->writer && job->writer->at_once ? job->writer->at_once : 1;
}

static qp_code write_questions(qp_job *job, const qp_pending *p, const qp_str *text, uint32_t n, qp_arena *mem,
                               qp_err *err)
{
    struct expanding x = {job, p, text, PTHREAD_MUTEX_INITIALIZER};
    (void)mem;
    return qp_parallel((int)asked_at_once(job), n, expand_one, &x, err);
}

static const char *digest_of(const qp_model *m)
{
    return m ? m->digest : "";
}

static qp_code make_all(qp_job *job, qp_err *err)
{
    qp_index_report *r = job->report;
    const making vectors = {QP_MADE_VECTOR, "embed",      digest_of(job->embedder),
                            EMBED_BATCH,    make_vectors, &r->chunks_embedded};
    const making terms = {QP_MADE_TERMS, "weigh", digest_of(job->sparse), EMBED_BATCH, make_terms, &r->chunks_weighed};
    const making heads = {QP_MADE_HEADS, "attend",   digest_of(job->attention),
                          EMBED_BATCH,   make_heads, &r->chunks_attended};
    const making questions = {QP_MADE_QUESTIONS,  "expand",        job->expander.digest,
                              asked_at_once(job), write_questions, &r->chunks_expanded};
    const making tokens = {QP_MADE_TOKENS, "tokens", job->tokens.hex, TOKEN_BATCH, make_tokens, &r->chunks_tokenised};
    double began = qp_now_ms();
    qp_code code = make(job, &vectors, err);
    code = code ? code : make(job, &tokens, err);

    job->report->seconds_embed = (qp_now_ms() - began) / 1e3;
    if (!code)
        code = make(job, &terms, err);
    code = code ? code : make(job, &heads, err);
    return code ? code : make(job, &questions, err);
}

static qp_code link_all(qp_job *job, qp_err *err)
{
    begin_stage(job, 0);
    qp_code code = qp_resolve(job->store, &job->options->watch, job->report, err);
    job->done = job->report->edges;
    return code ? code : qp_job_tell(job, "link", NULL, true, err);
}

static qp_code tell_woven(void *ctx, uint64_t done, uint64_t total, qp_err *err)
{
    qp_job *job = ctx;
    job->done = done;
    job->total = total;
    return qp_job_tell(job, "weave", NULL, false, err);
}

/* Whether the texts are drawn from: as was said; else where they are all there is to make a graph of. */
static qp_code weaving_of(qp_job *job, qp_weaving *out, qp_err *err)
{
    const qp_reading *r = &job->reading;
    bool linked = false, given = false;
    qp_code code = QP_OK;
    *out = (qp_weaving){.extract = !strcmp(r->graph, "text"),
                        .b = (uint32_t)r->b,
                        .tau = r->tau,
                        .literal = !strcmp(r->er, "literal"),
                        .spans = !strcmp(r->spans, "ngrams")  ? QP_WEAVE_NGRAMS
                                 : !strcmp(r->spans, "names") ? QP_WEAVE_NAMES
                                                              : QP_WEAVE_BOTH,
                        .prompt = r->relations_prompt,
                        .places = !strcmp(r->facts, "pooled") && job->embedder && job->embedder->embed_spans,
                        .ask_nothing = job->options->dry_run};
    if (!strcmp(r->graph, "auto")) {
        code = qp_store_linked(job->store, &linked, err);
        code = code ? code : qp_weave_others(job->store, &given, err);
        out->extract = job->embedder && !linked && !given;
    }
    if (code || !out->extract || strcmp(r->relations, "writer"))
        return code;
    out->writer = job->writer;
    return job->writer && job->writer->generate
               ? QP_OK
               : qp_fail(err, QP_MODEL,
                         "-o relations=writer needs a writer: name one with --writer, or take the words between "
                         "entities with -o relations=words");
}

static qp_code weave_all(qp_job *job, qp_err *err)
{
    qp_weaving how;
    qp_woven woven;
    bool same = false;
    begin_stage(job, 0);
    qp_code code = weaving_of(job, &how, err);
    code = code ? code : qp_weave(job->store, &how, tell_woven, job, &woven, &same, err);
    if (code || same)
        return code;
    qp_index_report *r = job->report;
    r->entities += woven.entities;
    r->triples += woven.triples;
    r->writer_asked = woven.asked;
    r->writer_remembered = woven.remembered;
    r->writer_dropped = woven.dropped;
    r->writer_unanswered = woven.unanswered;
    r->prompt_tokens = woven.prompt_tokens;
    if (woven.unanswered)
        qp_job_warn(job,
                    "%llu of %llu chunks that the writer was asked about have no relations yet: %.600s; run it again",
                    (unsigned long long)woven.unanswered, (unsigned long long)woven.asked, woven.why.message);
    if (how.extract && job->embedder && !how.places && strcmp(job->reading.facts, "embedded"))
        qp_job_warn(
            job,
            "%s gives no vectors of tokens to pool: %llu entities and %llu facts of the texts are embedded one by "
            "one; -o facts=embedded says that this is meant",
            job->embedder->name, (unsigned long long)woven.entities, (unsigned long long)woven.triples);
    return woven.mentions ? qp_job_tell(job, "weave", NULL, true, err) : QP_OK;
}

static qp_code count_passage(void *ctx, const qp_passage *p, qp_err *err)
{
    qp_job *job = ctx;
    qp_code code = qp_writing_count(job->embedder, p->text, &job->report->chunk_tokens, err);
    if (code || !job->expander.n)
        return code;
    job->report->writer_asked++;
    return qp_expander_count(&job->expander, p->text, &job->report->prompt_tokens, err);
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
    code = code ? code : choose_tokens(job, err);
    code = code ? code : qp_expander_open(job->store, &job->reading, job->writer, &job->expander, err);
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
    qp_expander_close(&job->expander);
    free(job->graph);
    qp_arena_free(job->mem);
}

qp_code qp_ingest(qp_store *store, qp_makers models, int threads, const char *const *sources, size_t n,
                  const qp_index_options *options, qp_index_report *report, qp_err *err)
{
    static const qp_index_options plain;
    qp_index_report unread = {0};
    qp_job job = {.store = store,
                  .embedder = models.embedder,
                  .writer = models.writer,
                  .sparse = models.sparse,
                  .attention = models.attention,
                  .threads = threads,
                  .options = options ? options : &plain,
                  .report = report ? report : &unread,
                  .mem = qp_arena_new()};
    double began = qp_now_ms();

    *job.report = (qp_index_report){0};
    qp_store_memory(store, (size_t)job.options->memory << 20);
    qp_store_threads(store, threads);
    qp_code code = job.mem ? QP_OK : qp_oom(err);
    for (size_t i = 0; !code && i < n; i++) /* a name mistyped is no reason to have read the others */
        code = qp_source_look(sources[i], err);
    code = code ? code : start(&job, job.options, err);
    for (size_t i = 0; !code && i < n; i++)
        code = qp_source_read(&job, sources[i], err);
    job.report->seconds_read = (qp_now_ms() - began) / 1e3;
    code = code ? code : link_all(&job, err);
    code = code ? code : weave_all(&job, err);
    if (!code && options->dry_run)
        code = qp_store_passages(store, count_passage, &job, err);
    code = code || options->dry_run ? code : make_all(&job, err);
    code = code || options->dry_run ? code : publish(&job, err);
    if (!code && !job.report->chunks && !job.n_graph)
        code = qp_fail(err, QP_NONE, "%s: no document %s; quipu index wants files, folders or a data set",
                       n ? sources[0] : "no source", job.report->documents_failed ? "could be read" : "found");
    end(&job);
    return code;
}

qp_code qp_ingest_refresh(qp_store *store, qp_makers models, const qp_watch *watch, qp_err *err)
{
    qp_index_options options = {0};
    qp_index_report report = {0};
    qp_job job = {.store = store,
                  .embedder = models.embedder,
                  .writer = models.writer,
                  .sparse = models.sparse,
                  .attention = models.attention,
                  .options = &options,
                  .report = &report,
                  .mem = qp_arena_new()};

    if (watch)
        options.watch = *watch;
    qp_code code = job.mem ? qp_reading_load(store, NULL, 0, &job.reading, job.mem, err) : qp_oom(err);
    code = code ? code : link_all(&job, err);
    code = code ? code : weave_all(&job, err);
    bool complete = false;
    code = code ? code : qp_store_complete(store, &complete, err);
    if (!code && (!complete || models.embedder || models.sparse || models.attention)) {
        code = choose_tokens(&job, err);
        code = code ? code : qp_expander_open(store, &job.reading, job.writer, &job.expander, err);
        code = code ? code : make_all(&job, err);
    }
    code = code ? code : publish(&job, err);
    qp_expander_close(&job.expander);
    qp_arena_free(job.mem);
    return code;
}
