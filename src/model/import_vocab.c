/* A checkpoint's tokenizer as llama.cpp stores one: WordPiece ("bert"), byte-level BPE ("gpt2"), Unigram ("t5"). */
#include "model/import.h"

#include <stdlib.h>

#include "base/file.h"

#define SPACE "\xe2\x96\x81" /* U+2581, the mark of a word's start */

qp_code qp_vocab_set(qp_vocab *v, qp_arena *mem, uint64_t id, qp_str text, float score, qp_token_type type,
                     const char *where, qp_err *err)
{
    if (id >= v->n)
        return qp_fail(err, QP_INPUT, "%s: token %llu is beyond the %u that config.json's vocab_size has", where,
                       (unsigned long long)id, v->n);
    if (memchr(text.at, 0, text.n))
        return qp_fail(err, QP_INPUT, "%s: token %llu has a NUL byte", where, (unsigned long long)id);
    v->text[id] = qp_arena_str(mem, text).at;
    v->score[id] = score;
    v->type[id] = (int32_t)type;
    return v->text[id] ? QP_OK : qp_oom(err);
}

static qp_str json_str(yyjson_val *value)
{
    return (qp_str){yyjson_get_str(value), yyjson_get_len(value)};
}

/* ---- tokenizer.json ---- */

/* WordPiece and BPE: {"token": id}. */
static qp_code read_token_map(qp_vocab *v, const qp_checkpoint *c, const char *where, qp_err *err)
{
    yyjson_val *map = yyjson_obj_get(yyjson_obj_get(c->tokenizer, "model"), "vocab"), *token, *id;
    size_t i, n;

    yyjson_obj_foreach(map, i, n, token, id) {
        if (!yyjson_is_uint(id))
            return qp_fail(err, QP_INPUT, "%s: token '%.40s' has no id", where, yyjson_get_str(token));
        qp_code code = qp_vocab_set(v, c->mem, yyjson_get_uint(id), json_str(token), 0, QP_TOKEN_NORMAL, where, err);
        if (code)
            return code;
    }
    return QP_OK;
}

/* Unigram: [["piece", score], ...], numbered as they stand. */
static qp_code read_pieces(qp_vocab *v, const qp_checkpoint *c, const char *where, qp_err *err)
{
    yyjson_val *model = yyjson_obj_get(c->tokenizer, "model"), *pair;
    yyjson_val *unknown = yyjson_obj_get(model, "unk_id");
    size_t i, n;

    yyjson_arr_foreach(yyjson_obj_get(model, "vocab"), i, n, pair) {
        yyjson_val *piece = yyjson_arr_get(pair, 0), *score = yyjson_arr_get(pair, 1);
        if (!yyjson_is_str(piece) || !yyjson_is_num(score))
            return qp_fail(err, QP_INPUT, "%s: piece %zu is no pair of text and score", where, i);
        bool is_unknown = yyjson_is_uint(unknown) && yyjson_get_uint(unknown) == i;
        qp_code code = qp_vocab_set(v, c->mem, i, json_str(piece), (float)yyjson_get_num(score),
                                    is_unknown ? QP_TOKEN_UNKNOWN : QP_TOKEN_NORMAL, where, err);
        if (code)
            return code;
    }
    return QP_OK;
}

/* Special tokens are never matched in a text's pieces; other added ones are, whole. */
static qp_code read_added(qp_vocab *v, const qp_checkpoint *c, const char *where, qp_err *err)
{
    yyjson_val *token;
    size_t i, n;

    yyjson_arr_foreach(yyjson_obj_get(c->tokenizer, "added_tokens"), i, n, token) {
        yyjson_val *id = yyjson_obj_get(token, "id"), *text = yyjson_obj_get(token, "content");
        if (!yyjson_is_uint(id) || !yyjson_is_str(text))
            return qp_fail(err, QP_INPUT, "%s: added token %zu has no id or content", where, i);
        uint64_t at = yyjson_get_uint(id);
        qp_token_type type = at < v->n && v->type[at] == QP_TOKEN_UNKNOWN        ? QP_TOKEN_UNKNOWN
                             : yyjson_get_bool(yyjson_obj_get(token, "special")) ? QP_TOKEN_CONTROL
                                                                                 : QP_TOKEN_USER;
        qp_code code = qp_vocab_set(v, c->mem, at, json_str(text), at < v->n ? v->score[at] : 0, type, where, err);
        if (code)
            return code;
    }
    return QP_OK;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static qp_code base64(qp_str text, qp_arena *mem, qp_str *out, const char *where, qp_err *err)
{
    char *bytes = qp_arena_alloc(mem, text.n / 4 * 3 + 3);
    uint32_t bits = 0;
    size_t n = 0;

    if (!bytes)
        return qp_oom(err);
    for (size_t i = 0, have = 0; i < text.n && text.at[i] != '='; i++) {
        int digit = base64_digit(text.at[i]);
        if (digit < 0)
            return qp_fail(err, QP_INPUT, "%s: precompiled_charsmap is not base64", where);
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes[n++] = (char)(bits >> have);
        }
    }
    *out = (qp_str){bytes, n};
    return QP_OK;
}

/* The n-th step of a normalizer or pre_tokenizer, which is one step or a Sequence of them; null at the end. */
static yyjson_val *step(yyjson_val *whole, size_t n)
{
    yyjson_val *steps = yyjson_obj_get(whole, "normalizers");
    if (!steps)
        steps = yyjson_obj_get(whole, "pretokenizers");
    if (!steps)
        return n ? NULL : whole;
    return yyjson_arr_get(steps, n);
}

static bool step_is(yyjson_val *one, const char *type)
{
    return yyjson_equals_str(yyjson_obj_get(one, "type"), type);
}

static qp_code read_unigram_rules(qp_vocab *v, const qp_checkpoint *c, const char *where, qp_err *err)
{
    yyjson_val *normalizer = yyjson_obj_get(c->tokenizer, "normalizer");
    yyjson_val *splitter = yyjson_obj_get(c->tokenizer, "pre_tokenizer"), *one;
    qp_code code = QP_OK;

    for (size_t i = 0; !code && (one = step(normalizer, i)); i++) {
        if (step_is(one, "Precompiled"))
            code = base64(json_str(yyjson_obj_get(one, "precompiled_charsmap")), c->mem, &v->charsmap, where, err);
        v->squeeze_spaces |= step_is(one, "Replace"); /* " {2,}" by one space: the only Replace these models have */
    }
    for (size_t i = 0; (one = step(splitter, i)); i++) {
        v->squeeze_spaces |= step_is(one, "WhitespaceSplit");
        if (step_is(one, "Metaspace"))
            v->prefix_space = yyjson_get_bool(yyjson_obj_get(one, "add_prefix_space")) ||
                              yyjson_equals_str(yyjson_obj_get(one, "prepend_scheme"), "always") ||
                              yyjson_equals_str(yyjson_obj_get(one, "prepend_scheme"), "first");
    }
    return code;
}

static qp_code read_tokenizer_json(qp_vocab *v, qp_checkpoint *c, const char *where, qp_err *err)
{
    yyjson_val *type = yyjson_obj_get(yyjson_obj_get(c->tokenizer, "model"), "type");
    const char *name = yyjson_get_str(type);
    qp_code code;

    if (!name)
        name = yyjson_is_arr(yyjson_obj_get(yyjson_obj_get(c->tokenizer, "model"), "vocab")) ? "Unigram" : "(none)";
    if (!strcmp(name, "WordPiece")) {
        c->words = QP_WORDPIECE;
        code = read_token_map(v, c, where, err);
    } else if (!strcmp(name, "BPE")) {
        c->words = QP_BPE;
        code = read_token_map(v, c, where, err);
    } else if (!strcmp(name, "Unigram")) {
        c->words = QP_UNIGRAM;
        code = read_pieces(v, c, where, err);
        if (!code)
            code = read_unigram_rules(v, c, where, err);
    } else {
        return qp_fail(err, QP_INPUT, "%s: the model is '%.40s' where WordPiece, BPE or Unigram was wanted", where,
                       name);
    }
    return code ? code : read_added(v, c, where, err);
}

/* ---- vocab.txt: a token a line ---- */
static qp_code read_lines(qp_vocab *v, const qp_checkpoint *c, qp_str text, const char *where, qp_err *err)
{
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    qp_code code = QP_OK;
    for (uint64_t id = 0; !code && text.n; id++) {
        qp_token_type type = QP_TOKEN_NORMAL;
        qp_str line = qp_str_split(text, '\n', &text);
        if (line.n && line.at[line.n - 1] == '\r')
            line.n--;
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (qp_str_eq(line, qp_str_of(special[i])))
                type = QP_TOKEN_CONTROL;
        code = qp_vocab_set(v, c->mem, id, line, 0, type, where, err);
    }
    return code;
}

static qp_code read_vocab(qp_vocab *v, qp_checkpoint *c, qp_err *err)
{
    static const char *const files[] = {"tokenizer.json", "sentencepiece.bpe.model", "vocab.txt"};
    for (int i = 0; i < 3; i++) {
        char *path = qp_path_join(c->mem, c->folder, files[i]);
        qp_buf text = {0};
        if (!path)
            return qp_oom(err);
        if (i == 0 ? !c->tokenizer : !qp_path_exists(path))
            continue;
        if (i == 0)
            return read_tokenizer_json(v, c, path, err);
        qp_code code = qp_file_read(path, 64 << 20, &text, err);
        c->words = i == 1 ? QP_UNIGRAM : QP_WORDPIECE;
        if (!code)
            code = i == 1 ? qp_vocab_sentencepiece(v, c->mem, qp_buf_view(&text), path, err)
                          : read_lines(v, c, qp_buf_view(&text), path, err);
        qp_buf_free(&text);
        return code;
    }
    return qp_fail(err, QP_INPUT, "%s: holds none of tokenizer.json, sentencepiece.bpe.model, vocab.txt", c->folder);
}

/* ---- writing ---- */

/* llama.cpp keeps WordPiece with the mark of a word's start where the file has "##" inside words. */
static qp_code mark_word_starts(qp_vocab *v, qp_arena *mem, qp_err *err)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (!v->text[i] || v->type[i] == QP_TOKEN_CONTROL)
            continue;
        v->text[i] = !strncmp(v->text[i], "##", 2) ? v->text[i] + 2 : qp_arena_fmt(mem, SPACE "%s", v->text[i]).at;
        if (!v->text[i])
            return qp_oom(err);
    }
    return QP_OK;
}

static qp_code write_merges(const qp_checkpoint *c, struct gguf_context *out, qp_err *err)
{
    yyjson_val *merges = yyjson_obj_get(yyjson_obj_get(c->tokenizer, "model"), "merges"), *merge;
    size_t i, n;
    const char **lines = qp_new(c->mem, const char *, yyjson_arr_size(merges) + 1);

    if (!lines)
        return qp_oom(err);
    yyjson_arr_foreach(merges, i, n, merge) {
        const char *a = yyjson_get_str(yyjson_arr_get(merge, 0)), *b = yyjson_get_str(yyjson_arr_get(merge, 1));
        lines[i] = yyjson_is_str(merge) ? yyjson_get_str(merge)
                   : a && b             ? qp_arena_fmt(c->mem, "%s %s", a, b).at
                                        : NULL;
        if (!lines[i])
            return qp_fail(err, QP_INPUT, "%s/tokenizer.json: merge %zu is no pair of texts", c->folder, i);
    }
    if (!n)
        return qp_fail(err, QP_INPUT, "%s/tokenizer.json: a BPE without merges", c->folder);
    gguf_set_arr_str(out, "tokenizer.ggml.merges", lines, n);
    return QP_OK;
}

/* A special token's text: tokenizer_config.json's, which is a string or {"content": ...}; null if it names none. */
static const char *special_text(const qp_checkpoint *c, const char *role)
{
    char key[32];
    snprintf(key, sizeof key, "%s_token", role);
    yyjson_val *entry = yyjson_obj_get(c->tokenizer_config, key);
    return yyjson_get_str(yyjson_is_obj(entry) ? yyjson_obj_get(entry, "content") : entry);
}

static qp_code write_special(const qp_checkpoint *c, const qp_vocab *v, struct gguf_context *out, qp_err *err)
{
    static const struct {
        const char *role, *other, *bert, *roberta, *key;
    } roles[] = {
        {"bos", "cls", "[CLS]", "<s>", "tokenizer.ggml.bos_token_id"},
        {"eos", "sep", "[SEP]", "</s>", "tokenizer.ggml.eos_token_id"},
        {"unk", NULL, "[UNK]", "<unk>", "tokenizer.ggml.unknown_token_id"},
        {"sep", NULL, "[SEP]", "</s>", "tokenizer.ggml.seperator_token_id"},
        {"pad", NULL, "[PAD]", "<pad>", "tokenizer.ggml.padding_token_id"},
        {"mask", NULL, "[MASK]", "<mask>", "tokenizer.ggml.mask_token_id"},
    };
    for (size_t r = 0; r < sizeof roles / sizeof *roles; r++) {
        const char *text = special_text(c, roles[r].role);
        uint32_t id = 0;
        if (!text && roles[r].other)
            text = special_text(c, roles[r].other);
        if (!text)
            text = c->words == QP_WORDPIECE ? roles[r].bert : roles[r].roberta;
        while (id < v->n && (v->type[id] == QP_TOKEN_NORMAL || !v->text[id] || strcmp(v->text[id], text)))
            id++;
        if (id < v->n)
            gguf_set_val_u32(out, roles[r].key, id);
        else if (r < 2) /* every input begins and ends with these */
            return qp_fail(err, QP_INPUT, "%s: the vocabulary has no special token '%.40s' (%s)", c->folder, text,
                           roles[r].role);
    }
    return QP_OK;
}

static void write_rules(const qp_checkpoint *c, const qp_vocab *v, struct gguf_context *out)
{
    yyjson_val *normalizer = yyjson_obj_get(c->tokenizer, "normalizer"), *flag = NULL, *strip = NULL, *one;

    if (c->words == QP_UNIGRAM) {
        gguf_set_val_bool(out, "tokenizer.ggml.add_space_prefix", v->prefix_space);
        gguf_set_val_bool(out, "tokenizer.ggml.remove_extra_whitespaces", v->squeeze_spaces);
        if (v->charsmap.n)
            gguf_set_arr_data(out, "tokenizer.ggml.precompiled_charsmap", GGUF_TYPE_UINT8, v->charsmap.at,
                              v->charsmap.n);
    }
    for (size_t i = 0; (one = step(normalizer, i)); i++) {
        if (step_is(one, "BertNormalizer")) {
            flag = yyjson_obj_get(one, "lowercase");
            strip = yyjson_obj_get(one, "strip_accents");
        }
    }
    if (!c->tokenizer)
        flag = yyjson_obj_get(c->tokenizer_config, "do_lower_case");
    if (yyjson_is_bool(flag))
        gguf_set_val_bool(out, "tokenizer.ggml.normalizer.lowercase", yyjson_get_bool(flag));
    if (yyjson_is_bool(strip))
        gguf_set_val_bool(out, "tokenizer.ggml.normalizer.strip_accents", yyjson_get_bool(strip));
    gguf_set_val_bool(out, "tokenizer.ggml.add_bos_token", true);
    gguf_set_val_bool(out, "tokenizer.ggml.add_eos_token", true);
    /* A pair is [CLS] a [SEP] b [SEP], but <s> a </s></s> b </s>. */
    gguf_set_val_bool(out, "tokenizer.ggml.add_sep_token", c->words != QP_WORDPIECE);
}

qp_code qp_import_vocab(qp_checkpoint *c, struct gguf_context *out, qp_err *err)
{
    static const char *const models[] = {"bert", "gpt2", "t5"}, *const pre[] = {"jina-v2-en", "roberta-bpe", "default"};
    qp_vocab v = {.n = c->vocab,
                  .text = qp_new(c->mem, const char *, c->vocab),
                  .score = qp_new(c->mem, float, c->vocab),
                  .type = qp_new(c->mem, int32_t, c->vocab)};
    qp_code code;

    if (!v.text || !v.score || !v.type)
        return qp_oom(err);
    if ((code = read_vocab(&v, c, err)))
        return code;
    if ((code = write_special(c, &v, out, err)) || (c->words == QP_BPE && (code = write_merges(c, out, err))) ||
        (c->words == QP_WORDPIECE && (code = mark_word_starts(&v, c->mem, err))))
        return code;
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.text[i])
            continue;
        v.text[i] = qp_arena_fmt(c->mem, "[PAD%u]", i).at;
        v.type[i] = QP_TOKEN_UNUSED;
        v.score[i] = -10000;
        if (!v.text[i])
            return qp_oom(err);
    }
    gguf_set_val_str(out, "tokenizer.ggml.model", models[c->words]);
    gguf_set_val_str(out, "tokenizer.ggml.pre", pre[c->words]);
    gguf_set_arr_str(out, "tokenizer.ggml.tokens", v.text, v.n);
    gguf_set_arr_data(out, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, v.type, v.n);
    if (c->words == QP_UNIGRAM)
        gguf_set_arr_data(out, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, v.score, v.n);
    gguf_set_val_u32(out, "tokenizer.ggml.token_type_count", c->segments);
    write_rules(c, &v, out);
    return QP_OK;
}
