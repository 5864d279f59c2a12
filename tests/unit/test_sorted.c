/* base/sorted.h, against a scan from the front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/sorted.h"

static uint64_t scan(const uint32_t *at, uint64_t from, uint64_t to, uint32_t x)
{
    while (from < to && at[from] < x)
        from++;
    return from;
}

static void test_lower_bound(void **state)
{
    qp_random random = qp_random_seed(7);
    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t at[40], n = (uint32_t)qp_random_below(&random, 41);
        for (uint32_t i = 0; i < n; i++)
            at[i] = (uint32_t)qp_random_below(&random, 50); /* some twice */
        qsort(at, n, sizeof *at, qp_by_u32);
        for (uint32_t i = 1; i < n; i++)
            assert_true(at[i - 1] <= at[i]);
        uint64_t to = qp_random_below(&random, n + 1u), from = qp_random_below(&random, to + 1);
        for (uint32_t x = 0; x < 52; x++) {
            assert_int_equal(qp_lower_bound(at, from, to, x), scan(at, from, to, x));
            assert_int_equal(qp_lower_bound_near(at, from, to, x), scan(at, from, to, x));
        }
    }
}

static void test_order_at_the_ends(void **state)
{
    uint32_t ids[] = {UINT32_MAX, 0, 1u << 31, 1};
    double values[] = {1e300, -1e300, 0, -1e-300};
    (void)state;
    qsort(ids, 4, sizeof *ids, qp_by_u32);
    qsort(values, 4, sizeof *values, qp_by_double);
    assert_true(ids[0] == 0 && ids[1] == 1 && ids[2] == 1u << 31 && ids[3] == UINT32_MAX);
    assert_true(values[0] == -1e300 && values[1] == -1e-300 && values[2] == 0 && values[3] == 1e300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lower_bound),
        cmocka_unit_test(test_order_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
