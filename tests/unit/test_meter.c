/* src/eval/meter: the same work once, the same answers, and each asker charged as if alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/err.h"
#include "eval/meter.h"

enum { WIDTH = 2, PASS_MS = 4 };

static uint32_t passes; /* texts the model itself has seen */
static bool broken;

static void sleep_ms(uint32_t ms)
{
    nanosleep(&(struct timespec){0, (long)ms * 1000000}, NULL);
}

static qp_code fake_latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self;
    if (broken)
        return qp_fail(err, QP_MODEL, "broken");
    for (uint32_t i = 0; i < n; i++) {
        out[i * WIDTH] = (float)text[i].n;
        out[i * WIDTH + 1] = (float)query.n;
    }
    passes += n;
    sleep_ms(n * PASS_MS);
    return QP_OK;
}

static qp_code fake_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self, (void)query, (void)err;
    for (uint32_t i = 0; i < n; i++)
        out[i] = -(float)text[i].n;
    passes += n;
    return QP_OK;
}

static const qp_model fake = {.name = "fake", .width = WIDTH, .latent = fake_latent, .rank = fake_rank};
static const qp_str texts[4] = {{"a", 1}, {"bb", 2}, {"ccc", 3}, {"a", 1}};

static int start(void **state)
{
    (void)state;
    passes = 0;
    broken = false;
    return 0;
}

static void second_asker_gets_what_the_first_paid_for(void **state)
{
    (void)state;
    qp_meter m;
    float out[4 * WIDTH];

    qp_meter_make(&m, &fake, true);
    const qp_model *model = qp_meter_model(&m);
    assert_int_equal(model->latent(model->self, QP_STR("query"), texts, 2, out, NULL), QP_OK);
    assert_int_equal(passes, 2);
    double first = m.charged_ms;
    assert_true(m.spent_ms >= 2 * PASS_MS && first == m.spent_ms);

    qp_meter_open(&m);
    assert_int_equal(model->latent(model->self, QP_STR("query"), texts, 4, out, NULL), QP_OK);
    assert_int_equal(passes, 3); /* "ccc" alone is new; "a" stands there twice */
    for (int i = 0; i < 4; i++)
        assert_true(out[i * WIDTH] == (float)texts[i].n && out[i * WIDTH + 1] == 5);
    assert_true(m.spent_ms >= PASS_MS && m.spent_ms < 2 * PASS_MS + 2);
    assert_true(m.charged_ms > m.spent_ms + .9 * first);
    qp_meter_free(&m);
}

static void another_query_or_question_is_new_work(void **state)
{
    (void)state;
    qp_meter m;
    float out[4 * WIDTH];

    qp_meter_make(&m, &fake, true);
    const qp_model *model = qp_meter_model(&m);
    assert_int_equal(model->latent(model->self, QP_STR("one"), texts, 1, out, NULL), QP_OK);
    assert_int_equal(model->latent(model->self, QP_STR("other"), texts, 1, out, NULL), QP_OK);
    assert_true(out[1] == 5);
    assert_int_equal(model->rank(model->self, QP_STR("one"), texts, 1, out, NULL), QP_OK);
    assert_true(out[0] == -1);
    assert_int_equal(passes, 3);
    qp_meter_forget(&m);
    assert_int_equal(model->latent(model->self, QP_STR("one"), texts, 1, out, NULL), QP_OK);
    assert_int_equal(passes, 4);
    qp_meter_free(&m);
}

static void without_sharing_everything_is_asked(void **state)
{
    (void)state;
    qp_meter m;
    float out[4 * WIDTH];

    qp_meter_make(&m, &fake, false);
    const qp_model *model = qp_meter_model(&m);
    for (int i = 0; i < 2; i++)
        assert_int_equal(model->latent(model->self, QP_STR("q"), texts, 4, out, NULL), QP_OK);
    assert_int_equal(passes, 8);
    assert_true(m.charged_ms == m.spent_ms);
    qp_meter_free(&m);
}

static void a_failure_keeps_nothing_wrong(void **state)
{
    (void)state;
    qp_meter m;
    float out[4 * WIDTH];
    qp_err err = {0};

    qp_meter_make(&m, &fake, true);
    const qp_model *model = qp_meter_model(&m);
    broken = true;
    assert_int_equal(model->latent(model->self, QP_STR("q"), texts, 3, out, &err), QP_MODEL);
    broken = false;
    assert_int_equal(model->latent(model->self, QP_STR("q"), texts, 3, out, NULL), QP_OK);
    assert_int_equal(passes, 3);
    assert_true(out[2 * WIDTH] == 3);
    qp_meter_free(&m);
}

static void no_model_is_none(void **state)
{
    (void)state;
    qp_meter m;

    qp_meter_make(&m, NULL, true);
    assert_null(qp_meter_model(&m));
    qp_meter_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(second_asker_gets_what_the_first_paid_for, start),
        cmocka_unit_test_setup(another_query_or_question_is_new_work, start),
        cmocka_unit_test_setup(without_sharing_everything_is_asked, start),
        cmocka_unit_test_setup(a_failure_keeps_nothing_wrong, start),
        cmocka_unit_test_setup(no_model_is_none, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
