/* Dense search: the exact scan is exact; int8 with re-scoring and the ann links find nearly all of it. */
#include "base/vector.h"
#include "store/ann.h"
#include "store/dot.h"
#include "unit/made.h"

enum { DIM = 50, QUESTIONS = 100 };

static void products_of_codes_are_exact(void **state)
{
    (void)state;
    qp_random r = qp_random_seed(5);
    int8_t a[200], b[200];
    for (int round = 0; round < 2000; round++) {
        uint32_t n = (uint32_t)qp_random_below(&r, 200);
        int32_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            a[i] = (int8_t)(round % 5 ? (int)qp_random_below(&r, 255) - 127 : i % 2 ? 127 : -127);
            b[i] = (int8_t)(round % 5 ? (int)qp_random_below(&r, 255) - 127 : -127);
            sum += a[i] * b[i];
        }
        assert_int_equal(qp_dot_i8(a, b, n), sum);
    }
}

static void products_of_rows_are_those_of_each(void **state)
{
    (void)state;
    qp_random r = qp_random_seed(7);
    int8_t a[200], rows[11 * 200];
    int32_t out[11];
    for (int round = 0; round < 300; round++) {
        uint32_t dim = (uint32_t)qp_random_below(&r, 201), n = (uint32_t)qp_random_below(&r, 12);
        for (uint32_t i = 0; i < dim; i++)
            a[i] = (int8_t)(qp_random_below(&r, 256) - 128);
        for (uint32_t i = 0; i < n * dim; i++)
            rows[i] = (int8_t)(round % 5 ? (int)qp_random_below(&r, 256) - 128 : -128);
        qp_dot_i8_rows(a, rows, n, dim, out);
        for (uint32_t i = 0; i < n; i++) {
            int32_t sum = 0;
            for (uint32_t j = 0; j < dim; j++)
                sum += a[j] * rows[i * dim + j];
            assert_int_equal(out[i], sum);
        }
    }
}

static void codes_are_near_their_vectors(void **state)
{
    (void)state;
    qp_random r = qp_random_seed(6);
    float v[DIM], zeros[DIM] = {0};
    int8_t code[DIM];
    for (int round = 0; round < 1000; round++) {
        random_unit(&r, DIM, v);
        float scale = qp_quantise(v, DIM, code);
        for (int i = 0; i < DIM; i++)
            assert_true(fabsf(v[i] - scale * code[i]) <= scale * .5001f);
    }
    assert_true(qp_quantise(zeros, DIM, code) == 0);
}

static qp_list ask(const qp_snapshot *s, const float *query, bool exact, const uint64_t *allow, uint32_t k, qp_arena *a)
{
    qp_list list;
    qp_err err = {0};
    if (s->view.search(s->view.self, "node.dense",
                       &(qp_probe){.vector = query, .dim = DIM, .exact = exact, .allow = allow}, k, &list, a, &err))
        fail_msg("%s", err.message);
    return list;
}

/* The slow twin: every product, sorted. */
static qp_list slow(const qp_snapshot *s, const float *query, const uint64_t *allow, uint32_t k, qp_arena *a)
{
    qp_best best;
    float row[DIM];
    assert_true(qp_best_begin(&best, k, a));
    for (qp_id v = 0; v < s->nodes; v++) {
        assert_int_equal(s->view.vectors(s->view.self, "node.dense", &v, 1, row, NULL), QP_OK);
        float length = qp_dot(row, row, DIM);
        assert_true(length == 0 || fabsf(length - 1) < 1e-5f);
        if (length != 0 && (!allow || allow[v / 64] >> (v % 64) & 1))
            qp_best_add(&best, v, qp_dot(query, row, DIM));
    }
    return qp_best_end(&best);
}

static double shared(qp_list found, qp_list truth)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < found.n; i++)
        for (uint32_t j = 0; j < truth.n; j++)
            n += found.at[i].id == truth.at[j].id;
    return truth.n ? (double)n / truth.n : 1;
}

/* Mean recall@10 over questions near the clusters; scores must be the exact products whatever found them. */
static double recall(const qp_snapshot *s, const uint64_t *allow, bool exact)
{
    qp_arena *a = qp_arena_new();
    qp_random r = qp_random_seed(9);
    double sum = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        float query[DIM], noise[DIM];
        random_unit(&r, DIM, noise);
        memcpy(query, s->vector + qp_random_below(&r, s->nodes) * DIM, sizeof query);
        for (int j = 0; j < DIM; j++)
            query[j] = .8f * query[j] + .6f * noise[j];
        qp_list truth = slow(s, query, allow, 10, a), found = ask(s, query, exact, allow, 10, a);
        assert_int_equal(found.n, truth.n);
        for (uint32_t j = 0; j < found.n; j++) {
            assert_true(found.at[j].score == qp_dot(query, s->vector + (size_t)found.at[j].id * DIM, DIM));
            assert_true(!exact || found.at[j].id == truth.at[j].id);
            assert_true(!allow || allow[found.at[j].id / 64] >> (found.at[j].id % 64) & 1);
        }
        sum += shared(found, truth);
        qp_arena_reset(a);
    }
    qp_arena_free(a);
    return sum / QUESTIONS;
}

static uint64_t *every_third(const qp_snapshot *s)
{
    uint64_t *allow = calloc(s->nodes / 64 + 1, sizeof *allow);
    for (uint32_t v = 0; v < s->nodes; v += 3)
        allow[v / 64] |= UINT64_C(1) << (v % 64);
    return allow;
}

static struct made vectors_only(uint32_t documents, uint32_t coded_from, uint32_t ann_from)
{
    return (struct made){.seed = 3,
                         .documents = documents,
                         .words = 1,
                         .vocabulary = 5,
                         .dim = DIM,
                         .coded_from = coded_from,
                         .ann_from = ann_from,
                         .clusters = 40};
}

static void the_scan_is_exact(void **state)
{
    const struct made how = vectors_only(1500, 1u << 30, 1u << 30);
    qp_snapshot *s = make_snapshot(*state, &how);
    uint64_t *allow = every_third(s);
    assert_true(recall(s, NULL, false) == 1 && recall(s, NULL, true) == 1 && recall(s, allow, false) == 1);
    free(allow);
    qp_snapshot_close(s);
}

static void codes_find_nearly_all(void **state)
{
    const struct made how = vectors_only(5000, 1, 1u << 30);
    qp_snapshot *s = make_snapshot(*state, &how);
    uint64_t *allow = every_third(s);
    assert_int_equal(s->info->coded, 1);
    assert_true(recall(s, NULL, true) == 1);
    assert_true(recall(s, NULL, false) >= .999);
    assert_true(recall(s, allow, false) >= .999);
    free(allow);
    qp_snapshot_close(s);
}

static void links_find_nearly_all(void **state)
{
    const struct made how = vectors_only(5000, 1, 1);
    qp_snapshot *s = make_snapshot(*state, &how);
    uint64_t *allow = every_third(s);
    assert_true(s->info->ann_m > 0);
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    assert_true(recall(s, NULL, true) == 1);
    double links = recall(s, NULL, false);
    if (links < .98)
        fail_msg("recall@10 of the links is %.4f", links);
    assert_true(recall(s, allow, false) >= .999); /* a filter scans */
    free(allow);
    qp_snapshot_close(s);
}

static void links_are_the_same_each_time(void **state)
{
    const struct made how = vectors_only(1000, 1, 1);
    qp_buf first = {0}, second = {0};
    make_file(in(*state, "a.qp"), &how);
    assert_int_equal(qp_file_read(in(*state, "a.qp"), 0, &first, NULL), QP_OK);
    make_file(in(*state, "a.qp"), &how);
    assert_int_equal(qp_file_read(in(*state, "a.qp"), 0, &second, NULL), QP_OK);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.at, second.at, first.n);
    qp_buf_free(&first);
    qp_buf_free(&second);
}

static void another_dimension_is_refused(void **state)
{
    const struct made how = vectors_only(10, 0, 0);
    qp_snapshot *s = make_snapshot(*state, &how);
    qp_arena *a = qp_arena_new();
    float query[DIM + 1] = {1};
    qp_list list;
    qp_err err = {0};
    assert_int_equal(s->view.search(s, "node.dense", &(qp_probe){.vector = query, .dim = DIM + 1}, 3, &list, a, &err),
                     QP_MODEL);
    assert_non_null(strstr(err.message, "embedder"));
    assert_int_equal(s->view.search(s, "chunk.dense", &(qp_probe){.vector = query, .dim = DIM}, 3, &list, a, NULL),
                     QP_INPUT);
    assert_int_equal(s->view.vectors(s, "node.bm25", &(qp_id){0}, 1, query, NULL), QP_INPUT);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* hnswlib locks a node and then its list of the deleted, in either order, while it builds; we build with one thread. Too
 * many locks lie between for a suppression to find its stack again, so under ThreadSanitizer this program does without
 * the search for cycles. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_codes_are_exact),
        cmocka_unit_test(products_of_rows_are_those_of_each),
        cmocka_unit_test(codes_are_near_their_vectors),
        HOLDS(the_scan_is_exact),
        HOLDS(codes_find_nearly_all),
        HOLDS(links_find_nearly_all),
        HOLDS(links_are_the_same_each_time),
        HOLDS(another_dimension_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
