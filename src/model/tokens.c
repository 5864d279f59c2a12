#include "model/tokens.h"

#include <llama.h>
#include <stdlib.h>

/* llama.cpp cuts nothing off by itself, so a text of which few tokens are wanted is cut before: no token of a
 * vocabulary in use is longer than this on average over a text. */
enum { BYTES_A_TOKEN = 64 };

static qp_code open_llama(const qp_gguf *g, qp_tokenizer *t, qp_err *err)
{
    struct llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    qp_ggml_quiet();
    if (!(t->llama = llama_model_load_from_file(g->path, params)))
        return qp_fail(err, QP_MODEL, "%s: its vocabulary cannot be loaded: %s", g->path, qp_ggml_reason());
    t->vocab = llama_model_get_vocab(t->llama);
    t->begin = llama_vocab_bos(t->vocab);
    t->end = llama_vocab_eos(t->vocab);
    t->between = 2; /* RoBERTa: <s> query </s></s> passage </s> */
    if (t->begin >= 0 && t->end >= 0)
        return QP_OK;
    qp_tokenizer_close(t);
    return qp_fail(err, QP_MODEL, "%s: its vocabulary names no begin and end token", g->path);
}

qp_code qp_tokenizer_open(const qp_gguf *g, qp_tokenizer *t, qp_err *err)
{
    *t = (qp_tokenizer){.between = 1};
    if (!qp_str_eq(qp_gguf_text(g, "tokenizer.ggml.model"), QP_STR("bert")))
        return open_llama(g, t, err);
    qp_code code = qp_wordpiece_open(g, &t->wordpiece, err);
    t->begin = t->wordpiece.cls;
    t->end = t->wordpiece.sep;
    return code;
}

void qp_tokenizer_close(qp_tokenizer *t)
{
    if (t->llama)
        llama_model_free(t->llama);
    else
        qp_wordpiece_close(&t->wordpiece);
    *t = (qp_tokenizer){0};
}

static void run_llama(const qp_tokenizer *t, qp_str text, uint32_t limit, qp_ids *ids)
{
    size_t most = limit < INT32_MAX / BYTES_A_TOKEN ? (size_t)limit * BYTES_A_TOKEN : INT32_MAX;
    int32_t bytes = (int32_t)(text.n < most ? text.n : most);
    if (!qp_ids_room(ids, 64 + (uint32_t)bytes / 2))
        return;
    int32_t n = llama_tokenize(t->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), false, false);
    if (n < 0 && n != INT32_MIN && qp_ids_room(ids, (uint32_t)-n))
        n = llama_tokenize(t->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), false, false);
    if (n > 0)
        ids->n += (uint32_t)n < limit ? (uint32_t)n : limit;
}

void qp_tokenizer_run(const qp_tokenizer *t, qp_str text, uint32_t limit, qp_ids *ids)
{
    uint32_t before = ids->n;
    if (t->llama)
        run_llama(t, text, limit, ids);
    else
        qp_wordpiece_run(&t->wordpiece, text, limit, ids);
    if (ids->n - before > limit)
        ids->n = before + limit;
}
