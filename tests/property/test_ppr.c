/* What must hold of PPR on graphs too large for a twin: R-MAT, of all four kinds, by fixed seeds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/ppr.h"
#include "rmat.h"

enum { NODES = 16000, EDGES = 160000, SOURCES = 10 };

typedef struct asked {
    rmat g;
    qp_chain *chain;
    qp_ppr_space *space;
    qp_arena *mem;
} asked;

static asked open_graph(bool directed, bool weighted)
{
    asked a = {.g = rmat_make(NODES, EDGES, directed, weighted, 11), .mem = qp_arena_new()};
    assert_int_equal(qp_chain_new(&a.g.out, directed ? &a.g.in : NULL, &a.chain, NULL), QP_OK);
    assert_int_equal(qp_ppr_space_new(a.chain, &a.space, NULL), QP_OK);
    return a;
}

static void close_graph(asked *a)
{
    qp_ppr_space_free(a->space);
    qp_chain_free(a->chain);
    rmat_free(&a->g);
    qp_arena_free(a->mem);
}

static qp_ppr_result ask(asked *a, qp_ppr_query q)
{
    qp_ppr_result r;
    qp_err err = {0};
    qp_code code = qp_ppr(a->space, &q, a->mem, &r, &err);
    if (code)
        print_error("%s\n", err.message);
    assert_int_equal(code, QP_OK);
    return r;
}

/* A node with arcs. */
static uint32_t draw(const asked *a, qp_random *random)
{
    uint32_t v;
    do
        v = (uint32_t)qp_random_below(random, NODES);
    while (!(qp_chain_sum(a->chain, v) > 0));
    return v;
}

static void mass_is_one_and_bounds_hold(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(1);
    for (int kind = 0; kind < 4; kind++) {
        asked a = open_graph(kind & 1, kind & 2);
        static double truth[NODES];
        uint32_t seed = draw(&a, &random);
        qp_ppr_query q = {.seed = &seed, .n_seeds = 1, .alpha = .15, .engine = QP_PPR_EXACT, .tolerance = 1e-13};
        for (int uniform = 0; uniform < 2; uniform++) {
            q.dangling = uniform ? QP_PPR_UNIFORM : QP_PPR_RESTART;
            q.engine = QP_PPR_EXACT;
            qp_ppr_result r = ask(&a, q);
            double mass = 0;
            memset(truth, 0, sizeof truth);
            for (uint32_t i = 0; i < r.n; i++)
                mass += truth[r.at[i].node] = r.at[i].score;
            assert_true(fabs(mass - 1) < 1e-12);
            q.engine = QP_PPR_BOUNDED;
            for (q.tolerance = .5; q.tolerance > 1e-7; q.tolerance /= 100) {
                r = ask(&a, q);
                double missing = 1;
                for (uint32_t i = 0; i < r.n; i++) {
                    missing -= r.at[i].score;
                    assert_true(r.at[i].score <= truth[r.at[i].node] + 1e-12);
                }
                assert_true(r.error <= q.tolerance && fabs(missing - r.error) < 1e-12);
            }
            q.tolerance = 1e-13;
        }
        close_graph(&a);
    }
}

/* pi is linear in the personalisation: two seeds of weights 1 and 3 give a quarter of one and three of the other. */
static void seeds_add_up(void **state)
{
    (void)state;
    asked a = open_graph(false, true);
    qp_random random = qp_random_seed(2);
    uint32_t seed[2] = {draw(&a, &random), draw(&a, &random)};
    float weight[2] = {1, 3};
    static double both[NODES];
    qp_ppr_query q = {.seed = seed, .weight = weight, .n_seeds = 2, .alpha = .2, .engine = QP_PPR_EXACT};
    qp_ppr_result r = ask(&a, q);
    for (uint32_t i = 0; i < r.n; i++)
        both[r.at[i].node] = r.at[i].score;
    for (int i = 0; i < 2; i++) {
        q = (qp_ppr_query){.seed = &seed[i], .n_seeds = 1, .alpha = .2, .engine = QP_PPR_EXACT};
        r = ask(&a, q);
        for (uint32_t j = 0; j < r.n; j++)
            both[r.at[j].node] -= weight[i] / 4 * r.at[j].score;
    }
    for (uint32_t v = 0; v < NODES; v++)
        assert_true(fabs(both[v]) < 1e-9);
    close_graph(&a);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    asked a = open_graph(true, false);
    uint32_t seed[3] = {1, 2, 3};
    for (int single = 0; single < 2; single++) {
        qp_ppr_query q = {
            .seed = seed, .n_seeds = 3, .alpha = .15, .engine = QP_PPR_EXACT, .single = single, .threads = 1};
        qp_ppr_result one = ask(&a, q);
        q.threads = 3;
        qp_ppr_result three = ask(&a, q);
        assert_int_equal(one.n, three.n);
        for (uint32_t i = 0; i < one.n; i++)
            assert_true(one.at[i].node == three.at[i].node && one.at[i].score == three.at[i].score);
    }
    close_graph(&a);
}

static double recall(const qp_ppr_result *truth, const qp_ppr_result *got, uint32_t k)
{
    uint32_t hits = 0;
    k = truth->n < k ? truth->n : k; /* arcs may lead from a seed to fewer */
    assert_true(got->n >= k);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = 0; j < k; j++)
            hits += truth->at[i].node == got->at[j].node;
    return (double)hits / k;
}

/* The step to the hubs and the tail are what makes a cheap push good. */
static void fast_finds_the_best_hundred(void **state)
{
    (void)state;
    static const double wanted[4] = {.98, .95, .98, .95}; /* directed graphs: every other */
    for (int kind = 0; kind < 4; kind++) {
        asked a = open_graph(kind & 1, kind & 2);
        qp_random random = qp_random_seed(3);
        double sum = 0;
        for (int i = 0; i < SOURCES; i++) {
            uint32_t seed = draw(&a, &random);
            qp_ppr_query q = {.seed = &seed, .n_seeds = 1, .alpha = .15, .top = 100, .engine = QP_PPR_EXACT};
            qp_ppr_result truth = ask(&a, q);
            q.engine = QP_PPR_FAST;
            qp_ppr_result fast = ask(&a, q), again = ask(&a, q);
            sum += recall(&truth, &fast, 100) / SOURCES;
            for (uint32_t j = 0; j < fast.n; j++) /* a space left as it was found */
                assert_true(fast.at[j].node == again.at[j].node && fast.at[j].score == again.at[j].score);
        }
        print_message("R@100 of fast, kind %d: %.3f\n", kind, sum);
        assert_true(sum >= wanted[kind]);
        close_graph(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_is_one_and_bounds_hold),
        cmocka_unit_test(seeds_add_up),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(fast_finds_the_best_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
