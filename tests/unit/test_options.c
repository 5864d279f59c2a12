/* Option tables: defaults, values, and what is said about those that are refused; the catalogue made from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <yyjson.h>

#include "method/method.h"
#include "op/ops.h"

typedef struct sample {
    bool b;
    int64_t i;
    double f;
    const char *t, *e, *unset;
} sample;

static const qp_opt opts[] = {{"bool", "", QP_BOOL, offsetof(sample, b), "true", 0, 0, NULL},
                              {"int", "", QP_INT, offsetof(sample, i), "7", -5, 1e15, NULL},
                              {"float", "", QP_FLOAT, offsetof(sample, f), "0.25", 0, INFINITY, NULL},
                              {"text", "", QP_TEXT, offsetof(sample, t), "a b", 0, 0, NULL},
                              {"choice", "", QP_ENUM, offsetof(sample, e), "one", 0, 0, "one|two"},
                              {"unset", "", QP_TEXT, offsetof(sample, unset), NULL, 0, 0, NULL},
                              {0}};
static const qp_op op = {.name = "sample", .opts = opts, .opt_size = sizeof(sample)};

static void defaults_and_values(void **state)
{
    (void)state;
    qp_arena *mem = qp_arena_new();
    qp_err err = {0};
    const sample *s = qp_options_new(&op, NULL, 0, mem, &err);
    assert_true(s->b && s->i == 7 && s->f == .25 && !s->unset);
    assert_string_equal(s->t, "a b");
    assert_string_equal(s->e, "one");
    qp_setting set[] = {{"bool", "off"}, {"int", "-5"},     {"float", "inf"},
                        {"text", ""},    {"choice", "two"}, {"int", "1e3"}};
    s = qp_options_new(&op, set, 6, mem, &err);
    assert_true(!s->b && s->i == 1000 && isinf(s->f) && !*s->t);
    char text[200];
    qp_options_print(&op, s, text, sizeof text);
    assert_string_equal(text, "bool=false int=1000 float=inf choice=two");
    qp_options_print(&op, s, text, 8); /* cut */
    assert_string_equal(text, "bool=fa");
    qp_arena_free(mem);
}

static void refused(const char *key, const char *value, const char *message)
{
    qp_arena *mem = qp_arena_new();
    qp_err err = {0};
    assert_null(qp_options_new(&op, &(qp_setting){key, value}, 1, mem, &err));
    assert_int_equal(err.code, QP_INPUT);
    assert_string_equal(err.message, message);
    qp_arena_free(mem);
}

static void refusals(void **state)
{
    (void)state;
    refused("flot", "1", "'sample' has no option 'flot' (float?)");
    refused("xyzzy", "1", "'sample' has no option 'xyzzy': `quipu help sample` lists them");
    refused("int", "1.5", "'sample': int wants a whole number, found '1.5'");
    refused("int", "", "'sample': int wants a whole number, found ''");
    refused("int", "-6", "'sample': int goes from -5 to 1e+15, found '-6'");
    refused("int", "1e300", "'sample': int goes from -5 to 1e+15, found '1e300'");
    refused("float", "0.2x", "'sample': float wants a number, found '0.2x'");
    refused("float", "0,2", "'sample': float wants a number, found '0,2'");
    refused("float", "nan", "'sample': float wants a number, found 'nan'");
    refused("bool", "maybe", "'sample': bool wants true or false, found 'maybe'");
    refused("choice", "on", "'sample': choice is one of one|two, found 'on'");
    refused("choice", "one|two", "'sample': choice is one of one|two, found 'one|two'");
}

/* Every table: its defaults are values that it allows, and lie inside its struct. */
static void every_table_is_sound(void **state)
{
    (void)state;
    const qp_op *const *tables[] = {qp_ops(), qp_methods()};
    for (int t = 0; t < 2; t++) {
        for (const qp_op *const *o = tables[t]; *o; o++) {
            qp_arena *mem = qp_arena_new();
            qp_err err = {0};
            assert_non_null(qp_options_new(*o, NULL, 0, mem, &err));
            assert_string_equal(err.message, "");
            for (const qp_opt *i = (*o)->opts; i && i->name; i++)
                assert_true(i->offset + (i->type == QP_BOOL ? sizeof(bool) : 8) <= (*o)->opt_size);
            assert_true((*o)->help && (*o)->source && (*o)->run && (*o)->in_min <= (*o)->in_max);
            qp_arena_free(mem);
        }
    }
}

static void the_catalogue(void **state)
{
    (void)state;
    const char *what[] = {"methods", "ops"};
    for (int i = 0; i < 2; i++) {
        char *json = NULL;
        assert_int_equal(qp_catalogue(what[i], &json, NULL), QP_OK);
        yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
        yyjson_val *first = yyjson_arr_get_first(yyjson_doc_get_root(doc));
        assert_string_equal(yyjson_get_str(yyjson_obj_get(first, "name")), i ? "search" : "fastinsight");
        yyjson_val *option = yyjson_arr_get_first(yyjson_obj_get(first, "options"));
        assert_string_equal(yyjson_get_str(yyjson_obj_get(option, "name")), i ? "index" : "batch");
        assert_string_equal(yyjson_get_str(yyjson_obj_get(option, "default")), i ? "node.dense" : "10");
        yyjson_doc_free(doc);
        free(json);
    }
    qp_err err = {0};
    char *json = NULL;
    assert_int_equal(qp_catalogue("opps", &json, &err), QP_USAGE);
}

static void methods_are_found(void **state)
{
    (void)state;
    const qp_op *found = NULL;
    bool owned;
    qp_err err = {0};
    assert_int_equal(qp_method_find("gar", &found, &owned, &err), QP_OK);
    assert_string_equal(found->name, "gar");
    assert_false(owned);
    assert_int_equal(qp_method_find("fastinsigt", &found, &owned, &err), QP_INPUT);
    assert_string_equal(err.message, "no method 'fastinsigt' (fastinsight?)");
    err = (qp_err){0};
    assert_int_equal(qp_method_find("nowhere.yaml", &found, &owned, &err), QP_INPUT);
}

int main(void)
{
    setlocale(LC_ALL, ""); /* a program may have set one: numbers are read with a point all the same */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_and_values),  cmocka_unit_test(refusals),
        cmocka_unit_test(every_table_is_sound), cmocka_unit_test(the_catalogue),
        cmocka_unit_test(methods_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
