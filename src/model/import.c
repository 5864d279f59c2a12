/* A checkpoint's folder to a GGUF file; see import.h for what is in it. */
#include "model/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "model/safetensors.h"
#include "model/registry.h"

typedef struct documents { /* own what a qp_checkpoint points into */
    yyjson_doc *config, *tokenizer, *tokenizer_config;
} documents;

static qp_code open_checkpoint(const char *source, qp_checkpoint *c, documents *docs, qp_err *err)
{
    qp_code code;
    if (!qp_path_exists(source))
        return qp_fail(err, QP_INPUT, "%s: no such file or folder", source);
    if (qp_path_is_dir(source)) {
        c->folder = source;
    } else {
        char *folder = qp_arena_cstr(c->mem, source);
        if (!folder)
            return qp_oom(err);
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder] = 0;
        c->folder = slash ? folder : ".";
    }
    if ((code = qp_checkpoint_json(c->folder, "config.json", &docs->config, err)) ||
        (code = qp_checkpoint_json(c->folder, "tokenizer.json", &docs->tokenizer, err)) ||
        (code = qp_checkpoint_json(c->folder, "tokenizer_config.json", &docs->tokenizer_config, err)))
        return code;
    c->config = yyjson_doc_get_root(docs->config);
    c->tokenizer = yyjson_doc_get_root(docs->tokenizer);
    c->tokenizer_config = yyjson_doc_get_root(docs->tokenizer_config);
    if (!yyjson_is_obj(c->config))
        return qp_fail(err, QP_INPUT, "%s: holds no config.json beside the weights", c->folder);
    return qp_safetensors_open(source, &c->weights, err);
}

static qp_code convert(qp_checkpoint *c, struct gguf_context *out, const char *temporary, const qp_import_options *o,
                       const qp_watch *watch, qp_err *err)
{
    qp_code code;
    if ((code = qp_import_config(c, out, o, err)) || (code = qp_import_vocab(c, out, err)) ||
        (code = qp_import_use(c, out, o, err)))
        return code;
    return qp_import_weights(c, out, temporary, watch, err);
}

qp_code qp_checkpoint_convert(const char *source, const char *path, const qp_import_options *o, const qp_watch *watch,
                              qp_err *err)
{
    documents docs = {0};
    qp_checkpoint c = {.mem = qp_arena_new(), .type = o->type};
    struct gguf_context *out = gguf_init_empty();
    qp_buf temporary = {0};

    qp_buf_fmt(&temporary, "%s.%ld.tmp", path, (long)getpid());
    qp_code code = c.mem && out && !temporary.oom ? open_checkpoint(source, &c, &docs, err) : qp_oom(err);
    if (!code) {
        code = convert(&c, out, temporary.at, o, watch, err);
        if (!code)
            code = qp_file_publish(temporary.at, path, err);
        if (code)
            unlink(temporary.at);
    }
    qp_buf_free(&temporary);
    gguf_free(out);
    qp_safetensors_close(c.weights);
    yyjson_doc_free(docs.config);
    yyjson_doc_free(docs.tokenizer);
    yyjson_doc_free(docs.tokenizer_config);
    qp_arena_free(c.mem);
    return code;
}

/* ---- quipu model import ---- */

static qp_code read_options(const qp_setting *settings, size_t n, qp_import_options *o, qp_err *err)
{
    static const struct {
        const char *name;
        enum ggml_type type;
    } types[] = {{"f32", GGML_TYPE_F32}, {"bf16", GGML_TYPE_BF16}, {"f16", GGML_TYPE_F16}, {"q8_0", GGML_TYPE_Q8_0}};
    static const char *const keys[] = {"type", "pooling", "segments", "license"};

    for (size_t i = 0; i < n; i++) {
        const char *key = settings[i].key, *value = settings[i].value;
        if (!strcmp(key, "type")) {
            size_t t = 0;
            while (t < 4 && strcmp(value, types[t].name))
                t++;
            if (t == 4)
                return qp_fail(err, QP_INPUT, "option type is '%.40s' where f32, bf16, f16 or q8_0 was wanted", value);
            o->type = types[t].type;
        } else if (!strcmp(key, "pooling")) {
            o->pooling = value;
        } else if (!strcmp(key, "segments")) {
            o->segments = value;
        } else if (!strcmp(key, "license")) {
            o->license = value;
        } else {
            const char *near = qp_nearest(key, keys, sizeof keys / sizeof *keys);
            return qp_fail(err, QP_INPUT,
                           "model import has no option '%.40s'%s%s%s; there are type, pooling, segments, license", key,
                           near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
        }
    }
    return QP_OK;
}

qp_code qp_model_import(const char *path, const char *name, const qp_setting *settings, size_t n, const qp_watch *watch,
                        qp_err *err)
{
    qp_import_options o = {.type = GGML_TYPE_BF16, .name = name};
    qp_arena *mem = qp_arena_new();
    char *target, *folder;
    qp_code code = mem ? read_options(settings, n, &o, err) : qp_oom(err);

    if (!code)
        code = qp_models_file(name, &target, mem, err);
    if (!code)
        code = qp_models_folder(&folder, mem, err);
    if (!code)
        code = qp_dir_make(folder, err);
    bool whole = qp_str_ends(qp_str_of(path), QP_STR(".gguf"));
    if (!code && whole && !qp_path_exists(path))
        code = qp_fail(err, QP_INPUT, "%s: no such file", path);
    else if (!code && whole)
        code = n ? qp_fail(err, QP_INPUT, "%s: a GGUF file is taken as it is, so options do not apply", path)
                 : qp_gguf_take(path, target, &o, watch, err);
    else if (!code)
        code = qp_checkpoint_convert(path, target, &o, watch, err);
    qp_arena_free(mem);
    return code;
}
