#include "ingest/peer.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "ingest/source.h"

#define CHUNKS "kv_store_text_chunks.json"

/* ---- which ---- */

static const struct {
    const char *name; /* of a file, as fnmatch has it */
    qp_peer peer;
} marks[] = {
    {"graph_chunk_entity_relation.graphml", QP_PEER_LIGHTRAG},
    {"openie_results_ner_*.json", QP_PEER_HIPPORAG},
    {"text_units.parquet", QP_PEER_GRAPHRAG},
    {"create_final_text_units.parquet", QP_PEER_GRAPHRAG}, /* before 2.0 */
};

static qp_peer peer_named(const char *name)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!fnmatch(marks[i].name, name, 0))
            return marks[i].peer;
    return QP_PEER_NONE;
}

static qp_code look_into(const char *folder, DIR *dir, qp_arena *mem, qp_peer *peer, char **file, qp_err *err)
{
    for (struct dirent *e; (e = readdir(dir));) {
        qp_peer is = peer_named(e->d_name);
        if (!is)
            continue;
        if (is == QP_PEER_HIPPORAG && *peer == is)
            return qp_fail(err, QP_INPUT, "%s: holds extractions of HippoRAG by several models; index one of the files",
                           folder);
        *peer = is;
        if (!(*file = qp_path_join(mem, folder, e->d_name)))
            return qp_oom(err);
    }
    return QP_OK;
}

qp_code qp_peer_of(const char *path, qp_arena *mem, qp_peer *peer, char **file, qp_err *err)
{
    const char *slash = strrchr(path, '/');
    DIR *dir = opendir(path);

    *peer = QP_PEER_NONE;
    if (!dir && errno == ENOTDIR && peer_named(slash ? slash + 1 : path) == QP_PEER_HIPPORAG) {
        *peer = QP_PEER_HIPPORAG;
        *file = qp_arena_cstr(mem, path);
        return *file ? QP_OK : qp_oom(err);
    }
    qp_code code = dir ? look_into(path, dir, mem, peer, file, err) : QP_OK; /* who reads it says why not */
    if (dir)
        closedir(dir);
    return code;
}

/* ---- passages ---- */

char *qp_peer_chunks_beside(const char *graph)
{
    const char *slash = strrchr(graph, '/');
    char *path = NULL;

    return asprintf(&path, "%.*s" CHUNKS, slash ? (int)(slash + 1 - graph) : 0, graph) < 0 ? NULL : path;
}

qp_code qp_peer_json(const char *path, qp_str bytes, yyjson_doc **out, qp_err *err)
{
    qp_buf file = {0};
    yyjson_read_err why;
    qp_code code = path ? qp_file_read(path, 0, &file, err) : QP_OK;

    if (path)
        bytes = qp_buf_view(&file);
    *out = code ? NULL
                : yyjson_read_opts((char *)(uintptr_t)(bytes.at ? bytes.at : ""), bytes.n,
                                   YYJSON_READ_ALLOW_INVALID_UNICODE, NULL, &why);
    qp_buf_free(&file);
    return code || *out ? code
                        : qp_fail(err, QP_INPUT, "%s: no JSON at byte %zu: %s", path ? path : "standard input", why.pos,
                                  why.msg);
}

static qp_str text_of(yyjson_val *object, const char *key)
{
    yyjson_val *v = yyjson_obj_get(object, key);

    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

qp_str qp_peer_chunk_key(qp_str id, yyjson_val *chunk, qp_arena *mem)
{
    qp_str document = text_of(chunk, "full_doc_id");
    int64_t order = yyjson_get_sint(yyjson_obj_get(chunk, "chunk_order_index"));

    if (!document.n)
        document = id;
    return order > 0 ? qp_arena_fmt(mem, "%.*s#%lld", (int)document.n, document.at, (long long)order) : document;
}

static void add(yyjson_mut_doc *doc, const char *key, qp_str value)
{
    if (value.n)
        yyjson_mut_obj_add_strn(doc, yyjson_mut_doc_get_root(doc), key, value.at, value.n);
}

/* Takes the record apart: its fields live as long as what they were read from, which is until here. */
static qp_code put_record(qp_batch *batch, const char *path, uint64_t place, yyjson_mut_doc *record, qp_err *err)
{
    size_t n = 0;
    char *json = record ? yyjson_mut_write(record, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &n) : NULL;
    qp_item item = {.format = qp_format_named("json"),
                    .path = (char *)(uintptr_t)path,
                    .bytes = {json, n},
                    .line = place};
    qp_code code = json ? qp_batch_add(batch, &item, err) : qp_oom(err);

    free(json);
    yyjson_mut_doc_free(record);
    return code;
}

static yyjson_mut_doc *new_record(void)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    if (doc)
        yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    return doc;
}

static qp_code broken(qp_job *job, const char *path, const char *wanted, qp_err *err)
{
    qp_err why = {0};

    job->incomplete = true;
    qp_fail(&why, QP_INPUT, "%s: wanted %s", path, wanted);
    return qp_job_failed(job, &why, err);
}

static qp_code lightrag(qp_job *job, qp_batch *batch, const char *path, yyjson_val *root, qp_err *err)
{
    yyjson_obj_iter chunks;
    uint64_t place = 0;
    qp_code code = QP_OK;

    if (!yyjson_obj_iter_init(root, &chunks))
        return broken(job, path, "LightRAG's chunks: {\"chunk-...\": {\"content\", \"full_doc_id\", ...}, ...}", err);
    for (yyjson_val *key; !code && (key = yyjson_obj_iter_next(&chunks));) {
        yyjson_val *chunk = yyjson_obj_iter_get_val(key);
        yyjson_mut_doc *record = new_record();
        qp_str id = {yyjson_get_str(key), yyjson_get_len(key)};
        if (record) {
            add(record, "_id", qp_peer_chunk_key(id, chunk, job->mem));
            add(record, "text", text_of(chunk, "content"));
            add(record, "file_path", text_of(chunk, "file_path"));
            add(record, "chunk_id", id);
        }
        code = put_record(batch, path, ++place, record, err);
    }
    return code;
}

static qp_code hipporag(qp_job *job, qp_batch *batch, const char *path, yyjson_val *root, qp_err *err)
{
    yyjson_arr_iter docs;
    uint64_t place = 0;
    qp_code code = QP_OK;

    if (!yyjson_arr_iter_init(yyjson_obj_get(root, "docs"), &docs))
        return broken(job, path,
                      "HippoRAG's extractions: {\"docs\": [{\"idx\", \"passage\", \"extracted_triples\"}, ...]}", err);
    for (yyjson_val *doc; !code && (doc = yyjson_arr_iter_next(&docs));) {
        yyjson_mut_doc *record = new_record();
        if (record) {
            add(record, "_id", text_of(doc, "idx"));
            add(record, "text", text_of(doc, "passage"));
        }
        code = put_record(batch, path, ++place, record, err);
    }
    return code;
}

static qp_code read_json(qp_job *job, qp_batch *batch, const char *path,
                         qp_code (*take)(qp_job *, qp_batch *, const char *, yyjson_val *, qp_err *), qp_err *err)
{
    yyjson_doc *doc = NULL;
    qp_err why = {0};
    qp_code code = qp_peer_json(path, (qp_str){0}, &doc, &why);

    if (code == QP_INPUT) {
        job->incomplete = true;
        return qp_job_failed(job, &why, err);
    }
    code = code ? qp_fail(err, code, "%s", why.message) : take(job, batch, path, yyjson_doc_get_root(doc), err);
    yyjson_doc_free(doc);
    return code;
}

qp_code qp_peer_read(qp_job *job, qp_batch *batch, qp_peer peer, const char *file, qp_err *err)
{
    job->total = 0;
    if (peer == QP_PEER_GRAPHRAG)
        return qp_fail(
            err, QP_INPUT,
            "%s: is GraphRAG's, as parquet, which is not read here; `tools/from-graphrag --reports` makes a data "
            "set of its folder",
            file);
    if (peer == QP_PEER_HIPPORAG) {
        qp_code code = read_json(job, batch, file, hipporag, err);
        return code ? code : qp_source_graph_note(job, file, QP_TRIPLES_HIPPORAG, err);
    }
    char *chunks = qp_peer_chunks_beside(file);
    if (!chunks)
        return qp_oom(err);
    qp_code code = qp_path_exists(chunks) ? read_json(job, batch, chunks, lightrag, err)
                                          : qp_fail(err, QP_INPUT,
                                                    "%s: wanted LightRAG's passages beside its graph, found none; the "
                                                    "graph alone: index %s",
                                                    chunks, file);
    free(chunks);
    return code ? code : qp_source_graph_note(job, file, QP_TRIPLES_LIGHTRAG, err);
}
