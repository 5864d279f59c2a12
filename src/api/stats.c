#include "api/index.h"
#include "base/map.h"
#include "text/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <yyjson.h>

/* Bytes of the files in the index folder; it has no folders inside. */
static uint64_t bytes_in(const char *folder)
{
    uint64_t sum = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat info;
        if (fstatat(dirfd(dir), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            sum += (uint64_t)info.st_size;
    }
    if (dir)
        closedir(dir);
    return sum;
}

struct type {
    qp_str name;
    uint64_t edges;
};

static int most_first(const void *a, const void *b)
{
    const struct type *x = a, *y = b;
    if (x->edges != y->edges)
        return x->edges > y->edges ? -1 : 1;
    return qp_str_cmp(x->name, y->name);
}

static qp_code list_types(const qp_map *counts, yyjson_mut_doc *doc, yyjson_mut_val *into, qp_err *err)
{
    size_t n = qp_map_size(counts);
    struct type *types = malloc((n + 1) * sizeof *types);
    if (!types)
        return qp_oom(err);
    for (size_t i = 0; i < n; i++)
        types[i] = (struct type){qp_map_key(counts, i), qp_map_value(counts, i)};
    qsort(types, n, sizeof *types, most_first);
    for (size_t i = 0; i < n; i++)
        yyjson_mut_obj_add(into, yyjson_mut_strncpy(doc, types[i].name.at, types[i].name.n),
                           yyjson_mut_uint(doc, types[i].edges));
    free(types);
    return QP_OK;
}

/* {"cites": 4957, ...}: edges of each type, the most frequent first. */
static qp_code count_types(const qp_view *view, yyjson_mut_doc *doc, yyjson_mut_val *into, qp_err *err)
{
    enum { BATCH = 1024 };
    qp_id ids[BATCH];
    qp_link links[BATCH];
    qp_map *counts = qp_map_new();
    qp_code code = counts ? QP_OK : qp_oom(err);
    for (uint32_t at = 0; at < view->edges && !code; at += BATCH) {
        uint32_t n = view->edges - at < BATCH ? view->edges - at : BATCH;
        for (uint32_t i = 0; i < n; i++)
            ids[i] = at + i;
        code = view->link(view->self, ids, n, links, err);
        for (uint32_t i = 0; i < n && !code; i++) {
            uint64_t *count = qp_map_put(counts, links[i].type, NULL);
            if (count)
                (*count)++;
            else
                code = qp_oom(err);
        }
    }
    code = code ? code : list_types(counts, doc, into, err);
    qp_map_free(counts);
    return code;
}

qp_code qp_index_stats(qp_index *index, char **json, qp_err *err)
{
    qp_held *held = NULL;
    qp_code code = qp_index_hold(index, &held, err);
    if (code)
        return code;
    const qp_snapshot *snapshot = qp_held_snapshot(held);
    const qp_view *view = qp_snapshot_view(snapshot);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_uint(doc, root, "documents", qp_snapshot_documents(snapshot));
    yyjson_mut_obj_add_uint(doc, root, "chunks", view->entity);
    yyjson_mut_obj_add_uint(doc, root, "entities", view->nodes - view->entity);
    yyjson_mut_obj_add_uint(doc, root, "edges", view->edges);
    code = count_types(view, doc, yyjson_mut_obj_add_obj(doc, root, "edge_types"), err);
    yyjson_mut_obj_add_uint(doc, root, "dimension", view->dim);
    const char *name = qp_index_name(index, QP_EMBEDDER), *digest = qp_snapshot_embedder(snapshot);
    yyjson_mut_obj_add_str(doc, root, "embedder", !*digest ? "none" : name ? name : "default");
    yyjson_mut_obj_add_str(doc, root, "embedder_digest", digest);
    const char *sparse = qp_index_name(index, QP_SPARSE), *heads = qp_index_name(index, QP_ATTENTION);
    yyjson_mut_obj_add_str(doc, root, "heads", !view->heads ? "none" : heads ? heads : "unknown");
    yyjson_mut_obj_add_str(doc, root, "sparse", !view->terms ? "none" : sparse ? sparse : "unknown");
    const char *expander = qp_snapshot_expander(snapshot);
    yyjson_mut_obj_add_str(doc, root, "doc2query", *expander ? expander : "none");
    uint64_t tokens = 0, token_bytes = 0;
    qp_snapshot_tokens(snapshot, &tokens, &token_bytes);
    yyjson_mut_obj_add_uint(doc, root, "tokens", tokens);
    yyjson_mut_obj_add_uint(doc, root, "token_bytes", token_bytes);
    yyjson_mut_obj_add_uint(doc, root, "snapshot", qp_snapshot_number(snapshot));
    yyjson_mut_obj_add_uint(doc, root, "bytes", bytes_in(qp_index_folder(index)));
    *json = code ? NULL : qp_json_text(doc, false);
    if (!code && !*json)
        code = qp_oom(err);
    yyjson_mut_doc_free(doc);
    qp_held_release(held);
    return code;
}
