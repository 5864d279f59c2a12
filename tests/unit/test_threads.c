/* A snapshot is finished on as many threads as its options say, and its bytes are the same on any: synonyms, centroids
 * of tokens, and walks are what takes several.
 */
#include "made.h"
#include "store/dot.h"
#include "store/tokens.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DIM = 16, ENTITIES = 1500 };

static const struct made passages = {.seed = 3, .documents = 200, .words = 20, .vocabulary = 50};

/* The linker sends the library's calls here (--wrap). */
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static atomic_int started;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *ctx)
{
    started++;
    return __real_pthread_create(thread, how, run, ctx);
}

static void add_tokens(qp_maker *m, uint32_t n, qp_random *r)
{
    enum { TOKENS = 20 };
    char bytes[TOKENS * (sizeof(float) + DIM)];
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t i = 0; i < TOKENS; i++) {
            float row[DIM], scale;
            char *to = bytes + i * qp_token_bytes(DIM);
            random_unit(r, DIM, row);
            scale = qp_quantise(row, DIM, (int8_t *)to + sizeof scale);
            memcpy(to, &scale, sizeof scale);
        }
        assert_int_equal(qp_maker_tokens(m, bytes, TOKENS, NULL), QP_OK);
    }
}

/* How many threads were started to finish it. */
static int finish_with(const char *path, int threads, qp_buf *bytes)
{
    const qp_maker_options o = {.language = "none",
                                .embedder = "e",
                                .dim = DIM,
                                .phi = .4f,
                                .token_dim = DIM,
                                .walks = true,
                                .threads = threads};
    const struct made near = {.dim = DIM, .clusters = 20};
    qp_random r = qp_random_seed(passages.seed);
    qp_maker *m;
    assert_int_equal(qp_maker_open(path, &o, &m, NULL), QP_OK);
    add_documents(m, &passages, &r);
    uint32_t n = qp_maker_nodes(m);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%04u", i);
        assert_int_equal(qp_maker_entity(m, QP_STR(""), qp_str_of(name), QP_STR(""), NULL), QP_OK);
    }
    for (uint32_t i = 1; i < ENTITIES; i++)
        assert_int_equal(qp_maker_edge(m, n + i, n + i / 3, QP_STR("is"), 1, QP_STR(""), NULL), QP_OK);
    add_vectors(m, &near, &r);
    add_tokens(m, n, &r);
    started = 0;
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    int before = started;
    assert_int_equal(qp_file_read(path, 0, bytes, NULL), QP_OK);
    return before;
}

static void as_many_as_asked_for(void **state)
{
    qp_buf one = {0}, three = {0};
    qp_snapshot *s;
    assert_int_equal(finish_with(in(*state, "one"), 1, &one), 0);
    assert_true(finish_with(in(*state, "three"), 3, &three) >= 2 * 3); /* for each of what takes several */
    assert_true(qp_str_eq(qp_buf_view(&one), qp_buf_view(&three)));
    assert_int_equal(qp_snapshot_open_file(in(*state, "three"), 1, &s, NULL), QP_OK);
    assert_true(s->info->synonyms && s->info->centroids && s->info->walk_stops);
    qp_snapshot_close(s);
    qp_buf_free(&one);
    qp_buf_free(&three);
}

static void write_file(const char *path, qp_buf *text)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fwrite(text->at, 1, text->n, file) == text->n && !fclose(file));
    qp_buf_clear(text);
}

/* How many were started to index these, and to delete a document again. */
static void index_with(const char *dir, const char *const sources[2], int threads, int *added, int *deleted)
{
    const qp_setting walks = {"walks", "yes"};
    qp_index *index;
    qp_err err = {0};
    qp_code code = qp_index_open(in(dir, threads == 1 ? "s1" : "s3"), true,
                                 &(qp_open_options){.embedder = "hash", .threads = threads}, &index, &err);
    started = 0;
    code = code ? code : qp_index_add(index, sources, 2, &(qp_index_options){&walks, 1, .memory = 16}, NULL, &err);
    *added = started;
    started = 0;
    code = code ? code : qp_index_delete(index, sources, 1, NULL, NULL, &err);
    *deleted = started;
    if (code)
        fail_msg("%s", err.message);
    qp_index_close(index);
}

static void whoever_opens_an_index_says_how_many(void **state)
{
    char text[512], graph[512];
    const char *const sources[] = {text, graph};
    int added, deleted;
    qp_buf lines = {0};
    snprintf(text, sizeof text, "%s/a.txt", (char *)*state);
    snprintf(graph, sizeof graph, "%s/triples.tsv", (char *)*state);
    qp_buf_text(&lines, "What e1 is.");
    write_file(text, &lines);
    qp_buf_text(&lines, "head\trelation\ttail\n");
    for (uint32_t i = 1; i < ENTITIES; i++)
        qp_buf_fmt(&lines, "e%u\tis\te%u\n", i, i / 3);
    write_file(graph, &lines);
    qp_buf_free(&lines);
    index_with(*state, sources, 3, &added, &deleted);
    assert_true(added && deleted);
    index_with(*state, sources, 1, &added, &deleted);
    assert_int_equal(added, 0);
    assert_int_equal(deleted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(as_many_as_asked_for), HOLDS(whoever_opens_an_index_says_how_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
