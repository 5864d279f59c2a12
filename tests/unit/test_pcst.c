/* src/graph/pcst: what is returned is a tree, at most twice the least found by trying every set of edges, and as good as
 * pcst_fast's; edges with rewards come back as they went.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph/pcst.h"
#include "graph/sets.h"
#include "random_graph.h"

enum { ROUNDS = 1000, MOST_EDGES = 10 };

static const char *const pruning_name[] = {"none", "simple", "gw", "strong"};

static qp_pcst_graph graph_of(const made_graph *g)
{
    return (qp_pcst_graph){g->n, g->m, g->prize, g->from, g->to, g->cost};
}

static double all_prizes(const made_graph *g)
{
    double sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum += (double)g->prize[v];
    return sum;
}

/* cost + factor * the prizes that are missed */
static double objective(const made_graph *g, const qp_pcst *p, double factor)
{
    return p->cost + factor * (all_prizes(g) - p->prize);
}

/* A forest of exactly its nodes, the sums right; how many trees it has. */
static uint32_t check(const made_graph *g, const qp_pcst *p)
{
    uint32_t set[MADE_NODES];
    bool here[MADE_NODES] = {0};
    double cost = 0, prize = 0;
    qp_sets_begin(set, g->n);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        assert_true(p->node[i] < g->n && (!i || p->node[i - 1] < p->node[i]));
        here[p->node[i]] = true;
        prize += (double)g->prize[p->node[i]];
    }
    for (uint32_t i = 0; i < p->n_edges; i++) {
        uint32_t e = p->edge[i];
        assert_true(e < g->m && (!i || p->edge[i - 1] < e));
        assert_true(here[g->from[e]] && here[g->to[e]]);
        assert_true(qp_sets_unite(set, g->from[e], g->to[e]));
        cost += (double)g->cost[e];
    }
    assert_true(fabs(cost - p->cost) < 1e-9 && fabs(prize - p->prize) < 1e-9);
    return p->n_nodes - p->n_edges;
}

static bool has(const qp_pcst *p, uint32_t node)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->node[i] == node)
            return true;
    return false;
}

/* The least of scale * cost + factor * missed prizes over all trees (with the root, if there is one), or none at all. */
static double exact(const made_graph *g, uint32_t root, double scale, double factor)
{
    double best = root == QP_NO_ROOT ? factor * all_prizes(g) : INFINITY;
    for (uint32_t v = 0; v < g->n; v++)
        if (root == QP_NO_ROOT || root == v)
            best = fmin(best, factor * (all_prizes(g) - (double)g->prize[v]));
    for (uint32_t edges = 1; edges < 1u << g->m; edges++) {
        uint32_t set[MADE_NODES], n = 0;
        double cost = 0, missed = all_prizes(g);
        bool tree = true, here[MADE_NODES] = {0};
        qp_sets_begin(set, g->n);
        for (uint32_t e = 0; e < g->m; e++) {
            if (!(edges >> e & 1))
                continue;
            tree = tree && qp_sets_unite(set, g->from[e], g->to[e]);
            here[g->from[e]] = here[g->to[e]] = true;
            cost += (double)g->cost[e];
        }
        for (uint32_t v = 0; v < g->n; v++) {
            missed -= here[v] ? (double)g->prize[v] : 0;
            n += here[v];
        }
        if (tree && n == (uint32_t)__builtin_popcount(edges) + 1 && (root == QP_NO_ROOT || here[root]))
            best = fmin(best, scale * cost + factor * missed);
    }
    return best;
}

/* Theorem of Goemans and Williamson, in the sharper form that their pruning has: a missed prize counts twice on both
 * sides. */
static void trees_are_within_the_bound(void **state)
{
    static made_graph g;
    double sum = 0, least = 0;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        made_random(&g, seed, 8, false);
        g.m = g.m < MOST_EDGES ? g.m : MOST_EDGES;
        qp_pcst_graph in = graph_of(&g);
        for (int rooted = 0; rooted < 2; rooted++) {
            uint32_t root = rooted ? g.root : QP_NO_ROOT;
            qp_pcst gw, strong;
            assert_int_equal(qp_pcst_solve(&in, root, 1, QP_PRUNE_GW, &gw, mem, NULL), QP_OK);
            assert_int_equal(qp_pcst_solve(&in, root, 1, QP_PRUNE_STRONG, &strong, mem, NULL), QP_OK);
            assert_true(check(&g, &gw) <= 1 && check(&g, &strong) <= 1);
            assert_true(!rooted || (has(&gw, root) && has(&strong, root)));
            double best = exact(&g, root, 1, 1);
            assert_true(objective(&g, &strong, 1) >= best - 1e-6);
            assert_true(objective(&g, &strong, 1) <= objective(&g, &gw, 1) + 1e-6);
            assert_true(objective(&g, &strong, 1) <= 2 * best + 1e-6);
            assert_true(objective(&g, &gw, 2) <= exact(&g, root, 2, 2) + 1e-6);
            sum += objective(&g, &strong, 1);
            least += best;
        }
        qp_arena_free(mem);
    }
    assert_true(sum < 1.05 * least);
}

static void prunings_keep_less_and_less(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_pcst p[4];
        made_random(&g, seed, 30, false);
        qp_pcst_graph in = graph_of(&g);
        uint32_t trees = 1 + (uint32_t)(seed % 4), rich = 0;
        for (uint32_t v = 0; v < g.n; v++)
            rich += g.prize[v] > 0;
        for (int i = 0; i < 4; i++) {
            assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, trees, (qp_pruning)i, &p[i], mem, NULL), QP_OK);
            uint32_t found = check(&g, &p[i]);
            assert_true(i == QP_PRUNE_NONE || found == (trees < rich ? trees : rich));
            for (uint32_t j = 0; i && j < p[i].n_nodes; j++)
                assert_true(has(&p[i == QP_PRUNE_STRONG ? QP_PRUNE_SIMPLE : i - 1], p[i].node[j]));
        }
        assert_true(objective(&g, &p[QP_PRUNE_STRONG], 1) <= objective(&g, &p[QP_PRUNE_GW], 1) + 1e-6);
        qp_arena_free(mem);
    }
}

static void nothing_to_collect(void **state)
{
    static made_graph g;
    qp_arena *mem = qp_arena_new();
    qp_pcst p;
    (void)state;
    made_random(&g, 0, 30, true);
    memset(g.prize, 0, sizeof g.prize);
    qp_pcst_graph in = graph_of(&g), empty = {0};
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_OK);
    assert_int_equal(p.n_nodes + p.n_edges, 0);
    assert_int_equal(qp_pcst_solve(&in, 1, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_OK);
    assert_true(p.n_nodes == 1 && p.node[0] == 1 && p.n_edges == 0);
    g.prize[g.root] = 1;
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 1, QP_PRUNE_NONE, &p, mem, NULL), QP_OK);
    assert_true(p.n_nodes == 1 && p.node[0] == g.root && p.prize == 1);
    assert_int_equal(qp_pcst_solve(&empty, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_OK);
    assert_int_equal(p.n_nodes, 0);
    qp_arena_free(mem);
}

/* Where costs and prizes are drawn from a continuum the growth is the same, step by step; with equal ones another choice
 * may be better or worse, and is neither on the whole. */
static void as_good_as_pcst_fast(void **state)
{
    static made_graph g;
    FILE *file = fopen("tests/reference/trees/pcst.tsv", "r");
    unsigned seed, lines = 0;
    int root, trees;
    char name[16];
    double theirs, strong = 0, their_strong = 0;
    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%u %d %d %15s %lf", &seed, &root, &trees, name, &theirs) == 5) {
        qp_arena *mem = qp_arena_new();
        qp_pcst p;
        int pruning = 0;
        while (strcmp(pruning_name[pruning], name))
            pruning++;
        made_random(&g, seed, 30, false);
        qp_pcst_graph in = graph_of(&g);
        assert_int_equal(qp_pcst_solve(&in, root ? g.root : QP_NO_ROOT, (uint32_t)trees, (qp_pruning)pruning, &p, mem,
                                       NULL),
                         QP_OK);
        double ours = objective(&g, &p, 1);
        if (seed % 3 == 0 && all_prizes(&g) > 0)
            assert_true(fabs(ours - theirs) < 1e-6);
        if (pruning == QP_PRUNE_STRONG) {
            strong += ours;
            their_strong += theirs;
        }
        qp_arena_free(mem);
        lines++;
    }
    fclose(file);
    assert_true(lines >= 2000);
    print_message("strong: %.5f of pcst_fast's objective\n", strong / their_strong);
    assert_true(strong <= their_strong * 1.001);
}

/* The result is told in the whole graph's edges, is a tree or nearly one, and is worth what it was found to be worth, or
 * more: an end that costs nothing may come along. */
static void edges_with_rewards(void **state)
{
    static made_graph g;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_pcst_split split;
        qp_pcst p, whole;
        made_random(&g, seed, 30, false); /* costs are the rewards now */
        float base = seed % 2 ? .5f : 1;
        qp_pcst_graph in = graph_of(&g);
        uint32_t rich = 0;
        double prize = 0;
        assert_int_equal(qp_pcst_split_edges(&in, base, &split, mem, NULL), QP_OK);
        for (uint32_t e = 0; e < g.m; e++)
            rich += g.cost[e] > base;
        assert_int_equal(split.graph.n, g.n + rich);
        assert_int_equal(split.graph.m, g.m + rich);
        for (uint32_t i = 0; i < rich; i++)
            assert_true(split.graph.prize[g.n + i] == g.cost[split.middle[i]] - base);
        assert_int_equal(qp_pcst_solve(&split.graph, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_OK);
        assert_int_equal(qp_pcst_map_back(&split, &p, &whole, mem, NULL), QP_OK);
        for (uint32_t i = 0; i < whole.n_nodes; i++)
            prize += (double)g.prize[whole.node[i]];
        for (uint32_t i = 0; i < whole.n_edges; i++) {
            prize += (double)g.cost[whole.edge[i]];
            assert_true(has(&whole, g.from[whole.edge[i]]) && has(&whole, g.to[whole.edge[i]]));
        }
        assert_true(fabs(prize - whole.prize) < 1e-6);
        assert_true(fabs(whole.cost - (double)base * whole.n_edges) < 1e-9);
        assert_true(whole.prize - whole.cost >= p.prize - p.cost - 1e-5);
        assert_true(whole.n_nodes <= whole.n_edges + 1);
        qp_arena_free(mem);
    }
}

static void a_rich_edge_is_taken_with_its_ends(void **state)
{
    static const uint32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    static const float prize[4] = {0}, reward[] = {0, .7f, .2f}; /* c = .5: only edge 1 pays */
    qp_pcst_graph g = {4, 3, prize, from, to, reward};
    qp_arena *mem = qp_arena_new();
    qp_pcst_split split;
    qp_pcst p, whole;
    (void)state;
    assert_int_equal(qp_pcst_split_edges(&g, .5f, &split, mem, NULL), QP_OK);
    assert_int_equal(qp_pcst_solve(&split.graph, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_OK);
    assert_int_equal(qp_pcst_map_back(&split, &p, &whole, mem, NULL), QP_OK);
    assert_true(whole.n_edges == 1 && whole.edge[0] == 1);
    assert_true(whole.n_nodes == 2 && whole.node[0] == 1 && whole.node[1] == 2);
    assert_true(fabs(whole.prize - .7) < 1e-6 && fabs(whole.cost - .5) < 1e-6);
    qp_arena_free(mem);
}

static void bad_input_is_refused(void **state)
{
    static made_graph g;
    qp_arena *mem = qp_arena_new();
    qp_pcst_split split;
    qp_pcst p;
    qp_err err = {0};
    (void)state;
    made_random(&g, 4, 30, true);
    qp_pcst_graph in = graph_of(&g);
    assert_int_equal(qp_pcst_solve(&in, g.n, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_INPUT);
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 0, QP_PRUNE_STRONG, &p, mem, NULL), QP_INPUT);
    assert_int_equal(qp_pcst_solve(&in, 0, 2, QP_PRUNE_STRONG, &p, mem, NULL), QP_INPUT);
    assert_int_equal(qp_pcst_split_edges(&in, 0, &split, mem, NULL), QP_INPUT);
    g.cost[0] = -1;
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "edge 0 costs -1"));
    assert_int_equal(qp_pcst_split_edges(&in, 1, &split, mem, NULL), QP_INPUT);
    g.cost[0] = 1;
    g.to[0] = g.n;
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_INPUT);
    assert_int_equal(qp_pcst_split_edges(&in, 1, &split, mem, NULL), QP_INPUT);
    g.to[0] = 0;
    g.prize[1] = NAN;
    assert_int_equal(qp_pcst_solve(&in, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, NULL), QP_INPUT);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_within_the_bound), cmocka_unit_test(prunings_keep_less_and_less),
        cmocka_unit_test(nothing_to_collect),         cmocka_unit_test(as_good_as_pcst_fast),
        cmocka_unit_test(edges_with_rewards),         cmocka_unit_test(a_rich_edge_is_taken_with_its_ends),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
