/* The graph files of one source: read, built and kept as one graph, as nodes and edges may lie in different files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "ingest/graph_build.h"
#include "ingest/source.h"
#include "store/graph.h"

enum { BUDGET = 512 }; /* MiB of memory while a graph is built; what is beyond lies on disk */

qp_code qp_source_graph_note(qp_job *job, const char *path, qp_triples_kind kind, qp_err *err)
{
    struct qp_graph_file *more = qp_array_room(job->graph, job->n_graph, &job->cap_graph, sizeof *more);
    char *copy = qp_arena_cstr(job->mem, path);
    if (more)
        job->graph = more;
    if (!more || !copy)
        return qp_oom(err);
    job->graph[job->n_graph++] = (struct qp_graph_file){copy, kind};
    return QP_OK;
}

/* Of all files' bytes, in the order they were noted. */
static qp_code digest_of(qp_job *job, qp_digest *out, qp_err *err)
{
    qp_str *part = qp_new(job->mem, qp_str, job->n_graph + 1);
    qp_digest *each = qp_new(job->mem, qp_digest, job->n_graph + 1);
    qp_code code = part && each ? QP_OK : qp_oom(err);
    for (size_t i = 0; !code && i < job->n_graph; i++) {
        qp_mapped file = {0};
        code = qp_file_map(job->graph[i].path, &file, err);
        if (!code)
            each[i] = qp_digest_of((qp_str){(const char *)file.at, file.n});
        qp_file_unmap(&file);
        part[i] = qp_str_of(each[i].hex);
    }
    if (!code) {
        part[job->n_graph] = QP_STR("graph 3"); /* a new number where the readers change what they give */
        *out = qp_digest_parts(part, job->n_graph + 1);
    }
    return code;
}

/* ---- from the build into the store ---- */

static qp_code put_relation(void *ctx, qp_str name, qp_err *err)
{
    return qp_graph_relation(ctx, name, err);
}

static qp_code put_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    return qp_graph_entity(ctx, scope, name, text, err);
}

static qp_code put_triple(void *ctx, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                          qp_err *err)
{
    return qp_graph_triple(ctx, head, relation, tail, weight, text, err);
}

static qp_code put_provenance(void *ctx, qp_str entity, qp_str document, qp_err *err)
{
    return qp_graph_provenance(ctx, entity, document, err);
}

static void tell_counts(qp_job *job, const char *source, const qp_triples_report *read, const qp_build_counts *built)
{
    job->report->triples += built->triples;
    job->report->entities += built->entities;
    if (read->left_out)
        qp_job_warn(job, "%s: %llu lines hold no triple and were left out, the first: %s", source,
                    (unsigned long long)read->left_out, read->first.message);
    if (built->duplicates)
        qp_job_warn(job, "%s: %llu triples stand there more than once", source, (unsigned long long)built->duplicates);
    if (built->texts_cut)
        qp_job_warn(job, "%s: %llu texts of entities were left out: an entity holds %d MiB of text", source,
                    (unsigned long long)built->texts_cut, QP_BUILD_TEXT >> 20);
}

static qp_code read_all(qp_job *job, qp_build *build, qp_triples_report *report, qp_err *err)
{
    qp_triple_sink sink = qp_build_sink(build);
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < job->n_graph; i++) {
        const qp_triples_source from = {.kind = job->graph[i].kind,
                                        .path = job->graph[i].path,
                                        .strict = job->options->strict,
                                        .watch = &job->options->watch};
        code = qp_triples_read(&from, &sink, report, err);
    }
    return code;
}

static qp_code build_and_put(qp_job *job, const char *source, qp_digest digest, qp_err *err)
{
    qp_build *build = NULL;
    qp_graph_put *put = NULL;
    qp_triples_report read = {0};
    qp_build_counts built = {0};
    bool existed = false;
    const char *folder = getenv("TMPDIR");
    size_t memory = (size_t)(job->options->memory ? job->options->memory : BUDGET) << 20;
    qp_code code = qp_build_open(folder && *folder ? folder : P_tmpdir, memory, &job->options->watch, &build, err);
    if (!code)
        code = read_all(job, build, &read, err);
    bool nothing = !code && !read.triples && !read.entities && read.left_out;
    if (nothing) { /* no file of triples, whatever its name says: what was there before stays */
        job->report->documents_failed++;
        qp_job_warn(job, "%s: holds no triple that can be read, so it was not taken; the first: %s", source,
                    read.first.message);
    }
    if (!code && !nothing)
        code = qp_graph_begin(job->store, qp_str_of(source), qp_str_of(digest.hex), &put, &existed, err);
    if (put) {
        const qp_build_out out = {put_relation, put_entity, put_triple, put_provenance, put};
        code = qp_graph_end(put, qp_build_finish(build, &out, &built, err), err);
    }
    qp_build_close(build);
    if (!code && !nothing) {
        tell_counts(job, source, &read, &built);
        job->report->documents_added += !existed;
        job->report->documents_changed += existed;
    }
    return code;
}

qp_code qp_source_graph(qp_job *job, const char *source, qp_err *err)
{
    qp_digest digest;
    bool same = false;
    const qp_str mine = qp_str_of(source);
    uint64_t gone = 0;
    qp_code code = qp_job_commit(job, err);
    if (!code && !job->incomplete)
        code = qp_store_graph_prune(job->store, mine, &mine, job->n_graph > 0, &gone, err);
    if (code || !job->n_graph)
        return code;
    code = digest_of(job, &digest, err);
    if (!code)
        code = qp_store_graph_same(job->store, mine, qp_str_of(digest.hex), &same, err);
    if (!code && same)
        job->report->documents_same++;
    return code || same ? code : build_and_put(job, source, digest, err);
}
