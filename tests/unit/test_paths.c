/* src/graph/paths: shortest ones against Floyd and Warshall's distances, simple ones against recursion and networkx. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph/paths.h"
#include "random_graph.h"

enum { ROUNDS = 400, MOST_PATHS = 400000 };

static double all_pairs[MADE_NODES][MADE_NODES];

static void measure(const made_graph *g, bool hops)
{
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++)
            all_pairs[u][v] = u == v ? 0 : INFINITY;
    for (uint32_t e = 0; e < g->m; e++) {
        uint32_t u = g->from[e], v = g->to[e];
        all_pairs[u][v] = all_pairs[v][u] = fmin(all_pairs[u][v], hops ? 1 : (double)g->cost[e]);
    }
    for (uint32_t v = 0; v < g->n; v++)
        all_pairs[v][v] = 0;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t v = 0; v < g->n; v++)
                all_pairs[u][v] = fmin(all_pairs[u][v], all_pairs[u][k] + all_pairs[k][v]);
}

/* The path as arrays: its hops + 1 nodes from the start on, and its hops arcs. */
static void write_out(const qp_trails *t, uint32_t trail, uint32_t *node, uint64_t *arc)
{
    const qp_trail *at = &t->at[trail];
    for (; at->hops; at = &t->at[at->from]) {
        node[at->hops] = at->node;
        arc[at->hops - 1] = at->arc;
    }
    node[0] = at->node;
}

/* The trail is a path of g that costs what it says; where it begins. */
static uint32_t check_path(const made_graph *g, const qp_trails *t, uint32_t trail, bool hops)
{
    uint32_t node[MADE_NODES];
    uint64_t arc[MADE_NODES];
    double cost = 0;
    write_out(t, trail, node, arc);
    for (uint32_t i = 0; i < t->at[trail].hops; i++) {
        assert_true(arc[i] >= g->start[node[i]] && arc[i] < g->start[node[i] + 1]);
        assert_int_equal(g->target[arc[i]], node[i + 1]);
        cost += hops ? 1 : (double)g->arc_cost[arc[i]];
    }
    assert_true(fabs(cost - t->at[trail].cost) < 1e-9);
    assert_int_equal(node[t->at[trail].hops], t->at[trail].node);
    return node[0];
}

static void shortest_paths_are_shortest(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        bool hops = seed % 2;
        qp_arena *mem = qp_arena_new();
        qp_trails t;
        made_random(&g, seed, 30, false);
        measure(&g, hops);
        double most = seed % 5 ? INFINITY : 1.25, before = 0;
        uint32_t reached = 0, starts = 0;
        assert_int_equal(qp_paths_shortest(&g.csr, hops ? NULL : g.arc_cost, g.terminal, g.n_terminals, most, &t, mem,
                                           NULL),
                         QP_OK);
        for (uint32_t v = 0; v < g.n; v++) {
            double nearest = INFINITY;
            bool start = false;
            for (uint32_t i = 0; i < g.n_terminals; i++) {
                nearest = fmin(nearest, all_pairs[g.terminal[i]][v]);
                start |= g.terminal[i] == v;
            }
            starts += start;
            reached += !start && nearest <= most && nearest < INFINITY;
        }
        assert_int_equal(t.n_ends, reached);
        assert_int_equal(t.n, reached + starts);
        for (uint32_t i = 0; i < t.n_ends; i++) {
            const qp_trail *end = &t.at[t.end[i]];
            uint32_t from = check_path(&g, &t, t.end[i], hops);
            assert_true(fabs(end->cost - all_pairs[from][end->node]) < 1e-6);
            for (uint32_t j = 0; j < g.n_terminals; j++)
                assert_true(end->cost <= all_pairs[g.terminal[j]][end->node] + 1e-6);
            assert_true(end->cost >= before && end->hops > 0);
            before = end->cost;
        }
        qp_arena_free(mem);
    }
}

/* ---- simple paths: of exactly `hops` arcs, in the order of their arcs ---- */

typedef struct twin {
    const made_graph *g;
    uint64_t arc[8];
    uint32_t node[9], n;
    const qp_trails *t;
} twin;

static void recurse(twin *w, uint32_t done, uint32_t hops)
{
    if (done == hops) {
        uint32_t node[9];
        uint64_t arc[8];
        assert_true(w->n < w->t->n_ends);
        assert_int_equal(w->t->at[w->t->end[w->n]].hops, hops);
        write_out(w->t, w->t->end[w->n++], node, arc);
        assert_memory_equal(node, w->node, (hops + 1) * sizeof *node);
        assert_memory_equal(arc, w->arc, hops * sizeof *arc);
        return;
    }
    for (uint64_t a = w->g->start[w->node[done]]; a < w->g->start[w->node[done] + 1]; a++) {
        bool seen = false;
        for (uint32_t i = 0; i <= done; i++)
            seen |= w->node[i] == w->g->target[a];
        if (seen)
            continue;
        w->arc[done] = a;
        w->node[done + 1] = w->g->target[a];
        recurse(w, done + 1, hops);
    }
}

static void simple_paths_are_all_there(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_trails t;
        uint32_t max_hop = seed % 5, distinct = 0, start[MADE_TERMINALS];
        made_random(&g, seed, 12, false);
        for (uint32_t i = 0; i < g.n_terminals; i++) {
            bool again = false;
            for (uint32_t j = 0; j < distinct; j++)
                again |= start[j] == g.terminal[i];
            if (!again)
                start[distinct++] = g.terminal[i];
        }
        assert_int_equal(qp_paths_simple(&g.csr, g.terminal, g.n_terminals, max_hop, MOST_PATHS, &t, mem, NULL), QP_OK);
        assert_int_equal(t.cut, 0);
        twin w = {.g = &g, .t = &t};
        for (uint32_t hops = 1; hops <= max_hop; hops++) {
            for (uint32_t i = 0; i < distinct; i++) {
                w.node[0] = start[i];
                recurse(&w, 0, hops);
            }
        }
        assert_int_equal(w.n, t.n_ends);
        qp_arena_free(mem);
    }
}

static void a_budget_keeps_the_first_and_tells(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_trails all, some;
        made_random(&g, seed, 12, true);
        assert_int_equal(qp_paths_simple(&g.csr, &g.root, 1, 4, MOST_PATHS, &all, mem, NULL), QP_OK);
        qp_random r = qp_random_seed(seed);
        uint32_t budget = (uint32_t)qp_random_below(&r, all.n_ends + 2), cut = 0;
        assert_int_equal(qp_paths_simple(&g.csr, &g.root, 1, 4, budget, &some, mem, NULL), QP_OK);
        assert_int_equal(some.n_ends, budget < all.n_ends ? budget : all.n_ends);
        for (uint32_t i = 0; i < some.n; i++) {
            assert_int_equal(some.at[i].from, all.at[i].from);
            assert_int_equal(some.at[i].arc, all.at[i].arc);
        }
        /* those kept that one left out extends */
        for (uint32_t i = 0; i < some.n; i++) {
            bool goes_on = false;
            for (uint32_t j = some.n; j < all.n; j++)
                goes_on |= all.at[j].from == i;
            cut += goes_on;
        }
        assert_int_equal(some.cut, cut);
        qp_arena_free(mem);
    }
}

static void simple_paths_are_as_many_as_networkx_says(void **state)
{
    static made_graph g;
    FILE *file = fopen("tests/reference/trees/paths.tsv", "r");
    unsigned seed, hops, count, lines = 0;
    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%u %u %u", &seed, &hops, &count) == 3) {
        qp_arena *mem = qp_arena_new();
        qp_trails t;
        made_random(&g, seed, 20, false);
        assert_int_equal(qp_paths_simple(&g.csr, &g.root, 1, hops, MOST_PATHS, &t, mem, NULL), QP_OK);
        assert_int_equal(t.n_ends, count);
        qp_arena_free(mem);
        lines++;
    }
    fclose(file);
    assert_true(lines >= 100);
}

static void bad_input_is_refused(void **state)
{
    static made_graph g;
    qp_arena *mem = qp_arena_new();
    qp_trails t;
    qp_err err = {0};
    (void)state;
    made_random(&g, 4, 30, true);
    assert_int_equal(qp_paths_shortest(&g.csr, NULL, &g.n, 1, INFINITY, &t, mem, NULL), QP_INPUT);
    assert_int_equal(qp_paths_simple(&g.csr, &g.n, 1, 2, 10, &t, mem, NULL), QP_INPUT);
    g.arc_cost[g.start[g.root]] = -1;
    assert_int_equal(qp_paths_shortest(&g.csr, g.arc_cost, &g.root, 1, INFINITY, &t, mem, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "costs -1"));
    g.arc_cost[g.start[g.root]] = NAN;
    assert_int_equal(qp_paths_shortest(&g.csr, g.arc_cost, &g.root, 1, INFINITY, &t, mem, NULL), QP_INPUT);
    assert_int_equal(qp_paths_shortest(&g.csr, g.arc_cost, NULL, 0, INFINITY, &t, mem, NULL), QP_OK);
    assert_int_equal(t.n + t.n_ends, 0);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_paths_are_shortest),
        cmocka_unit_test(simple_paths_are_all_there),
        cmocka_unit_test(a_budget_keeps_the_first_and_tells),
        cmocka_unit_test(simple_paths_are_as_many_as_networkx_says),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
