/* FastInsight's formulas, worked by hand on five nodes.
 *
 * Edges 0-2, 1-2, 2-3, 1-3, so deg = 1, 2, 3, 2, 0. The latent is one number wide, H = 1, 2, 4, -1, .5, and the head
 * returns it, so scores are H'. dot(v_q, v_n) = .75, .6, .3, .15, .45.
 *
 * Batch 2. Vector search: 0, 1. No edge joins them, both rows of W are zero: H' = H, the ranking is 1 (2), 0 (1).
 * STeX, R = 2: node 2 has A = {1, 0}, r_best 1, C_max = min(3, 2) = 2: I = 1 + 1, S = .3 + 2 = 2.3.
 *              node 3 has A = {1},    r_best 1, C_max = min(2, 2) = 2: I = 1 + 0, S = .15 + 1 = 1.15.
 * GRanker on 1, 0, 2, 3 with alpha = .2:
 *   row 0: W = {2: 1/3}, P = {2: 1}:                         H' = .8 * 1 + .2 * 4 = 1.6
 *   row 1: W = {2: 1/3, 3: 1/2}, P = {2: .4, 3: .6}:         H' = .8 * 2 + .2 * (1.6 - .6) = 1.8
 *   row 2: W = {0: 1, 1: 1/2, 3: 1/2}, P = {.5, .25, .25}:   H' = .8 * 4 + .2 * (.5 + .5 - .25) = 3.35
 *   row 3: W = {1: 1/2, 2: 1/3}, P = {1: .6, 2: .4}:         H' = -.8 + .2 * (1.2 + 1.6) = -.24
 * Now nothing unseen is a neighbour; vector search adds 4, whose row of W is zero: H' = .5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_view.h"
#include "method/methods.h"

static const float hand_latent[] = {1, 2, 4, -1, .5f};

static qp_code latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    fake_model *m = self;
    (void)query, (void)err;
    m->passes += n;
    for (uint32_t i = 0; i < n; i++)
        out[i] = hand_latent[strtoul(text[i].at, NULL, 10)];
    return QP_OK;
}

static qp_code head(void *self, const float *h, uint32_t n, float *score, qp_err *err)
{
    (void)self, (void)err;
    memcpy(score, h, n * sizeof *h);
    return QP_OK;
}

static qp_code rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    return latent(self, query, text, n, out, err);
}

typedef struct hand {
    fake_graph g;
    fake_model embedder, ranker;
    qp_query q;
} hand;

static void begin(hand *h)
{
    memset(h, 0, sizeof *h);
    h->g.n = 5;
    fake_link(&h->g, 0, 2, 0);
    fake_link(&h->g, 1, 2, 0);
    fake_link(&h->g, 2, 3, 1);
    fake_link(&h->g, 3, 1, 0);
    const float first[] = {1, .8f, .4f, .2f, .6f}; /* times .75 */
    for (int i = 0; i < 5; i++)
        h->g.vector[i][0] = first[i];
    fake_ready(&h->g);
    fake_models(&h->embedder, &h->ranker);
    h->ranker.model.width = 1;
    h->ranker.model.latent = latent;
    h->ranker.model.head = head;
    h->q = fake_query(&h->g, &h->embedder, &h->ranker);
}

static qp_set ask(hand *h, const qp_op *method, const qp_setting *set, size_t n)
{
    void *opt = qp_options_new(method, set, n, h->q.mem, &h->q.err);
    return qp_run(&h->q, method, NULL, 0, opt);
}

static void expect(qp_list l, uint32_t n, const qp_id *ids, const double *scores)
{
    assert_int_equal(l.n, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(l.at[i].id, ids[i]);
        assert_float_equal(l.at[i].score, scores[i], 1e-6);
    }
}

static void the_formulas(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    qp_set ret = qp_granker(&h.q, qp_search(&h.q, "node.dense", 2), .2f, 1);
    expect(ret.nodes, 2, (qp_id[]){1, 0}, (double[]){2, 1});
    qp_set add = qp_stex(&h.q, ret, 1);
    expect(add.nodes, 2, (qp_id[]){2, 3}, (double[]){2.3, 1.15});
    assert_int_equal(add.nodes.at[0].from->id, 1); /* its best-ranked retrieved neighbour, by edge 1-2 */
    assert_int_equal(add.nodes.at[0].via, 1);
    assert_int_equal(add.nodes.at[1].from->id, 1);
    assert_int_equal(add.nodes.at[1].via, 3);
    ret = qp_granker(&h.q, qp_join(&h.q, ret, add), .2f, 1);
    expect(ret.nodes, 4, (qp_id[]){2, 1, 0, 3}, (double[]){3.35, 1.8, 1.6, -.24});
    assert_int_equal(ret.nodes.at[0].from->id, 1); /* kept by GRanker */
    assert_int_equal(qp_stex(&h.q, ret, 1).nodes.n, 0);
    assert_int_equal(h.q.model_passes, 4);
    qp_query_end(&h.q);
}

static void the_method(void **state)
{
    (void)state;
    const char *budgets[] = {"5", "100"}; /* 100: the loop ends when no unseen node is left */
    for (int i = 0; i < 2; i++) {
        hand h;
        begin(&h);
        qp_set ret = ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}, {"budget", budgets[i]}}, 2);
        assert_int_equal(h.q.err.code, QP_OK);
        expect(ret.nodes, 5, (qp_id[]){2, 1, 0, 4, 3}, (double[]){3.35, 1.8, 1.6, .5, -.24});
        assert_int_equal(h.q.model_passes, 5);
        assert_int_equal(h.ranker.passes, 5);
        qp_query_end(&h.q);
    }
}

/* Budget 3: one of the two candidates is added. Rows of 1, 0, 2: 0 and 1 hear only 2; 2 hears P = {0: 2/3, 1: 1/3}. */
static void the_budget_cuts_a_batch(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    qp_set ret = ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}, {"budget", "3"}}, 2);
    expect(ret.nodes, 3, (qp_id[]){2, 1, 0}, (double[]){3.2 + .2 * 4 / 3, 2.4, 1.6});
    assert_int_equal(h.ranker.passes, 3);
    qp_query_end(&h.q);
}

/* Only edges of type a: 2-3 is not walked, deg(2) = 2 and deg(3) = 1. Row 2: W = {0: 1, 1: 1/2}. */
static void edge_types_are_chosen(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    qp_set ret = ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}, {"budget", "4"}, {"edges", "a"}}, 3);
    double row1 = (4. / 2 - 1) / (1. / 2 + 1), row2 = (1 + 2. / 2) / (1 + 1. / 2);
    expect(ret.nodes, 4, (qp_id[]){2, 1, 0, 3}, (double[]){3.2 + .2 * row2, 1.6 + .2 * row1, 1.6, -.8 + .2 * 2});
    assert_true(h.q.walk.types == ~0ull); /* the caller's walk is as it was */
    qp_query_end(&h.q);
}

static void mixing_in_the_first_stage(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    qp_set ret = ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}, {"mix", "1"}}, 2);
    expect(ret.nodes, 5, (qp_id[]){0, 1, 4, 2, 3}, (double[]){1, .75, .5, .25, 0}); /* the dense scores, scaled */
    qp_query_end(&h.q);
}

static void a_filter_holds_everywhere(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    h.q.allow = (uint64_t[]){0x1b}; /* not node 2 */
    qp_set ret = ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}}, 1);
    assert_int_equal(ret.nodes.n, 4);
    for (uint32_t i = 0; i < ret.nodes.n; i++)
        assert_int_not_equal(ret.nodes.at[i].id, 2);
    qp_query_end(&h.q);
}

static void the_trace_counts(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    h.q.trace = qp_trace_new();
    ask(&h, &qp_method_fastinsight, (qp_setting[]){{"batch", "2"}, {"budget", "5"}}, 2);
    uint32_t n;
    const qp_step *s = qp_trace_steps(h.q.trace, &n);
    const char *names[] = {"fastinsight", "search", "granker", "stex", "top",  "join",    "granker",
                           "stex",        "search", "minus",   "top",  "join", "granker", "top"};
    assert_int_equal(n, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < n; i++) {
        assert_string_equal(s[i].name, names[i]);
        assert_int_equal(s[i].depth, i > 0);
        assert_true(s[i].ms >= s[i].model_ms);
    }
    assert_int_equal(s[0].model_passes, 5);
    assert_int_equal(s[2].model_passes, 2);
    assert_int_equal(s[6].model_passes, 2);
    assert_int_equal(s[12].model_passes, 1);
    assert_int_equal(s[12].out, 5);
    assert_string_equal(s[2].options, "alpha=0.2 scale=1");
    qp_trace_free(h.q.trace);
    qp_query_end(&h.q);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    h.ranker.model.latent = NULL; /* a service that gives scores only */
    h.ranker.model.rank = rank;
    assert_int_equal(ask(&h, &qp_method_fastinsight, NULL, 0).nodes.n, 0);
    assert_int_equal(h.q.err.code, QP_MODEL);
    qp_query_end(&h.q);

    begin(&h);
    h.ranker.model.latent = NULL;
    h.ranker.model.rank = rank;
    qp_set ret = ask(&h, &qp_method_rerank, NULL, 0);
    expect(ret.nodes, 5, (qp_id[]){2, 1, 0, 4, 3}, (double[]){4, 2, 1, .5, -1});
    assert_int_equal(h.q.model_passes, 5);
    qp_query_end(&h.q);

    begin(&h);
    h.q.ranker = NULL;
    ask(&h, &qp_method_gar, NULL, 0);
    assert_int_equal(h.q.err.code, QP_MODEL);
    qp_query_end(&h.q);

    begin(&h);
    h.q.embedder = NULL;
    ask(&h, &qp_method_vector, NULL, 0);
    assert_int_equal(h.q.err.code, QP_MODEL);
    qp_query_end(&h.q);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    hand h;
    begin(&h);
    h.q.deadline = qp_now_ms() - 1;
    ask(&h, &qp_method_fastinsight, NULL, 0);
    assert_int_equal(h.q.err.code, QP_STOPPED);
    qp_query_end(&h.q);

    begin(&h);
    volatile const int stop = 1;
    h.q.cancel = &stop;
    ask(&h, &qp_method_fastinsight, NULL, 0);
    assert_int_equal(h.q.err.code, QP_STOPPED);
    assert_int_equal(h.ranker.passes, 0);
    qp_query_end(&h.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formulas),
        cmocka_unit_test(the_method),
        cmocka_unit_test(the_budget_cuts_a_batch),
        cmocka_unit_test(edge_types_are_chosen),
        cmocka_unit_test(mixing_in_the_first_stage),
        cmocka_unit_test(a_filter_holds_everywhere),
        cmocka_unit_test(the_trace_counts),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
