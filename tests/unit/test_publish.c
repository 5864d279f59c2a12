/* Publishing: the snapshot is what the truth amounts to, byte for byte, whatever the way there. */
#include <dirent.h>
#include <sys/stat.h>

#include "store/store.h"
#include "unit/made.h"

enum { DIM = 8 };

static qp_store *writer(const char *dir)
{
    qp_store *s = NULL;
    qp_err err = {0};
    if (qp_store_open(dir, true, true, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

/* Document i of version v: its bytes are a function of both. */
static void put(qp_store *s, int i, int v)
{
    char key[32], digest[32];
    qp_buf text = {0};
    qp_random r = qp_random_seed((uint64_t)i * 1000 + (uint64_t)v);
    random_words(&r, 30, 100, &text);
    qp_chunk chunks[2] = {{0, text.n / 2, 0, QP_STR("Head")}, {text.n / 2, text.n, 0, QP_STR("")}};
    snprintf(key, sizeof key, "doc%03d", i);
    snprintf(digest, sizeof digest, "%d.%d", i, v);
    qp_document d = {.key = qp_str_of(key),
                     .source = QP_STR("src"),
                     .format = QP_STR("md"),
                     .title = qp_str_of(key),
                     .language = QP_STR("en"),
                     .meta = QP_STR("{}"),
                     .text = qp_buf_view(&text),
                     .digest = qp_str_of(digest),
                     .chunks = chunks,
                     .n_chunks = 2};
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    qp_buf_free(&text);
}

static qp_code note_row(void *ctx, const qp_stored *d, qp_err *err)
{
    (void)err;
    int64_t *rows = ctx;
    rows[++rows[0]] = d->row;
    return QP_OK;
}

/* Each document's first chunk points at the next document's second; a vector for each text; published. */
static void link_embed_publish(qp_store *s)
{
    static int64_t rows[1000];
    static qp_edge edges[1000];
    rows[0] = 0;
    assert_int_equal(qp_store_documents(s, note_row, rows, NULL), QP_OK);
    size_t n = 0;
    for (; n + 1 < (size_t)rows[0]; n++)
        edges[n] = (qp_edge){rows[n + 1], rows[n + 2], 0, 1, n % 2 ? QP_STR("cites") : QP_STR("link"), 1};
    assert_int_equal(qp_store_edges(s, edges, n, 0, NULL), QP_OK);
    qp_arena *a = qp_arena_new();
    for (;;) {
        qp_pending p[16];
        float v[16 * DIM];
        uint32_t got;
        assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "model", 16, p, &got, NULL, a, NULL), QP_OK);
        if (!got)
            break;
        for (uint32_t i = 0; i < got; i++) {
            qp_random r = qp_random_seed(qp_hash64(p[i].text));
            random_unit(&r, DIM, v + i * DIM);
        }
        assert_int_equal(qp_store_vectors(s, "model", DIM, p, got, v, NULL), QP_OK);
    }
    for (;;) {
        qp_pending p[16];
        qp_sparse terms[16];
        static uint32_t term[16][40];
        static float weight[16][40];
        uint32_t got;
        assert_int_equal(qp_store_pending(s, QP_MADE_TERMS, "sparse model", 16, p, &got, NULL, a, NULL), QP_OK);
        if (!got)
            break;
        for (uint32_t i = 0; i < got; i++) {
            qp_random r = qp_random_seed(qp_hash64(p[i].text));
            random_learned(&r, 500, term[i], weight[i], &terms[i]);
        }
        assert_int_equal(qp_store_terms(s, "sparse model", p, got, terms, NULL), QP_OK);
    }
    qp_arena_free(a);
    qp_err err = {0};
    if (qp_store_publish(s, NULL, &err))
        fail_msg("%s", err.message);
}

static void read_current(const char *dir, qp_buf *bytes, uint64_t *number)
{
    qp_arena *a = qp_arena_new();
    char *path;
    assert_int_equal(qp_snapshot_current(dir, &path, number, a, NULL), QP_OK);
    qp_buf_clear(bytes);
    assert_int_equal(qp_file_read(path, 0, bytes, NULL), QP_OK);
    qp_arena_free(a);
}

static int files_of(const char *dir, const char *prefix)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += !strncmp(e->d_name, prefix, strlen(prefix));
    closedir(d);
    return n;
}

static void bytes_do_not_tell_the_way_there(void **state)
{
    enum { N = 40 };
    char one[300], other[300];
    snprintf(one, sizeof one, "%s/one", (char *)*state);
    snprintf(other, sizeof other, "%s/other", (char *)*state);
    qp_store *s = writer(one);
    for (int i = 0; i < N; i++)
        put(s, i, 1);
    link_embed_publish(s);
    qp_store_close(s);

    s = writer(other); /* backwards, others among them, an older version first, published in between */
    for (int i = N + 9; i >= 0; i--)
        put(s, i, i % 3 ? 1 : 2);
    link_embed_publish(s);
    for (int i = 0; i < N; i += 3)
        put(s, i, 1);
    uint64_t removed;
    qp_buf key = {0};
    for (int i = N; i < N + 10; i++) {
        qp_buf_clear(&key);
        qp_buf_fmt(&key, "doc%03d", i);
        assert_int_equal(qp_store_remove(s, qp_buf_view(&key), &removed, NULL), QP_OK);
        assert_int_equal(removed, 1);
    }
    link_embed_publish(s);
    qp_store_close(s);

    qp_buf a = {0}, b = {0};
    uint64_t first, second;
    read_current(one, &a, &first);
    read_current(other, &b, &second);
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.at, b.at, a.n);
    qp_buf_free(&a);
    qp_buf_free(&b);
    qp_buf_free(&key);
}

static void nothing_new_is_nothing_written(void **state)
{
    qp_store *s = writer(*state);
    put(s, 1, 1);
    put(s, 2, 1);
    link_embed_publish(s);
    qp_buf bytes = {0};
    uint64_t before, after;
    read_current(*state, &bytes, &before);
    struct stat old, new;
    assert_int_equal(stat(in(*state, "CURRENT"), &old), 0);
    link_embed_publish(s);
    put(s, 1, 1); /* the same again is a new revision of the same content */
    link_embed_publish(s);
    read_current(*state, &bytes, &after);
    assert_int_equal(stat(in(*state, "CURRENT"), &new), 0);
    assert_int_equal(before, after);
    assert_int_equal(old.st_ino, new.st_ino);
    assert_int_equal(files_of(*state, "snapshot-"), 1);
    qp_buf_free(&bytes);
    qp_store_close(s);
}

static void a_reader_keeps_what_it_opened(void **state)
{
    qp_store *s = writer(*state);
    put(s, 1, 1);
    link_embed_publish(s);
    qp_snapshot *old, *new;
    assert_int_equal(qp_snapshot_open(*state, &old, NULL), QP_OK);
    put(s, 2, 1);
    link_embed_publish(s);
    assert_int_equal(qp_snapshot_open(*state, &new, NULL), QP_OK);
    assert_int_equal(qp_snapshot_documents(old), 1);
    assert_int_equal(qp_snapshot_documents(new), 2);
    assert_int_equal(qp_snapshot_check(old, NULL), QP_OK);
    assert_true(qp_snapshot_number(new) > qp_snapshot_number(old));
    assert_int_equal(files_of(*state, "snapshot-"), 1); /* the old file is gone, its map is not */
    qp_snapshot_close(old);
    qp_snapshot_close(new);
    qp_store_close(s);
}

/* What is damaged or lost beside the truth is made again. */
static void a_lost_snapshot_is_rebuilt(void **state)
{
    qp_store *s = writer(*state);
    put(s, 1, 1);
    link_embed_publish(s);
    qp_snapshot *snapshot;
    assert_int_equal(qp_file_write(in(*state, "CURRENT"), QP_STR("rubbish"), NULL), QP_OK);
    assert_int_equal(qp_snapshot_open(*state, &snapshot, NULL), QP_STORE);
    link_embed_publish(s);
    assert_int_equal(qp_snapshot_open(*state, &snapshot, NULL), QP_OK);
    qp_snapshot_close(snapshot);
    qp_buf bytes = {0};
    uint64_t number;
    read_current(*state, &bytes, &number);
    bytes.at[bytes.n / 2] ^= 1; /* its head is as it was, its body is not */
    char name[32];
    snprintf(name, sizeof name, "snapshot-%llu.qp", (unsigned long long)number);
    assert_int_equal(qp_file_write(in(*state, name), qp_buf_view(&bytes), NULL), QP_OK);
    qp_buf_free(&bytes);
    link_embed_publish(s);
    assert_int_equal(qp_snapshot_open(*state, &snapshot, NULL), QP_OK);
    assert_int_equal(qp_snapshot_check(snapshot, NULL), QP_OK);
    qp_snapshot_close(snapshot);
    qp_store_close(s);
}

static void edges_to_what_is_gone_are_left_out(void **state)
{
    qp_store *s = writer(*state);
    for (int i = 0; i < 4; i++)
        put(s, i, 1);
    link_embed_publish(s);
    uint64_t n;
    assert_int_equal(qp_store_remove(s, QP_STR("doc001"), &n, NULL), QP_OK);
    assert_int_equal(qp_store_publish(s, NULL, NULL), QP_OK); /* not resolved anew */
    qp_snapshot *snapshot;
    assert_int_equal(qp_snapshot_open(*state, &snapshot, NULL), QP_OK);
    assert_int_equal(qp_snapshot_check(snapshot, NULL), QP_OK);
    assert_int_equal(snapshot->documents, 3);
    assert_int_equal(snapshot->edges, 1); /* of 0-1, 1-2, 2-3 */
    qp_snapshot_close(snapshot);
    qp_store_close(s);
}

static void count_publishing(void *user, const qp_progress *p)
{
    assert_string_equal(p->stage, "publish");
    assert_int_equal(p->done, p->total);
    ++*(int *)user;
}

static void it_can_be_watched_and_stopped(void **state)
{
    qp_store *s = writer(*state);
    put(s, 1, 1);
    int told = 0, stop = 1;
    assert_int_equal(qp_store_publish(s, &(qp_watch){.cancel = &stop}, NULL), QP_STOPPED);
    assert_int_equal(files_of(*state, "snapshot-"), 0);
    assert_int_equal(qp_store_publish(s, &(qp_watch){.progress = count_publishing, .user = &told}, NULL), QP_OK);
    assert_true(told >= 1);
    qp_snapshot *snapshot;
    assert_int_equal(qp_snapshot_open(*state, &snapshot, NULL), QP_OK);
    assert_string_equal(qp_snapshot_embedder(snapshot), ""); /* no vectors yet */
    assert_int_equal(snapshot->dim, 0);
    qp_snapshot_close(snapshot);
    qp_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(bytes_do_not_tell_the_way_there),    HOLDS(nothing_new_is_nothing_written),
        HOLDS(a_reader_keeps_what_it_opened),      HOLDS(a_lost_snapshot_is_rebuilt),
        HOLDS(edges_to_what_is_gone_are_left_out), HOLDS(it_can_be_watched_and_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
