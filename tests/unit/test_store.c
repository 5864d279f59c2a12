/* The store of record: what is put is there, once, and a second writer, a foreign file, a read-only folder and a batch
 * that fails leave it as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store.h"

static int in_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(256);
    snprintf(dir, 256, "%s/quipu-store-XXXXXX", base ? base : P_tmpdir);
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static int out_of_folder(void **state)
{
    char command[600];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", (char *)*state, (char *)*state);
    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

static qp_store *writer(const char *dir)
{
    qp_store *s = NULL;
    qp_err err = {0};
    if (qp_store_open(dir, true, true, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

static qp_document sample(const char *key, const char *text)
{
    static qp_chunk chunks[2];
    static qp_reference reference;
    static qp_str anchor;
    static const uint32_t anchor_chunk = 1;
    size_t n = strlen(text);
    chunks[0] = (qp_chunk){0, n / 2, 1, QP_STR("Start")};
    chunks[1] = (qp_chunk){n / 2, n, 2, QP_STR("")};
    reference = (qp_reference){1, QP_STR("link"), QP_STR("b.md"), QP_STR("top"), 1};
    anchor = QP_STR("top");
    return (qp_document){.key = qp_str_of(key),
                         .source = QP_STR("folder"),
                         .path = QP_STR("/x/a.md"),
                         .format = QP_STR("md"),
                         .title = QP_STR("Title"),
                         .language = QP_STR("en"),
                         .meta = QP_STR("{}"),
                         .text = qp_str_of(text),
                         .digest = qp_str_of(text),
                         .chunks = chunks,
                         .n_chunks = 2,
                         .references = &reference,
                         .n_references = 1,
                         .anchors = &anchor,
                         .anchor_chunk = &anchor_chunk,
                         .n_anchors = 1};
}

static qp_code count_document(void *ctx, const qp_stored *d, qp_err *err)
{
    (void)err;
    assert_int_equal(d->n_chunks, 2);
    ++*(int *)ctx;
    return QP_OK;
}

static int documents(qp_store *s)
{
    int n = 0;
    assert_int_equal(qp_store_documents(s, count_document, &n, NULL), QP_OK);
    return n;
}

static void keeps_what_is_put(void **state)
{
    qp_store *s = writer(*state);
    qp_document d = sample("a.md", "one two three");
    bool replaced = true, same = true;
    assert_int_equal(qp_store_same(s, d.key, d.digest, &same, NULL), QP_OK);
    assert_false(same);
    assert_int_equal(qp_store_put(s, &d, &replaced, NULL), QP_OK);
    assert_false(replaced);
    qp_store_close(s);

    s = writer(*state);
    assert_int_equal(qp_store_same(s, d.key, d.digest, &same, NULL), QP_OK);
    assert_true(same);
    assert_int_equal(qp_store_put(s, &d, &replaced, NULL), QP_OK);
    assert_true(replaced);
    assert_int_equal(documents(s), 1);
    uint64_t n;
    assert_int_equal(qp_store_remove(s, QP_STR("nobody"), &n, NULL), QP_OK);
    assert_int_equal(n, 0);
    assert_int_equal(qp_store_remove(s, QP_STR("/x/a.md"), &n, NULL), QP_OK);
    assert_int_equal(n, 1);
    assert_int_equal(documents(s), 0);
    qp_store_close(s);
}

static void prunes_what_is_gone(void **state)
{
    qp_store *s = writer(*state);
    const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        qp_document d = sample(keys[i], "some text");
        assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    }
    uint64_t removed;
    assert_int_equal(qp_store_prune(s, QP_STR("other"), NULL, 0, &removed, NULL), QP_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(qp_store_prune(s, QP_STR("folder"), (qp_str[]){QP_STR("c"), QP_STR("a")}, 2, &removed, NULL),
                     QP_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(documents(s), 2);
    qp_store_close(s);
}

static void a_batch_is_all_or_nothing(void **state)
{
    qp_store *s = writer(*state);
    qp_document a = sample("a", "text a");
    assert_int_equal(qp_store_begin(s, NULL), QP_OK);
    assert_int_equal(qp_store_put(s, &a, NULL, NULL), QP_OK);
    qp_store_close(s); /* not committed */
    s = writer(*state);
    assert_int_equal(documents(s), 0);
    assert_int_equal(qp_store_begin(s, NULL), QP_OK);
    assert_int_equal(qp_store_put(s, &a, NULL, NULL), QP_OK);
    assert_int_equal(qp_store_commit(s, NULL), QP_OK);
    assert_int_equal(documents(s), 1);
    qp_store_close(s);
}

/* Longest first, each text once however many chunks have it, and none twice. */
static void asks_for_each_vector_once(void **state)
{
    qp_store *s = writer(*state);
    qp_document d = sample("a", "a long first document here");
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    d = sample("b", "a long first document here"); /* the same texts: nothing more to embed */
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    d = sample("c", "short");
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    qp_arena *a = qp_arena_new();
    qp_pending p[8];
    uint32_t n;
    uint64_t left;
    assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "m", 8, p, &n, &left, a, NULL), QP_OK);
    assert_int_equal(n, 4);
    assert_int_equal(left, 4);
    assert_true(p[0].text.n >= p[1].text.n && p[1].text.n >= p[2].text.n && p[2].text.n >= p[3].text.n);
    assert_true(qp_str_eq(p[0].text, QP_STR("Title\nStart\na long first ")));
    const float v[4] = {1, 0, 0, 1};
    assert_int_equal(qp_store_vectors(s, "m", 2, p, 2, v, NULL), QP_OK);
    assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "m", 8, p, &n, &left, a, NULL), QP_OK);
    assert_int_equal(n, 2);
    qp_store_close(s);
    s = writer(*state); /* a new run goes on where this one stood; another model starts anew */
    assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "m", 8, p, &n, &left, a, NULL), QP_OK);
    assert_int_equal(left, 2);
    assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "other", 1, p, &n, &left, a, NULL), QP_OK);
    assert_int_equal(n, 1);
    assert_int_equal(left, 4);
    const float nan[2] = {0, (float)(0.0 / 0.0)};
    assert_int_equal(qp_store_vectors(s, "m", 2, p, 1, nan, NULL), QP_MODEL);
    qp_arena_free(a);
    qp_store_close(s);
}

static qp_code see_reference(void *ctx, int64_t document, const qp_reference *r, qp_err *err)
{
    (void)err;
    assert_true(document > 0);
    assert_int_equal(r->chunk, 1);
    assert_true(qp_str_eq(r->target, QP_STR("b.md")) && qp_str_eq(r->anchor, QP_STR("top")));
    ++*(int *)ctx;
    return QP_OK;
}

static qp_code see_anchor(void *ctx, int64_t document, qp_str name, uint32_t chunk, qp_err *err)
{
    (void)err;
    assert_true(document > 0 && chunk == 1 && qp_str_eq(name, QP_STR("top")));
    ++*(int *)ctx;
    return QP_OK;
}

static qp_code see_given(void *ctx, const qp_given *g, qp_err *err)
{
    (void)err;
    assert_true(qp_str_eq(g->type, QP_STR("cites")) && g->weight == .5f);
    ++*(int *)ctx;
    return QP_OK;
}

static void lists_what_resolving_reads(void **state)
{
    qp_store *s = writer(*state);
    qp_document d = sample("a", "some text");
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    const qp_given given[2] = {{QP_STR("a"), QP_STR("b"), QP_STR("cites"), .5f},
                               {QP_STR("b"), QP_STR("a"), QP_STR("cites"), .5f}};
    assert_int_equal(qp_store_given(s, QP_STR("set"), given, 2, NULL), QP_OK);
    assert_int_equal(qp_store_given(s, QP_STR("set"), given, 2, NULL), QP_OK);
    int references = 0, anchors = 0, givens = 0;
    assert_int_equal(qp_store_references(s, see_reference, &references, NULL), QP_OK);
    assert_int_equal(qp_store_anchors(s, see_anchor, &anchors, NULL), QP_OK);
    assert_int_equal(qp_store_givens(s, see_given, &givens, NULL), QP_OK);
    assert_int_equal(references, 1);
    assert_int_equal(anchors, 1);
    assert_int_equal(givens, 2);
    assert_int_equal(qp_store_given(s, QP_STR("set"), given, 1, NULL), QP_OK);
    givens = 0;
    assert_int_equal(qp_store_givens(s, see_given, &givens, NULL), QP_OK);
    assert_int_equal(givens, 1);
    const qp_given bad = {QP_STR("a"), QP_STR("b"), QP_STR(""), 1};
    assert_int_equal(qp_store_given(s, QP_STR("set"), &bad, 1, NULL), QP_INPUT);
    qp_store_close(s);
}

static void keeps_settings(void **state)
{
    qp_store *s = writer(*state);
    qp_arena *a = qp_arena_new();
    qp_str value;
    assert_int_equal(qp_store_get(s, "language", &value, a, NULL), QP_OK);
    assert_int_equal(value.n, 0);
    assert_int_equal(qp_store_set(s, "language", "de", NULL), QP_OK);
    qp_store_close(s);
    assert_int_equal(qp_store_open(*state, false, false, &s, NULL), QP_OK);
    assert_int_equal(qp_store_get(s, "language", &value, a, NULL), QP_OK);
    assert_true(qp_str_eq(value, QP_STR("de")));
    assert_int_equal(qp_store_set(s, "language", "fr", NULL), QP_BUG); /* opened for reading */
    qp_store_close(s);
    qp_arena_free(a);
}

static void refuses_a_second_writer(void **state)
{
    qp_store *s = writer(*state), *second = NULL, *reader = NULL;
    qp_err err = {0};
    assert_int_equal(qp_store_open(*state, true, true, &second, &err), QP_STORE);
    assert_null(second);
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld ", (long)getpid());
    assert_non_null(strstr(err.message, "busy"));
    assert_non_null(strstr(err.message, pid));
    assert_int_equal(qp_store_open(*state, false, false, &reader, NULL), QP_OK); /* readers are not held up */
    qp_store_close(reader);
    qp_store_close(s);
    qp_store_close(writer(*state));
}

static void put_file(const char *dir, const char *name, const char *bytes)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(qp_file_write(path, qp_str_of(bytes), NULL), QP_OK);
}

static void refuses_foreign_files(void **state)
{
    qp_store *s = NULL;
    qp_err err = {0};
    assert_int_equal(qp_store_open(*state, false, false, &s, &err), QP_STORE); /* none */
    assert_non_null(strstr(err.message, "quipu index"));
    const char *junk = "this is no database at all, but a text that is long enough to be looked at closely";
    put_file(*state, "truth.db", junk);
    err = (qp_err){0};
    assert_int_equal(qp_store_open(*state, true, true, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "not an SQLite file"));
    qp_buf again = {0};
    char path[300];
    snprintf(path, sizeof path, "%s/truth.db", (char *)*state);
    assert_int_equal(qp_file_read(path, 0, &again, NULL), QP_OK); /* and left alone */
    assert_string_equal(again.at, junk);
    qp_buf_free(&again);

    assert_int_equal(unlink(path), 0);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE theirs(x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    err = (qp_err){0};
    assert_int_equal(qp_store_open(*state, true, true, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "another program's"));
}

static void refuses_another_version(void **state)
{
    qp_store_close(writer(*state));
    char path[300];
    snprintf(path, sizeof path, "%s/truth.db", (char *)*state);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    qp_store *s = NULL;
    qp_err err = {0};
    assert_int_equal(qp_store_open(*state, true, true, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "version 99"));
}

static void reads_a_read_only_folder(void **state)
{
    if (geteuid() == 0)
        skip(); /* root may write anywhere */
    qp_store *s = writer(*state);
    assert_int_equal(qp_store_set(s, "language", "en", NULL), QP_OK);
    qp_store_close(s);
    assert_int_equal(chmod(*state, 0500), 0);
    qp_err err = {0};
    assert_int_equal(qp_store_open(*state, true, true, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "rights"));
    assert_int_equal(qp_store_open(*state, false, false, &s, NULL), QP_OK);
    qp_store_close(s);
}

static void gives_back_a_text_of_many_pieces(void **state)
{
    enum { N = 300000 };
    qp_store *s = writer(*state);
    char *text = malloc(N + 1);
    for (int i = 0; i < N; i++)
        text[i] = (char)('a' + i % 23);
    text[N] = 0;
    qp_document d = sample("big", text);
    assert_int_equal(qp_store_put(s, &d, NULL, NULL), QP_OK);
    qp_arena *a = qp_arena_new();
    qp_pending p[2];
    uint32_t n;
    assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "m", 2, p, &n, NULL, a, NULL), QP_OK);
    assert_int_equal(n, 2);
    assert_memory_equal(p[0].text.at + strlen("Title\nStart\n"), text, N / 2);
    assert_memory_equal(p[1].text.at + strlen("Title\n"), text + N / 2, N / 2);
    qp_arena_free(a);
    free(text);
    qp_store_close(s);
}

#define HOLDS(f) cmocka_unit_test_setup_teardown(f, in_folder, out_of_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(keeps_what_is_put),
        HOLDS(prunes_what_is_gone),
        HOLDS(a_batch_is_all_or_nothing),
        HOLDS(asks_for_each_vector_once),
        HOLDS(lists_what_resolving_reads),
        HOLDS(keeps_settings),
        HOLDS(refuses_a_second_writer),
        HOLDS(refuses_foreign_files),
        HOLDS(refuses_another_version),
        HOLDS(reads_a_read_only_folder),
        HOLDS(gives_back_a_text_of_many_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
