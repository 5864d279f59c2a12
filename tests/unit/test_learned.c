/* Learned terms: the inner product that looking at every node gives, in the same order, for any k and filter. */
#include "unit/made.h"

static const struct made corpus = {
    .seed = 5, .documents = 3000, .words = 4, .vocabulary = 10, .types = 1, .learned = 400};

/* The slow twin: what the maker was given, weights to 1 / QP_IMPACT, every node in turn. */
static float *twin_of(uint32_t nodes, const qp_sparse *asked)
{
    float *score = calloc(nodes + 1, sizeof *score);
    qp_random r = qp_random_seed(99);
    uint32_t term[40];
    float weight[40];
    for (uint32_t v = 0; v < nodes; v++) {
        qp_sparse s;
        double sum = 0;
        random_learned(&r, corpus.learned, term, weight, &s);
        for (uint32_t i = 0; v % 30 != 29 && i < s.n; i++)
            for (uint32_t j = 0; j < asked->n; j++)
                if (asked->term[j] == s.term[i])
                    sum += (double)asked->weight[j] * floor((double)s.weight[i] * QP_IMPACT + .5) / QP_IMPACT;
        score[v] = (float)sum;
    }
    return score;
}

/* A snapshot whose learned terms come from a generator of their own, so that the twin can make them again. */
static qp_snapshot *make(const char *dir)
{
    struct made how = corpus;
    qp_random r = qp_random_seed(how.seed), own = qp_random_seed(99);
    qp_maker *m;
    qp_snapshot *s = NULL;
    qp_err err = {0};
    if (qp_maker_open(in(dir, "made.qp"),
                      &(qp_maker_options){.language = "none", .embedder = "", .sparse = "model", .terms = how.learned},
                      &m, &err))
        fail_msg("%s", err.message);
    add_documents(m, &how, &r);
    add_learned(m, &how, &own);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(dir, "made.qp"), 1, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

static void fast_is_slow(void **state)
{
    qp_snapshot *s = make(*state);
    qp_arena *a = qp_arena_new();
    qp_random r = qp_random_seed(3);
    uint32_t term[40];
    float weight[40];
    uint64_t *allow = calloc(s->nodes / 64 + 1, sizeof *allow);
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    assert_string_equal(qp_snapshot_sparse(s), "model");
    for (uint32_t v = 0; v < s->nodes; v += 1 + (uint32_t)qp_random_below(&r, 5))
        allow[v / 64] |= UINT64_C(1) << (v % 64);
    for (int i = 0; i < 100; i++) {
        static const uint32_t ks[] = {1, 3, 10, 100, 100000};
        qp_sparse asked;
        qp_list found;
        qp_best best;
        random_learned(&r, corpus.learned, term, weight, &asked);
        float *score = twin_of(s->nodes, &asked);
        const uint64_t *only = i % 3 ? NULL : allow;
        uint32_t k = ks[i % 5] < s->nodes ? ks[i % 5] : s->nodes;
        assert_true(qp_best_begin(&best, k, a));
        for (uint32_t v = 0; v < s->nodes; v++)
            if (score[v] > 0 && (!only || only[v / 64] >> (v % 64) & 1))
                qp_best_add(&best, v, score[v]);
        qp_list twin = qp_best_end(&best);
        qp_probe probe = {.terms = &asked, .allow = only};
        assert_int_equal(s->view.search(s->view.self, "node.splade", &probe, k, &found, a, NULL), QP_OK);
        assert_int_equal(found.n, twin.n);
        for (uint32_t j = 0; j < found.n; j++) {
            assert_true(fabsf(found.at[j].score - twin.at[j].score) <= 4e-7f * twin.at[j].score + 1e-9f);
            assert_true(fabsf(found.at[j].score - score[found.at[j].id]) <= 4e-7f * twin.at[j].score + 1e-9f);
            assert_true(!j || qp_hit_before(&found.at[j - 1], &found.at[j]));
        }
        free(score);
        qp_arena_reset(a);
    }
    free(allow);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static void strange_questions_are_refused(void **state)
{
    qp_snapshot *s = make(*state);
    qp_arena *a = qp_arena_new();
    const float weight[] = {1, 1};
    const uint32_t beyond[] = {3, 400}, falling[] = {7, 7};
    qp_list found;
    qp_probe probe = {.terms = &(qp_sparse){beyond, weight, 2}};
    assert_int_equal(s->view.search(s->view.self, "node.splade", &probe, 5, &found, a, NULL), QP_MODEL);
    probe.terms = &(qp_sparse){falling, weight, 2};
    assert_int_equal(s->view.search(s->view.self, "node.splade", &probe, 5, &found, a, NULL), QP_MODEL);
    probe.terms = &(qp_sparse){beyond, weight, 0}; /* a question without terms finds nothing */
    assert_int_equal(s->view.search(s->view.self, "node.splade", &probe, 5, &found, a, NULL), QP_OK);
    assert_int_equal(found.n, 0);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(fast_is_slow), HOLDS(strange_questions_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
