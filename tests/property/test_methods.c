/* The methods on random graphs: FastInsight and GAR against slow twins, the pipelines in pipelines/ against the methods,
 * and what holds of every answer: the budget, no node twice, paths that are there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_view.h"
#include "method/method.h"
#include "method/methods.h"

enum { ROUNDS = 200 };

typedef struct bench {
    fake_graph g;
    fake_model embedder, ranker;
    qp_query q;
    char batch[8], budget[8];
    uint32_t n_batch, n_budget;
} bench;

static void begin(bench *b, uint64_t seed)
{
    qp_random r = qp_random_seed(seed);
    fake_random(&b->g, &r);
    fake_models(&b->embedder, &b->ranker);
    b->q = fake_query(&b->g, &b->embedder, &b->ranker);
    b->n_batch = 1 + (uint32_t)qp_random_below(&r, 6);
    b->n_budget = 1 + (uint32_t)qp_random_below(&r, 30);
    snprintf(b->batch, sizeof b->batch, "%u", b->n_batch);
    snprintf(b->budget, sizeof b->budget, "%u", b->n_budget);
}

static qp_set ask(bench *b, const qp_op *method, bool batch)
{
    qp_setting set[] = {{"top", "1000"}, {"budget", b->budget}, {"batch", b->batch}};
    void *opt = qp_options_new(method, set, batch ? 3 : 2, b->q.mem, &b->q.err);
    qp_set out = opt ? qp_run(&b->q, method, NULL, 0, opt) : (qp_set){0};
    assert_string_equal(b->q.err.message, "");
    return out;
}

/* ---- twins: whole arrays over all nodes, no operators ---- */
typedef struct twin {
    const bench *b;
    qp_id ret[FAKE_NODES]; /* by rank */
    double score[FAKE_NODES];
    uint32_t n;
} twin;

static const qp_walk all = {~0ull, QP_BOTH, false};

static bool joined(const twin *t, qp_id a, qp_id b)
{
    return fake_edge(&t->b->g, a, b, all) != QP_NO_ID;
}

static bool inside(const twin *t, qp_id id)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->ret[i] == id)
            return true;
    return false;
}

static double similarity(const twin *t, qp_id id)
{
    float v[FAKE_DIM];
    fake_embed(NULL, QP_QUERY, NULL, 1, v, NULL);
    return fake_dot(v, t->b->g.vector[id]);
}

static void sort(twin *t)
{
    for (uint32_t i = 1; i < t->n; i++) {
        for (uint32_t j = i;
             j && (t->score[j] > t->score[j - 1] || (t->score[j] == t->score[j - 1] && t->ret[j] < t->ret[j - 1]));
             j--) {
            double s = t->score[j];
            qp_id id = t->ret[j];
            t->score[j] = t->score[j - 1];
            t->ret[j] = t->ret[j - 1];
            t->score[j - 1] = s;
            t->ret[j - 1] = id;
        }
    }
}

static void twin_granker(twin *t, double alpha)
{
    for (uint32_t i = 0; i < t->n; i++) {
        double sum[FAKE_WIDTH] = {0}, row = 0;
        float h[FAKE_WIDTH], smooth[FAKE_WIDTH];
        for (uint32_t j = 0; j < t->n; j++) {
            double w = joined(t, t->ret[i], t->ret[j]) ? 1. / fake_degree_of(&t->b->g, t->ret[j], all) : 0;
            fake_latent_of(t->ret[j], h);
            row += w;
            for (int d = 0; d < FAKE_WIDTH; d++)
                sum[d] += w * h[d];
        }
        fake_latent_of(t->ret[i], h);
        for (int d = 0; d < FAKE_WIDTH; d++)
            smooth[d] = (float)(row > 0 ? (1 - alpha) * h[d] + alpha * sum[d] / row : h[d]);
        t->score[i] = fake_head_of(smooth);
    }
    sort(t);
}

static double twin_stex(const twin *t, qp_id n)
{
    int best = 0, count = 0, r = (int)t->n, degree = (int)fake_degree_of(&t->b->g, n, all);
    for (int i = r; i >= 1; i--) {
        if (joined(t, t->ret[i - 1], n)) {
            best = i;
            count++;
        }
    }
    int most = degree < r ? degree : r;
    if (!count)
        return -INFINITY;
    return (float)(similarity(t, n) + (r > 1 ? 1 - (best - 1.) / (r - 1.) : 0) +
                   (most > 1 ? (count - 1.) / (most - 1.) : 0));
}

static double twin_frontier(const twin *t, qp_id n)
{
    double best = -INFINITY;
    for (uint32_t i = 0; i < t->n; i++)
        if (joined(t, t->ret[i], n))
            best = fmax(best, t->score[i]);
    return best;
}

/* Adds the best k nodes that are not inside yet; how many. */
static uint32_t grow(twin *t, double (*worth)(const twin *, qp_id), uint32_t k)
{
    twin more = {.b = t->b};
    for (qp_id id = 0; id < t->b->g.n; id++) {
        double w = worth(t, id);
        if (!inside(t, id) && w > -INFINITY) {
            more.score[more.n] = w;
            more.ret[more.n++] = id;
        }
    }
    sort(&more);
    uint32_t room = t->b->n_budget - t->n;
    k = k < room ? k : room;
    k = k < more.n ? k : more.n;
    memcpy(t->ret + t->n, more.ret, k * sizeof *t->ret);
    t->n += k;
    return k;
}

static void same(const twin *t, qp_set got)
{
    assert_int_equal(got.nodes.n, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        assert_int_equal(got.nodes.at[i].id, t->ret[i]);
        assert_float_equal(got.nodes.at[i].score, t->score[i], 1e-5);
    }
}

static void fastinsight(bench *b)
{
    twin t = {.b = b};
    grow(&t, similarity, b->n_batch);
    twin_granker(&t, .2f);
    while (t.n < b->n_budget && (grow(&t, twin_stex, b->n_batch) || grow(&t, similarity, b->n_batch)))
        twin_granker(&t, .2f);
    same(&t, ask(b, &qp_method_fastinsight, true));
    assert_int_equal(b->q.model_passes, b->n_budget < b->g.n ? b->n_budget : b->g.n);
    assert_int_equal(b->ranker.passes, b->q.model_passes);
}

static void gar(bench *b)
{
    twin t = {.b = b};
    double (*turn[])(const twin *, qp_id) = {similarity, twin_frontier};
    for (int i = 0; t.n < b->n_budget; i = !i) {
        if (!grow(&t, turn[i], b->n_batch) && !grow(&t, turn[!i], b->n_batch))
            break;
        twin_granker(&t, 0);
    }
    same(&t, ask(b, &qp_method_gar, true));
    assert_int_equal(b->q.model_passes, b->n_budget < b->g.n ? b->n_budget : b->g.n);
    assert_int_equal(b->ranker.passes, b->q.model_passes);
}

/* ---- what holds of every answer ---- */
static void whole(bench *b, const qp_op *method, bool batch)
{
    qp_set s = ask(b, method, batch);
    for (uint32_t i = 0; i < s.nodes.n; i++) {
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(s.nodes.at[i].id, s.nodes.at[j].id);
        for (const qp_hit *h = &s.nodes.at[i]; h->from; h = h->from) /* the path that led here is in the graph */
            assert_true(fake_joins(&b->g, h->via, h->from->id, h->id, all));
    }
    assert_true(b->ranker.passes <= b->n_budget);
}

static void answers(bench *b)
{
    whole(b, &qp_method_rerank, false);
    b->ranker.passes = 0;
    whole(b, &qp_method_gar, true);
    b->ranker.passes = 0;
    whole(b, &qp_method_fastinsight, true);
}

/* ---- pipelines ---- */
static void equal(qp_set a, qp_set b)
{
    assert_int_equal(a.nodes.n, b.nodes.n);
    for (uint32_t i = 0; i < a.nodes.n; i++) {
        assert_int_equal(a.nodes.at[i].id, b.nodes.at[i].id);
        assert_true(a.nodes.at[i].score == b.nodes.at[i].score);
        assert_int_equal(a.nodes.at[i].via, b.nodes.at[i].via);
    }
}

static void twin_pipeline(bench *b, const qp_op *method, const char *file, bool batch)
{
    const qp_op *pipeline;
    bool owned;
    qp_err err = {0};
    qp_method_find(file, &pipeline, &owned, &err);
    assert_string_equal(err.message, "");
    assert_true(owned);
    assert_int_equal(pipeline->needs, method->needs);
    equal(ask(b, method, batch), ask(b, pipeline, batch));
    qp_pipeline_free(pipeline);
}

static void pipelines(bench *b)
{
    twin_pipeline(b, &qp_method_fastinsight, "pipelines/fastinsight.yaml", true);
    twin_pipeline(b, &qp_method_rerank, "rerank.yaml", false);
}

/* Where the frontier does not run dry, GAR's pipeline is GAR: on a ring it never does. */
static void gar_pipeline(bench *b)
{
    b->g.m = 0;
    for (qp_id i = 0; i < b->g.n; i++)
        fake_link(&b->g, i, (i + 1) % b->g.n, 0);
    if (b->n_budget <= b->g.n)
        twin_pipeline(b, &qp_method_gar, "gar.yaml", true);
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

ON_RANDOM_GRAPHS(fastinsight)
ON_RANDOM_GRAPHS(gar)
ON_RANDOM_GRAPHS(answers)
ON_RANDOM_GRAPHS(pipelines)
ON_RANDOM_GRAPHS(gar_pipeline)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fastinsight), cmocka_unit_test(test_gar),          cmocka_unit_test(test_answers),
        cmocka_unit_test(test_pipelines),   cmocka_unit_test(test_gar_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
