/* src/base/sorter: against qsort, in memory and with budgets so small that it spills all the time. */
#include "made.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/sorter.h"

static int by_bytes(const void *a, const void *b)
{
    return qp_str_cmp(*(const qp_str *)a, *(const qp_str *)b);
}

/* Records of few letters, zeros among them, many equal and many with a long common beginning. */
static void make(qp_random *r, qp_str *lines, size_t n, size_t longest, size_t common)
{
    for (size_t i = 0; i < n; i++) {
        size_t from = qp_random_below(r, 2) ? common : 0, length = from + qp_random_below(r, longest + 1);
        char *at = malloc(length + 1);
        for (size_t j = 0; j < length; j++)
            at[j] = j < from ? 'x' : (char)("\0\1ab\xFF"[qp_random_below(r, 5)]);
        lines[i] = (qp_str){at, length};
    }
}

static void compare(const char *dir, size_t n, size_t longest, size_t common, size_t budget, uint64_t seed, int spills)
{
    qp_random r = qp_random_seed(seed);
    qp_str *lines = calloc(n + 1, sizeof *lines);
    qp_sorter *s = NULL;
    qp_str got;

    make(&r, lines, n, longest, common);
    assert_int_equal(qp_sorter_open(dir, budget, &s, NULL), QP_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(qp_sorter_add(s, lines[i], NULL), QP_OK);
    qsort(lines, n, sizeof *lines, by_bytes);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(qp_sorter_sort(s, NULL), QP_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(qp_sorter_next(s, &got, NULL), QP_OK);
            assert_non_null(got.at);
            assert_true(qp_str_eq(got, lines[i]));
        }
        for (int after = 0; after < 2; after++) {
            assert_int_equal(qp_sorter_next(s, &got, NULL), QP_OK);
            assert_null(got.at);
        }
    }
    if (spills >= 0)
        assert_int_equal(qp_sorter_spilled(s) > 0, spills);
    qp_sorter_close(s);
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)lines[i].at);
    free(lines);
}

static void as_qsort(void **state)
{
    compare(*state, 0, 0, 0, 1 << 20, 1, false);
    compare(*state, 1, 5, 0, 1 << 20, 2, false);
    compare(*state, 20000, 12, 0, 8 << 20, 3, false);
    compare(*state, 3000, 30, 100, 8 << 20, 4, false);
    compare(*state, 20000, 12, 0, 0, 5, true);
    compare(*state, 3000, 30, 200, 10000, 6, true);
    compare(*state, 300, 9000, 3, 0, 7, true); /* records larger than the budget */
    for (uint64_t seed = 10; seed < 60; seed++)
        compare(*state, seed * 7, seed % 23, seed % 11, 4096, seed, -1);
}

/* Equal in a megabyte: the stack must not grow with it. */
static void long_and_alike(void **state)
{
    size_t n = 1 << 20;
    char *at = malloc(n);
    qp_sorter *s = NULL;
    qp_str got;

    memset(at, 'a', n);
    assert_int_equal(qp_sorter_open(*state, 8 << 20, &s, NULL), QP_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(qp_sorter_add(s, (qp_str){at, n - i}, NULL), QP_OK);
    assert_int_equal(qp_sorter_sort(s, NULL), QP_OK);
    for (size_t i = 5; i-- > 0;) {
        assert_int_equal(qp_sorter_next(s, &got, NULL), QP_OK);
        assert_int_equal(got.n, n - i);
    }
    qp_sorter_close(s);
    free(at);
}

static void a_folder_that_is_not_there(void **state)
{
    char folder[600], record[100] = {0};
    qp_sorter *s = NULL;
    qp_err err = {0};
    qp_code code = QP_OK;

    snprintf(folder, sizeof folder, "%s/none", (char *)*state);
    assert_int_equal(qp_sorter_open(folder, 0, &s, NULL), QP_OK); /* nothing is written before it must be */
    for (int i = 0; i < 1000 && !code; i++)
        code = qp_sorter_add(s, (qp_str){record, sizeof record}, &err);
    assert_int_equal(code, QP_STORE);
    assert_non_null(strstr(err.message, "none: cannot make a temporary file"));
    qp_sorter_close(s);
}

/* A disk that is full, made of a limit on files. */
static void no_room(void **state)
{
    char record[1000] = {0};
    struct rlimit before;
    qp_sorter *s = NULL;
    qp_err err = {0};
    qp_code code = QP_OK;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, before.rlim_max}), 0);
    assert_int_equal(qp_sorter_open(*state, 0, &s, NULL), QP_OK);
    for (int i = 0; i < 1000 && !code; i++)
        code = qp_sorter_add(s, (qp_str){record, sizeof record}, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(code, QP_STORE);
    assert_non_null(strstr(err.message, "cannot write a temporary file"));

    qp_sorter_close(s);
}

/* The order of numbers is that of their keys. */
static void keys(void **state)
{
    static const uint32_t numbers[] = {0, 1, 255, 256, 65535, 65536, 1u << 31, UINT32_MAX};
    (void)state;

    for (size_t i = 0; i + 1 < sizeof numbers / sizeof *numbers; i++) {
        char a[4], b[4];
        qp_key_put32(a, numbers[i]);
        qp_key_put32(b, numbers[i + 1]);
        assert_true(memcmp(a, b, 4) < 0);
        assert_int_equal(qp_key_get32(a), numbers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(as_qsort), HOLDS(long_and_alike),  HOLDS(a_folder_that_is_not_there),
        HOLDS(no_room),  cmocka_unit_test(keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
