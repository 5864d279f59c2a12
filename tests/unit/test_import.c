/* quipu model import: tiny checkpoints of each kind against what llama.cpp's converter made of them
 * (tests/reference/import.py), and checkpoints that must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "model/import.h"
#include "model/model.h"

#define KINDS "tests/reference/import/"

static qp_arena *mem;
static char *models;

static int start(void **state)
{
    (void)state;
    char template[] = "/tmp/quipu-import-XXXXXX";
    mem = qp_arena_new();
    models = qp_arena_cstr(mem, mkdtemp(template));
    return setenv("QUIPU_MODELS", models, 1);
}

static int stop(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", models);
    int failed = system(command);
    qp_arena_free(mem);
    return failed;
}

typedef struct file {
    struct gguf_context *g;
    struct ggml_context *tensors;
} file;

static file open_gguf(const char *path)
{
    file f = {0};
    f.g = gguf_init_from_file(path, (struct gguf_init_params){.ctx = &f.tensors});
    assert_non_null(f.g);
    return f;
}

static void close_gguf(file f)
{
    gguf_free(f.g);
    ggml_free(f.tensors);
}

static char *imported(const char *kind, const char *type, qp_err *err)
{
    char source[100];
    qp_setting setting = {"type", type};
    snprintf(source, sizeof source, KINDS "%s", kind);
    if (qp_model_import(source, kind, &setting, 1, NULL, err))
        return NULL;
    return (char *)qp_arena_fmt(mem, "%s/%s.gguf", models, kind).at;
}

static int64_t items(const struct ggml_tensor *t)
{
    return t ? ggml_nelements(t) : -1;
}

/* Every tensor of theirs is in ours with the same bytes (n x 1 and n are the same matrix); ours may have more. */
static void same_tensors(file ours, file theirs, const char *kind)
{
    int more = 0;
    for (int64_t i = 0; i < gguf_get_n_tensors(theirs.g); i++) {
        const char *name = gguf_get_tensor_name(theirs.g, i);
        const struct ggml_tensor *a = ggml_get_tensor(ours.tensors, name), *b = ggml_get_tensor(theirs.tensors, name);
        if (!a || items(a) != items(b) || a->ne[0] != b->ne[0] || a->type != b->type ||
            memcmp(a->data, b->data, ggml_nbytes(b)))
            fail_msg("%s: tensor %s differs", kind, name);
    }
    for (int64_t i = 0; i < gguf_get_n_tensors(ours.g); i++)
        more += !ggml_get_tensor(theirs.tensors, gguf_get_tensor_name(ours.g, i));
    assert_int_equal(more, strcmp(kind, "bert-reranker") ? 0 : 2); /* their converter drops the pooler */
}

static bool same_value(file ours, int64_t a, file theirs, int64_t b)
{
    enum gguf_type type = gguf_get_kv_type(theirs.g, b);
    if (gguf_get_kv_type(ours.g, a) != type)
        return false;
    if (type == GGUF_TYPE_STRING)
        return !strcmp(gguf_get_val_str(ours.g, a), gguf_get_val_str(theirs.g, b));
    if (type != GGUF_TYPE_ARRAY) {
        static const size_t width[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
        return !memcmp(gguf_get_val_data(ours.g, a), gguf_get_val_data(theirs.g, b), width[type]);
    }
    enum gguf_type of = gguf_get_arr_type(theirs.g, b);
    size_t n = gguf_get_arr_n(theirs.g, b);
    if (gguf_get_arr_type(ours.g, a) != of || gguf_get_arr_n(ours.g, a) != n)
        return false;
    if (of != GGUF_TYPE_STRING)
        return !memcmp(gguf_get_arr_data(ours.g, a), gguf_get_arr_data(theirs.g, b),
                       n * (of == GGUF_TYPE_UINT8 ? 1 : 4));
    for (size_t i = 0; i < n; i++)
        if (strcmp(gguf_get_arr_str(ours.g, a, i), gguf_get_arr_str(theirs.g, b, i)))
            return false;
    return true;
}

/* Every key of theirs, but what describes the file rather than the model; and the last id of a SentencePiece file, the mask,
 * which they leave as unused. */
static void same_keys(file ours, file theirs, const char *kind)
{
    for (int64_t i = 0; i < gguf_get_n_kv(theirs.g); i++) {
        const char *key = gguf_get_key(theirs.g, i);
        bool mask =
            !strcmp(kind, "xlmr") && (!strcmp(key, "tokenizer.ggml.tokens") || !strcmp(key, "tokenizer.ggml.scores") ||
                                      !strcmp(key, "tokenizer.ggml.token_type"));
        int64_t at = gguf_find_key(ours.g, key);
        if (!strcmp(key, "general.name") || !strcmp(key, "general.size_label") || mask)
            continue;
        if (at < 0 || !same_value(ours, at, theirs, i))
            fail_msg("%s: key %s differs", kind, key);
    }
}

static void equals_the_converter(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bert", "bert-reranker", "roberta-reranker", "xlmr", "xlmr-json"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char expected[100];
        qp_err err = {0};
        char *path = imported(kinds[i], "f32", &err);
        if (!path)
            fail_msg("%s: %s", kinds[i], err.message);
        snprintf(expected, sizeof expected, KINDS "%s/expected.gguf", kinds[i]);
        file ours = open_gguf(path), theirs = open_gguf(expected);
        same_tensors(ours, theirs, kinds[i]);
        same_keys(ours, theirs, kinds[i]);
        close_gguf(ours);
        close_gguf(theirs);
    }
}

/* The file with SentencePiece's protobuf and the one with tokenizer.json say the same. */
static void both_sentencepiece_files(void **state)
{
    (void)state;
    qp_err err = {0};
    file a = open_gguf(imported("xlmr", "f32", &err)), b = open_gguf(imported("xlmr-json", "f32", &err));
    static const char *const keys[] = {"tokens",           "scores",
                                       "token_type",       "precompiled_charsmap",
                                       "add_space_prefix", "remove_extra_whitespaces",
                                       "bos_token_id",     "mask_token_id",
                                       "add_sep_token"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[80];
        snprintf(key, sizeof key, "tokenizer.ggml.%s", keys[i]);
        int64_t x = gguf_find_key(a.g, key), y = gguf_find_key(b.g, key);
        if (x < 0 || y < 0 || !same_value(a, x, b, y))
            fail_msg("%s differs", key);
    }
    close_gguf(a);
    close_gguf(b);
}

static void our_keys(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int segments, longest, pooling;
    } want[] = {{"bert", -1, 20, 1}, {"bert-reranker", 1, 24, 4}, {"roberta-reranker", 0, 22, 4}, {"xlmr", -1, 20, 2}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        qp_err err = {0};
        file f = open_gguf(imported(want[i].kind, "bf16", &err));
        int64_t at = gguf_find_key(f.g, "quipu.segments");
        assert_int_equal(at < 0 ? -1 : (int)gguf_get_val_u32(f.g, at), want[i].segments);
        assert_int_equal(gguf_get_val_u32(f.g, gguf_find_key(f.g, "quipu.max_tokens")), want[i].longest);
        assert_int_equal(gguf_get_val_u32(f.g, gguf_find_key(f.g, "bert.pooling_type")), want[i].pooling);
        if (want[i].pooling == 4) /* the head of a cross-encoder is kept exact */
            assert_int_equal(ggml_get_tensor(f.tensors, "cls.weight")->type, GGML_TYPE_F32);
        close_gguf(f);
    }
}

/* Half the distance between neighbours of each type: 2^-9 and 2^-12 of the value; for Q8_0 1/254 of a block's largest,
 * and 2^-12 of it since the block's scale is an F16. */
static void types_round_to_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum ggml_type type;
        double relative, of_largest;
    } types[] = {{"bf16", GGML_TYPE_BF16, 1 / 256., 0},
                 {"f16", GGML_TYPE_F16, 1 / 2048., 1e-7},
                 {"q8_0", GGML_TYPE_Q8_0, 0, 1 / 254. + 1 / 4096.}};
    qp_err err = {0};
    file exact = open_gguf(KINDS "bert/expected.gguf");
    const struct ggml_tensor *a = ggml_get_tensor(exact.tensors, "blk.0.ffn_down.weight");
    const float *x = a->data;
    for (size_t i = 0; i < 3; i++) {
        file f = open_gguf(imported("bert", types[i].name, &err));
        const struct ggml_tensor *b = ggml_get_tensor(f.tensors, "blk.0.ffn_down.weight");
        float y[32 * 16];
        assert_int_equal(b->type, types[i].type);
        assert_int_equal(ggml_nelements(b), 32 * 16);
        ggml_get_type_traits(b->type)->to_float(b->data, y, 32 * 16);
        for (int j = 0; j < 32 * 16; j++) {
            float largest = 0;
            for (int k = j / 32 * 32; k < j / 32 * 32 + 32; k++)
                largest = fmaxf(largest, fabsf(x[k]));
            if (fabs(x[j] - y[j]) > types[i].relative * fabs(x[j]) + types[i].of_largest * largest)
                fail_msg("%s: %g became %g", types[i].name, (double)x[j], (double)y[j]);
        }
        /* 16 columns are no whole block of 32 */
        if (types[i].type == GGML_TYPE_Q8_0)
            assert_int_equal(ggml_get_tensor(f.tensors, "token_embd.weight")->type, GGML_TYPE_F16);
        close_gguf(f);
    }
    close_gguf(exact);
}

/* ---- refusals ---- */

static qp_code import_changed(const char *kind, const char *change, const qp_setting *settings, size_t n, qp_err *err)
{
    char command[1000];
    char *copy = qp_path_join(mem, models, "changed");
    snprintf(command, sizeof command, "rm -rf %s && cp -r " KINDS "%s %s && cd %s && %s", copy, kind, copy, copy,
             change);
    assert_int_equal(system(command), 0);
    *err = (qp_err){0};
    return qp_model_import(copy, "changed-model", settings, n, NULL, err);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *change, *says;
    } bad[] = {
        {"bert", "sed -i 's/BertModel/DebertaModel/' config.json", "DebertaModel"},
        {"bert", "rm config.json", "no config.json"},
        {"bert", "echo '{' > config.json", "not JSON"},
        {"bert", "sed -i 's/\"hidden_size\": 16/\"hidden_size\": 32/' config.json", "config.json says"},
        {"bert", "sed -i 's/\"hidden_size\": 16/\"hidden_size\": -1/' config.json", "whole number"},
        {"bert", "sed -i 's/\"num_hidden_layers\": 1/\"num_hidden_layers\": 2/' config.json",
         "no tensor encoder.layer.1."},
        {"bert", "sed -i 's/\"gelu\"/\"relu\"/' config.json", "relu"},
        {"bert", "sed -i 's/\"vocab_size\": [0-9]*/\"vocab_size\": 10/' config.json", "beyond the 10"},
        {"bert", "rm modules.json", "pooling=mean"},
        {"bert", "sed -i 's/models.Normalize/models.Dense/' modules.json", "Dense"},
        {"bert", "sed -i 's/_mean_tokens\": true/_max_tokens\": true/' 1_Pooling/config.json", "max_tokens"},
        {"bert", "rm tokenizer.json vocab.txt", "none of tokenizer.json"},
        {"bert", "sed -i 's/\"WordPiece\"/\"WordLevel\"/' tokenizer.json", "WordLevel"},
        {"bert", "rm model.safetensors", "no model.safetensors"},
        {"bert", "mv model.safetensors pytorch_model.bin", "pickle"},
        {"bert", "truncate -s -1 model.safetensors", "cut short"},
        {"bert", "truncate -s 100 model.safetensors", "cut short"},
        {"bert", "truncate -s 3 model.safetensors", "too short"},
        {"bert", "echo >> model.safetensors", "follow the last tensor"},
        {"bert", "sed -i 's/\"F16\",\"shape\":\\[24/\"I16\",\"shape\":[24/' model.safetensors", "integers"},
        {"bert", "sed -i 's/encoder.layer.0.output.dense.bias/encoder.layer.0.output.dense.bxas/' model.safetensors",
         "dense.bias"},
        {"bert-reranker",
         "sed -i 's/\"BertForSeq[a-zA-Z]*\"/\"BertModel\"/' config.json; cp -r \"$OLDPWD\"/" KINDS
         "bert/modules.json \"$OLDPWD\"/" KINDS "bert/1_Pooling .",
         "classifier"},
        {"bert-reranker",
         "python3 - <<'E'\nimport json\nc = json.load(open('config.json'))\nc['id2label'] = {'0': 'a', '1': 'b'}\n"
         "json.dump(c, open('config.json', 'w'))\nE\n",
         "2 labels"},
        {"bert-reranker",
         "python3 - <<'E'\nd = bytearray(open('model.safetensors', 'rb').read())\nd[-4:] = b'\\0\\0\\xc0\\x7f'\n"
         "open('model.safetensors', 'wb').write(d)\nE\n",
         "not finite"},
        {"roberta-reranker", "sed -i 's/\"merges\"/\"marges\"/' tokenizer.json", "merges"},
        {"xlmr", "truncate -s -1 sentencepiece.bpe.model", "damaged"},
        {"xlmr-json", "sed -i 's/\"precompiled_charsmap\": *\"/&!/' tokenizer.json", "base64"},
    };
    char *target = qp_path_join(mem, models, "changed-model.gguf");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_err err;
        if (import_changed(bad[i].kind, bad[i].change, NULL, 0, &err) != QP_INPUT ||
            !strstr(err.message, bad[i].says) || strchr(err.message, '\n'))
            fail_msg("%s; %s: %s", bad[i].kind, bad[i].change, err.message);
        assert_false(qp_path_exists(target));
    }
}

/* A ColBERT's token vectors are those of its encoder, projected; the question's come after a mark that [CLS] is followed by. */
static void late_interaction(void **state)
{
    static const char *const change =
        "sed -i s/BertModel/HF_ColBERT/ config.json && rm modules.json && python3 - <<'E'\n"
        "import json, struct\n"
        "d = open('model.safetensors', 'rb').read()\n"
        "n = 8 + struct.unpack('<Q', d[:8])[0]\n"
        "head, data = json.loads(d[8:n]), d[n:]\n"
        "rows = [((i * 7 + 3) % 11 - 5) / 8 for i in range(4 * 16)]\n"
        "head['linear.weight'] = {'dtype': 'F32', 'shape': [4, 16], 'data_offsets': [len(data), len(data) + 256]}\n"
        "head = json.dumps(head).encode()\n"
        "open('model.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + data + struct.pack('<64f', "
        "*rows))\n"
        "E\n";
    const qp_str text = QP_STR("the cords, and the knots");
    const qp_setting f32 = {"type", "f32"};
    qp_model *plain, *late;
    qp_token_rows rows, projected, asked;
    qp_err err = {0};
    (void)state;
    if (import_changed("bert", change, &f32, 1, &err))
        fail_msg("%s", err.message);
    assert_int_equal(qp_model_open(QP_EMBEDDER, imported("bert", "f32", &err), 1, &plain, &err), QP_OK);
    if (qp_model_open(QP_EMBEDDER, qp_path_join(mem, models, "changed-model.gguf"), 1, &late, &err))
        fail_msg("%s", err.message);
    assert_int_equal(plain->token_dim, 16);
    assert_int_equal(late->token_dim, 4);
    assert_int_equal(plain->tokens(plain->self, QP_PASSAGE, &text, 1, &rows, mem, &err), QP_OK);
    assert_int_equal(late->tokens(late->self, QP_PASSAGE, &text, 1, &projected, mem, &err), QP_OK);
    assert_int_equal(rows.n, projected.n);
    for (uint32_t t = 0; t < rows.n; t++) {
        double own[4] = {0}, square = 0;
        for (int i = 0; i < 4 * 16; i++)
            own[i / 16] += ((i * 7 + 3) % 11 - 5) / 8. * rows.at[t * 16 + (uint32_t)i % 16];
        for (int i = 0; i < 4; i++)
            square += own[i] * own[i];
        for (int i = 0; i < 4; i++)
            assert_true(fabs(own[i] / sqrt(square) - projected.at[t * 4 + (uint32_t)i]) < 1e-5);
    }
    /* its comma is no token of a passage, and a token [unused0] of the vocabulary marks a question */
    assert_int_equal(plain->tokens(plain->self, QP_QUERY, &text, 1, &asked, mem, &err), QP_OK);
    assert_int_equal(asked.n, rows.n + 1);
    assert_int_equal(late->tokens(late->self, QP_QUERY, &text, 1, &asked, mem, &err), QP_OK);
    assert_int_equal(asked.n, rows.n + 2);
    qp_model_close(plain);
    qp_model_close(late);
}

static void options(void **state)
{
    (void)state;
    qp_err err;
    qp_setting cls = {"pooling", "cls"}, max = {"pooling", "max"}, tipe = {"tipe", "f32"}, odd = {"type", "q3"},
               zero = {"segments", "0"};
    assert_int_equal(import_changed("bert", "rm modules.json", &cls, 1, &err), QP_OK);
    assert_int_equal(import_changed("bert", "rm modules.json", &max, 1, &err), QP_INPUT);
    assert_int_equal(import_changed("bert", "true", &tipe, 1, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "type?"));
    assert_int_equal(import_changed("bert", "true", &odd, 1, &err), QP_INPUT);
    assert_int_equal(import_changed("bert-reranker", "true", &zero, 1, &err), QP_OK);
    file f = open_gguf(qp_path_join(mem, models, "changed-model.gguf"));
    assert_int_equal(gguf_get_val_u32(f.g, gguf_find_key(f.g, "quipu.segments")), 0);
    close_gguf(f);
    static const char *const names[] = {"", "../x", ".x", "a b", "-x", "a/b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        err = (qp_err){0};
        assert_int_equal(qp_model_import(KINDS "bert", names[i], NULL, 0, NULL, &err), QP_INPUT);
    }
    err = (qp_err){0};
    assert_int_equal(qp_model_import("no/such/folder", "x", NULL, 0, NULL, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "no such"));
}

/* The same parts in two files with an index, and vocab.txt alone, give the same model. */
static void other_layouts(void **state)
{
    (void)state;
    qp_err err;
    const char *split =
        "python3 - <<'E'\nimport json, struct\nd = open('model.safetensors', 'rb').read()\nn = struct.unpack('<Q', "
        "d[:8])[0]\n"
        "h = json.loads(d[8:8 + n]); h.pop('__metadata__', None); b = d[8 + n:]; m = {}\n"
        "for k in range(2):\n    f = 'part-%d.safetensors' % k; o = {}; p = b''\n"
        "    for t in sorted(h)[k::2]:\n        s, e = h[t]['data_offsets']; o[t] = dict(h[t], data_offsets=[len(p), "
        "len(p) + e - s]); p += b[s:e]; m[t] = f\n"
        "    j = json.dumps(o).encode(); open(f, 'wb').write(struct.pack('<Q', len(j)) + j + p)\n"
        "json.dump({'weight_map': m}, open('model.safetensors.index.json', 'w'))\nE\nrm model.safetensors";
    char *changed = qp_path_join(mem, models, "changed-model.gguf");
    qp_setting f32 = {"type", "f32"};
    file theirs = open_gguf(KINDS "bert/expected.gguf");
    static const char *const plain = "rm tokenizer.json";
    for (int i = 0; i < 2; i++) {
        if (import_changed("bert", i ? plain : split, &f32, 1, &err))
            fail_msg("%s", err.message);
        file ours = open_gguf(changed);
        same_tensors(ours, theirs, "bert");
        same_keys(ours, theirs, "bert");
        close_gguf(ours);
    }
    close_gguf(theirs);
    assert_int_equal(
        import_changed(
            "bert", "echo '{\"weight_map\": {\"a\": \"../x\"}}' > model.safetensors.index.json; rm model.safetensors",
            NULL, 0, &err),
        QP_INPUT);
    assert_non_null(strstr(err.message, "plain file name"));
}

static void gguf_files(void **state)
{
    (void)state;
    qp_err err = {0};
    const char *source = KINDS "bert/expected.gguf", *cut = qp_path_join(mem, models, "cut.gguf");
    qp_buf bytes = {0};
    assert_int_equal(qp_model_import(source, "taken", NULL, 0, NULL, &err), QP_OK);
    assert_int_equal(qp_file_read(source, 0, &bytes, &err), QP_OK);
    for (size_t n = 0; n < bytes.n; n += bytes.n / 50) {
        err = (qp_err){0};
        assert_int_equal(qp_file_write(cut, (qp_str){bytes.at, n}, &err), QP_OK);
        assert_int_equal(qp_model_import(cut, "cut-one", NULL, 0, NULL, &err), QP_MODEL);
        assert_true(*err.message);
    }
    qp_buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_converter),
        cmocka_unit_test(both_sentencepiece_files),
        cmocka_unit_test(our_keys),
        cmocka_unit_test(types_round_to_nearest),
        cmocka_unit_test(refusals),
        cmocka_unit_test(late_interaction),
        cmocka_unit_test(options),
        cmocka_unit_test(other_layouts),
        cmocka_unit_test(gguf_files),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
