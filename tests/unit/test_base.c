/* src/base: what every layer stands on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/random.h"
#include "base/thread.h"

static void first_error_sticks(void **state)
{
    (void)state;
    qp_err err = {0};
    assert_int_equal(qp_fail(&err, QP_INPUT, "one\n%s", "two"), QP_INPUT);
    qp_fail(&err, QP_BUG, "later");
    assert_string_equal(err.message, "one two");
    assert_int_equal(err.code, QP_INPUT);
    assert_int_equal(qp_fail(NULL, QP_MODEL, "nobody listens"), QP_MODEL);
}

static void nearest_name(void **state)
{
    (void)state;
    const char *names[] = {"alpha", "beta", "batch"};
    assert_string_equal(qp_nearest("bta", names, 3), "beta");
    assert_null(qp_nearest("zzz", names, 3));
    assert_null(qp_nearest("", names, 3));
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    qp_arena *a = qp_arena_new();
    for (size_t n = 0; n < 300000; n = n * 2 + 1) {
        unsigned char *p = qp_arena_alloc(a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 255, n);
        if (n == 1023)
            qp_arena_reset(a); /* what was dirtied comes back zeroed */
    }
    assert_null(qp_arena_array(a, SIZE_MAX, 8));
    assert_null(qp_arena_alloc(a, SIZE_MAX));
    qp_str s = qp_arena_fmt(a, "%d-%s", 7, "x");
    assert_string_equal(s.at, "7-x");
    qp_arena_free(a);
    qp_arena_free(NULL);
}

static void buffer_grows_and_formats(void **state)
{
    (void)state;
    qp_buf b = {0};
    for (int i = 0; i < 1000; i++)
        qp_buf_fmt(&b, "%d,", i);
    assert_int_equal(b.n, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(b.at), b.n);
    qp_buf_clear(&b);
    assert_string_equal(b.at, "");
    qp_buf_free(&b);
}

static void pieces_of_strings(void **state)
{
    (void)state;
    qp_str rest, first = qp_str_split(QP_STR("a\tb\tc"), '\t', &rest);
    assert_true(qp_str_eq(first, QP_STR("a")) && qp_str_eq(rest, QP_STR("b\tc")));
    first = qp_str_split(QP_STR("c"), '\t', &rest);
    assert_true(qp_str_eq(first, QP_STR("c")) && rest.at == NULL);
    first = qp_str_split(QP_STR("c\t"), '\t', &rest);
    assert_true(rest.at != NULL && rest.n == 0);
    assert_true(qp_str_eq(qp_str_trim(QP_STR(" \tx y\n")), QP_STR("x y")));
    assert_true(qp_str_eq(qp_str_slice(QP_STR("abc"), 1, 99), QP_STR("bc")));
    assert_int_equal(qp_str_slice(QP_STR("abc"), 9, 12).n, 0);
    assert_true(qp_str_cmp(QP_STR("ab"), QP_STR("abc")) < 0 && qp_str_cmp(QP_STR("b"), QP_STR("abc")) > 0);
    assert_true(qp_str_starts(QP_STR("abc"), QP_STR("ab")) && qp_str_ends(QP_STR("abc"), QP_STR("bc")));
    assert_false(qp_str_starts(QP_STR("a"), QP_STR("ab")));
}

static void map_keeps_insertion_order(void **state)
{
    (void)state;
    qp_map *m = qp_map_new();
    char key[32];
    assert_null(qp_map_get(m, QP_STR("k1")));
    for (uint64_t i = 0; i < 20000; i++) {
        bool added = false;
        int n = snprintf(key, sizeof key, "k%lu", (unsigned long)(i * 7919 % 20000));
        *qp_map_put(m, (qp_str){key, (size_t)n}, &added) = i;
        assert_true(added);
    }
    assert_int_equal(qp_map_size(m), 20000);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(qp_map_value(m, i), i);
        assert_int_equal(*qp_map_get(m, qp_map_key(m, i)), i);
    }
    bool added = true;
    assert_int_equal(*qp_map_put(m, QP_STR("k0"), &added), 0);
    assert_false(added);
    assert_null(qp_map_get(m, QP_STR("none")));
    qp_map_free(m);
}

static void known_hashes(void **state)
{
    (void)state;
    char path[] = "/tmp/quipu-base-XXXXXX", hex[65];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    assert_int_equal(qp_sha256_file(path, hex, NULL), QP_OK); /* FIPS 180-2, appendix B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    unlink(path);
    assert_int_equal(qp_sha256_file(path, hex, NULL), QP_INPUT);
    qp_digest whole = qp_digest_parts((qp_str[]){QP_STR("ab"), QP_STR("c")}, 2);
    qp_digest other = qp_digest_parts((qp_str[]){QP_STR("a"), QP_STR("bc")}, 2);
    assert_string_not_equal(whole.hex, other.hex);
}

static void files_are_written_whole(void **state)
{
    (void)state;
    char folder[] = "/tmp/quipu-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    qp_arena *a = qp_arena_new();
    qp_err err = {0};
    const char *deep = qp_path_join(a, folder, "x/y/z");
    assert_int_equal(qp_dir_make(deep, &err), QP_OK);
    assert_int_equal(qp_dir_make(deep, &err), QP_OK);
    const char *file = qp_path_join(a, deep, "f");
    assert_int_equal(qp_file_write(file, QP_STR("hello"), &err), QP_OK);
    assert_int_equal(qp_file_write(file, QP_STR("again"), &err), QP_OK);
    qp_buf b = {0};
    assert_int_equal(qp_file_read(file, 0, &b, &err), QP_OK);
    assert_string_equal(b.at, "again");
    qp_mapped m;
    assert_int_equal(qp_file_map(file, &m, &err), QP_OK);
    assert_memory_equal(m.at, "again", 5);
    qp_file_unmap(&m);
    assert_int_equal(qp_file_read(file, 3, &b, &err), QP_INPUT);
    err = (qp_err){0};
    assert_int_equal(qp_dir_make(file, &err), QP_STORE);
    err = (qp_err){0};
    assert_int_equal(qp_file_write(qp_path_join(a, file, "no"), QP_STR(""), &err), QP_STORE);
    qp_buf_free(&b);
    unlink(file);
    for (const char *d[] = {"x/y/z", "x/y", "x", ""}, **at = d; at < d + 4; at++)
        assert_int_equal(rmdir(qp_path_join(a, folder, *at)), 0); /* nothing else was left there */
    qp_arena_free(a);
}

static qp_code square(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    if (i == 900 || i == 950)
        return qp_fail(err, QP_INPUT, "item %zu", i);
    ((size_t *)ctx)[i] = i * i;
    return QP_OK;
}

static void loops_in_parallel(void **state)
{
    (void)state;
    static size_t out[1000];
    qp_err err = {0};
    assert_int_equal(qp_parallel(4, 900, square, out, &err), QP_OK);
    for (size_t i = 0; i < 900; i++)
        assert_int_equal(out[i], i * i);
    assert_int_equal(qp_parallel(4, 1000, square, out, &err), QP_INPUT);
    assert_string_equal(err.message, "item 900");
    assert_int_equal(qp_parallel(0, 0, square, out, NULL), QP_OK);
}

static void random_is_uniform_and_repeatable(void **state)
{
    (void)state;
    qp_random a = qp_random_seed(1), b = qp_random_seed(1);
    unsigned count[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t x = qp_random_below(&a, 7);
        assert_int_equal(x, qp_random_below(&b, 7));
        count[x]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(count[i], 9600, 10400); /* 10,000 +- 4.3 standard deviations */
    double u = qp_random_unit(&a);
    assert_true(u >= 0 && u < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_sticks),
        cmocka_unit_test(nearest_name),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(buffer_grows_and_formats),
        cmocka_unit_test(pieces_of_strings),
        cmocka_unit_test(map_keeps_insertion_order),
        cmocka_unit_test(known_hashes),
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(loops_in_parallel),
        cmocka_unit_test(random_is_uniform_and_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
