/* The encoder, its tokeniser and its head against PyTorch and HF tokenizers (tests/reference/bert.py), and what must be
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yyjson.h>

#include "base/thread.h"
#include "model/keys.h"
#include "model/kernel.h"
#include "model/model.h"
#include "model/tokens.h"
#include "tiny_bert.h"

static qp_model *open_variant(uint32_t pooling, int segments, qp_purpose purpose)
{
    char *path = tiny_bert(pooling, segments);
    qp_model *m = NULL;
    qp_err err = {0};
    qp_code code = qp_model_open_bert(path, purpose, 2, &m, &err);
    unlink(path);
    free(path);
    if (code)
        fail_msg("%s", err.message);
    return m;
}

/* ---- the reference: one JSON object a line ---- */

typedef struct lines {
    const char *path;
    qp_buf text;
    qp_str rest;
    yyjson_doc *doc;
} lines;

static yyjson_val *next_line(lines *l)
{
    if (!l->text.at) {
        const char *path = l->path ? l->path : "tests/reference/bert/tiny.jsonl";
        assert_int_equal(qp_file_read(path, 0, &l->text, NULL), QP_OK);
        l->rest = qp_buf_view(&l->text);
    }
    yyjson_doc_free(l->doc);
    l->doc = NULL;
    qp_str line = qp_str_split(l->rest, '\n', &l->rest);
    if (line.n)
        assert_non_null(l->doc = yyjson_read(line.at, line.n, 0));
    else
        qp_buf_free(&l->text);
    return l->doc ? yyjson_doc_get_root(l->doc) : NULL;
}

static qp_str member(yyjson_val *line, const char *name)
{
    yyjson_val *v = yyjson_obj_get(line, name);
    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

static void assert_vector(yyjson_val *wanted, const float *found, size_t n, double tolerance)
{
    assert_int_equal(yyjson_arr_size(wanted), n);
    size_t i, most;
    yyjson_val *v;
    yyjson_arr_foreach(wanted, i, most, v)
        if (!(fabs(yyjson_get_num(v) - found[i]) <= tolerance))
            fail_msg("place %zu: wanted %g, found %g", i, yyjson_get_num(v), found[i]);
}

/* ---- what must hold ---- */

static void tokens_are_those_of_hf(void **state)
{
    (void)state;
    qp_gguf g;
    qp_tokenizer t;
    assert_int_equal(qp_gguf_open(TINY, &g, NULL), QP_OK);
    assert_int_equal(qp_tokenizer_open(&g, &t, NULL), QP_OK);
    lines l = {0};
    for (yyjson_val *line; (line = next_line(&l));) {
        yyjson_val *wanted = yyjson_obj_get(line, "ids"), *v;
        if (!wanted)
            continue;
        qp_ids ids = {0};
        qp_tokenizer_run(&t, member(line, "text"), UINT32_MAX, &ids);
        size_t i, most;
        if (ids.n != yyjson_arr_size(wanted))
            fail_msg("'%s': %u tokens, wanted %zu", member(line, "text").at, ids.n, yyjson_arr_size(wanted));
        yyjson_arr_foreach(wanted, i, most, v)
            if (ids.at[i] != yyjson_get_int(v))
                fail_msg("'%s': token %zu is %d, wanted %d", member(line, "text").at, i, ids.at[i], yyjson_get_int(v));
        free(ids.at);
    }
    qp_tokenizer_close(&t);
    qp_gguf_close(&g);
}

static void embeddings_are_those_of_pytorch(void **state)
{
    (void)state;
    qp_model *mean = open_variant(1, -1, QP_EMBEDDER), *first = open_variant(2, -1, QP_EMBEDDER);
    lines l = {0};
    for (yyjson_val *line; (line = next_line(&l));) {
        float out[36];
        qp_str text = member(line, "text");
        if (!yyjson_obj_get(line, "mean"))
            continue;
        assert_int_equal(mean->embed(mean->self, QP_PASSAGE, &text, 1, out, NULL), QP_OK);
        assert_vector(yyjson_obj_get(line, "mean"), out, 36, 3e-6);
        assert_int_equal(first->embed(first->self, QP_QUERY, &text, 1, out, NULL), QP_OK);
        assert_vector(yyjson_obj_get(line, "first"), out, 36, 3e-6);
    }
    qp_model_close(mean);
    qp_model_close(first);
}

/* Of parts of a text, in the pass that makes the whole's. */
static void spans_are_those_of_pytorch(void **state)
{
    (void)state;
    qp_model *m = open_variant(1, -1, QP_EMBEDDER), *first = open_variant(2, -1, QP_EMBEDDER);
    lines l = {0};
    assert_null(first->embed_spans); /* its vectors are no means over tokens */
    qp_model_close(first);
    for (yyjson_val *line; (line = next_line(&l));) {
        const qp_str text[] = {QP_STR("the walk"), member(line, "text"), QP_STR("graph")};
        yyjson_val *spans = yyjson_obj_get(line, "spans"), *v;
        qp_text_span span[5] = {{0, 0, 8}};
        float out[3 * 36], alone[36], of_spans[5 * 36];
        size_t i, most;
        if (!spans)
            continue;
        yyjson_arr_foreach(spans, i, most, v)
            span[1 + i] = (qp_text_span){1, (uint32_t)yyjson_get_uint(yyjson_arr_get(v, 0)),
                                         (uint32_t)yyjson_get_uint(yyjson_arr_get(v, 1))};
        span[4] = (qp_text_span){2, 5, 5};
        assert_int_equal(m->embed_spans(m->self, text, 3, span, 5, out, of_spans, NULL), QP_OK);
        assert_int_equal(m->embed(m->self, QP_PASSAGE, text + 1, 1, alone, NULL), QP_OK);
        assert_memory_equal(alone, out + 36, sizeof alone);
        yyjson_arr_foreach(spans, i, most, v)
            assert_vector(yyjson_arr_get(v, 2), of_spans + (1 + i) * 36, 36, 3e-6);
        for (i = 0; i < 36; i++)
            assert_true(of_spans[4 * 36 + i] == 0); /* no word begins there */
    }
    qp_model_close(m);
}

static void latents_and_scores_are_those_of_pytorch(void **state)
{
    (void)state;
    qp_model *models[] = {open_variant(4, 0, QP_RANKER), open_variant(4, 1, QP_RANKER)};
    lines l = {0};
    for (yyjson_val *line; (line = next_line(&l));) {
        if (!yyjson_obj_get(line, "query"))
            continue;
        qp_model *m = models[yyjson_get_int(yyjson_obj_get(line, "segment"))];
        qp_str text = member(line, "text");
        float latent[36], score, ranked;
        assert_int_equal(m->latent(m->self, member(line, "query"), &text, 1, latent, NULL), QP_OK);
        assert_vector(yyjson_obj_get(line, "latent"), latent, 36, 2e-5);
        assert_int_equal(m->head(m->self, latent, 1, &score, NULL), QP_OK);
        assert_float_equal(score, yyjson_get_num(yyjson_obj_get(line, "score")), 2e-5);
        assert_int_equal(m->rank(m->self, member(line, "query"), &text, 1, &ranked, NULL), QP_OK);
        assert_true(ranked == score);
    }
    qp_model_close(models[0]);
    qp_model_close(models[1]);
}

/* Other vocabularies and families, as imported (tests/reference/families.py). */
static void the_other_families_are_those_of_pytorch(void **state)
{
    static const char *const kinds[] = {"bert-reranker", "roberta-reranker", "xlmr", "xlmr-json"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char folder[100], path[200], models[] = "/tmp/quipu-families-XXXXXX";
        qp_model *m = NULL;
        qp_err err = {0};
        bool ranks = strstr(kinds[k], "reranker") != NULL;
        assert_non_null(mkdtemp(models));
        setenv("QUIPU_MODELS", models, 1);
        snprintf(folder, sizeof folder, "tests/reference/import/%s", kinds[k]);
        if (qp_model_import(folder, "it", (qp_setting[]){{"type", "f32"}}, 1, NULL, &err))
            fail_msg("%s", err.message);
        snprintf(path, sizeof path, "%s/it.gguf", models);
        if (qp_model_open_bert(path, ranks ? QP_RANKER : QP_EMBEDDER, 1, &m, &err))
            fail_msg("%s", err.message);
        unlink(path);
        rmdir(models);
        snprintf(path, sizeof path, "%s/expected.jsonl", folder);
        lines l = {.path = path};
        for (yyjson_val *line; (line = next_line(&l));) {
            float out[16];
            qp_str text = member(line, "text");
            if (ranks) {
                assert_int_equal(m->rank(m->self, member(line, "query"), &text, 1, out, NULL), QP_OK);
                if (fabs(out[0] - yyjson_get_num(yyjson_obj_get(line, "score"))) > 2e-5)
                    fail_msg("%s: '%s' with '%s' is %g, wanted %g", kinds[k], member(line, "query").at, text.at, out[0],
                             yyjson_get_num(yyjson_obj_get(line, "score")));
            } else {
                assert_int_equal(m->embed(m->self, QP_PASSAGE, &text, 1, out, NULL), QP_OK);
                assert_vector(yyjson_obj_get(line, "vector"), out, 16, 1e-5);
            }
        }
        qp_model_close(m);
    }
    unsetenv("QUIPU_MODELS");
}

/* SPLADE's weights (tests/reference/families.py). A weight near 0 may be there or not. */
static void learned_terms_are_those_of_pytorch(void **state)
{
    const char *folder = "tests/reference/import/splade";
    char path[200], models[] = "/tmp/quipu-splade-XXXXXX";
    qp_model *m = NULL;
    qp_err err = {0};
    qp_arena *a = qp_arena_new();
    uint32_t seen = 0;
    (void)state;
    assert_non_null(mkdtemp(models));
    setenv("QUIPU_MODELS", models, 1);
    if (qp_model_import(folder, "it", (qp_setting[]){{"type", "f32"}}, 1, NULL, &err))
        fail_msg("%s", err.message);
    unsetenv("QUIPU_MODELS");
    snprintf(path, sizeof path, "%s/it.gguf", models);
    assert_int_equal(qp_model_open_bert(path, QP_EMBEDDER, 1, &m, &err), QP_MODEL); /* it makes no vectors */
    assert_int_equal(qp_model_open_bert(path, QP_SPARSE, 2, &m, NULL), QP_OK);
    unlink(path);
    rmdir(models);
    snprintf(path, sizeof path, "%s/expected.jsonl", folder);
    lines l = {.path = path};
    for (yyjson_val *line; (line = next_line(&l)); seen++) {
        const qp_str text = member(line, "text"), both[] = {QP_STR("graph the walking"), text};
        yyjson_val *wanted = yyjson_obj_get(line, "terms");
        qp_sparse out[2];
        assert_int_equal(m->weigh(m->self, QP_PASSAGE, both, 2, out, a, NULL), QP_OK);
        float found[65] = {0};
        assert_int_equal(m->terms, 65);
        for (uint32_t i = 0; i < out[1].n; i++) {
            assert_true(out[1].weight[i] > 0 && (!i || out[1].term[i] > out[1].term[i - 1]));
            found[out[1].term[i]] = out[1].weight[i];
        }
        for (int i = 0; i < 65; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            double weight = yyjson_get_num(yyjson_obj_get(wanted, key));
            if (fabs(found[i] - weight) > 1e-5)
                fail_msg("'%s': term %d weighs %g, wanted %g", text.at, i, found[i], weight);
        }
    }
    assert_true(seen >= 5);
    qp_arena_free(a);
    qp_model_close(m);
}

/* The same bits whatever is beside a text in a call, and in however many threads the call is made. */
typedef struct crowd {
    qp_model *m;
    const qp_str *text;
    const float *alone; /* n x 36 */
    uint32_t n;
} crowd;

static qp_code embed_all(void *self, int worker, size_t i, qp_err *err)
{
    (void)worker, (void)i;
    const crowd *c = self;
    float *out = malloc((size_t)c->n * 36 * sizeof *out);
    qp_code code = c->m->embed(c->m->self, QP_PASSAGE, c->text, c->n, out, err);
    if (!code && memcmp(out, c->alone, (size_t)c->n * 36 * sizeof *out))
        code = qp_fail(err, QP_BUG, "a vector depends on its neighbours");
    free(out);
    return code;
}

static void result_depends_on_the_text_alone(void **state)
{
    (void)state;
    enum { N = 150 };
    qp_model *m = open_variant(1, -1, QP_EMBEDDER);
    qp_str text[N];
    char bytes[N + 1];
    float *alone = malloc(N * 36 * sizeof *alone);
    memset(bytes, 'a', N);
    for (int i = 0; i < N; i++) {
        bytes[i] = i % 3 ? ' ' : 'b';
        text[i] = (qp_str){bytes, (size_t)(i * 37 % N)};
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(m->embed(m->self, QP_PASSAGE, text + i, 1, alone + (size_t)i * 36, NULL), QP_OK);
    qp_err err = {0};
    if (qp_parallel(4, 8, embed_all, &(crowd){m, text, alone, N}, &err))
        fail_msg("%s", err.message);
    free(alone);
    qp_model_close(m);
}

static void every_kernel_multiplies(void **state)
{
    (void)state;
    enum { M = 15, N = 37, K = 401 };
    static float a[M * K], w[N * K], bias[N], c[M * N];
    for (int i = 0; i < M * K; i++)
        a[i] = (float)((i * 7919) % 101 - 50) / 50;
    for (int i = 0; i < N * K; i++)
        w[i] = (float)((i * 104729) % 97 - 48) / 48;
    for (int i = 0; i < N; i++)
        bias[i] = (float)i;
    for (const qp_kernels *const *k = qp_kernels_all(); *k; k++) {
        if (!(*k)->usable())
            continue;
        void *panels = aligned_alloc(64, (qp_packed_size(*k, N, K) * (*k)->item + 63) / 64 * 64);
        (*k)->pack(panels, w, K, 1, N, K);
        for (int add = 0; add < 2; add++) { /* the second run adds to the first */
            (*k)->gemm(a, K, M, panels, N, K, bias, add, c, N);
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++) {
                    double sum = bias[j];
                    for (int x = 0; x < K; x++)
                        sum += (double)a[i * K + x] * w[j * K + x];
                    assert_float_equal(c[i * N + j], (1 + add) * sum, 2e-3);
                }
        }
        free(panels);
    }
}

static void every_kernel_has_the_functions(void **state)
{
    (void)state;
    enum { N = 1003 };
    for (const qp_kernels *const *k = qp_kernels_all(); *k; k++) {
        if (!(*k)->usable())
            continue;
        static float x[N];
        for (int i = 0; i < N; i++)
            x[i] = (float)(i - 500) / 50;
        (*k)->gelu(x, N);
        for (int i = 0; i < N; i++) {
            double z = (i - 500) / 50.;
            assert_float_equal(x[i], z / 2 * erfc(-z / sqrt(2)), 2e-6);
        }
        for (int i = 0; i < N; i++)
            x[i] = (float)(i - 500) / 50;
        (*k)->tanh(x, N);
        for (int i = 0; i < N; i++)
            assert_float_equal(x[i], tanh((i - 500) / 50.), 3e-7);
        double total = 0, found = 0;
        for (int i = 0; i < N; i++)
            total += exp(.5 * ((i - 500) / 5. - 100.4));
        for (int i = 0; i < N; i++)
            x[i] = (float)(i - 500) / 5;
        (*k)->softmax(x, N, .5f);
        for (int i = 0; i < N; i++) {
            assert_float_equal(x[i], exp(.5 * ((i - 500) / 5. - 100.4)) / total, 1e-6);
            found += x[i];
        }
        assert_float_equal(found, 1, 1e-5);
    }
}

/* ---- what is refused ---- */

static void assert_refused(const char *path, qp_purpose purpose, const char *because)
{
    qp_model *m = NULL;
    qp_err err = {0};
    assert_int_equal(qp_model_open_bert(path, purpose, 1, &m, &err), QP_MODEL);
    assert_null(m);
    if (!strstr(err.message, because))
        fail_msg("'%s' does not say '%s'", err.message, because);
    assert_null(strchr(err.message, '\n'));
}

static void what_would_score_wrongly_is_refused(void **state)
{
    (void)state;
    char *silent = tiny_bert(4, -1), *wrong = tiny_bert(4, 2), *unpooled = tiny_bert(0, -1);
    assert_refused(silent, QP_RANKER, QP_KEY_SEGMENTS);
    assert_refused(wrong, QP_RANKER, "wanted 0 or 1");
    assert_refused(silent, QP_EMBEDDER, "is a reranker");
    assert_refused(unpooled, QP_EMBEDDER, "does not say how to pool");
    assert_refused(unpooled, QP_WRITER, "cannot write");
    assert_refused("/nowhere/at/all.gguf", QP_RANKER, "/nowhere/at/all.gguf");
    assert_refused("tests/reference/bert.py", QP_RANKER, "not a GGUF");
    unlink(silent), unlink(wrong), unlink(unpooled);
    free(silent), free(wrong), free(unpooled);
}

/* Ones in every bit are no number, in each format that weights have. */
static void weights_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    char *path = tiny_bert(1, -1);
    struct gguf_context *g = gguf_init_from_file(path, (struct gguf_init_params){.no_alloc = true});
    assert_non_null(g);
    const int64_t tensor = gguf_find_tensor(g, "blk.1.ffn_up.weight");
    assert_true(tensor >= 0);
    const size_t at = gguf_get_data_offset(g) + gguf_get_tensor_offset(g, tensor);
    gguf_free(g);
    FILE *f = fopen(path, "r+b");
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite("\xff\xff\xff\xff", 1, 4, f), 4);
    fclose(f);
    assert_refused(path, QP_EMBEDDER, "blk.1.ffn_up.weight");
    unlink(path);
    free(path);
}

/* Cut at any length: an error, no crash. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    qp_buf whole = {0};
    assert_int_equal(qp_file_read(TINY, 0, &whole, NULL), QP_OK);
    char path[] = "/tmp/quipu-bert-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t n = 0; n < whole.n; n += n < 200 ? 1 : 997) {
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, whole.at, n, 0), (ssize_t)n);
        assert_refused(path, QP_EMBEDDER, path);
    }
    close(fd);
    unlink(path);
    qp_buf_free(&whole);
}

int main(void)
{
    setenv("QUIPU_PRECISION", "f32", 1); /* what others computed, they computed in floats */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_hf),
        cmocka_unit_test(embeddings_are_those_of_pytorch),
        cmocka_unit_test(spans_are_those_of_pytorch),
        cmocka_unit_test(the_other_families_are_those_of_pytorch),
        cmocka_unit_test(learned_terms_are_those_of_pytorch),
        cmocka_unit_test(latents_and_scores_are_those_of_pytorch),
        cmocka_unit_test(result_depends_on_the_text_alone),
        cmocka_unit_test(every_kernel_multiplies),
        cmocka_unit_test(every_kernel_has_the_functions),
        cmocka_unit_test(what_would_score_wrongly_is_refused),
        cmocka_unit_test(weights_that_are_no_numbers_are_refused),
        cmocka_unit_test(cut_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
