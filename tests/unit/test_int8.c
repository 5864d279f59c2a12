/* Products in eight bits against a slow twin that does in order what int8.h says, and against the product in floats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/int8.h"

typedef struct product {
    uint32_t m, n, k;
    float *a, *w, *bias, *c;
} product;

static float *draw(qp_random *r, size_t n)
{
    float *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(qp_random_unit(r) * 4 - 2);
    return x;
}

static product open_product(qp_random *r, uint32_t m, uint32_t n, uint32_t k)
{
    product p = {m, n, k, draw(r, (size_t)m * k), draw(r, (size_t)n * k), draw(r, n), draw(r, (size_t)m * n)};
    for (uint32_t i = 0; i < k; i++)
        p.w[i] = 0; /* a column of nothing */
    p.a[0] = 1000;  /* what stands beside it in its block is told coarsely, the rest is not */
    return p;
}

static void close_product(product *p)
{
    free(p->a), free(p->w), free(p->bias), free(p->c);
}

static void run(const qp_int8 *kernel, const product *p, bool add, float *c)
{
    void *w = aligned_alloc(64, qp_int8_packed_size(kernel, p->n, p->k));
    void *a = aligned_alloc(64, (qp_int8_rows_size(p->m, p->k) + 63) / 64 * 64);
    assert_true(w && a);
    qp_int8_pack(kernel, w, p->w, p->n, p->k);
    kernel->round(a, p->a, p->m, p->k);
    kernel->gemm(a, p->m, w, p->n, p->k, p->bias, add, c);
    free(a);
    free(w);
}

/* x in units of most / 127, as a whole number. One that lies halfway may go either way, as the processor fuses the
 * product and the sum that round it or does not. */
static long rounded(float x, float most, bool *halfway)
{
    const double units = (double)x * (127 / most);
    *halfway = fabs(units - floor(units) - .5) < 1e-4;
    return lrint(units);
}

/* Of one block of two vectors; slack: what halves may change. */
static double twin_block(const float *a, const float *w, uint32_t n, double *slack)
{
    float most_a = 0, most_w = 0;
    long sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        most_a = fmaxf(most_a, fabsf(a[i]));
        most_w = fmaxf(most_w, fabsf(w[i]));
    }
    for (uint32_t i = 0; i < n && most_a > 0 && most_w > 0; i++) {
        bool half_a, half_w;
        sum += rounded(a[i], most_a, &half_a) * rounded(w[i], most_w, &half_w);
        *slack += half_a * most_a / 127 * fabsf(w[i]) + half_w * most_w / 127 * fabsf(a[i]);
    }
    return (double)sum * most_a / 127 * most_w / 127;
}

static double twin(const float *a, const float *w, uint32_t k, double *slack)
{
    double sum = 0;
    for (uint32_t from = 0; from < k; from += QP_INT8_BLOCK)
        sum += twin_block(a + from, w + from, k - from < QP_INT8_BLOCK ? k - from : QP_INT8_BLOCK, slack);
    return sum;
}

static void check(const product *p, bool add, const float *c)
{
    for (uint32_t i = 0; i < p->m; i++)
        for (uint32_t j = 0; j < p->n; j++) {
            const size_t at = (size_t)i * p->n + j;
            double slack = 0;
            const double wanted = twin(p->a + (size_t)i * p->k, p->w + (size_t)j * p->k, p->k, &slack) + p->bias[j];
            assert_float_equal(c[at], (float)(wanted + (add ? p->c[at] : 0)), 2e-3 + slack);
        }
}

static void equals_its_twin(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{1, 1, 1},     {2, 32, 64},   {5, 33, 63},   {6, 31, 65},
                                        {12, 64, 128}, {13, 70, 200}, {30, 16, 384}, {25, 100, 1536}};
    qp_random r = qp_random_seed(1);
    for (const qp_int8 *const *kernel = qp_int8_all(); *kernel; kernel++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (*kernel)->usable(); s++)
            for (int add = 0; add < 2; add++) {
                product p = open_product(&r, sizes[s][0], sizes[s][1], sizes[s][2]);
                float *c = malloc((size_t)p.m * p.n * sizeof *c);
                assert_non_null(c);
                memcpy(c, p.c, (size_t)p.m * p.n * sizeof *c);
                run(*kernel, &p, add, c);
                check(&p, add, c);
                free(c);
                close_product(&p);
            }
}

/* Bit for bit: a text's vector must not depend on what is embedded beside it. */
static void a_row_is_the_same_alone(void **state)
{
    (void)state;
    enum { M = 31, N = 48, K = 200 };
    qp_random r = qp_random_seed(2);
    product p = open_product(&r, M, N, K);
    for (const qp_int8 *const *kernel = qp_int8_all(); *kernel; kernel++) {
        if (!(*kernel)->usable())
            continue;
        static float all[M * N], one[N];
        run(*kernel, &p, false, all);
        for (uint32_t i = 0; i < M; i++) {
            product row = p;
            row.m = 1;
            row.a = p.a + (size_t)i * K;
            run(*kernel, &row, false, one);
            assert_memory_equal(one, all + (size_t)i * N, sizeof one);
        }
    }
    close_product(&p);
}

static void is_near_the_product_in_floats(void **state)
{
    (void)state;
    enum { M = 7, N = 40, K = 384 };
    qp_random r = qp_random_seed(3);
    product p = {M, N, K, draw(&r, M * K), draw(&r, N * K), calloc(N, sizeof(float)), NULL};
    for (const qp_int8 *const *kernel = qp_int8_all(); *kernel; kernel++) {
        if (!(*kernel)->usable())
            continue;
        static float c[M * N];
        double off = 0, all = 0;
        run(*kernel, &p, false, c);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double exact = 0;
                for (int x = 0; x < K; x++)
                    exact += (double)p.a[i * K + x] * p.w[j * K + x];
                off += (c[i * N + j] - exact) * (c[i * N + j] - exact);
                all += exact * exact;
            }
        assert_true(sqrt(off / all) < .01);
    }
    close_product(&p);
}

static void precision_is_asked_of_the_environment(void **state)
{
    (void)state;
    const qp_int8 *best = NULL;
    qp_err err = {0};
    setenv("QUIPU_PRECISION", "f32", 1);
    assert_int_equal(qp_int8_best(&best, &err), QP_OK);
    assert_null(best);
    setenv("QUIPU_PRECISION", "fp16", 1);
    assert_int_equal(qp_int8_best(&best, &err), QP_INPUT);
    assert_string_equal(err.message, "QUIPU_PRECISION is 'fp16'; wanted f32 or int8");
    setenv("QUIPU_PRECISION", "int8", 1);
    assert_int_equal(qp_int8_best(&best, &err), QP_OK);
    assert_true(!best || best->usable());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_its_twin),
        cmocka_unit_test(a_row_is_the_same_alone),
        cmocka_unit_test(is_near_the_product_in_floats),
        cmocka_unit_test(precision_is_asked_of_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
