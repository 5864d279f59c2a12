/* src/graph/mcmi: trees against every set of nodes, growth against a twin that computes everything anew in each round, and
 * a small graph worked by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/mcmi.h"
#include "graph/sets.h"
#include "random_graph.h"

enum { ROUNDS = 1000, PSEUDO = 10 };

/* A made graph as mcmi reads it: neighbours once, edges without loops, costs in (0, 1]. */
typedef struct bench {
    made_graph g;
    uint32_t passages;
    uint64_t start[MADE_NODES + 1];
    uint32_t target[2 * MADE_EDGES];
    uint32_t row_start[MADE_NODES + 1], node[2 * MADE_EDGES], edge[2 * MADE_EDGES];
    float cost[2 * MADE_EDGES], influence[MADE_NODES];
    uint32_t asked[MADE_NODES];
    qp_mcmi_graph graph;
} bench;

static qp_code row(void *ctx, uint32_t v, qp_mcmi_row *out, qp_err *err)
{
    bench *b = ctx;
    uint32_t from = b->row_start[v];
    (void)err;
    b->asked[v]++;
    *out = (qp_mcmi_row){b->node + from, b->edge + from, b->cost + from, b->row_start[v + 1] - from};
    return QP_OK;
}

static void pack(bench *b)
{
    made_graph *g = &b->g;
    uint32_t n = 0;
    uint64_t arcs = 0;
    for (uint32_t e = 0; e < g->m; e++)
        g->cost[e] = fmaxf(.001f, fminf(1, g->cost[e] / 3));
    made_rows(g);
    for (uint32_t v = 0; v < g->n; v++) {
        b->start[v] = arcs;
        b->row_start[v] = n;
        for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
            if (g->target[a] == v)
                continue;
            if (arcs == b->start[v] || b->target[arcs - 1] != g->target[a])
                b->target[arcs++] = g->target[a];
            b->node[n] = g->target[a];
            b->edge[n] = g->edge[a];
            b->cost[n++] = g->arc_cost[a];
        }
        b->start[v + 1] = arcs;
        b->row_start[v + 1] = n;
    }
    b->graph = (qp_mcmi_graph){{g->n, b->start, b->target, NULL}, b->passages, PSEUDO, row, b};
}

static void draw(bench *b, uint64_t seed, uint32_t most, bool connected)
{
    memset(b, 0, sizeof *b);
    made_random(&b->g, seed, most, connected);
    b->passages = (uint32_t)(seed / 3 % (b->g.n + 1));
    for (uint32_t v = 0; v < b->g.n; v++)
        b->influence[v] = b->g.prize[v];
    pack(b);
}

/* The least tree through the terminals among all sets of nodes, the pseudo node one of them; INFINITY: none. */
static double least_tree(const bench *b, uint32_t terminals)
{
    uint32_t n = b->g.n + 1, pseudo = b->g.n;
    double best = INFINITY, w[MADE_NODES][MADE_NODES];
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = 0; v < n; v++)
            w[u][v] = (u == pseudo && v < b->passages) || (v == pseudo && u < b->passages) ? PSEUDO : INFINITY;
    for (uint32_t e = 0; e < b->g.m; e++)
        w[b->g.from[e]][b->g.to[e]] = w[b->g.to[e]][b->g.from[e]] =
            fmin(w[b->g.from[e]][b->g.to[e]], (double)b->g.cost[e]);
    for (uint32_t nodes = terminals; nodes < 1u << n; nodes = (nodes + 1) | terminals) {
        uint32_t in = nodes & -nodes;
        double sum = 0;
        while (in != nodes && sum < best) { /* Prim */
            double least = INFINITY;
            uint32_t next = 0;
            for (uint32_t u = 0; u < n; u++)
                for (uint32_t v = 0; v < n; v++)
                    if ((in >> u & 1) && (nodes & ~in) >> v & 1 && w[u][v] < least) {
                        least = w[u][v];
                        next = v;
                    }
            sum += least;
            in |= 1u << next;
            if (least == INFINITY)
                break;
        }
        best = fmin(best, sum);
    }
    return best;
}

/* Nodes once, edges of the graph between them; how many parts the edges leave, and that no edge closes a ring. */
static uint32_t check_tree(const bench *b, const qp_mcmi *t)
{
    uint32_t set[MADE_NODES], parts = t->n_nodes;
    bool here[MADE_NODES] = {0};
    qp_sets_begin(set, b->g.n);
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        assert_true(t->node[i] < b->g.n && (!i || t->node[i - 1] < t->node[i]));
        here[t->node[i]] = true;
    }
    for (uint32_t i = 0; i < b->g.n_terminals; i++)
        assert_true(here[b->g.terminal[i]]);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const qp_mcmi_edge *e = &t->edge[i];
        assert_true(here[e->from] && here[e->to] && e->cost == b->g.cost[e->edge]);
        assert_true((b->g.from[e->edge] == e->from && b->g.to[e->edge] == e->to) ||
                    (b->g.from[e->edge] == e->to && b->g.to[e->edge] == e->from));
        assert_true(qp_sets_unite(set, e->from, e->to));
        parts--;
    }
    return parts;
}

static void trees_are_within_the_bound(void **state)
{
    static bench b;
    uint32_t hanging = 0;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_mcmi t;
        uint32_t terminals = 0;
        draw(&b, seed, 8, seed % 2);
        for (uint32_t i = 0; i < b.g.n_terminals; i++)
            terminals |= 1u << b.g.terminal[i];
        assert_int_equal(qp_mcmi_tree(&b.graph, b.g.terminal, b.g.n_terminals, &t, mem, NULL), QP_OK);
        uint32_t parts = check_tree(&b, &t);
        double least = terminals ? least_tree(&b, terminals) : 0;
        hanging += t.hanging > 0;
        if (least < INFINITY && terminals) {
            assert_true(parts == 1 ? !t.hanging : t.hanging == parts);
            assert_true(t.cost >= least - 1e-5);
            assert_true(t.cost <= 2 * (1 - 1. / __builtin_popcount(terminals)) * least + 1e-5);
        }
        qp_arena_free(mem);
    }
    assert_true(hanging > 20); /* the pseudo node was needed */
}

/* ---- growth ---- */

typedef struct twin {
    uint32_t node[MADE_NODES], n, edge[MADE_EDGES], m;
    bool inside[MADE_NODES];
} twin;

/* Equation 16, with the pseudo node's edges: to the first passage of each part, where there are two such. */
static double ratio(const bench *b, const twin *t, uint32_t pseudo_n, const uint32_t *pseudo, uint32_t m_start)
{
    double sum = 0;
    for (uint32_t i = 0; i <= t->m; i++) {
        for (uint32_t j = 0; i == m_start && j < pseudo_n; j++)
            sum += (double)b->influence[pseudo[j]] / (2 * PSEUDO);
        if (i < t->m)
            sum += ((double)b->influence[b->g.from[t->edge[i]]] + (double)b->influence[b->g.to[t->edge[i]]]) /
                   (2 * (double)b->g.cost[t->edge[i]]);
    }
    return t->m + pseudo_n ? sum / (t->m + pseudo_n) : 0;
}

static uint32_t pseudo_edges(const bench *b, const qp_mcmi *t, uint32_t *passage)
{
    uint32_t set[MADE_NODES], n = 0;
    qp_sets_begin(set, b->g.n);
    for (uint32_t i = 0; i < t->n_edges; i++)
        qp_sets_unite(set, t->edge[i].from, t->edge[i].to);
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (qp_sets_find(set, t->node[i]) == t->node[i] && t->node[i] < b->passages)
            passage[n++] = t->node[i];
    return n > 1 ? n : 0;
}

static double gain(const bench *b, uint32_t e, uint32_t v)
{
    return (double)b->influence[v] / (double)b->g.cost[e];
}

static double grow(const bench *b, const qp_mcmi *start, bool before, twin *t)
{
    uint32_t passage[MADE_NODES], n = pseudo_edges(b, start, passage), best;
    memset(t, 0, sizeof *t);
    for (uint32_t i = 0; i < start->n_nodes; i++)
        t->inside[t->node[t->n++] = start->node[i]] = true;
    for (uint32_t i = 0; i < start->n_edges; i++)
        t->edge[t->m++] = start->edge[i].edge;
    double r = ratio(b, t, n, passage, start->n_edges), bar = r;
    while (start->n_edges) {
        double most = 0;
        best = UINT32_MAX;
        for (uint32_t e = 0; e < b->g.m; e++)
            for (int end = 0; end < 2; end++) {
                uint32_t v = end ? b->g.from[e] : b->g.to[e], u = end ? b->g.to[e] : b->g.from[e];
                if (t->inside[u] && !t->inside[v] && (gain(b, e, v) > most || (gain(b, e, v) == most && v < best))) {
                    most = gain(b, e, v);
                    best = v;
                }
            }
        if (!(most > bar))
            break;
        for (uint32_t i = b->row_start[best]; i < b->row_start[best + 1]; i++)
            if (t->inside[b->node[i]] && gain(b, b->edge[i], best) > bar)
                t->edge[t->m++] = b->edge[i];
        t->inside[t->node[t->n++] = best] = true;
        bar = before ? r : ratio(b, t, n, passage, start->n_edges);
        r = ratio(b, t, n, passage, start->n_edges);
    }
    return r;
}

static void growth_is_its_twin_s(void **state)
{
    static bench b;
    uint32_t grown = 0, rings = 0;
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        qp_arena *mem = qp_arena_new();
        qp_mcmi tree, out;
        twin t;
        draw(&b, seed, 30, seed % 4);
        assert_int_equal(qp_mcmi_tree(&b.graph, b.g.terminal, b.g.n_terminals, &tree, mem, NULL), QP_OK);
        const qp_mcmi_growth how = {b.influence, seed % 5 == 0, 0};
        assert_int_equal(qp_mcmi_grow(&b.graph, &tree, &how, &out, mem, NULL), QP_OK);
        double r = grow(&b, &tree, how.before, &t);
        assert_int_equal(out.n_nodes, t.n);
        assert_int_equal(out.n_edges, t.m);
        assert_memory_equal(out.node, t.node, t.n * sizeof *t.node);
        for (uint32_t i = 0; i < t.m; i++)
            assert_int_equal(out.edge[i].edge, t.edge[i]);
        assert_float_equal(out.ratio, r, 0);
        assert_int_equal(out.hanging > tree.hanging, 0);
        grown += t.n > tree.n_nodes;
        rings += t.m >= t.n && t.n;
        qp_arena_free(mem);
    }
    assert_true(grown > ROUNDS / 10 && rings > 20);
}

/* By hand; costs are dyadic, so that r is exact. The tree through 0 and 2 is 0-3-2, at .25. Grown from the path 0-1-2, at
 * .25 + .25 with s = 1, .5, 1, it is ((1 + .5) / .5 + (.5 + 1) / .5) / 2 = 3. Node 3 gives .5 / .125 = 4 over the edge to 0, and
 * over that to 2 the same: a ring. r = (3 + 3 + 6 + 6) / 4 = 4.5 now, and node 4, at .25 / .0625 = 4 by way of 3, stays out,
 * where the bar that is one node late (3) lets it in: r is then (18 + .75 / .125) / 5 = 4.8. */
static void by_hand(void **state)
{
    static const uint32_t from[] = {0, 1, 0, 2, 3, 0, 0}, to[] = {1, 2, 3, 3, 4, 5, 2};
    static const float cost[] = {.25f, .25f, .125f, .125f, .0625f, .5f, .75f}, s[] = {1, .5f, 1, .5f, .25f, .125f};
    static bench b;
    qp_arena *mem = qp_arena_new();
    qp_mcmi tree, out;
    (void)state;
    memset(&b, 0, sizeof b);
    b.g.n = 6;
    b.g.m = 7;
    memcpy(b.g.from, from, sizeof from);
    memcpy(b.g.to, to, sizeof to);
    memcpy(b.influence, s, sizeof s);
    for (uint32_t e = 0; e < b.g.m; e++)
        b.g.cost[e] = 3 * cost[e];
    pack(&b);
    const uint32_t terminals[] = {2, 0, 2};
    assert_int_equal(qp_mcmi_tree(&b.graph, terminals, 3, &tree, mem, NULL), QP_OK);
    assert_int_equal(tree.n_nodes, 3);
    assert_float_equal(tree.cost, .25, 0); /* 0-3-2: the least there is */
    qp_mcmi_edge path[] = {{0, 0, 1, .25f}, {1, 1, 2, .25f}};
    const qp_mcmi given = {.node = (uint32_t[]){0, 1, 2}, .n_nodes = 3, .edge = path, .n_edges = 2};
    assert_int_equal(qp_mcmi_grow(&b.graph, &given, &(qp_mcmi_growth){s, false, 0}, &out, mem, NULL), QP_OK);
    assert_int_equal(out.n_nodes, 4);
    assert_int_equal(out.n_edges, 4);
    assert_int_equal(out.node[3], 3);
    assert_true(out.edge[2].edge == 2 && out.edge[3].edge == 3);
    assert_float_equal(out.ratio, 4.5, 0);
    assert_int_equal(qp_mcmi_grow(&b.graph, &given, &(qp_mcmi_growth){s, true, 0}, &out, mem, NULL), QP_OK);
    assert_int_equal(out.n_nodes, 5);
    assert_float_equal(out.ratio, 4.8, 1e-12);
    assert_int_equal(qp_mcmi_grow(&b.graph, &given, &(qp_mcmi_growth){s, false, 3}, &out, mem, NULL), QP_OK);
    assert_int_equal(out.n_nodes, 3);
    qp_arena_free(mem);
}

/* Two islands, each with a passage two steps from its terminal: the tree leads to both, and no further. */
static void what_nothing_joins_hangs_from_passages(void **state)
{
    static const uint32_t from[] = {2, 4, 3, 5, 6}, to[] = {4, 0, 5, 1, 3};
    static bench b;
    qp_arena *mem = qp_arena_new();
    qp_mcmi tree;
    (void)state;
    memset(&b, 0, sizeof b);
    b.g.n = 7;
    b.g.m = 5;
    b.passages = 2;
    memcpy(b.g.from, from, sizeof from);
    memcpy(b.g.to, to, sizeof to);
    for (uint32_t e = 0; e < b.g.m; e++)
        b.g.cost[e] = 1.5f;
    pack(&b);
    const uint32_t terminals[] = {2, 3};
    assert_int_equal(qp_mcmi_tree(&b.graph, terminals, 2, &tree, mem, NULL), QP_OK);
    assert_int_equal(tree.n_nodes, 6); /* all but 6 */
    assert_int_equal(tree.hanging, 2);
    assert_float_equal(tree.cost, 4 * .5 + 2 * PSEUDO, 1e-9);
    qp_arena_free(mem);
}

/* A large part is not searched for the sake of terminals elsewhere: a long chain, whose far end nobody asks for. */
static void of_a_large_part_only_the_near_is_asked_for(void **state)
{
    static bench b;
    qp_arena *mem = qp_arena_new();
    qp_mcmi tree;
    uint32_t asked = 0;
    (void)state;
    memset(&b, 0, sizeof b);
    b.g.n = MADE_NODES;
    for (uint32_t v = 4; v < MADE_NODES; v++) {
        b.g.from[b.g.m] = v - 1;
        b.g.to[b.g.m++] = v;
    }
    b.g.from[b.g.m] = 0; /* the small part: 0-2 */
    b.g.to[b.g.m++] = 2;
    b.g.from[b.g.m] = 1; /* the chain's passage */
    b.g.to[b.g.m++] = 4;
    b.passages = 2;
    for (uint32_t e = 0; e < b.g.m; e++)
        b.g.cost[e] = 1.5f;
    pack(&b);
    const uint32_t terminals[] = {2, 3, 5};
    assert_int_equal(qp_mcmi_tree(&b.graph, terminals, 3, &tree, mem, NULL), QP_OK);
    assert_int_equal(tree.hanging, 2);
    for (uint32_t v = 0; v < MADE_NODES; v++)
        asked += b.asked[v] > 0;
    assert_true(asked < 12);
    qp_arena_free(mem);
}

static void bad_input_is_refused(void **state)
{
    static bench b;
    qp_arena *mem = qp_arena_new();
    qp_mcmi t;
    (void)state;
    draw(&b, 4, 30, true);
    assert_int_equal(qp_mcmi_tree(&b.graph, &b.g.n, 1, &t, mem, NULL), QP_INPUT);
    assert_int_equal(qp_mcmi_tree(&b.graph, NULL, 0, &t, mem, NULL), QP_OK);
    assert_int_equal(t.n_nodes + t.n_edges, 0);
    assert_int_equal(qp_mcmi_grow(&b.graph, &t, &(qp_mcmi_growth){b.influence, false, 0}, &t, mem, NULL), QP_OK);
    assert_int_equal(t.n_nodes, 0);
    for (uint32_t i = 0; i < 2 * MADE_EDGES; i++)
        b.cost[i] = 0;
    assert_int_equal(qp_mcmi_tree(&b.graph, (uint32_t[]){0, 1}, 2, &t, mem, NULL), QP_INPUT);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_within_the_bound),
        cmocka_unit_test(growth_is_its_twin_s),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(what_nothing_joins_hangs_from_passages),
        cmocka_unit_test(of_a_large_part_only_the_near_is_asked_for),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
