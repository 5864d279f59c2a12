/* src/graph/hop: against distances by repeated squaring of "is near", and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/hop.h"
#include "small_graph.h"

enum { FAR = 1000 };

/* Floyd and Warshall, hops. */
static void distances(const small_graph *g, bool both, uint32_t hops[SMALL_MOST][SMALL_MOST])
{
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++)
            hops[u][v] = u == v ? 0 : g->w[u][v] > 0 || (both && g->w[v][u] > 0) ? 1 : FAR;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t v = 0; v < g->n; v++)
                if (hops[u][k] + hops[k][v] < hops[u][v])
                    hops[u][v] = hops[u][k] + hops[k][v];
}

static void hops_equal_distances(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(1);
    for (uint32_t i = 0; i < 300; i++) {
        small_graph g;
        uint32_t hops[SMALL_MOST][SMALL_MOST], k = i % 5, near = 0;
        qp_hop_result r;
        qp_arena *mem = qp_arena_new();
        bool both = i & 2;
        small_graph_draw(&g, i & 1, false, &random);
        distances(&g, both, hops);
        uint32_t seed[3] = {0, g.n - 1, 0};
        qp_hop_query q = {.seed = seed, .n_seeds = 3, .hops = k, .back = both ? &g.in : NULL};
        assert_int_equal(qp_hop_from(&g.out, &q, mem, &r, NULL), QP_OK);
        for (uint32_t v = 0; v < g.n; v++)
            near += hops[0][v] <= k || hops[g.n - 1][v] <= k;
        assert_int_equal(r.n, near);
        assert_int_equal(r.cut, 0);
        for (uint32_t j = 0; j < r.n; j++) {
            const qp_hop_node *x = &r.at[j], *from = &r.at[x->from];
            uint32_t a = hops[0][x->node], b = hops[g.n - 1][x->node];
            assert_int_equal(x->hops, a < b ? a : b);
            assert_true(x->hops == 0 ? x->from == j : from->hops + 1 == x->hops && hops[from->node][x->node] == 1);
        }
        qp_arena_free(mem);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(2);
    for (uint32_t i = 0; i < 300; i++) {
        small_graph g;
        qp_hop_result r;
        qp_arena *mem = qp_arena_new();
        small_graph_draw(&g, i & 1, false, &random);
        uint32_t seed = 0, brought[SMALL_MOST] = {0};
        qp_hop_query q = {.seed = &seed, .n_seeds = 1, .hops = 3, .per_node = 1 + i % 3, .most = 1 + i % 11};
        assert_int_equal(qp_hop_from(&g.out, &q, mem, &r, NULL), QP_OK);
        assert_true(r.n <= q.most);
        for (uint32_t j = 1; j < r.n; j++)
            assert_true(++brought[r.at[j].from] <= q.per_node);
        qp_arena_free(mem);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    small_graph g = {.n = 2};
    qp_hop_result r;
    qp_arena *mem = qp_arena_new();
    uint32_t seed = 0, gone = 2;
    int stop = 1;
    small_graph_pack(&g);
    assert_int_equal(qp_hop_from(&g.out, &(qp_hop_query){.hops = 1}, mem, &r, NULL), QP_INPUT);
    assert_int_equal(qp_hop_from(&g.out, &(qp_hop_query){.seed = &gone, .n_seeds = 1}, mem, &r, NULL), QP_INPUT);
    qp_hop_query q = {.seed = &seed, .n_seeds = 1, .hops = 1, .cancel = &stop};
    assert_int_equal(qp_hop_from(&g.out, &q, mem, &r, NULL), QP_STOPPED);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hops_equal_distances),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
