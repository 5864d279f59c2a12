/* Which kind of model a name means. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "model/decoder.h"
#include "model/gguf.h"

static bool can(const qp_model *m, qp_purpose purpose)
{
    switch (purpose) {
    case QP_EMBEDDER: return m->embed;
    case QP_RANKER: return m->rank;
    case QP_WRITER: return m->generate;
    case QP_SPARSE: return m->weigh;
    case QP_ATTENTION: return m->attend;
    case QP_PURPOSES: break;
    }
    return false;
}

static qp_code open_hash(const char *name, qp_purpose purpose, qp_model **out, qp_err *err)
{
    char *end = "";
    unsigned long dim = name[4] ? strtoul(name + 5, &end, 10) : 0;
    if (*end || (name[4] && (!dim || dim > UINT32_MAX)))
        return qp_fail(err, QP_INPUT, "%s: after 'hash:' stands the dimension, as in hash:256", name);
    return qp_model_open_hash((uint32_t)dim, purpose, out, err);
}

/* A GGUF file: BERT goes to our own encoder, a decoder of Llama's kind that is wanted for its attention to our own, and
 * whatever else to llama.cpp. */
static qp_code open_file(qp_purpose purpose, const char *path, int threads, qp_model **out, qp_err *err)
{
    qp_gguf file;
    qp_code code = qp_gguf_open(path, &file, err);
    if (code)
        return code;
    bool bert = qp_str_eq(qp_gguf_text(&file, "general.architecture"), QP_STR("bert"));
    bool decoder = purpose == QP_ATTENTION && qp_decoder_takes(&file);
    qp_gguf_close(&file);
    if (decoder)
        return qp_model_open_decoder(path, threads, out, err);
    return bert ? qp_model_open_bert(path, purpose, threads, out, err)
                : qp_model_open_llama(path, purpose, threads, out, err);
}

static qp_code open_named(qp_purpose purpose, const char *name, int threads, qp_model **out, qp_err *err)
{
    if (name && qp_str_ends(qp_str_of(name), QP_STR(".gguf")))
        return open_file(purpose, name, threads, out, err);
    qp_arena *mem = qp_arena_new();
    char *path = NULL;
    qp_code code = mem ? qp_registry_find(purpose, name, &path, mem, err) : qp_oom(err);
    if (!code)
        code = open_file(purpose, path, threads, out, err);
    qp_arena_free(mem);
    return code;
}

qp_code qp_model_open(qp_purpose purpose, const char *name, int threads, qp_model **out, qp_err *err)
{
    static const char *const wanted[] = {"an embedder", "a reranker", "a writer", "a sparse encoder",
                                         "a model whose attention can be read"};
    qp_model *m = NULL;
    qp_code code;
    if (name && (!strcmp(name, "hash") || !strncmp(name, "hash:", 5)))
        code = open_hash(name, purpose, &m, err);
    else if (name && strchr(name, ':') && !qp_str_ends(qp_str_of(name), QP_STR(".gguf")))
        code = qp_model_open_http(name, purpose, &m, err);
    else
        code = open_named(purpose, name, threads, &m, err);
    if (!code && !can(m, purpose)) {
        code = qp_fail(err, QP_MODEL, "%s: %s was wanted, and this model cannot be one", m->name, wanted[purpose]);
        qp_model_close(m);
    }
    if (!code)
        *out = m;
    return code;
}

char *qp_model_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    size_t n = name ? strlen(name) : 0;
    if (n > 5 && !strcmp(name + n - 5, ".gguf"))
        name[n - 5] = 0;
    return name;
}

void qp_model_close(qp_model *m)
{
    if (m)
        m->close(m->self);
}
