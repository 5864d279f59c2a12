/* GEAR's head vectors against PyTorch's (tests/reference/heads.py), of our encoder and of llama.cpp's graphs; what must
 * not change them; what has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <yyjson.h>

#include "base/thread.h"
#include "tiny_bert.h"
#include "model/decoder.h"
#include "model/model.h"

#define DECODER "tests/reference/heads/decoder.gguf"

static qp_model *open_model(const char *path, int threads)
{
    qp_model *m = NULL;
    qp_err err = {0};
    if (qp_model_open(QP_ATTENTION, path, threads, &m, &err))
        fail_msg("%s", err.message);
    return m;
}

static float *attend(const qp_model *m, const qp_str *text, uint32_t n)
{
    float *out = malloc((size_t)n * m->heads * m->head_dim * sizeof *out);
    qp_err err = {0};
    if (m->attend(m->self, QP_PASSAGE, text, n, out, &err))
        fail_msg("%s", err.message);
    return out;
}

/* ---- PyTorch ---- */

static void compare_line(const qp_model *m, yyjson_val *line, double tolerance)
{
    yyjson_val *text = yyjson_obj_get(line, "text"), *wanted = yyjson_obj_get(line, "heads"), *v;
    qp_str s = {yyjson_get_str(text), yyjson_get_len(text)};
    float *found = attend(m, &s, 1);
    size_t i, n;
    assert_int_equal(yyjson_arr_size(wanted), m->heads * m->head_dim);
    yyjson_arr_foreach(wanted, i, n, v)
        if (!(fabs(yyjson_get_num(v) - found[i]) <= tolerance))
            fail_msg("'%s': place %zu is %g, wanted %g", s.at, i, found[i], yyjson_get_num(v));
    free(found);
}

static void compare_all(qp_model *m, const char *reference, double tolerance)
{
    qp_buf all = {0};
    uint32_t lines = 0;
    assert_int_equal(qp_file_read(reference, 0, &all, NULL), QP_OK);
    for (qp_str rest = qp_buf_view(&all); rest.n; lines++) {
        qp_str line = qp_str_split(rest, '\n', &rest);
        yyjson_doc *doc = yyjson_read(line.at, line.n, 0);
        assert_non_null(doc);
        compare_line(m, yyjson_doc_get_root(doc), tolerance);
        yyjson_doc_free(doc);
    }
    assert_true(lines >= 10);
    qp_buf_free(&all);
    qp_model_close(m);
}

static void our_encoder_is_pytorchs(void **state)
{
    (void)state;
    qp_model *m = open_model("tests/reference/bert/tiny.gguf", 1);
    assert_int_equal(m->heads, 3);
    assert_int_equal(m->head_dim, 12);
    compare_all(m, "tests/reference/heads/bert.jsonl", 1e-5);
}

/* Three blocks, two query heads that share one key and value: our decoder, and llama.cpp's. */
static void both_decoders_are_pytorchs(void **state)
{
    (void)state;
    qp_model *ours = open_model(DECODER, 2), *theirs = NULL;
    assert_int_equal(qp_model_open_llama(DECODER, QP_ATTENTION, 2, &theirs, NULL), QP_OK);
    assert_true(ours->heads == 2 && ours->head_dim == 16 && theirs->heads == 2 && theirs->head_dim == 16);
    assert_string_not_equal(ours->digest, theirs->digest);
    compare_all(ours, "tests/reference/heads/decoder.jsonl", 2e-5);
    compare_all(theirs, "tests/reference/heads/decoder.jsonl", 1e-4);
}

/* A file with a key that our decoder does not know is run by llama.cpp, which does. */
static void an_unknown_key_goes_to_llama(void **state)
{
    (void)state;
    const char *const with[] = {"llama.rope.scaling.type", "llama.expert_count", "general.anything"};
    qp_gguf g;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(qp_gguf_open(DECODER, &g, NULL), QP_OK);
        assert_true(qp_decoder_takes(&g));
        gguf_set_val_str(g.meta, with[i], "none");
        assert_int_equal(qp_decoder_takes(&g), i == 2);
        qp_gguf_close(&g);
    }
    assert_int_equal(qp_gguf_open("tests/reference/bert/tiny.gguf", &g, NULL), QP_OK);
    assert_false(qp_decoder_takes(&g));
    qp_gguf_close(&g);
}

/* llama.cpp's own encoders: the mean of all rows, as ours. */
static void both_encoders_agree(void **state)
{
    (void)state;
    const qp_str text[] = {QP_STR("the graph walks"), QP_STR("vitamin 50% caf\xc3\xa9 b"), QP_STR("")};
    char *path = tiny_bert(1, -1);
    qp_model *ours = open_model(path, 1), *theirs = NULL;
    assert_int_equal(qp_model_open_llama(path, QP_ATTENTION, 2, &theirs, NULL), QP_OK);
    assert_int_equal(theirs->heads, 3);
    float *a = attend(ours, text, 3), *b = attend(theirs, text, 3);
    for (int i = 0; i < 3 * 36; i++)
        assert_float_equal(a[i], b[i], 2e-3); /* its GELU is a table of halves */
    assert_string_not_equal(ours->digest, theirs->digest);
    qp_model_close(ours);
    qp_model_close(theirs);
    free(a), free(b);
    unlink(path);
    free(path);
}

/* ---- the text alone decides ---- */

enum { N = 60, LONGEST = 300 };

typedef struct crowd {
    const qp_model *m;
    const qp_str *text;
    const float *alone;
} crowd;

static qp_code attend_all(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker, (void)i;
    const crowd *c = self;
    const size_t row = (size_t)c->m->heads * c->m->head_dim;
    float *out = malloc(N * row * sizeof *out);
    qp_code code = c->m->attend(c->m->self, QP_QUERY, c->text, N, out, err);
    for (size_t k = 0; k < N && !code; k++)
        if (memcmp(out + k * row, c->alone + k * row, row * sizeof *out))
            code = qp_fail(err, QP_BUG, "the attention of text %zu depends on its neighbours", k);
    free(out);
    return code;
}

/* The same bits whatever is beside a text in a call, on one thread or on four, and in calls at once. */
static void only_the_text_matters(void **state)
{
    (void)state;
    static const char *const paths[] = {"hash", "tests/reference/bert/tiny.gguf", DECODER, DECODER};
    char bytes[LONGEST + 1];
    qp_str text[N];
    memset(bytes, 'a', sizeof bytes);
    for (int i = 0; i < N; i++) { /* many are of one length; some longer than the model takes */
        bytes[i] = i % 3 ? ' ' : 'b';
        text[i] = (qp_str){bytes + i % 7, (size_t)(i % 4 ? i % 9 : i * 37 % LONGEST)};
    }
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        qp_model *one = NULL, *four = NULL;
        for (int threads = 1; threads < 5; threads += 3) { /* the last is run by llama.cpp */
            qp_model **m = threads > 1 ? &four : &one;
            if (k == 3)
                assert_int_equal(qp_model_open_llama(DECODER, QP_ATTENTION, threads, m, NULL), QP_OK);
            else
                *m = open_model(paths[k], threads);
        }
        const size_t row = (size_t)one->heads * one->head_dim;
        float *alone = malloc(N * row * sizeof *alone);
        qp_err err = {0};
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(one->attend(one->self, QP_PASSAGE, text + i, 1, alone + i * row, NULL), QP_OK);
        if (attend_all(&(crowd){one, text, alone}, 0, 0, &err) ||
            qp_parallel(3, 3, attend_all, &(crowd){four, text, alone}, &err))
            fail_msg("%s: %s", paths[k], err.message);
        float *again = attend(four, text, 1); /* its threads share one text */
        assert_memory_equal(again, alone, row * sizeof *again);
        free(again);
        free(alone);
        qp_model_close(one);
        qp_model_close(four);
    }
}

/* ---- who has heads, and by which name they are kept ---- */

static void a_model_is_opened_for_one_thing(void **state)
{
    (void)state;
    static const char *const paths[] = {"hash", "tests/reference/bert/tiny.gguf", DECODER};
    static const qp_purpose others[] = {QP_EMBEDDER, QP_SPARSE, QP_WRITER};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        qp_model *m = open_model(paths[k], 1), *other = NULL;
        for (size_t p = 0; p < sizeof others / sizeof *others; p++)
            if (!qp_model_open(others[p], paths[k], 1, &other, NULL)) {
                assert_string_not_equal(m->digest, other->digest);
                qp_model_close(other);
            }
        assert_true(m->heads && m->head_dim);
        assert_int_equal(m->attend(m->self, QP_PASSAGE, NULL, 0, NULL, NULL), QP_OK);
        qp_model_close(m);
    }
}

static void models_far_away_show_none(void **state)
{
    (void)state;
    qp_model *m = NULL;
    qp_err err = {0};
    assert_int_equal(qp_model_open(QP_ATTENTION, "openai:gpt-5@http://127.0.0.1:1/v1", 1, &m, &err), QP_MODEL);
    assert_non_null(strstr(err.message, "nothing of its attention"));
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_encoder_is_pytorchs),      cmocka_unit_test(both_decoders_are_pytorchs),
        cmocka_unit_test(an_unknown_key_goes_to_llama), cmocka_unit_test(both_encoders_agree),
        cmocka_unit_test(only_the_text_matters),        cmocka_unit_test(a_model_is_opened_for_one_thing),
        cmocka_unit_test(models_far_away_show_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
