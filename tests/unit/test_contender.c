/* src/eval/contender: lists of methods with options, as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eval/contender.h"
#include "eval/eval.h"

static qp_code parse(const char *methods, const qp_setting *set, size_t n_set, qp_contender **all, uint32_t *n,
                     qp_arena *mem, qp_err *err)
{
    *err = (qp_err){0};
    return qp_contenders_parse(methods, set, n_set, 50, all, n, mem, err);
}

static const char *setting(const qp_contender *c, const char *key)
{
    const char *value = NULL;

    for (size_t i = 0; i < c->n_settings; i++)
        if (strcmp(c->settings[i].key, key) == 0)
            value = c->settings[i].value;
    return value;
}

static void lists_are_read(void **state)
{
    (void)state;
    qp_arena *mem = qp_arena_new();
    qp_setting set[] = {{"budget", "30"}};
    qp_contender *all;
    qp_err err;
    uint32_t n;

    assert_int_equal(parse("vector, gar:edges=cites,ref:batch=5,fastinsight:alpha=0.1:budget=20", set, 1, &all, &n, mem,
                           &err),
                     QP_OK);
    assert_int_equal(n, 3);
    assert_string_equal(all[0].name, "vector");
    assert_int_equal(all[0].n_settings, 0); /* it has no budget */
    assert_string_equal(all[1].name, "gar:edges=cites,ref:batch=5");
    assert_string_equal(all[1].method, "gar");
    assert_string_equal(setting(&all[1], "edges"), "cites,ref");
    assert_string_equal(setting(&all[1], "budget"), "30");
    assert_string_equal(setting(&all[2], "budget"), "20"); /* its own wins */
    qp_contenders_free(all, n);
    qp_arena_free(mem);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *methods, *key, *want;
    } cases[] = {
        {"vector,bm52", NULL, "bm52"},
        {"vector,vector", NULL, "twice"},
        {"vector,", NULL, "no name"},
        {"fastinsight:alhpa=.1", NULL, "alhpa"},
        {"fastinsight:alpha", NULL, "option=value"},
        {"fastinsight:alpha=2", NULL, "alpha"},
        {"vector,bm25", "alpha", "none of these methods"},
        {"fastinsight", "alhpa", "alhpa"},
    };
    qp_arena *mem = qp_arena_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_setting set = {cases[i].key, "1"};
        qp_contender *all;
        qp_err err;
        uint32_t n;

        assert_int_equal(parse(cases[i].methods, &set, cases[i].key != NULL, &all, &n, mem, &err), QP_INPUT);
        if (!strstr(err.message, cases[i].want))
            fail_msg("%s: \"%s\"", cases[i].methods, err.message);
    }
    qp_arena_free(mem);
}

static void needs_are_known(void **state)
{
    (void)state;
    qp_setting answers[] = {{"task", "answers"}, {"extract", "true"}};
    unsigned needs;

    assert_int_equal(qp_evaluate_needs(".", &(qp_eval_options){.methods = "bm25"}, &needs, NULL), QP_OK);
    assert_int_equal(needs, 0);
    assert_int_equal(qp_evaluate_needs(".", &(qp_eval_options){.methods = "vector,gar"}, &needs, NULL), QP_OK);
    assert_int_equal(needs, QP_NEEDS_EMBEDDER | QP_NEEDS_RANKER);
    assert_int_equal(qp_evaluate_needs(".", &(qp_eval_options){.methods = "bm25", .settings = answers, .n_settings = 1},
                                       &needs, NULL),
                     QP_OK);
    assert_int_equal(needs, QP_NEEDS_EMBEDDER | QP_LIKES_WRITER);
    assert_int_equal(qp_evaluate_needs(".", &(qp_eval_options){.methods = "bm25", .settings = answers, .n_settings = 2},
                                       &needs, NULL),
                     QP_OK);
    assert_int_equal(needs, QP_NEEDS_EMBEDDER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(needs_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
