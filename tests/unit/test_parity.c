/* The default embedder on real texts against PyTorch and HF tokenizers, a small part of what tests/reference/parity.py
 * compares. Skipped where the model is not on this machine (quipu model pull all-MiniLM-L6-v2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/file.h"
#include "model/model.h"
#include "model/tokens.h"

#define MODEL "all-MiniLM-L6-v2"
#define REFERENCE "tests/reference/parity/minilm.jsonl"

typedef struct fixture {
    qp_arena *mem;
    qp_model *model;
    qp_tokenizer tokens;
    float *vector;
    qp_ids ids;
} fixture;

static int open_model(void **state)
{
    static fixture f;
    char *path = NULL;
    qp_gguf file;
    qp_err err = {0};
    f.mem = qp_arena_new();
    if (qp_registry_find(QP_EMBEDDER, MODEL, &path, f.mem, &err)) {
        printf("%s\n", err.message);
        exit(77);
    }
    if (qp_model_open(QP_EMBEDDER, path, 1, &f.model, &err) || qp_gguf_open(path, &file, &err) ||
        qp_tokenizer_open(&file, &f.tokens, &err)) {
        printf("%s\n", err.message);
        return -1;
    }
    qp_gguf_close(&file);
    f.vector = malloc(f.model->dim * sizeof *f.vector);
    *state = &f;
    return 0;
}

static int close_model(void **state)
{
    fixture *f = *state;
    qp_tokenizer_close(&f->tokens);
    qp_model_close(f->model);
    qp_arena_free(f->mem);
    free(f->vector);
    free(f->ids.at);
    return 0;
}

static void check_tokens(fixture *f, qp_str text, yyjson_val *wanted)
{
    size_t i, n;
    yyjson_val *id;
    f->ids.n = 0;
    qp_tokenizer_run(&f->tokens, text, UINT32_MAX, &f->ids);
    assert_int_equal(f->ids.n, yyjson_arr_size(wanted));
    yyjson_arr_foreach(wanted, i, n, id)
        assert_int_equal(f->ids.at[i], yyjson_get_int(id));
}

/* The file's weights are BF16; the reference is PyTorch in F32, rounded to four digits. */
static void check_vector(fixture *f, qp_str text, yyjson_val *wanted)
{
    size_t i, n;
    yyjson_val *item;
    double dot = 0, square = 0;
    qp_err err = {0};
    if (f->model->embed(f->model->self, QP_PASSAGE, &text, 1, f->vector, &err))
        fail_msg("%s", err.message);
    assert_int_equal(f->model->dim, yyjson_arr_size(wanted));
    yyjson_arr_foreach(wanted, i, n, item) {
        dot += (double)f->vector[i] * yyjson_get_num(item);
        square += yyjson_get_num(item) * yyjson_get_num(item);
    }
    if (dot / sqrt(square) < .995)
        fail_msg("cosine %g: %.60s", dot / sqrt(square), text.at);
}

static void equals_pytorch(void **state)
{
    qp_buf all = {0};
    int n = 0;
    assert_int_equal(qp_file_read(REFERENCE, 0, &all, NULL), QP_OK);
    for (qp_str rest = qp_buf_view(&all); rest.n; n++) {
        qp_str line = qp_str_split(rest, '\n', &rest);
        yyjson_doc *doc = yyjson_read(line.at, line.n, 0);
        yyjson_val *root = yyjson_doc_get_root(doc), *text = yyjson_obj_get(root, "text");
        qp_str s = {yyjson_get_str(text), yyjson_get_len(text)};
        assert_non_null(s.at);
        check_tokens(*state, s, yyjson_obj_get(root, "ids"));
        check_vector(*state, s, yyjson_obj_get(root, "vector"));
        yyjson_doc_free(doc);
    }
    assert_int_equal(n, 6);
    qp_buf_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(equals_pytorch, open_model, close_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
