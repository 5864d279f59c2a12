/* PathRAG's flow: six nodes by hand, then random graphs against a twin that walks every path.
 *
 * By hand, alpha .5, theta .1: edges 0-1, 0-2, 1-3, 2-3, 3-4, 4-5, from 0 to 3 and back. S(0) = 1 is halved: S(1) = S(2) = .5 * 1/2 = .25.
 * Each has two neighbours, 1/8 a neighbour is above theta: S(3) = 2 * .5 * .125 = .125. Of three neighbours each would get .042:
 * it ends there. 0-1-3 and 0-2-3 are worth (1 + .25 + .125) / 2 = .6875. From 3: S(1) = S(2) = .5 / 3 = 1/6, 1/12 a neighbour is
 * too little, so nothing comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_view.h"
#include "op/ops.h"

static void by_hand(void **state)
{
    static fake_graph g;
    fake_model embedder, ranker;
    static const qp_id edge[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}};
    (void)state;
    g = (fake_graph){.n = 6};
    for (int i = 0; i < 6; i++)
        fake_link(&g, edge[i][0], edge[i][1], 0);
    fake_ready(&g);
    fake_models(&embedder, &ranker);
    qp_query q = fake_query(&g, &embedder, &ranker);
    const qp_hit ends[] = {{0, QP_NO_ID, 0, NULL}, {3, QP_NO_ID, 0, NULL}};
    qp_list paths = qp_flow(&q, qp_set_of((qp_list){ends, 2}), .5, .1, 15).paths;
    assert_int_equal(paths.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_float_equal(paths.at[i].score, .6875, 1e-6);
        assert_int_equal(paths.at[i].id, 3);
        assert_int_equal(paths.at[i].via, 2 + i);
        assert_int_equal(paths.at[i].from->id, 1 + i);
        assert_int_equal(paths.at[i].from->from->id, 0);
        assert_null(paths.at[i].from->from->from);
    }
    qp_query_end(&q);
}

enum { HOPS = 4, MOST = 1 << 16 };

typedef struct twin {
    const fake_graph *g;
    qp_walk walk;
    uint64_t goals, allow;
    double alpha, theta;
    double resource[FAKE_NODES];
    int hop[FAKE_NODES]; /* -1: the flow did not come there */
    float *score;
    uint32_t n;
} twin;

static bool hands_on(const twin *t, qp_id v)
{
    uint32_t degree = fake_degree_of(t->g, v, t->walk);
    return t->hop[v] < HOPS && degree && t->resource[v] / degree >= t->theta;
}

static bool flows(const twin *t, qp_id u, qp_id v)
{
    return hands_on(t, u) && t->hop[v] == t->hop[u] + 1 && fake_edge(t->g, u, v, t->walk) != QP_NO_ID;
}

static void spread(twin *t, qp_id start)
{
    for (qp_id v = 0; v < t->g->n; v++) {
        t->resource[v] = v == start;
        t->hop[v] = v == start ? 0 : -1;
    }
    for (int hop = 0; hop < HOPS; hop++) {
        for (qp_id v = 0; v < t->g->n; v++)
            for (qp_id u = 0; u < t->g->n && t->hop[v] < 0 && (t->allow >> v & 1); u++)
                if (t->hop[u] == hop && hands_on(t, u) && fake_edge(t->g, u, v, t->walk) != QP_NO_ID)
                    t->hop[v] = hop + 1;
        for (qp_id v = 0; v < t->g->n; v++)
            for (qp_id u = 0; u < t->g->n && t->hop[v] == hop + 1; u++)
                if (flows(t, u, v))
                    t->resource[v] += t->alpha * t->resource[u] / fake_degree_of(t->g, u, t->walk);
    }
}

static void walk_all(twin *t, qp_id v, double sum)
{
    if (t->hop[v] && (t->goals >> v & 1) && t->n < MOST)
        t->score[t->n++] = (float)(sum / t->hop[v]);
    for (qp_id w = 0; w < t->g->n; w++)
        if (flows(t, v, w))
            walk_all(t, w, sum + t->resource[w]);
}

static int falling(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* A path goes where the flow goes, and is worth what it says; null: it does not flow that way. */
static bool worth(twin *t, const qp_id *node, int hops, float *score)
{
    double sum = 1;
    spread(t, node[0]);
    for (int i = 1; i <= hops; i++) {
        if (!flows(t, node[i - 1], node[i]))
            return false;
        sum += t->resource[node[i]];
    }
    *score = (float)(sum / hops);
    return true;
}

/* The worth of a path and, where it flows, of its way back. */
static uint32_t look_at_path(twin *t, const qp_hit *last, float *score)
{
    qp_id there[HOPS + 1], back[HOPS + 1];
    int hops = -1;
    for (const qp_hit *h = last; h; h = h->from) {
        assert_true(hops < HOPS);
        back[++hops] = h->id;
        if (h->from)
            assert_int_equal(h->via, fake_edge(t->g, h->from->id, h->id, t->walk));
    }
    for (int i = 0; i <= hops; i++)
        there[i] = back[hops - i];
    assert_true((t->goals >> there[0] & 1) && (t->goals >> back[0] & 1) && there[0] != back[0]);
    assert_true(worth(t, there, hops, &score[0]));
    assert_float_equal(last->score, score[0], 1e-5);
    return 1 + worth(t, back, hops, &score[1]);
}

static qp_list flow(qp_query *q, const twin *t, qp_list nodes, const char *k)
{
    char theta[32], alpha[32];
    snprintf(theta, sizeof theta, "%g", t->theta);
    snprintf(alpha, sizeof alpha, "%g", t->alpha);
    const qp_setting set[] = {{"theta", theta}, {"alpha", alpha}, {"k", k}, {"hops", "4"}};
    const qp_set in = qp_set_of(nodes);
    qp_list paths = qp_run(q, &qp_op_flow, &in, 1, qp_options_new(&qp_op_flow, set, 4, q->mem, &q->err)).paths;
    assert_int_equal(q->err.code, QP_OK);
    return paths;
}

static void compare(qp_query *q, twin *t, qp_list nodes, float *seen)
{
    uint32_t n = 0;
    qp_list all = flow(q, t, nodes, "2000"), few = flow(q, t, nodes, "7");
    for (uint32_t i = 0; i < all.n; i++)
        n += look_at_path(t, &all.at[i], seen + n);
    assert_int_equal(n, t->n);
    qsort(seen, n, sizeof *seen, falling);
    for (uint32_t i = 0; i < n; i++)
        assert_float_equal(seen[i], t->score[i], 1e-5);
    assert_int_equal(few.n, all.n < 7 ? all.n : 7);
    for (uint32_t i = 0; i < few.n; i++)
        assert_float_equal(few.at[i].score, all.at[i].score, 1e-6);
}

static void as_the_twin(void **state)
{
    static float room[MOST], seen[MOST];
    static fake_graph g;
    uint32_t compared = 0;
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        qp_random random = qp_random_seed(round);
        fake_model embedder, ranker;
        fake_random(&g, &random);
        fake_models(&embedder, &ranker);
        qp_query q = fake_query(&g, &embedder, &ranker);
        q.walk = (qp_walk){1 + qp_random_below(&random, 7), (qp_direction)qp_random_below(&random, 3), false};
        uint64_t allow[1] = {qp_random_next(&random) | qp_random_next(&random)};
        q.allow = allow;
        qp_hit hit[FAKE_NODES];
        uint32_t n = 0;
        twin t = {.g = &g, .walk = q.walk, .allow = allow[0], .score = room};
        t.alpha = (double)qp_random_below(&random, 5) / 4;
        t.theta = qp_random_below(&random, 2) ? .05 : 1e-6;
        for (qp_id v = 0; v < g.n; v++)
            if ((allow[0] >> v & 1) && qp_random_below(&random, 3)) {
                hit[n++] = (qp_hit){v, QP_NO_ID, 0, NULL};
                t.goals |= UINT64_C(1) << v;
            }
        for (uint32_t i = 0; i < n; i++) {
            spread(&t, hit[i].id);
            walk_all(&t, hit[i].id, 1);
        }
        qsort(room, t.n, sizeof *room, falling);
        if (t.n < 2000) {
            compare(&q, &t, (qp_list){hit, n}, seen);
            compared += t.n > 0;
        }
        qp_query_end(&q);
    }
    assert_true(compared > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(as_the_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
