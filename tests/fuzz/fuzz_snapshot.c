/* A snapshot from somewhere else: opened, checked, and read in every way a question may, whatever it holds.
 *
 * The sums of the head are set right first, so that what is tried is the reading of what the sections say and not the
 * sum over it; a forger would do the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/mapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20, TRIED = 12 };

typedef struct front {
    qp_head head;
    qp_toc_entry toc[QP_SECTIONS];
} front;

static void set_right(uint8_t *bytes, size_t size)
{
    front f;
    if (size < sizeof f)
        return;
    memcpy(&f, bytes, sizeof f);
    f.head.bytes = size;
    for (int i = 0; i < QP_SECTIONS; i++)
        if (f.toc[i].at <= size && f.toc[i].bytes <= size - f.toc[i].at)
            f.toc[i].checksum = qp_hash64((qp_str){(const char *)bytes + f.toc[i].at, f.toc[i].bytes});
    f.head.checksum = 0;
    f.head.checksum = qp_hash64((qp_str){(const char *)&f, sizeof f});
    memcpy(bytes, &f, sizeof f);
}

/* A code other than QP_OK comes with words. */
static void told(qp_code code, qp_err *err)
{
    if (code && !*err->message)
        abort();
    *err = (qp_err){0};
}

static void search(const qp_view *v, qp_arena *a, const uint64_t *allow)
{
    static const char *const indices[] = {"node.bm25",   "node.tfidf",     "node.dense",
                                          "node.splade", "node.doc2query", "node.colbert"};
    enum { INDICES = sizeof indices / sizeof *indices };
    static const uint32_t term[] = {0, 1, 2, 5, 9, 11};
    static const float weight[] = {1, .5f, 2, 1, 1, 3};
    float vector[64] = {1, -1, .5f};
    for (int i = 0; i < 2 * INDICES; i++) {
        qp_probe probe = {.text = QP_STR("q0 q1 q1 q2 q9 q30"),
                          .vector = vector,
                          .dim = v->dim,
                          .terms = &(qp_sparse){term, weight, 6},
                          .tokens = &(qp_token_rows){vector, v->token_dim ? 64 / v->token_dim : 0},
                          .allow = i < INDICES ? NULL : allow};
        qp_list found = {0};
        qp_err err = {0};
        if (i % INDICES == 2 && v->dim > 64)
            continue;
        told(v->search(v->self, indices[i % INDICES], &probe, i < INDICES ? 5 : UINT32_MAX, &found, a, &err), &err);
        for (uint32_t j = 0; j < found.n; j++)
            if (found.at[j].id >= v->nodes)
                abort();
    }
}

static void walk(const qp_view *v, qp_arena *a)
{
    qp_err err = {0};
    for (uint32_t i = 0; i < TRIED && i < v->nodes; i++) {
        qp_id id = i < TRIED / 2 ? i : v->nodes - 1 - (i - TRIED / 2) % v->nodes;
        qp_adj adj = {0};
        qp_about about;
        qp_str text;
        uint32_t degree;
        float vector[64];
        told(v->adjacent(v->self, &id, 1, (qp_walk){i % 2 ? UINT64_MAX : 1, i % 3, true}, &adj, a, &err), &err);
        told(v->degree(v->self, &id, 1, (qp_walk){UINT64_MAX, i % 3, true}, &degree, &err), &err);
        told(v->text(v->self, QP_NODE, &id, 1, &text, a, &err), &err);
        told(v->about(v->self, &id, 1, &about, a, &err), &err);
        if (v->dim <= 64)
            told(v->vectors(v->self, "node.dense", &id, 1, vector, &err), &err);
    }
    for (qp_id id = 0; id < TRIED && id < v->edges; id++) {
        qp_link link;
        told(v->link(v->self, &id, 1, &link, &err), &err);
    }
    uint64_t bits;
    told(v->types(v->self, "type00,type01", &bits, &err), &err);
}

static void read_all(const qp_snapshot *s)
{
    qp_arena *a = qp_arena_new();
    const uint64_t *allow = NULL;
    qp_err err = {0};
    told(qp_snapshot_check(s, &err), &err);
    told(qp_snapshot_where(s, "year > 2000 or title ~ 'q'", &allow, a, &err), &err);
    qp_snapshot_document_find(s, QP_STR("d000003.md"));
    search(qp_snapshot_view(s), a, allow);
    walk(qp_snapshot_view(s), a);
    qp_arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    qp_snapshot *s = NULL;
    qp_err err = {0};
    uint8_t *bytes = size <= MOST ? malloc(size + 1) : NULL;
    int file = memfd_create("snapshot", 0);
    if (!bytes || file < 0) {
        free(bytes);
        close(file);
        return 0;
    }
    memcpy(bytes, data, size);
    set_right(bytes, size);
    if (write(file, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (qp_snapshot_open_file(path, 1, &s, &err) == QP_OK)
        read_all(s);
    else if (!*err.message)
        abort();
    qp_snapshot_close(s);
    free(bytes);
    close(file);
    return 0;
}
