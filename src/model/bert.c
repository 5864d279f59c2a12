/* qp_model on our own encoder: embedders, cross-encoders, sparse encoders and attention heads of the BERT family. What
 * a file says of itself, and which calls its model has then. */
#include <stdlib.h>

#include "base/thread.h"
#include "model/bert_model.h"
#include "model/keys.h"

enum { POOLING_MEAN = 1, POOLING_CLS = 2, POOLING_RANK = 4 }; /* of bert.pooling_type */

/* See model/keys.h: never a wrong score. */
static qp_code read_segments(qp_bert *b, qp_err *err)
{
    uint64_t segment = 0;
    bool said = qp_gguf_uint(&b->file, QP_KEY_SEGMENTS, &segment);
    b->segments = said && segment == 1;
    if (said && segment > 1)
        return qp_fail(err, QP_MODEL, "%s: " QP_KEY_SEGMENTS " is %zu, wanted 0 or 1", b->file.path, (size_t)segment);
    if (said || !qp_encoder_has_segments(b->encoder) ||
        qp_str_eq(qp_gguf_text(&b->file, "general.name"), QP_STR("quipu-rerank-v0")))
        return QP_OK;
    return qp_fail(err, QP_MODEL,
                   "%s: does not say whether its passages are segment 0 or 1 (no key " QP_KEY_SEGMENTS "), and "
                   "a guess would score wrongly; `quipu model import` its safetensors with -o segments=0 or 1",
                   b->file.path);
}

static qp_code read_terms(qp_bert *b, qp_err *err)
{
    if (!qp_str_eq(qp_gguf_text(&b->file, QP_KEY_TERMS), QP_STR("splade")))
        return qp_fail(
            err, QP_MODEL,
            "%s: a sparse encoder was wanted, and this model weights no terms; `quipu model import` one from "
            "safetensors with -o pooling=splade",
            b->file.path);
    qp_code code =
        qp_splade_open(&b->file, qp_encoder_width(b->encoder), qp_encoder_epsilon(b->encoder), &b->splade, err);
    if (code)
        return code;
    b->model.terms = qp_splade_terms(b->splade);
    b->model.weigh = qp_bert_weigh;
    return QP_OK;
}

/* ColBERT marks passages and queries by tokens that BERT has to spare. */
static qp_code read_projection(qp_bert *b, qp_err *err)
{
    static const char *const names[] = {"[unused1]", "[unused0]"};
    qp_tensor t;
    if (!qp_str_eq(qp_gguf_text(&b->file, QP_KEY_TOKENS), QP_STR("colbert")))
        return QP_OK;
    const uint32_t width = qp_encoder_width(b->encoder);
    qp_code code = qp_gguf_want(&b->file, "token_proj.weight", 0, width, &t, err);
    code = code ? code : qp_gguf_floats(&b->file, "token_proj.weight", t.rows, width, &b->projection, err);
    if (code)
        return code;
    b->model.token_dim = t.rows;
    for (int i = 0; i < 2; i++) {
        const uint64_t *id = qp_map_get(b->tokenizer.wordpiece.vocabulary, qp_str_of(names[i]));
        b->marker[i] = id ? (int32_t)*id : -1;
    }
    return QP_OK;
}

static qp_code read_purpose(qp_bert *b, qp_purpose purpose, qp_err *err)
{
    uint64_t pooling = 0;
    bool ranks = qp_gguf_uint(&b->file, "bert.pooling_type", &pooling) && pooling == POOLING_RANK;
    if (purpose == QP_WRITER)
        return qp_fail(err, QP_MODEL, "%s: a BERT encoder cannot write; name a model that generates", b->file.path);
    if (purpose == QP_SPARSE)
        return read_terms(b, err);
    if (purpose == QP_ATTENTION) {
        b->pool = QP_POOL_HEADS;
        b->model.heads = qp_encoder_heads(b->encoder);
        b->model.head_dim = qp_encoder_width(b->encoder) / b->model.heads;
        b->model.attend = qp_bert_attend;
        return QP_OK;
    }
    if (purpose == QP_RANKER) {
        b->pool = QP_POOL_FIRST;
        b->model.width = qp_encoder_width(b->encoder);
        b->model.latent = qp_bert_latent;
        b->model.head = qp_bert_head;
        b->model.rank = qp_bert_rank;
        qp_code code = qp_rank_head_open(&b->file, b->model.width, &b->head, err);
        return code ? code : read_segments(b, err);
    }
    if (ranks || qp_gguf_has(&b->file, QP_KEY_TERMS))
        return qp_fail(err, QP_MODEL, "%s: is a %s, an embedder was wanted", b->file.path,
                       ranks ? "reranker" : "sparse encoder");
    if (pooling != POOLING_MEAN && pooling != POOLING_CLS)
        return qp_fail(err, QP_MODEL,
                       "%s: does not say how to pool (bert.pooling_type is %zu; 1 mean or 2 [CLS] was wanted)",
                       b->file.path, (size_t)pooling);
    b->pool = pooling == POOLING_CLS ? QP_POOL_FIRST : QP_POOL_MEAN;
    b->model.dim = qp_encoder_width(b->encoder);
    b->model.embed = qp_bert_embed;
    if (b->tokenizer.llama) /* llama.cpp's does not say where a token stands */
        return QP_OK;
    b->model.token_dim = b->model.dim;
    b->model.tokens = qp_bert_tokens;
    if (b->pool == QP_POOL_MEAN)
        b->model.embed_spans = qp_bert_embed_spans;
    return read_projection(b, err);
}

static qp_code read_limits(qp_bert *b, qp_err *err)
{
    uint64_t most = qp_encoder_positions(b->encoder), said;
    if (qp_gguf_uint(&b->file, "bert.context_length", &said) && said < most)
        most = said;
    if (qp_gguf_uint(&b->file, QP_KEY_MAX_TOKENS, &said) && said < most)
        most = said;
    if (most < 16)
        return qp_fail(err, QP_MODEL, "%s: takes %zu tokens at most, 16 are the least that is useful", b->file.path,
                       (size_t)most);
    b->model.max_tokens = (uint32_t)most;
    b->query_prefix = qp_gguf_text(&b->file, QP_KEY_QUERY_PREFIX);
    b->passage_prefix = qp_gguf_text(&b->file, QP_KEY_PASSAGE_PREFIX);
    return QP_OK;
}

static void bert_close(void *self)
{
    qp_bert *b = self;
    while (b->n_idle)
        qp_workspace_free(b->idle[--b->n_idle]);
    free(b->idle);
    qp_encoder_close(b->encoder);
    qp_tokenizer_close(&b->tokenizer);
    qp_gguf_close(&b->file);
    pthread_mutex_destroy(&b->lock);
    qp_splade_close(b->splade);
    qp_rank_head_close(b->head);
    free(b->projection);
    free(b->name);
    free(b);
}

qp_code qp_model_open_bert(const char *path, qp_purpose purpose, int threads, qp_model **out, qp_err *err)
{
    qp_bert *b = calloc(1, sizeof *b);
    if (!b)
        return qp_oom(err);
    pthread_mutex_init(&b->lock, NULL);
    b->threads = threads > 0 ? threads : qp_cores();
    b->model.self = b;
    b->model.count = qp_bert_count;
    b->model.close = bert_close;
    b->marker[0] = b->marker[1] = -1;
    b->name = qp_model_file_name(path);
    b->idle = calloc((size_t)b->threads, sizeof(qp_workspace *));
    const qp_int8 *int8 = NULL;
    qp_code code = b->name && b->idle ? qp_gguf_open(path, &b->file, err) : qp_oom(err);
    if (!code && purpose != QP_ATTENTION) /* heads vote one by one: they are taken as the file has them */
        code = qp_int8_best(&int8, err);
    if (!code)
        code = qp_encoder_open(&b->file, int8, threads, &b->encoder, err);
    if (!code)
        code = qp_tokenizer_open(&b->file, &b->tokenizer, err);
    if (!code)
        code = read_purpose(b, purpose, err);
    if (!code)
        code = read_limits(b, err);
    if (code) {
        bert_close(b);
        return code;
    }
    static const char *const settings[] = {
        [QP_EMBEDDER] = "embedder", [QP_RANKER] = "ranker", [QP_SPARSE] = "sparse", [QP_ATTENTION] = "attention"};
    b->digest = qp_gguf_digest(&b->file, qp_str_of(settings[purpose]));
    b->model.name = b->name;
    b->model.digest = b->digest.hex;
    *out = &b->model;
    return QP_OK;
}
