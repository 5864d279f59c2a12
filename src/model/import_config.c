/* From a checkpoint's JSON files to the keys of a GGUF file. */
#include "model/import.h"

#include <stdlib.h>

#include "base/file.h"
#include "model/keys.h"

#define MOST_CONFIG (64u << 20) /* bytes; tokenizer.json of XLM-R has 17 MB */

qp_code qp_checkpoint_json(const char *folder, const char *file, yyjson_doc **doc, qp_err *err)
{
    qp_buf path = {0}, text = {0};
    yyjson_read_err why;
    qp_code code = QP_OK;

    *doc = NULL;
    qp_buf_fmt(&path, "%s/%s", folder, file);
    if (path.oom)
        code = qp_oom(err);
    else if (qp_path_exists(path.at))
        code = qp_file_read(path.at, MOST_CONFIG, &text, err);
    if (!code && text.at) {
        *doc = yyjson_read_opts(text.at, text.n, 0, NULL, &why);
        if (!*doc)
            code = qp_fail(err, QP_INPUT, "%s: is not JSON: %s at byte %zu", path.at, why.msg, why.pos);
    }
    qp_buf_free(&text);
    qp_buf_free(&path);
    return code;
}

/* A size from config.json, in [1, most]. */
static qp_code read_size(const qp_checkpoint *c, const char *key, uint32_t most, uint32_t *out, qp_err *err)
{
    yyjson_val *value = yyjson_obj_get(c->config, key);
    if (!yyjson_is_uint(value) || !yyjson_get_uint(value) || yyjson_get_uint(value) > most)
        return qp_fail(err, QP_INPUT, "%s/config.json: '%s' is no whole number from 1 to %u", c->folder, key, most);
    *out = (uint32_t)yyjson_get_uint(value);
    return QP_OK;
}

/* What the graph computes is fixed, so a model that wants something else would be wrong in silence. */
static qp_code refuse_other_graphs(const qp_checkpoint *c, qp_err *err)
{
    const char *act = yyjson_get_str(yyjson_obj_get(c->config, "hidden_act"));
    const char *position = yyjson_get_str(yyjson_obj_get(c->config, "position_embedding_type"));
    uint64_t labels = yyjson_obj_size(yyjson_obj_get(c->config, "id2label"));

    if (act && strcmp(act, "gelu") && strcmp(act, "gelu_new") && strcmp(act, "gelu_pytorch_tanh"))
        return qp_fail(err, QP_INPUT, "%s/config.json: hidden_act is '%.40s' where gelu was wanted", c->folder, act);
    if (position && strcmp(position, "absolute"))
        return qp_fail(err, QP_INPUT, "%s/config.json: position_embedding_type is '%.40s' where absolute was wanted",
                       c->folder, position);
    if (c->classifier && labels != 1)
        return qp_fail(err, QP_INPUT,
                       "%s/config.json: a classifier with %llu labels; a cross-encoder that ranks has one", c->folder,
                       (unsigned long long)(labels ? labels : 2));
    return QP_OK;
}

static qp_code read_family(qp_checkpoint *c, qp_err *err)
{
    static const struct {
        const char *name;
        bool roberta, classifier;
    } known[] = {
        {"BertModel", false, false},
        {"BertForMaskedLM", false, false},
        {"HF_ColBERT", false, false},
        {"BertForSequenceClassification", false, true},
        {"RobertaModel", true, false},
        {"RobertaForMaskedLM", true, false},
        {"RobertaForSequenceClassification", true, true},
        {"XLMRobertaModel", true, false},
        {"XLMRobertaForMaskedLM", true, false},
        {"XLMRobertaForSequenceClassification", true, true},
        {"CamembertModel", true, false},
    };
    const char *name = yyjson_get_str(yyjson_arr_get_first(yyjson_obj_get(c->config, "architectures")));
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) {
            c->roberta = known[i].roberta;
            c->classifier = known[i].classifier;
            c->masked = !strcmp(name, "BertForMaskedLM");
            c->late = !strcmp(name, "HF_ColBERT");
            return QP_OK;
        }
    return qp_fail(err, QP_INPUT,
                   "%s/config.json: the architecture is '%.60s'; BERT, RoBERTa and XLM-RoBERTa are converted here, for "
                   "others take their GGUF file",
                   c->folder, name ? name : "(none)");
}

static qp_code read_sizes(qp_checkpoint *c, qp_err *err)
{
    qp_code code;
    if ((code = read_size(c, "num_hidden_layers", 500, &c->layers, err)) ||
        (code = read_size(c, "hidden_size", 65536, &c->width, err)) ||
        (code = read_size(c, "intermediate_size", 1 << 20, &c->ff, err)) ||
        (code = read_size(c, "num_attention_heads", 1024, &c->heads, err)) ||
        (code = read_size(c, "max_position_embeddings", 1 << 20, &c->positions, err)) ||
        (code = read_size(c, "vocab_size", 4 << 20, &c->vocab, err)) ||
        (code = read_size(c, "type_vocab_size", 256, &c->segments, err)))
        return code;
    if (c->width % c->heads)
        return qp_fail(err, QP_INPUT, "%s/config.json: %u attention heads do not divide the width of %u", c->folder,
                       c->heads, c->width);
    if (c->roberta) { /* RoBERTa numbers positions from the padding token's id + 1 on */
        yyjson_val *pad = yyjson_obj_get(c->config, "pad_token_id");
        c->skip = (yyjson_is_uint(pad) && yyjson_get_uint(pad) < c->positions ? (uint32_t)yyjson_get_uint(pad) : 1) + 1;
        if (c->skip >= c->positions)
            return qp_fail(err, QP_INPUT, "%s/config.json: no position is left after pad_token_id %u", c->folder,
                           c->skip - 1);
        c->positions -= c->skip;
    }
    return QP_OK;
}

static uint32_t file_type(enum ggml_type type)
{
    return type == GGML_TYPE_F32 ? 0 : type == GGML_TYPE_F16 ? 1 : type == GGML_TYPE_Q8_0 ? 7 : 32;
}

qp_code qp_import_config(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    qp_code code;
    if ((code = read_family(c, err)) || (code = refuse_other_graphs(c, err)) || (code = read_sizes(c, err)))
        return code;
    yyjson_val *eps = yyjson_obj_get(c->config, "layer_norm_eps");
    const char *label = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(c->config, "id2label"), "0"));

    gguf_set_val_str(out, "general.architecture", "bert");
    gguf_set_val_str(out, "general.type", "model");
    gguf_set_val_str(out, "general.name", o->name);
    if (o->license)
        gguf_set_val_str(out, "general.license", o->license);
    gguf_set_val_u32(out, "bert.block_count", c->layers);
    gguf_set_val_u32(out, "bert.context_length", c->positions);
    gguf_set_val_u32(out, "bert.embedding_length", c->width);
    gguf_set_val_u32(out, "bert.feed_forward_length", c->ff);
    gguf_set_val_u32(out, "bert.attention.head_count", c->heads);
    gguf_set_val_f32(out, "bert.attention.layer_norm_epsilon",
                     (float)(yyjson_is_num(eps) ? yyjson_get_num(eps) : 1e-12));
    gguf_set_val_bool(out, "bert.attention.causal", false);
    gguf_set_val_u32(out, "general.file_type", file_type(c->type));
    gguf_set_val_u32(out, "general.quantization_version", GGML_QNT_VERSION);
    if (c->classifier) {
        const char *labels[] = {label ? label : "LABEL_0"};
        gguf_set_arr_str(out, "bert.classifier.output_labels", labels, 1);
    }
    return QP_OK;
}

/* llama.cpp's numbers, and one of ours for a model that weights terms: to llama.cpp it pools nothing. */
enum { UNSAID = 0, MEAN = 1, CLS = 2, RANK = 4, SPLADE = 1000 };

static qp_code pooling_of(const char *name, uint32_t *out, const char *where, qp_err *err)
{
    if (!strcmp(name, "mean"))
        *out = MEAN;
    else if (!strcmp(name, "cls"))
        *out = CLS;
    else if (!strcmp(name, "splade"))
        *out = SPLADE;
    else
        return qp_fail(err, QP_INPUT, "%s: pooling is '%.40s' where mean, cls or splade was wanted", where, name);
    return QP_OK;
}

static bool module_is(yyjson_val *module, const char *type)
{
    const char *name = yyjson_get_str(yyjson_obj_get(module, "type"));
    return name && qp_str_ends(qp_str_of(name), qp_str_of(type));
}

/* The pooling that sentence-transformers wrote down in `folder`. */
static qp_code read_pooling(const char *folder, uint32_t *pooling, qp_err *err)
{
    yyjson_doc *doc;
    qp_code code = qp_checkpoint_json(folder, "config.json", &doc, err);
    yyjson_val *root = yyjson_doc_get_root(doc), *key, *value;
    const char *mode = yyjson_get_str(yyjson_obj_get(root, "pooling_mode"));
    size_t i, n, modes = 0;

    yyjson_obj_foreach(root, i, n, key, value) {
        if (!yyjson_is_true(value) || strncmp(yyjson_get_str(key), "pooling_mode_", 13))
            continue;
        modes++;
        mode = yyjson_equals_str(key, "pooling_mode_mean_tokens") ? "mean"
               : yyjson_equals_str(key, "pooling_mode_cls_token") ? "cls"
                                                                  : yyjson_get_str(key);
    }
    if (!code)
        code = pooling_of(modes > 1 ? "several at once" : mode ? mode : "none", pooling, folder, err);
    yyjson_doc_free(doc);
    return code;
}

/* SPLADE's pooling has variants; the one of the paper, and of its published models, is what is computed. */
static qp_code read_splade(const char *folder, uint32_t *pooling, qp_err *err)
{
    yyjson_doc *doc;
    qp_code code = qp_checkpoint_json(folder, "config.json", &doc, err);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *how = yyjson_get_str(yyjson_obj_get(root, "pooling_strategy"));
    const char *act = yyjson_get_str(yyjson_obj_get(root, "activation_function"));
    if (!code && ((how && strcmp(how, "max")) || (act && strcmp(act, "relu"))))
        code = qp_fail(err, QP_INPUT, "%s: pools terms by '%.20s' of '%.20s'; max of relu is what is computed", folder,
                       how ? how : "max", act ? act : "relu");
    *pooling = SPLADE;
    yyjson_doc_free(doc);
    return code;
}

/* Follows modules.json to the pooling (0: it names none). A module that would be left out is refused. */
static qp_code read_modules(const qp_checkpoint *c, uint32_t *pooling, qp_err *err)
{
    yyjson_doc *modules;
    size_t i, n;
    yyjson_val *module;
    qp_code code = qp_checkpoint_json(c->folder, "modules.json", &modules, err);

    yyjson_arr_foreach(yyjson_doc_get_root(modules), i, n, module) {
        const char *type = yyjson_get_str(yyjson_obj_get(module, "type"));
        const char *path = yyjson_get_str(yyjson_obj_get(module, "path"));
        if (code)
            break;
        if (module_is(module, "Pooling") && path && *path && *path != '.' && !strchr(path, '/')) {
            char *folder = qp_path_join(c->mem, c->folder, path);
            bool splade = module_is(module, "SpladePooling");
            code = !folder  ? qp_oom(err)
                   : splade ? read_splade(folder, pooling, err)
                            : read_pooling(folder, pooling, err);
        } else if (!module_is(module, "Transformer") && !module_is(module, "Normalize")) {
            code = qp_fail(err, QP_INPUT,
                           "%s/modules.json: has a module '%.60s'; only Transformer, MLMTransformer, Pooling, "
                           "SpladePooling and Normalize are converted",
                           c->folder, type ? type : "(none)");
        }
    }
    yyjson_doc_free(modules);
    return code;
}

static qp_code write_pooling(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    uint32_t pooling = 0;
    qp_code code = c->classifier ? QP_OK : read_modules(c, &pooling, err); /* which refuses what would be left out */

    if (c->classifier)
        pooling = RANK;
    else if (!code && o->pooling)
        code = pooling_of(o->pooling, &pooling, "option pooling", err);
    if (!code && c->late)
        gguf_set_val_str(out, QP_KEY_TOKENS, "colbert");
    if (!code && !pooling && c->late) /* which has no vector of a whole text */
        pooling = MEAN;
    if (!code && !pooling)
        code = qp_fail(err, QP_INPUT,
                       "%s: nothing says how token vectors become one (no modules.json); give pooling=mean or "
                       "pooling=cls, of a model that weights terms pooling=splade",
                       c->folder);
    c->sparse = pooling == SPLADE;
    if (!code && c->sparse && !c->masked)
        code = qp_fail(err, QP_INPUT, "%s: pooling=splade wants the head of a BertForMaskedLM, and this is none",
                       c->folder);
    if (!code)
        gguf_set_val_u32(out, "bert.pooling_type", c->sparse ? 0 : pooling);
    if (!code && c->sparse)
        gguf_set_val_str(out, QP_KEY_TERMS, "splade");
    return code;
}

/* Segment ids of a pair: what tokenizer.json's template gives the second text; without one, BERT's own rule. */
static bool pair_has_segments(const qp_checkpoint *c)
{
    yyjson_val *post = yyjson_obj_get(c->tokenizer, "post_processor"), *item, *names;
    size_t i, n;

    if (c->segments < 2 || c->words != QP_WORDPIECE)
        return false;
    names = yyjson_obj_get(c->tokenizer_config, "model_input_names");
    bool named = !yyjson_is_arr(names);
    yyjson_arr_foreach(names, i, n, item)
        named |= yyjson_equals_str(item, "token_type_ids");
    if (!named)
        return false;
    yyjson_arr_foreach(yyjson_obj_get(post, "pair"), i, n, item) {
        yyjson_val *sequence = yyjson_obj_get(item, "Sequence");
        if (yyjson_equals_str(yyjson_obj_get(sequence, "id"), "B"))
            return yyjson_get_uint(yyjson_obj_get(sequence, "type_id")) == 1;
    }
    return true;
}

static qp_code write_segments(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    bool segments = pair_has_segments(c);
    if (!c->classifier)
        return QP_OK;
    if (o->segments) {
        if (strcmp(o->segments, "0") && strcmp(o->segments, "1"))
            return qp_fail(err, QP_INPUT, "option segments is '%.20s' where 0 or 1 was wanted", o->segments);
        segments = *o->segments == '1';
        if (segments && c->segments < 2)
            return qp_fail(err, QP_INPUT, "option segments=1, but %s has one segment only", c->folder);
    }
    gguf_set_val_u32(out, QP_KEY_SEGMENTS, segments);
    return QP_OK;
}

static qp_code write_longest(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    yyjson_doc *doc;
    qp_code code = qp_checkpoint_json(c->folder, "sentence_bert_config.json", &doc, err);
    yyjson_val *longest = yyjson_obj_get(yyjson_doc_get_root(doc), "max_seq_length");
    uint64_t n = o->max_tokens ? o->max_tokens : yyjson_get_uint(longest);

    if (!n)
        n = yyjson_get_uint(yyjson_obj_get(c->tokenizer_config, "model_max_length"));
    if (!n || n > c->positions)
        n = c->positions;
    gguf_set_val_u32(out, QP_KEY_MAX_TOKENS, (uint32_t)n);
    yyjson_doc_free(doc);
    return code;
}

static qp_code write_prefixes(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    yyjson_doc *doc;
    qp_code code = qp_checkpoint_json(c->folder, "config_sentence_transformers.json", &doc, err);
    yyjson_val *prompts = yyjson_obj_get(yyjson_doc_get_root(doc), "prompts");
    const char *query = yyjson_get_str(yyjson_obj_get(prompts, "query"));
    const char *passage = yyjson_get_str(yyjson_obj_get(prompts, "passage"));

    if (!passage)
        passage = yyjson_get_str(yyjson_obj_get(prompts, "document"));
    query = o->query_prefix ? o->query_prefix : query;
    passage = o->passage_prefix ? o->passage_prefix : passage;
    if (query && *query)
        gguf_set_val_str(out, QP_KEY_QUERY_PREFIX, query);
    if (passage && *passage)
        gguf_set_val_str(out, QP_KEY_PASSAGE_PREFIX, passage);
    yyjson_doc_free(doc);
    return code;
}

qp_code qp_import_use(qp_checkpoint *c, struct gguf_context *out, const qp_import_options *o, qp_err *err)
{
    qp_code code;
    if ((code = write_pooling(c, out, o, err)) || (code = write_segments(c, out, o, err)) ||
        (code = write_longest(c, out, o, err)))
        return code;
    return write_prefixes(c, out, o, err);
}
