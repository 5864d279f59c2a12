/* src/graph/steiner: trees that are trees, at most 2 (1 - 1/k) times the least found by trying every set of nodes, and
 * networkx's costs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph/sets.h"
#include "graph/steiner.h"
#include "random_graph.h"

enum { ROUNDS = 1000 };

/* The least spanning tree among `nodes`, a bit each, by Prim's algorithm; INFINITY if they are not joined. */
static double spanning(const made_graph *g, uint32_t nodes)
{
    uint32_t in = nodes & -nodes;
    double sum = 0;
    while (in != nodes) {
        double least = INFINITY;
        uint32_t next = 0;
        for (uint32_t e = 0; e < g->m; e++) {
            uint32_t ends = 1u << g->from[e] | 1u << g->to[e];
            if ((ends & nodes) == ends && (ends & in) && (ends & ~in) && (double)g->cost[e] < least) {
                least = (double)g->cost[e];
                next = ends & ~in;
            }
        }
        if (!next)
            return INFINITY;
        in |= next;
        sum += least;
    }
    return sum;
}

static double exact(const made_graph *g, uint32_t terminals)
{
    double best = INFINITY;
    for (uint32_t nodes = terminals; nodes < 1u << g->n; nodes = (nodes + 1) | terminals)
        best = fmin(best, spanning(g, nodes));
    return best;
}

/* A forest with the terminals in it, whose leaves are terminals, of as many trees as it says; each node is of use. */
static void check(const made_graph *g, const qp_steiner *s)
{
    uint32_t set[MADE_NODES], degree[MADE_NODES] = {0}, trees = s->n_nodes;
    bool here[MADE_NODES] = {0}, terminal[MADE_NODES] = {0};
    double cost = 0;
    qp_sets_begin(set, g->n);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        assert_true(s->node[i] < g->n && (!i || s->node[i - 1] < s->node[i]));
        here[s->node[i]] = true;
    }
    for (uint32_t i = 0; i < s->n_arcs; i++) {
        uint32_t u = s->from[i], v = g->target[s->arc[i]];
        assert_true(s->arc[i] >= g->start[u] && s->arc[i] < g->start[u + 1] && u < v && here[u] && here[v]);
        assert_true(!i || s->arc[i - 1] < s->arc[i]);
        assert_true(qp_sets_unite(set, u, v)); /* no cycle */
        trees--;
        degree[u]++;
        degree[v]++;
        cost += (double)g->arc_cost[s->arc[i]];
    }
    assert_true(fabs(cost - s->cost) < 1e-9);
    assert_int_equal(trees, s->trees);
    for (uint32_t i = 0; i < g->n_terminals; i++) {
        assert_true(here[g->terminal[i]]);
        terminal[g->terminal[i]] = true;
    }
    for (uint32_t v = 0; v < g->n; v++)
        assert_true(!here[v] || terminal[v] || degree[v] > 1);
}

static void trees_are_within_the_bound(void **state)
{
    static made_graph g;
    double sum = 0, least = 0;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_steiner s;
        uint32_t terminals = 0;
        made_random(&g, seed, 10, true);
        for (uint32_t i = 0; i < g.n_terminals; i++)
            terminals |= 1u << g.terminal[i];
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, g.n_terminals, &s, mem, NULL), QP_OK);
        check(&g, &s);
        assert_int_equal(s.trees, g.n_terminals > 0);
        if (terminals) {
            double best = exact(&g, terminals);
            assert_true(s.cost >= best - 1e-6);
            assert_true(s.cost <= 2 * (1 - 1. / __builtin_popcount(terminals)) * best + 1e-6);
            sum += s.cost;
            least += best;
        }
        qp_arena_free(mem);
    }
    assert_true(sum < 1.05 * least); /* in practice it is much nearer than the bound */
}

/* Terminals that no path joins: as many trees as components hold some, each as when it is alone. */
static void what_is_not_joined_is_a_forest(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_steiner s, alone;
        uint32_t set[MADE_NODES], trees = 0;
        double cost = 0;
        made_random(&g, seed, 30, false);
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, g.n_terminals, &s, mem, NULL), QP_OK);
        check(&g, &s);
        qp_sets_begin(set, g.n);
        for (uint32_t e = 0; e < g.m; e++)
            qp_sets_unite(set, g.from[e], g.to[e]);
        for (uint32_t root = 0; root < g.n; root++) {
            uint32_t own[MADE_TERMINALS], n = 0;
            for (uint32_t i = 0; i < g.n_terminals; i++)
                if (qp_sets_find(set, g.terminal[i]) == root)
                    own[n++] = g.terminal[i];
            assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, own, n, &alone, mem, NULL), QP_OK);
            trees += n > 0;
            cost += alone.cost;
        }
        assert_int_equal(s.trees, trees);
        assert_true(fabs(s.cost - cost) < 1e-6);
        qp_arena_free(mem);
    }
}

static void order_and_repetition_of_terminals_do_not_matter(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_steiner a, b;
        uint32_t twice[2 * MADE_TERMINALS], n = g.n_terminals;
        made_random(&g, seed, 30, true);
        n = g.n_terminals;
        for (uint32_t i = 0; i < n; i++)
            twice[2 * n - 1 - i] = twice[i] = g.terminal[i];
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, n, &a, mem, NULL), QP_OK);
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, twice + n / 2, 2 * n - n / 2, &b, mem, NULL), QP_OK);
        assert_int_equal(a.n_arcs, b.n_arcs);
        assert_memory_equal(a.arc, b.arc, a.n_arcs * sizeof *a.arc);
        qp_arena_free(mem);
    }
}

/* By hops it is the tree of equal costs. */
static void no_costs_are_costs_of_one(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 2; seed < ROUNDS; seed += 3) { /* those whose edges cost .5 */
        qp_arena *mem = qp_arena_new();
        qp_steiner a, b;
        made_random(&g, seed, 10, true);
        assert_int_equal(qp_steiner_tree(&g.csr, NULL, g.terminal, g.n_terminals, &a, mem, NULL), QP_OK);
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, g.n_terminals, &b, mem, NULL), QP_OK);
        assert_true(a.cost == a.n_arcs);
        assert_true(a.cost <= 2 * 2 * b.cost + 1e-9 && 2 * b.cost <= 2 * a.cost + 1e-9);
        qp_arena_free(mem);
    }
}

static void costs_are_networkx_s(void **state)
{
    static made_graph g;
    FILE *file = fopen("tests/reference/trees/steiner.tsv", "r");
    unsigned seed, lines = 0, worse = 0;
    double theirs, sum = 0, their_sum = 0;
    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%u %lf", &seed, &theirs) == 2) {
        qp_arena *mem = qp_arena_new();
        qp_steiner s;
        made_random(&g, seed, 30, true);
        assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, g.n_terminals, &s, mem, NULL), QP_OK);
        worse += s.cost > theirs * 1.001 + 1e-6;
        sum += s.cost;
        their_sum += theirs;
        lines++;
        qp_arena_free(mem);
    }
    fclose(file);
    assert_true(lines >= 300);
    print_message("cost %.4f of networkx's over %u graphs, worse on %u\n", sum / their_sum, lines, worse);
    assert_true(sum <= their_sum * 1.001);
    assert_true(worse * 50 <= lines); /* where costs are equal, another choice may be worse */
}

static void bad_input_is_refused(void **state)
{
    static made_graph g;
    qp_arena *mem = qp_arena_new();
    qp_steiner s;
    (void)state;
    made_random(&g, 4, 30, true);
    assert_int_equal(qp_steiner_tree(&g.csr, NULL, &g.n, 1, &s, mem, NULL), QP_INPUT);
    g.arc_cost[0] = INFINITY;
    assert_int_equal(qp_steiner_tree(&g.csr, g.arc_cost, (uint32_t[]){0, 1}, 2, &s, mem, NULL), QP_INPUT);
    assert_int_equal(qp_steiner_tree(&g.csr, NULL, NULL, 0, &s, mem, NULL), QP_OK);
    assert_int_equal(s.n_nodes + s.n_arcs + s.trees, 0);
    assert_int_equal(qp_steiner_tree(&g.csr, NULL, &g.root, 1, &s, mem, NULL), QP_OK);
    assert_true(s.n_nodes == 1 && s.node[0] == g.root && s.trees == 1 && s.cost == 0);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_within_the_bound),
        cmocka_unit_test(what_is_not_joined_is_a_forest),
        cmocka_unit_test(order_and_repetition_of_terminals_do_not_matter),
        cmocka_unit_test(no_costs_are_costs_of_one),
        cmocka_unit_test(costs_are_networkx_s),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
