/* src/graph/components: against the definition, read off all pairs of nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/components.h"
#include "random_graph.h"

enum { ROUNDS = 500 };

/* One component if and only if a walk joins them: Warshall's closure. */
static void components_are_what_walks_join(void **state)
{
    static made_graph g;
    static bool joined[MADE_NODES][MADE_NODES];
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        uint32_t *component, count, highest = 0;
        made_random(&g, seed, 30, false);
        for (uint32_t u = 0; u < g.n; u++)
            for (uint32_t v = 0; v < g.n; v++)
                joined[u][v] = u == v;
        for (uint32_t e = 0; e < g.m; e++)
            joined[g.from[e]][g.to[e]] = joined[g.to[e]][g.from[e]] = true;
        for (uint32_t k = 0; k < g.n; k++)
            for (uint32_t u = 0; u < g.n; u++)
                for (uint32_t v = 0; v < g.n; v++)
                    joined[u][v] |= joined[u][k] && joined[k][v];
        assert_int_equal(qp_components(&g.csr, &component, &count, mem, NULL), QP_OK);
        for (uint32_t u = 0; u < g.n; u++) {
            for (uint32_t v = 0; v < g.n; v++)
                assert_int_equal(component[u] == component[v], joined[u][v]);
            assert_true(component[u] <= highest); /* numbered by their first nodes */
            highest += component[u] == highest;
        }
        assert_int_equal(count, highest);
        qp_arena_free(mem);
    }
}

static void one_way_arcs_join_too(void **state)
{
    static const uint64_t start[] = {0, 0, 1, 1, 2}; /* 1 -> 0, 3 -> 2 */
    static const uint32_t target[] = {0, 2};
    qp_csr g = {4, start, target, NULL};
    qp_arena *mem = qp_arena_new();
    uint32_t *component, count;
    (void)state;
    assert_int_equal(qp_components(&g, &component, &count, mem, NULL), QP_OK);
    assert_int_equal(count, 2);
    assert_memory_equal(component, ((uint32_t[]){0, 0, 1, 1}), 4 * sizeof(uint32_t));
    qp_arena_free(mem);
}

static void induced_arcs_have_both_ends_chosen(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_random r = qp_random_seed(seed);
        qp_arena *mem = qp_arena_new();
        qp_induced in;
        uint32_t chosen[2 * MADE_NODES], n = (uint32_t)qp_random_below(&r, 40), distinct = 0;
        bool is[MADE_NODES] = {0};
        made_random(&g, seed, 30, false);
        g.csr.weight = seed % 2 ? g.arc_cost : NULL;
        for (uint32_t i = 0; i < n; i++) {
            chosen[i] = (uint32_t)qp_random_below(&r, g.n);
            distinct += !is[chosen[i]];
            is[chosen[i]] = true;
        }
        assert_int_equal(qp_induce(&g.csr, chosen, n, &in, mem, NULL), QP_OK);
        assert_int_equal(in.graph.n, distinct);
        uint64_t next = 0;
        for (uint32_t v = 0, i = 0; v < g.n; v++) {
            if (!is[v])
                continue;
            assert_int_equal(in.node[i], v);
            assert_int_equal(in.graph.start[i], next);
            for (uint64_t a = g.start[v]; a < g.start[v + 1]; a++) {
                if (!is[g.target[a]])
                    continue;
                assert_true(next < in.graph.start[i + 1]);
                assert_int_equal(in.arc[next], a);
                assert_int_equal(in.node[in.graph.target[next]], g.target[a]);
                assert_true(!in.graph.weight || in.graph.weight[next] == g.arc_cost[a]);
                next++;
            }
            assert_int_equal(in.graph.start[++i], next);
        }
        assert_true(!in.graph.weight == !g.csr.weight);
        qp_arena_free(mem);
    }
}

static void nodes_that_are_not_there_are_refused(void **state)
{
    static made_graph g;
    qp_arena *mem = qp_arena_new();
    qp_err err = {0};
    qp_induced in;
    (void)state;
    made_random(&g, 1, 30, false);
    assert_int_equal(qp_induce(&g.csr, (uint32_t[]){0, g.n}, 2, &in, mem, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "nodes"));
    assert_int_equal(qp_induce(&g.csr, NULL, 0, &in, mem, NULL), QP_OK);
    assert_int_equal(in.graph.n, 0);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_what_walks_join),
        cmocka_unit_test(one_way_arcs_join_too),
        cmocka_unit_test(induced_arcs_have_both_ends_chosen),
        cmocka_unit_test(nodes_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
