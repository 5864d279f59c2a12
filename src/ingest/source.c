#include "ingest/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "ingest/peer.h"
#include "ingest/walk.h"

enum { HEAD = 4096 };

/* ---- keys of files ---- */

static qp_code take_known(void *ctx, const qp_stored *d, qp_err *err)
{
    qp_job *job = ctx;
    size_t place = qp_map_size(job->path_of);
    uint64_t *slot = qp_map_put(job->path_of, d->key, NULL);

    if (!slot)
        return qp_oom(err);
    *slot = qp_hash64(d->path);
    const char *name = qp_arena_str(job->mem, d->format).at;
    if (!name)
        return qp_oom(err);
    const qp_format *format = qp_format_named(name);
    if (!d->path.n || !format || !format->read)
        return QP_OK;
    slot = qp_map_put(job->key_of, d->path, NULL);
    if (!slot)
        return qp_oom(err);
    *slot = place;
    return QP_OK;
}

qp_code qp_source_prepare(qp_job *job, qp_err *err)
{
    job->path_of = qp_map_new();
    job->key_of = qp_map_new();
    job->seen = qp_map_new();
    job->broken = qp_map_new();
    if (!job->path_of || !job->key_of || !job->seen || !job->broken)
        return qp_oom(err);
    return qp_store_documents(job->store, take_known, job, err);
}

/* The key of a file: as before if it was here before, else its place below the folder above `root`, with as many
 * folders more as it takes to be nobody else's. */
static qp_code key_of(qp_job *job, qp_str path, size_t root, qp_str *key, qp_err *err)
{
    const uint64_t *place = qp_map_get(job->key_of, path);
    uint64_t hash = qp_hash64(path);
    bool added;

    if (place) {
        *key = qp_map_key(job->path_of, (size_t)*place);
        return QP_OK;
    }
    for (size_t from = root;; from = from > 1 ? from - 1 : 0) {
        while (from && path.at[from - 1] != '/')
            from--;
        *key = qp_str_slice(path, from, path.n);
        uint64_t *slot = qp_map_put(job->path_of, *key, &added);
        if (!slot)
            return qp_oom(err);
        if (added)
            *slot = hash;
        if (*slot == hash || !from)
            return QP_OK;
    }
}

/* ---- files ---- */

static qp_str head_of(const char *path, char head[HEAD])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, head, HEAD);

    if (fd >= 0)
        close(fd);
    return (qp_str){head, n > 0 ? (size_t)n : 0};
}

static qp_code read_records(qp_job *job, qp_batch *batch, const qp_format *format, const char *path, qp_str bytes,
                            qp_str key, qp_err *err)
{
    qp_records *records = NULL;
    qp_err why = {0};
    qp_code code = qp_records_open(format->kind, path, bytes, &records, &why);
    qp_item item = {.format = format, .path = (char *)(uintptr_t)path, .key = key};

    while (!code) {
        code = qp_records_next(records, &item.bytes, &item.line, &why);
        if (code || !item.bytes.at)
            break;
        qp_code added = qp_batch_add(batch, &item, err);
        if (added) {
            qp_records_close(records);
            return added;
        }
    }
    qp_records_close(records);
    if (code == QP_INPUT) {
        uint64_t hash = path ? qp_hash64(qp_str_of(path)) : 0;
        if (!path)
            job->incomplete = true;
        else if (!qp_map_put(job->broken, (qp_str){(const char *)&hash, sizeof hash}, NULL))
            return qp_oom(err);
        return qp_job_failed(job, &why, err);
    }
    return code ? qp_fail(err, code, "%s", why.message) : QP_OK;
}

static bool is_array(qp_str head)
{
    head = qp_str_trim(head);
    return head.n && (head.at[0] == '[' || head.at[0] == '{');
}

/* One file. Format null: by name and bytes; *known false: it is nothing we read. */
static qp_code read_file(qp_job *job, qp_batch *batch, const char *path, size_t root, bool *known, qp_err *err)
{
    char bytes[HEAD];
    struct stat st;
    qp_str whole = qp_str_of(path), key, head = head_of(path, bytes), name = qp_path_name(whole);
    const qp_format *format = qp_format_named(job->reading.format);

    if (!format)
        format = qp_format_of(name, head);
    qp_triples_kind graph = qp_format_named(job->reading.format) ? QP_TRIPLES_NONE : qp_triples_kind_of(name, head);
    *known = format || graph;
    if (graph) {
        job->done++;
        return qp_source_graph_note(job, path, graph, err);
    }
    if (!format)
        return QP_OK;
    if (!format->read && format->kind == QP_JSON && !is_array(head))
        format = qp_format_named("text");
    qp_code code = key_of(job, whole, root, &key, err);
    if (code)
        return code;
    if (!format->read)
        return read_records(job, batch, format, path, (qp_str){0}, key, err);
    qp_item item = {.format = format,
                    .path = (char *)(uintptr_t)path,
                    .key = key,
                    .size = stat(path, &st) ? 0 : (size_t)st.st_size};
    return qp_batch_add(batch, &item, err);
}

/* A README beside triples tells of them: as a document it would be the only one that BM25 looks at. */
static bool tells_of_graph(const qp_files *files, const qp_file *file)
{
    bool graph = false;
    for (size_t i = 0; i < files->n && !graph; i++)
        graph = qp_str_eq(files->at[i].relative, QP_STR("triples.tsv")) ||
                qp_str_eq(files->at[i].relative, QP_STR("graphs.jsonl"));
    return graph && qp_str_starts(file->relative, QP_STR("README"));
}

static qp_code read_folder(qp_job *job, qp_batch *batch, const char *folder, qp_err *err)
{
    qp_arena *mem = qp_arena_new();
    qp_files files = {0};
    uint64_t strange = 0;
    char example[200] = "";
    size_t root = strlen(folder);

    if (!mem)
        return qp_oom(err);
    qp_code code = qp_walk_folder(folder, qp_str_of(job->reading.include), qp_str_of(job->reading.exclude),
                                  &job->options->watch, &files, mem, err);
    job->report->documents_failed += files.unreadable;
    job->incomplete |= files.unreadable > 0;
    if (!code && files.unreadable && job->options->strict)
        code = qp_fail(err, QP_INPUT, "%s: %llu folders or links in it cannot be opened", folder,
                       (unsigned long long)files.unreadable);
    job->total += files.n;
    for (size_t i = 0; !code && i < files.n; i++) {
        bool known = true;
        if (!tells_of_graph(&files, &files.at[i]))
            code = read_file(job, batch, files.at[i].path, root, &known, err);
        if (!known && !strange++)
            snprintf(example, sizeof example, "%.*s", (int)files.at[i].relative.n, files.at[i].relative.at);
        job->done += !known;
    }
    if (!code && strange)
        qp_job_warn(job, "%s: %llu files are of no kind that is read, such as %s", folder, (unsigned long long)strange,
                    example);
    qp_arena_free(mem);
    return code;
}

static qp_code read_dataset(qp_job *job, qp_batch *batch, const char *folder, const char *corpus, qp_err *err)
{
    char *edges = qp_path_join(job->mem, folder, "edges.tsv");

    if (!edges)
        return qp_oom(err);
    job->total = 0;
    qp_code code = read_records(job, batch, qp_format_named("jsonl"), corpus, (qp_str){0}, QP_STR("corpus.jsonl"), err);
    if (code)
        return code;
    return qp_path_exists(edges) ? qp_source_edges(job, folder, edges, err)
                                 : qp_store_given(job->store, qp_str_of(folder), NULL, 0, err);
}

static qp_code read_input(qp_job *job, qp_batch *batch, qp_err *err)
{
    qp_buf bytes = {0};
    ssize_t n = 1;
    qp_code stopped = QP_OK;

    while (n > 0) {
        char *room = qp_buf_room(&bytes, 1 << 20);
        n = room ? read(STDIN_FILENO, room, 1 << 20) : -1;
        if (n > 0)
            bytes.n += (size_t)n;
        else if (n < 0 && errno == EINTR && !(stopped = qp_job_tell(job, "read", "-", false, err)))
            n = 1;
    }
    qp_code code = stopped     ? stopped
                   : bytes.oom ? qp_oom(err)
                   : n < 0     ? qp_fail(err, QP_INPUT, "standard input: %s", strerror(errno))
                               : QP_OK;
    const qp_format *format = qp_format_named(job->reading.format);
    qp_str all = qp_buf_view(&bytes);
    if (!format)
        format = qp_format_of((qp_str){"", 0}, qp_str_slice(all, 0, HEAD));
    if (!code && !format)
        code =
            qp_fail(err, QP_INPUT, "standard input: neither text nor a format that is read; say which: -o format=...");
    if (!code && format->read) {
        code = qp_batch_add(batch, &(qp_item){.format = format, .key = QP_STR("stdin"), .bytes = all}, err);
        code = code ? code : qp_batch_flush(batch, err);
    } else if (!code) {
        code = read_records(job, batch, format, NULL, all, QP_STR("stdin"), err);
        code = code ? code : qp_batch_flush(batch, err);
    }
    qp_buf_free(&bytes);
    return code;
}

/* A data set's edges: known by their header where they are given alone. */
static bool begins(const char *path, qp_str header)
{
    char bytes[HEAD];

    return qp_str_starts(head_of(path, bytes), header);
}

/* The triples of a data set folder, and names of what is in them. */
static qp_code note_graphs(qp_job *job, const char *folder, bool *any, qp_err *err)
{
    static const char *const files[] = {"triples.tsv",  "graphs.jsonl",  "nodes.csv",   "edges.csv",
                                        "entities.tsv", "relations.tsv", "mentions.tsv"};
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < sizeof files / sizeof *files; i++) {
        char bytes[HEAD], *path = qp_path_join(job->mem, folder, files[i]);
        if (!path)
            return qp_oom(err);
        if (!qp_path_exists(path))
            continue;
        qp_triples_kind kind = qp_triples_kind_of(qp_str_of(files[i]), head_of(path, bytes));
        bool names = kind == QP_TRIPLES_ENTITIES || kind == QP_TRIPLES_RELATIONS || kind == QP_TRIPLES_MENTIONS;
        *any |= kind && !names;
        if (names ? *any : kind)
            code = qp_source_graph_note(job, path, kind, err);
    }
    return code;
}

static qp_code read_peer(qp_job *job, qp_batch *batch, const char *path, bool *is, qp_err *err)
{
    qp_peer peer;
    char *file = NULL;
    qp_code code = qp_peer_of(path, job->mem, &peer, &file, err);

    *is = peer != QP_PEER_NONE;
    return code || !*is ? code : qp_peer_read(job, batch, peer, file, err);
}

static qp_code read_place(qp_job *job, qp_batch *batch, const char *path, qp_err *err)
{
    bool known;
    if (!qp_path_is_dir(path)) {
        qp_str whole = qp_str_of(path);
        qp_code code = read_peer(job, batch, path, &known, err);
        if (code || known)
            return code;
        code = read_file(job, batch, path, whole.n, &known, err);
        if (!code && !known) {
            qp_err why = {0};
            qp_fail(&why, QP_INPUT, "%s: neither text nor a format that is read; say which: -o format=...", path);
            code = qp_job_failed(job, &why, err);
        }
        return code;
    }
    char *corpus = qp_path_join(job->mem, path, "corpus.jsonl"),
         *queries = qp_path_join(job->mem, path, "queries.jsonl");
    bool graph = false;
    if (!corpus || !queries)
        return qp_oom(err);
    bool dataset = qp_path_exists(corpus) || qp_path_exists(queries);
    qp_code code = dataset ? note_graphs(job, path, &graph, err) : QP_OK;
    if (code)
        return code;
    if (qp_path_exists(corpus))
        return read_dataset(job, batch, path, corpus, err);
    if (dataset && !graph)
        return qp_fail(err, QP_INPUT,
                       "%s: a data set without corpus.jsonl, triples.tsv and graphs.jsonl: there is nothing to index",
                       path);
    if (dataset)
        return QP_OK;
    code = read_peer(job, batch, path, &known, err);
    return code || known ? code : read_folder(job, batch, path, err);
}

/* What the store has of files whose records could not be told counts as there. */
static qp_code keep_broken(const qp_job *job, qp_batch *batch, qp_err *err)
{
    qp_code code = QP_OK;

    for (size_t i = 0; !code && qp_map_size(job->broken) && i < qp_map_size(job->path_of); i++) {
        uint64_t hash = qp_map_value(job->path_of, i);
        if (qp_map_get(job->broken, (qp_str){(const char *)&hash, sizeof hash}))
            code = qp_batch_keep(batch, qp_map_key(job->path_of, i), err);
    }
    return code;
}

qp_code qp_source_look(const char *source, qp_err *err)
{
    struct stat st;
    if (!strcmp(source, "-"))
        return QP_OK;
    if (stat(source, &st))
        return qp_fail(err, QP_INPUT, "%s: %s", source, strerror(errno));
    return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
               ? QP_OK
               : qp_fail(err, QP_INPUT, "%s: no file and no folder; what comes through a pipe is read as \"-\"",
                         source);
}

qp_code qp_source_read(qp_job *job, const char *source, qp_err *err)
{
    bool input = !strcmp(source, "-");
    qp_batch *batch = NULL;
    uint64_t removed;
    const qp_str *keys;
    size_t n;

    char *path = input ? strdup("-") : realpath(source, NULL);
    if (!path)
        return qp_fail(err, QP_INPUT, "%s: %s", source, strerror(errno));
    job->began = qp_now_ms();
    job->done = job->total = 0;
    job->incomplete = false;
    job->n_graph = 0;
    qp_code code = QP_OK;
    if (!input && !qp_path_is_dir(path) && begins(path, QP_STR("src\tdst"))) {
        code = qp_source_edges(job, path, path, err);
        free(path);
        return code;
    }
    code = qp_batch_open(job, path, &batch, err);
    if (!code)
        code = input ? read_input(job, batch, err) : read_place(job, batch, path, err);
    code = code ? code : qp_batch_flush(batch, err);
    if (!code || code == QP_STOPPED) { /* what was read is kept also when somebody says stop */
        qp_code kept = qp_job_commit(job, code ? NULL : err);
        code = code ? code : kept;
    }
    if (!code && job->incomplete)
        qp_job_warn(job, "%s: part of it could not be read, so what is gone from it stays in the index", source);
    code = code ? code : keep_broken(job, batch, err);
    if (!code && !job->incomplete && !input) { /* from a stream nothing is gone */
        keys = qp_batch_keys(batch, &n);
        if (n)
            code = qp_store_prune(job->store, qp_str_of(path), keys, n, &removed, err);
        else if (!job->n_graph) /* an unmounted disk, a pattern that fits nothing: not what deleting looks like */
            qp_job_warn(job, "%s: nothing in it to read; what the index has of it stays (`quipu delete` removes it)",
                        source);
    }
    if (!code && !input)
        code = qp_source_graph(job, path, err);
    if (!code)
        code = qp_job_tell(job, "read", source, true, err);
    qp_batch_close(batch);
    free(path);
    return code;
}
