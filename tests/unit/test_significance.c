/* src/eval/significance: intervals against theory, p against all sign vectors, Holm and Pearson against worked examples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "eval/significance.h"

enum { DRAWS = 10000 };

static void p_equals_the_exact_test(void **state)
{
    (void)state;
    enum { N = 12 };
    /* two methods on twelve questions */
    static const double a[N] = {.9, .4, .7, .3, .8, .5, .6, .2, .9, .7, .4, .8};
    static const double b[N] = {.7, .4, .5, .4, .6, .5, .3, .3, .8, .6, .4, .7};
    double table[N * 2], seen = 0;
    uint32_t far = 0;
    qp_arena *mem = qp_arena_new();
    qp_draws d;

    for (int i = 0; i < N; i++) {
        table[2 * i] = a[i];
        table[2 * i + 1] = b[i];
        seen += a[i] - b[i];
    }
    for (uint32_t signs = 0; signs < 1u << N; signs++) {
        double sum = 0;

        for (int i = 0; i < N; i++)
            sum += signs >> i & 1 ? a[i] - b[i] : b[i] - a[i];
        far += fabs(sum) >= fabs(seen) - 1e-12;
    }
    assert_int_equal(qp_draws_make(table, N, 2, DRAWS, 1, 2, &d, mem, NULL), QP_OK);
    double exact = (double)far / (1u << N);
    assert_true(fabs(qp_draws_p(&d, 0, 1) - exact) < 4 * sqrt(exact * (1 - exact) / DRAWS));
    assert_true(qp_draws_p(&d, 0, 0) == 1);
    qp_arena_free(mem);
}

/* The mean of n independent values is near normal: its interval is mean +- 1.96 s / sqrt(n), a difference of paired
 * columns has the s of the differences. */
static void intervals_equal_theory(void **state)
{
    (void)state;
    enum { N = 400 };
    static double table[N * 2], scratch[DRAWS];
    double mean = 0, square = 0;
    qp_random random = qp_random_seed(3);
    qp_arena *mem = qp_arena_new();
    qp_draws d;

    for (int i = 0; i < N; i++) {
        table[2 * i] = qp_random_unit(&random);
        table[2 * i + 1] = table[2 * i] + .1 * qp_random_unit(&random);
        mean += table[2 * i] / N;
        square += table[2 * i] * table[2 * i] / N;
    }
    assert_int_equal(qp_draws_make(table, N, 2, DRAWS, 1, 1, &d, mem, NULL), QP_OK);
    qp_interval one = qp_draws_mean(&d, 0, scratch), apart = qp_draws_difference(&d, 1, 0, scratch);
    double half = 1.96 * sqrt((square - mean * mean) / N);

    assert_true(fabs(one.mean - mean) < 1e-12);
    assert_true(fabs(one.high - mean - half) < .05 * half && fabs(mean - one.low - half) < .05 * half);
    half = 1.96 * .1 / sqrt(12.0 * N); /* of a uniform difference in [0, .1) */
    assert_true(fabs((apart.high - apart.low) / 2 - half) < .1 * half);
    assert_true(apart.low > 0);
    qp_arena_free(mem);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    double table[30];
    qp_random random = qp_random_seed(5);
    qp_arena *mem = qp_arena_new();
    qp_draws one, many;

    for (int i = 0; i < 30; i++)
        table[i] = qp_random_unit(&random);
    assert_int_equal(qp_draws_make(table, 10, 3, 500, 9, 1, &one, mem, NULL), QP_OK);
    assert_int_equal(qp_draws_make(table, 10, 3, 500, 9, 4, &many, mem, NULL), QP_OK);
    assert_memory_equal(one.boot, many.boot, 3 * 500 * sizeof(double));
    assert_memory_equal(one.flip, many.flip, 3 * 500 * sizeof(double));
    qp_arena_free(mem);
}

static void holm_and_pearson_by_hand(void **state)
{
    (void)state;
    /* Holm 1979: .01*4, .02*3, max(.06, .03*2), max(.06, .5) */
    double p[4] = {.02, .5, .01, .03}, want[4] = {.06, .5, .04, .06};
    double x[4] = {1, 2, 3, 4}, y[4] = {2, 4, 5, 9}, flat[4] = {1, 1, 1, 1};

    qp_holm(p, 4);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(p[i] - want[i]) < 1e-12);
    assert_true(fabs(qp_pearson(x, y, 4) - 11 / sqrt(5 * 26.0)) < 1e-12);
    assert_true(isnan(qp_pearson(x, flat, 4)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_equals_the_exact_test),
        cmocka_unit_test(intervals_equal_theory),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(holm_and_pearson_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
