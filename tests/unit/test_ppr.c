/* src/graph/ppr: every engine against dense power iteration on random graphs, against networkx and igraph, and what is
 * refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph/ppr.h"
#include "small_graph.h"

enum { GRAPHS = 300 };

typedef struct made {
    small_graph g;
    qp_chain *chain;
    qp_ppr_space *space;
    qp_arena *mem;
    uint32_t seed[3];
    float weight[3];
    qp_ppr_query query;
    double truth[SMALL_MOST];
} made;

/* pi = alpha s + (1 - alpha) P' pi, from s, until nothing can change any more. */
static void twin(const small_graph *g, const qp_ppr_query *q, double *pi)
{
    double s[SMALL_MOST] = {0}, next[SMALL_MOST], all = 0;
    for (uint32_t i = 0; i < q->n_seeds; i++)
        all += q->weight ? q->weight[i] : 1;
    for (uint32_t i = 0; i < q->n_seeds; i++)
        s[q->seed[i]] += (q->weight ? q->weight[i] : 1) / all;
    memcpy(pi, s, sizeof s);
    for (int round = 0; round < 600; round++) {
        for (uint32_t v = 0; v < g->n; v++)
            next[v] = q->alpha * s[v];
        for (uint32_t u = 0; u < g->n; u++) {
            double sum = 0;
            for (uint32_t v = 0; v < g->n; v++)
                sum += g->w[u][v];
            for (uint32_t v = 0; v < g->n; v++)
                next[v] += (1 - q->alpha) * pi[u] *
                           (sum > 0                         ? g->w[u][v] / sum
                            : q->dangling == QP_PPR_UNIFORM ? 1.0 / g->n
                                                            : s[v]);
        }
        memcpy(pi, next, sizeof next);
    }
}

/* A graph of one of four kinds, one to three seeds, two kinds of dangling nodes. */
static void make(made *m, uint32_t number, qp_random *random)
{
    qp_err err = {0};
    memset(m, 0, sizeof *m);
    small_graph_draw(&m->g, number & 1, number & 2, random);
    assert_int_equal(qp_chain_new(&m->g.out, m->g.directed ? &m->g.in : NULL, &m->chain, &err), QP_OK);
    assert_int_equal(qp_ppr_space_new(m->chain, &m->space, &err), QP_OK);
    m->mem = qp_arena_new();
    m->query = (qp_ppr_query){.seed = m->seed,
                              .weight = number & 4 ? m->weight : NULL,
                              .n_seeds = 1 + (uint32_t)qp_random_below(random, 3),
                              .alpha = .1 + .8 * qp_random_unit(random),
                              .dangling = number & 8 ? QP_PPR_UNIFORM : QP_PPR_RESTART,
                              .random = number};
    for (uint32_t i = 0; i < 3; i++) {
        m->seed[i] = (uint32_t)qp_random_below(random, m->g.n);
        m->weight[i] = (float)(.1 + qp_random_unit(random));
    }
    twin(&m->g, &m->query, m->truth);
}

static void drop(made *m)
{
    qp_ppr_space_free(m->space);
    qp_chain_free(m->chain);
    qp_arena_free(m->mem);
}

static qp_ppr_result ask(made *m, qp_ppr_engine engine, double tolerance)
{
    qp_ppr_result r;
    qp_err err = {0};
    m->query.engine = engine;
    m->query.tolerance = tolerance;
    qp_code code = qp_ppr(m->space, &m->query, m->mem, &r, &err);
    if (code)
        print_error("%s\n", err.message);
    assert_int_equal(code, QP_OK);
    for (uint32_t i = 1; i < r.n; i++)
        assert_true(qp_scored_before(r.at[i - 1], r.at[i]));
    return r;
}

/* l1, nodes that were not returned included. */
static double distance(const made *m, const qp_ppr_result *r)
{
    double off[SMALL_MOST], sum = 0;
    memcpy(off, m->truth, sizeof off);
    for (uint32_t i = 0; i < r->n; i++)
        off[r->at[i].node] -= r->at[i].score;
    for (uint32_t v = 0; v < m->g.n; v++)
        sum += fabs(off[v]);
    return sum;
}

static void exact_equals_the_twin(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(1);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i, &random);
        m.query.single = false;
        qp_ppr_result r = ask(&m, QP_PPR_EXACT, 1e-12);
        assert_true(distance(&m, &r) <= r.error + 1e-13);
        assert_true(r.error <= 1e-12 / m.query.alpha);
        m.query.single = true;
        r = ask(&m, QP_PPR_EXACT, 0);
        assert_true(distance(&m, &r) < 2e-5);
        drop(&m);
    }
}

/* Undirected graphs whose weights differ by 30 powers of ten: D as preconditioner keeps what is solved well conditioned. */
static void exact_bears_wild_weights(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(8);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, 2 | (i & ~1u), &random);
        qp_ppr_space_free(m.space);
        qp_chain_free(m.chain);
        for (uint32_t u = 0; u < m.g.n; u++)
            for (uint32_t v = u; v < m.g.n; v++)
                if (m.g.w[u][v] > 0)
                    m.g.w[u][v] = m.g.w[v][u] = (float)pow(10, 30 * qp_random_unit(&random) - 15);
        small_graph_pack(&m.g);
        assert_int_equal(qp_chain_new(&m.g.out, NULL, &m.chain, NULL), QP_OK);
        assert_int_equal(qp_ppr_space_new(m.chain, &m.space, NULL), QP_OK);
        twin(&m.g, &m.query, m.truth);
        qp_ppr_result r = ask(&m, QP_PPR_EXACT, 1e-12);
        assert_true(distance(&m, &r) <= r.error + 1e-13);
        m.query.single = true;
        r = ask(&m, QP_PPR_EXACT, 0);
        assert_true(distance(&m, &r) < 2e-5);
        drop(&m);
    }
}

static void bounded_keeps_its_bound(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(2);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i, &random);
        for (double tolerance = .5; tolerance > 1e-10; tolerance /= 50) {
            qp_ppr_result r = ask(&m, QP_PPR_BOUNDED, tolerance);
            assert_true(r.error <= tolerance);
            assert_true(fabs(distance(&m, &r) - r.error) < 1e-13); /* it is the distance, not only a bound */
        }
        drop(&m);
    }
}

/* Pushed to the end, the tail has nothing left to say: what remains is rounding to 24 bits. */
static void fast_ends_at_the_truth(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(3);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i, &random);
        qp_ppr_result r = ask(&m, QP_PPR_FAST, 1e-9);
        assert_true(distance(&m, &r) < (m.query.dangling == QP_PPR_RESTART || !m.chain->n_dangling ? 2e-6 : 2));
        double mass = 0;
        for (uint32_t j = 0; j < r.n; j++)
            mass += r.at[j].score;
        assert_true(mass < 1 + 1e-5);
        drop(&m);
    }
}

static void fora_is_near_with_and_without_walks(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(4);
    for (uint32_t i = 0; i < GRAPHS / 4; i++) {
        made m;
        make(&m, i, &random);
        qp_ppr_walks walks;
        qp_err err = {0};
        assert_int_equal(qp_ppr_walks_make(m.chain, m.query.alpha, .2, 7, 2, &walks, &err), QP_OK);
        for (int stored = 0; stored < 2; stored++) {
            m.query.walks = stored ? &walks : NULL;
            qp_ppr_result r = ask(&m, QP_PPR_FORA, .2);
            double score[SMALL_MOST] = {0};
            for (uint32_t j = 0; j < r.n; j++)
                score[r.at[j].node] = r.at[j].score;
            for (uint32_t v = 0; v < m.g.n; v++) /* the promise is for scores above 1/n, with probability 1 - 1/n */
                if (m.truth[v] > 1.0 / m.g.n)
                    assert_true(fabs(score[v] - m.truth[v]) < .2 * m.truth[v]);
        }
        qp_ppr_walks_free(&walks);
        drop(&m);
    }
}

static void backward_keeps_its_bound(void **state)
{
    (void)state;
    const double tolerance = 1e-4, rounding = 1e-6;
    qp_random random = qp_random_seed(5);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i & ~9u, &random); /* undirected, restart */
        m.query.n_seeds = 1;
        twin(&m.g, &m.query, m.truth);
        qp_ppr_result r = ask(&m, QP_PPR_BACKWARD, tolerance);
        double score[SMALL_MOST] = {0}, own = qp_chain_sum(m.chain, m.seed[0]);
        for (uint32_t j = 0; j < r.n; j++)
            score[r.at[j].node] = r.at[j].score;
        for (uint32_t v = 0; v < m.g.n; v++) {
            double most = tolerance * (own > 0 ? qp_chain_sum(m.chain, v) / own : 1);
            assert_true(score[v] <= m.truth[v] + rounding && score[v] >= m.truth[v] - most - rounding);
        }
        drop(&m);
    }
}

static void a_target_is_found_from_everywhere(void **state)
{
    (void)state;
    const double tolerance = 1e-4;
    qp_random random = qp_random_seed(6);
    uint32_t asked = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        qp_ppr_result r;
        qp_err err = {0};
        make(&m, i & ~8u, &random);
        uint32_t target = m.seed[0], source = m.seed[1];
        qp_code code = qp_ppr_target(m.space, target, m.query.alpha, tolerance, 0, NULL, m.mem, &r, &err);
        if (m.g.directed && m.chain->n_dangling) {
            assert_int_equal(code, QP_USAGE);
        } else {
            assert_int_equal(code, QP_OK);
            m.query = (qp_ppr_query){.seed = &source, .n_seeds = 1, .alpha = m.query.alpha};
            twin(&m.g, &m.query, m.truth);
            double score = 0;
            for (uint32_t j = 0; j < r.n; j++)
                score = r.at[j].node == source ? r.at[j].score : score;
            assert_true(score <= m.truth[target] + 1e-6 && score >= m.truth[target] - tolerance - 1e-6);
            asked++;
        }
        drop(&m);
    }
    assert_true(asked > GRAPHS / 2);
}

/* Settled means: those are the first k, whatever pushing on would bring. */
static void what_is_settled_stays(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(7);
    uint32_t early = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i, &random);
        m.query.top = 3;
        m.query.settle = true;
        qp_ppr_result r = ask(&m, QP_PPR_BOUNDED, 1e-10);
        for (uint32_t j = 0; r.settled && j < r.n; j++) {
            uint32_t above = 0;
            for (uint32_t v = 0; v < m.g.n; v++)
                above += m.truth[v] > m.truth[r.at[j].node] + 1e-12;
            assert_true(above < 3);
        }
        early += r.settled && r.error > 1e-8;
        drop(&m);
    }
    assert_true(early > GRAPHS / 10);
}

static void refuse(made *m, qp_ppr_query q, qp_code want, const char *word)
{
    qp_ppr_result r;
    qp_err err = {0};
    assert_int_equal(qp_ppr(m->space, &q, m->mem, &r, &err), want);
    assert_non_null(strstr(err.message, word));
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    made m;
    qp_random random = qp_random_seed(8);
    make(&m, 0, &random);
    const qp_ppr_query good = {.seed = m.seed, .n_seeds = 2, .alpha = .15};
    qp_ppr_query q = good;
    uint32_t gone[2] = {0, m.g.n};
    float zeros[2] = {0}, negative[2] = {1, -1}, nan[2] = {1, NAN};
    int stop = 1;
    q.n_seeds = 0;
    refuse(&m, q, QP_INPUT, "no node to start from");
    q = good, q.seed = gone;
    refuse(&m, q, QP_INPUT, "not there");
    q = good, q.weight = zeros;
    refuse(&m, q, QP_INPUT, "weigh 0");
    q.weight = negative;
    refuse(&m, q, QP_INPUT, "from 0 up");
    q.weight = nan;
    refuse(&m, q, QP_INPUT, "from 0 up");
    q = good, q.alpha = 0;
    refuse(&m, q, QP_USAGE, "alpha");
    q.alpha = NAN;
    refuse(&m, q, QP_USAGE, "alpha");
    q = good, q.tolerance = -1;
    refuse(&m, q, QP_USAGE, "tolerance");
    q = good, q.engine = QP_PPR_BACKWARD;
    refuse(&m, q, QP_USAGE, "one seed");
    for (qp_ppr_engine e = QP_PPR_EXACT; e < QP_PPR_ENGINES; e++) {
        q = good, q.engine = e, q.cancel = &stop, q.n_seeds = 1;
        refuse(&m, q, QP_STOPPED, "cancelled");
    }
    m.query.n_seeds = 1; /* what was cut short left nothing behind */
    twin(&m.g, &m.query, m.truth);
    qp_ppr_result r = ask(&m, QP_PPR_BOUNDED, 1e-9);
    assert_true(distance(&m, &r) <= 1e-9);
    r = ask(&m, QP_PPR_FAST, 1e-9);
    assert_true(distance(&m, &r) < 2e-6);
    drop(&m);
}

static void bad_rows_are_refused(void **state)
{
    (void)state;
    const uint64_t start[] = {0, 1, 2}, falling[] = {0, 2, 1}, late[] = {1, 1, 2};
    const uint32_t target[] = {1, 0}, far[] = {1, 2};
    const float negative[] = {1, -1}, infinite[] = {1, INFINITY};
    const qp_csr good = {2, start, target, NULL};
    const qp_csr bad[] = {{2, falling, target, NULL},
                          {2, late, target, NULL},
                          {2, start, far, NULL},
                          {2, start, target, negative},
                          {2, start, target, infinite}};
    qp_chain *chain;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_err err = {0};
        assert_int_equal(qp_chain_new(&bad[i], NULL, &chain, &err), QP_INPUT);
        assert_null(chain);
        assert_non_null(strstr(err.message, "graph: "));
    }
    const qp_csr one = {1, (uint64_t[]){0, 0}, target, NULL};
    assert_int_equal(qp_chain_new(&good, &one, &chain, NULL), QP_INPUT);
    assert_int_equal(qp_chain_new(&one, NULL, &chain, NULL), QP_OK);
    qp_chain_free(chain);
}

/* Parts against colouring by hand: two nodes are in one part if a path leads from one to the other, arrows ignored. */
static void parts_equal_reachability(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(9);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        make(&m, i, &random);
        bool near[SMALL_MOST][SMALL_MOST];
        for (uint32_t u = 0; u < m.g.n; u++)
            for (uint32_t v = 0; v < m.g.n; v++)
                near[u][v] = u == v || m.g.w[u][v] > 0 || m.g.w[v][u] > 0;
        for (uint32_t k = 0; k < m.g.n; k++)
            for (uint32_t u = 0; u < m.g.n; u++)
                for (uint32_t v = 0; v < m.g.n; v++)
                    near[u][v] |= near[u][k] && near[k][v];
        for (uint32_t u = 0; u < m.g.n; u++)
            for (uint32_t v = 0; v < m.g.n; v++)
                assert_int_equal(near[u][v], m.chain->part[u] == m.chain->part[v]);
        drop(&m);
    }
}

static double number(FILE *file)
{
    double x;
    assert_int_equal(fscanf(file, "%lf", &x), 1);
    return x;
}

/* tests/reference/graph_ppr.py: karate club and random graphs, by networkx and igraph. */
static void others_say_the_same(void **state)
{
    (void)state;
    FILE *file = fopen("tests/reference/graph/ppr.txt", "r");
    assert_non_null(file);
    for (int left = (int)number(file); left > 0; left--) {
        made m = {0};
        m.g.n = (uint32_t)number(file);
        m.g.directed = m.g.weighted = true;
        uint32_t arcs = (uint32_t)number(file);
        m.query = (qp_ppr_query){.seed = m.seed, .weight = m.weight};
        m.query.dangling = number(file) > 0 ? QP_PPR_UNIFORM : QP_PPR_RESTART;
        m.query.alpha = number(file);
        m.query.n_seeds = (uint32_t)number(file);
        for (uint32_t i = 0; i < arcs; i++) {
            uint32_t u = (uint32_t)number(file), v = (uint32_t)number(file);
            m.g.w[u][v] = (float)number(file);
        }
        for (uint32_t i = 0; i < m.query.n_seeds; i++) {
            m.seed[i] = (uint32_t)number(file);
            m.weight[i] = (float)number(file);
        }
        for (uint32_t v = 0; v < m.g.n; v++)
            m.truth[v] = number(file);
        small_graph_pack(&m.g);
        qp_err err = {0};
        assert_int_equal(qp_chain_new(&m.g.out, &m.g.in, &m.chain, &err), QP_OK);
        assert_int_equal(qp_ppr_space_new(m.chain, &m.space, &err), QP_OK);
        m.mem = qp_arena_new();
        qp_ppr_result exact = ask(&m, QP_PPR_EXACT, 1e-13), bounded = ask(&m, QP_PPR_BOUNDED, 1e-12);
        assert_true(distance(&m, &exact) < 1e-9);
        assert_true(distance(&m, &bounded) < 1e-9);
        drop(&m);
    }
    fclose(file);
}

static void back_is_the_chance_of_two_steps(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(9);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        made m;
        double sum[SMALL_MOST] = {0};
        make(&m, i, &random);
        for (uint32_t u = 0; u < m.g.n; u++)
            for (uint32_t v = 0; v < m.g.n; v++)
                sum[u] += m.g.w[u][v];
        assert_int_equal(!m.chain->back, m.g.directed);
        for (uint32_t v = 0; v < m.g.n && !m.g.directed; v++) {
            double back = 0;
            for (uint32_t u = 0; u < m.g.n; u++)
                back += m.g.w[v][u] > 0 ? m.g.w[v][u] / sum[v] * m.g.w[u][v] / sum[u] : 0;
            assert_true(fabs(m.chain->back[v] - back) < 1e-5);
        }
        drop(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_equals_the_twin),
        cmocka_unit_test(exact_bears_wild_weights),
        cmocka_unit_test(bounded_keeps_its_bound),
        cmocka_unit_test(fast_ends_at_the_truth),
        cmocka_unit_test(fora_is_near_with_and_without_walks),
        cmocka_unit_test(backward_keeps_its_bound),
        cmocka_unit_test(a_target_is_found_from_everywhere),
        cmocka_unit_test(what_is_settled_stays),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(parts_equal_reachability),
        cmocka_unit_test(others_say_the_same),
        cmocka_unit_test(back_is_the_chance_of_two_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
