/* src/graph/leiden: Q against its definition, what a partition must be, planted communities found, and igraph's values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/inside.h"
#include "small_graph.h"

/* Q as it is defined, over all pairs. */
static double twin(const small_graph *g, const uint32_t *part, double gamma)
{
    double k[SMALL_MOST] = {0}, all = 0, q = 0;
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++) {
            k[u] += g->w[u][v];
            all += g->w[u][v];
        }
    for (uint32_t u = 0; u < g->n && all > 0; u++)
        for (uint32_t v = 0; v < g->n; v++)
            if (part[u] == part[v])
                q += (g->w[u][v] - gamma * k[u] * k[v] / all) / all;
    return q;
}

static void check_partition(const small_graph *g, const qp_partition *p)
{
    assert_int_equal(p->n, g->n);
    assert_int_equal(p->start[p->n_parts], g->n);
    for (uint32_t i = 0; i < p->n_parts; i++) {
        assert_true(p->start[i + 1] > p->start[i]);
        assert_true(i == 0 || p->start[i + 1] - p->start[i] <= p->start[i] - p->start[i - 1]);
    }
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t i = p->start[p->part[v]];
        while (i < p->start[p->part[v] + 1] && p->member[i] != v)
            i++;
        assert_true(i < p->start[p->part[v] + 1]);
    }
}

/* Is every part connected? Colours spread inside a part until nothing changes. */
static void check_connected(const small_graph *g, const uint32_t *part)
{
    uint32_t colour[SMALL_MOST];
    for (uint32_t v = 0; v < g->n; v++)
        colour[v] = v;
    for (uint32_t round = 0; round < g->n; round++)
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t v = 0; v < g->n; v++)
                if (g->w[u][v] > 0 && part[u] == part[v] && colour[u] < colour[v])
                    colour[v] = colour[u];
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++)
            assert_true(part[u] != part[v] || colour[u] == colour[v]);
}

static void partitions_are_sound(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(1);
    for (uint32_t i = 0; i < 500; i++) {
        small_graph g;
        qp_chain *chain;
        qp_partition p, again;
        double q;
        uint32_t alone[SMALL_MOST];
        qp_arena *mem = qp_arena_new();
        const qp_leiden_options o = {.gamma = i & 2 ? 1 : .5 + qp_random_unit(&random),
                                     .iterations = i % 3,
                                     .random = i};
        small_graph_draw(&g, false, i & 1, &random);
        assert_int_equal(qp_chain_new(&g.out, NULL, &chain, NULL), QP_OK);
        assert_int_equal(qp_leiden(chain, &o, mem, &p, &q, NULL), QP_OK);
        assert_int_equal(qp_leiden(chain, &o, mem, &again, NULL, NULL), QP_OK);
        assert_memory_equal(p.part, again.part, g.n * sizeof *p.part);
        check_partition(&g, &p);
        check_connected(&g, p.part);
        assert_true(fabs(q - twin(&g, p.part, o.gamma)) < 1e-6);
        for (uint32_t v = 0; v < g.n; v++)
            alone[v] = v;
        assert_true(q >= twin(&g, alone, o.gamma) - 1e-6);
        if (i % 3 == 0) /* where nothing moves any more, no node gains by moving to another part */
            for (uint32_t v = 0; v < g.n; v++)
                for (uint32_t u = 0; u < g.n; u++) {
                    uint32_t moved[SMALL_MOST];
                    memcpy(moved, p.part, g.n * sizeof *moved);
                    moved[v] = p.part[u];
                    assert_true(twin(&g, moved, o.gamma) <= q + 1e-6);
                }
        qp_chain_free(chain);
        qp_arena_free(mem);
    }
}

/* Four cliques in a ring, joined by one edge each. */
static void cliques_are_found(void **state)
{
    (void)state;
    small_graph g = {.n = 40};
    qp_chain *chain;
    qp_partition p;
    qp_arena *mem = qp_arena_new();
    for (uint32_t u = 0; u < 40; u++)
        for (uint32_t v = 0; v < 40; v++)
            g.w[u][v] = u != v && u / 10 == v / 10;
    for (uint32_t c = 0; c < 4; c++)
        g.w[c * 10][(c * 10 + 11) % 40] = g.w[(c * 10 + 11) % 40][c * 10] = 1;
    small_graph_pack(&g);
    assert_int_equal(qp_chain_new(&g.out, NULL, &chain, NULL), QP_OK);
    assert_int_equal(qp_leiden(chain, &(qp_leiden_options){.gamma = 1, .random = 3}, mem, &p, NULL, NULL), QP_OK);
    assert_int_equal(p.n_parts, 4);
    for (uint32_t v = 0; v < 40; v++)
        assert_int_equal(p.part[v], v / 10);
    qp_chain_free(chain);
    qp_arena_free(mem);
}

/* Inside the communities of the seeds is the same as on a graph that has lost every other node's arcs. */
static void ppr_stays_inside(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(4);
    for (uint32_t i = 0; i < 200; i++) {
        small_graph g;
        qp_chain *chain, *less;
        qp_partition p;
        qp_ppr_space *space;
        qp_ppr_result inside, whole;
        double score[SMALL_MOST] = {0};
        qp_arena *mem = qp_arena_new();
        small_graph_draw(&g, false, i & 1, &random);
        assert_int_equal(qp_chain_new(&g.out, NULL, &chain, NULL), QP_OK);
        assert_int_equal(qp_leiden(chain, &(qp_leiden_options){.gamma = 1, .random = i}, mem, &p, NULL, NULL), QP_OK);
        uint32_t seed[3] = {0, g.n / 2, g.n - 1};
        qp_ppr_query q = {.seed = seed, .n_seeds = 1 + i % 3, .alpha = .15, .engine = QP_PPR_EXACT};
        assert_int_equal(qp_ppr_inside(&g.out, &p, &q, mem, &inside, NULL), QP_OK);
        bool in[SMALL_MOST] = {false};
        for (uint32_t v = 0; v < g.n; v++)
            for (uint32_t s = 0; s < q.n_seeds; s++)
                in[v] |= p.part[v] == p.part[seed[s]];
        for (uint32_t u = 0; u < g.n; u++)
            for (uint32_t v = 0; v < g.n; v++)
                if (!in[u] || !in[v])
                    g.w[u][v] = 0;
        small_graph_pack(&g);
        assert_int_equal(qp_chain_new(&g.out, NULL, &less, NULL), QP_OK);
        assert_int_equal(qp_ppr_space_new(less, &space, NULL), QP_OK);
        assert_int_equal(qp_ppr(space, &q, mem, &whole, NULL), QP_OK);
        assert_int_equal(inside.n, whole.n);
        for (uint32_t j = 0; j < whole.n; j++)
            score[whole.at[j].node] = whole.at[j].score;
        for (uint32_t j = 0; j < inside.n; j++) {
            assert_true(fabs(score[inside.at[j].node] - inside.at[j].score) < 1e-8);
            assert_true(j == 0 || qp_scored_before(inside.at[j - 1], inside.at[j]));
        }
        qp_ppr_space_free(space);
        qp_chain_free(less);
        qp_chain_free(chain);
        qp_arena_free(mem);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    small_graph g = {.n = 3};
    qp_chain *undirected, *directed;
    qp_partition p;
    qp_arena *mem = qp_arena_new();
    int stop = 1;
    g.w[0][1] = g.w[1][0] = 1;
    small_graph_pack(&g);
    assert_int_equal(qp_chain_new(&g.out, NULL, &undirected, NULL), QP_OK);
    assert_int_equal(qp_chain_new(&g.out, &g.in, &directed, NULL), QP_OK);
    assert_int_equal(qp_leiden(directed, &(qp_leiden_options){.gamma = 1}, mem, &p, NULL, NULL), QP_USAGE);
    assert_int_equal(qp_leiden(undirected, &(qp_leiden_options){.gamma = 0}, mem, &p, NULL, NULL), QP_USAGE);
    const qp_leiden_options cancelled = {.gamma = 1, .cancel = &stop};
    assert_int_equal(qp_leiden(undirected, &cancelled, mem, &p, NULL, NULL), QP_STOPPED);
    qp_chain_free(directed);
    qp_chain_free(undirected);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_are_sound),
        cmocka_unit_test(cliques_are_found),
        cmocka_unit_test(ppr_stays_inside),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
