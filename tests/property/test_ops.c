/* Each operator against a slow twin, on random graphs with parallel edges, self-loops, loose nodes and many ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_view.h"
#include "op/ops.h"

enum { ROUNDS = 300 };

typedef struct bench {
    fake_graph g;
    fake_model embedder, ranker;
    qp_random random;
    qp_query q;
    uint64_t allow[1];
} bench;

static void begin(bench *b, uint64_t seed)
{
    b->random = qp_random_seed(seed);
    fake_random(&b->g, &b->random);
    fake_models(&b->embedder, &b->ranker);
    b->q = fake_query(&b->g, &b->embedder, &b->ranker);
    b->q.walk.types = qp_random_below(&b->random, 8);
    b->q.walk.direction = (qp_direction)qp_random_below(&b->random, 3);
    b->allow[0] = qp_random_next(&b->random) | qp_random_next(&b->random);
    if (qp_random_below(&b->random, 2))
        b->q.allow = b->allow;
}

static bool allowed(const bench *b, qp_id id)
{
    return !b->q.allow || (b->allow[0] >> id & 1);
}

/* Distinct nodes in random order, scored with few different numbers. */
static qp_set draw(bench *b)
{
    uint32_t n = (uint32_t)qp_random_below(&b->random, b->g.n + 1);
    qp_hit *h = qp_new(b->q.mem, qp_hit, b->g.n);
    for (qp_id i = 0; i < b->g.n; i++) {
        uint32_t j = (uint32_t)qp_random_below(&b->random, i + 1);
        h[i] = h[j];
        h[j] = (qp_hit){i, QP_NO_ID, (float)qp_random_below(&b->random, 5), NULL};
    }
    return qp_set_of((qp_list){h, n});
}

static int rank_of(qp_list l, qp_id id) /* from 0; -1: not there */
{
    for (uint32_t i = 0; i < l.n; i++)
        if (l.at[i].id == id)
            return (int)i;
    return -1;
}

static void best_first(qp_list l)
{
    for (uint32_t i = 1; i < l.n; i++) {
        const qp_hit *a = &l.at[i - 1], *b = &l.at[i];
        assert_true(a->score > b->score || (a->score == b->score && a->id < b->id));
    }
}

/* ---- algebra ---- */
static void join_and_minus(bench *b)
{
    qp_set x = draw(b), y = draw(b), j = qp_join(&b->q, x, y), m = qp_minus(&b->q, x, y);
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < x.nodes.n; i++) {
        assert_int_equal(j.nodes.at[n++].id, x.nodes.at[i].id);
        if (rank_of(y.nodes, x.nodes.at[i].id) < 0)
            assert_int_equal(m.nodes.at[k++].id, x.nodes.at[i].id);
    }
    for (uint32_t i = 0; i < y.nodes.n; i++)
        if (rank_of(x.nodes, y.nodes.at[i].id) < 0)
            assert_int_equal(j.nodes.at[n++].id, y.nodes.at[i].id);
    assert_int_equal(j.nodes.n, n);
    assert_int_equal(m.nodes.n, k);
    assert_int_equal(qp_top(&b->q, x, 3).nodes.n, x.nodes.n < 3 ? x.nodes.n : 3);
}

static double scaled(qp_list l, int rank)
{
    float low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < l.n; i++) {
        low = fminf(low, l.at[i].score);
        high = fmaxf(high, l.at[i].score);
    }
    return rank < 0 ? 0 : low == high ? 1 : (l.at[rank].score - low) / (high - low);
}

static void fuse(bench *b)
{
    qp_set x = draw(b), y = draw(b);
    qp_set rrf = qp_fuse(&b->q, x, y, "rrf", .5f, 1000), scale = qp_fuse(&b->q, x, y, "minmax", .25f, 1000);
    uint32_t n = qp_join(&b->q, x, y).nodes.n;
    assert_int_equal(rrf.nodes.n, n);
    assert_int_equal(scale.nodes.n, n);
    best_first(rrf.nodes);
    best_first(scale.nodes);
    for (uint32_t i = 0; i < n; i++) {
        int r = rank_of(x.nodes, rrf.nodes.at[i].id), s = rank_of(y.nodes, rrf.nodes.at[i].id);
        assert_float_equal(rrf.nodes.at[i].score, (r < 0 ? 0 : 1 / (61. + r)) + (s < 0 ? 0 : 1 / (61. + s)), 1e-7);
        r = rank_of(x.nodes, scale.nodes.at[i].id), s = rank_of(y.nodes, scale.nodes.at[i].id);
        assert_float_equal(scale.nodes.at[i].score, .25 * scaled(x.nodes, r) + .75 * scaled(y.nodes, s), 1e-6);
    }
    qp_set mixed = qp_mix(&b->q, x, y, .5f);
    assert_int_equal(mixed.nodes.n, x.nodes.n);
}

/* ---- over the graph ---- */
/* Hops from the set to id, by trying longer walks until one arrives; -1: none. Only allowed nodes are walked to. */
static int hops_to(const bench *b, qp_list from, qp_id id, int most)
{
    if (rank_of(from, id) >= 0)
        return 0;
    for (int h = 1; h <= most; h++)
        for (qp_id u = 0; u < b->g.n; u++)
            if (hops_to(b, from, u, h - 1) == h - 1 && (h == 1 || allowed(b, u)) && allowed(b, id) &&
                fake_edge(&b->g, u, id, b->q.walk) != QP_NO_ID)
                return h;
    return -1;
}

static void hop(bench *b)
{
    qp_set x = draw(b), y = qp_hop(&b->q, x, 2);
    int last = 1;
    for (qp_id id = 0; id < b->g.n; id++) {
        int h = hops_to(b, x.nodes, id, 2);
        assert_int_equal(h > 0, rank_of(y.nodes, id) >= 0);
    }
    for (uint32_t i = 0; i < y.nodes.n; i++) {
        const qp_hit *t = &y.nodes.at[i];
        int h = hops_to(b, x.nodes, t->id, 2);
        assert_true(h >= last);
        last = h;
        assert_int_equal(t->via, fake_edge(&b->g, t->from->id, t->id, b->q.walk));
        assert_float_equal(t->score, t->from->score, 0);
        for (uint32_t j = 0; h == 1 && j < x.nodes.n; j++)
            if (fake_edge(&b->g, x.nodes.at[j].id, t->id, b->q.walk) != QP_NO_ID)
                assert_true(t->score >= x.nodes.at[j].score);
    }
}

static void score_and_rerank(bench *b)
{
    qp_set x = draw(b), s = qp_score(&b->q, x), r = qp_rerank(&b->q, x);
    float v[FAKE_DIM], h[FAKE_WIDTH];
    fake_embed(NULL, QP_QUERY, NULL, 1, v, NULL);
    best_first(s.nodes);
    best_first(r.nodes);
    assert_int_equal(s.nodes.n, x.nodes.n);
    assert_int_equal(r.nodes.n, x.nodes.n);
    for (uint32_t i = 0; i < x.nodes.n; i++) {
        assert_float_equal(s.nodes.at[i].score, fake_dot(v, b->g.vector[s.nodes.at[i].id]), 0);
        fake_latent_of(r.nodes.at[i].id, h);
        assert_float_equal(r.nodes.at[i].score, fake_head_of(h), 0);
    }
    assert_int_equal(b->q.model_passes, x.nodes.n);
}

static qp_walk reversed(qp_walk w)
{
    w.direction = w.direction == QP_BOTH ? QP_BOTH : w.direction == QP_OUT ? QP_IN : QP_OUT;
    return w;
}

/* Algorithm 2 with whole matrices; a zero row of W keeps H. */
static double granker_twin(const bench *b, qp_list ret, uint32_t i, float alpha)
{
    double row = 0, sum[FAKE_WIDTH] = {0};
    float h[FAKE_WIDTH], smooth[FAKE_WIDTH];
    for (uint32_t j = 0; j < ret.n; j++) {
        bool a = fake_edge(&b->g, ret.at[i].id, ret.at[j].id, b->q.walk) != QP_NO_ID;
        double w = a ? 1. / fake_degree_of(&b->g, ret.at[j].id, reversed(b->q.walk)) : 0;
        fake_latent_of(ret.at[j].id, h);
        row += w;
        for (int d = 0; d < FAKE_WIDTH; d++)
            sum[d] += w * h[d];
    }
    fake_latent_of(ret.at[i].id, h);
    for (int d = 0; d < FAKE_WIDTH; d++)
        smooth[d] = row > 0 ? (float)((1 - alpha) * h[d] + alpha * sum[d] / row) : h[d];
    return fake_head_of(smooth);
}

static void granker(bench *b)
{
    qp_set x = draw(b), y = qp_granker(&b->q, x, .3f, 1), z = qp_granker(&b->q, qp_join(&b->q, y, draw(b)), .3f, 1);
    best_first(y.nodes);
    best_first(z.nodes);
    assert_int_equal(y.nodes.n, x.nodes.n);
    for (uint32_t i = 0; i < y.nodes.n; i++)
        assert_float_equal(y.nodes.at[i].score, granker_twin(b, y.nodes, i, .3f), 1e-5);
    for (uint32_t i = 0; i < z.nodes.n; i++)
        assert_float_equal(z.nodes.at[i].score, granker_twin(b, z.nodes, i, .3f), 1e-5);
    assert_int_equal(b->q.model_passes, z.nodes.n);
    assert_int_equal(b->ranker.passes, z.nodes.n);
}

/* Algorithm 3, one candidate; -1: it is none. */
static double stex_twin(const bench *b, qp_list ret, qp_id n, double beta)
{
    double place = 0;
    int count = 0, best = 0, size = (int)ret.n;
    int degree = (int)fake_degree_of(&b->g, n, reversed(b->q.walk)), most = degree < size ? degree : size;
    float v[FAKE_DIM];
    for (int r = size; r >= 1; r--) {
        if (fake_edge(&b->g, ret.at[r - 1].id, n, b->q.walk) != QP_NO_ID) {
            best = r;
            count++;
        }
    }
    if (!count || rank_of(ret, n) >= 0 || !allowed(b, n))
        return -1e9;
    if (size > 1)
        place += 1 - (best - 1.) / (size - 1.);
    if (most > 1)
        place += (count - 1.) / (most - 1.);
    fake_embed(NULL, QP_QUERY, NULL, 1, v, NULL);
    return fake_dot(v, b->g.vector[n]) + beta * place;
}

static void stex(bench *b)
{
    qp_set x = draw(b), y = qp_stex(&b->q, x, 1.5f);
    uint32_t n = 0;
    best_first(y.nodes);
    for (qp_id id = 0; id < b->g.n; id++) {
        double s = stex_twin(b, x.nodes, id, 1.5);
        int at = rank_of(y.nodes, id);
        assert_int_equal(at >= 0, s > -1e8);
        if (at < 0)
            continue;
        const qp_hit *h = &y.nodes.at[at];
        assert_float_equal(h->score, s, 1e-6);
        assert_int_equal(h->via, fake_edge(&b->g, h->from->id, id, b->q.walk));
        for (int r = 0; r < rank_of(x.nodes, h->from->id); r++)
            assert_int_equal(fake_edge(&b->g, x.nodes.at[r].id, id, b->q.walk), QP_NO_ID);
        n++;
    }
    assert_int_equal(y.nodes.n, n);
}

#define ON_RANDOM_GRAPHS(name)                           \
    static void test_##name(void **state)                \
    {                                                    \
        (void)state;                                     \
        for (uint64_t seed = 0; seed < ROUNDS; seed++) { \
            bench b = {0};                               \
            begin(&b, seed);                             \
            name(&b);                                    \
            assert_int_equal(b.q.err.code, QP_OK);       \
            qp_query_end(&b.q);                          \
        }                                                \
    }

ON_RANDOM_GRAPHS(join_and_minus)
ON_RANDOM_GRAPHS(fuse)
ON_RANDOM_GRAPHS(hop)
ON_RANDOM_GRAPHS(score_and_rerank)
ON_RANDOM_GRAPHS(granker)
ON_RANDOM_GRAPHS(stex)

/* ---- lists ---- */
static int by_score(const void *a, const void *b)
{
    return fake_best_first(a, b);
}

static void sorting_is_by_score_then_id(void **state)
{
    (void)state;
    qp_random r = qp_random_seed(7);
    for (int round = 0; round < ROUNDS; round++) {
        qp_query q;
        assert_int_equal(qp_query_begin(&q, QP_STR(""), NULL), QP_OK);
        uint32_t n = (uint32_t)qp_random_below(&r, 200), k = (uint32_t)qp_random_below(&r, 220);
        qp_hit hits[200], want[200];
        for (uint32_t i = 0; i < n; i++)
            want[i] = hits[i] = (qp_hit){.id = i * 7 % 211, .score = (float)qp_random_below(&r, 9) / 3 - 1};
        if (n)
            hits[0].score = want[0].score = -0.0f;
        qsort(want, n, sizeof *want, by_score);
        qp_list l = qp_list_sorted(&q, hits, n, k);
        assert_int_equal(l.n, n < k ? n : k);
        for (uint32_t i = 0; i < l.n; i++)
            assert_int_equal(l.at[i].id, want[i].id);
        qp_query_end(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join_and_minus),         cmocka_unit_test(test_fuse),    cmocka_unit_test(test_hop),
        cmocka_unit_test(test_score_and_rerank),       cmocka_unit_test(test_granker), cmocka_unit_test(test_stex),
        cmocka_unit_test(sorting_is_by_score_then_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
