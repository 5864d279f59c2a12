#include "model/attention.h"

#include <ggml-backend.h>
#include <stdio.h>
#include <string.h>

#include "model/gguf.h"

/* Rows of a tensor that is computed now; the only backend that is linked is the processor's, so they lie in memory. */
static void take_rows(const qp_tap *tap, const struct ggml_tensor *t)
{
    const size_t width = (size_t)t->ne[0], n = (size_t)t->ne[1];
    const float *rows = t->data;
    if (!tap->mean) {
        memcpy(tap->out, rows + (n - 1) * width, width * sizeof *rows);
        return;
    }
    memset(tap->out, 0, width * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            tap->out[k] += rows[i * width + k];
    for (size_t k = 0; k < width; k++)
        tap->out[k] /= (float)n;
}

/* ggml_backend_sched_eval_callback. A later tensor may bear the same name; the first is meant, and false ends the
 * graph. A text longer than a micro-batch comes in several: the last one's last row stays. */
static bool see(struct ggml_tensor *t, bool ask, void *self)
{
    qp_tap *tap = self;
    if (ask)
        return strcmp(t->name, tap->name) == 0;
    const struct ggml_tensor *apart = t->src[0]; /* head_dim x heads x tokens, whose first two are one here */
    bool readable = t->type == GGML_TYPE_F32 && ggml_is_contiguous(t) && apart && apart->ne[0] > 0 &&
                    apart->ne[0] * apart->ne[1] == t->ne[0] && t->ne[1] > 0;
    if (!tap->out) {
        tap->heads = readable ? (uint32_t)apart->ne[1] : 0;
        tap->head_dim = readable ? (uint32_t)apart->ne[0] : 0;
    } else if (readable && t->ne[0] == (int64_t)tap->heads * tap->head_dim) {
        take_rows(tap, t);
        tap->taken = true;
    }
    return false;
}

void qp_tap_install(qp_tap *tap, const struct llama_model *m, struct llama_context_params *p)
{
    snprintf(tap->name, sizeof tap->name, "kqv_out-%d", llama_model_n_layer(m) - 1);
    p->cb_eval = see;
    p->cb_eval_user_data = tap;
    p->pooling_type = LLAMA_POOLING_TYPE_NONE;
    p->flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED; /* it would round keys and values to halves */
    p->type_k = p->type_v = GGML_TYPE_F32;
}

qp_code qp_tap_probe(struct llama_model *m, const char *path, qp_tap *found, qp_err *err)
{
    if (llama_model_has_encoder(m) && llama_model_has_decoder(m))
        return qp_fail(err, QP_MODEL, "%s: has an encoder and a decoder; attention is read of models with one of them",
                       path);
    struct llama_context_params p = llama_context_default_params();
    llama_token token = 0;
    *found = (qp_tap){0};
    qp_tap_install(found, m, &p);
    p.n_ctx = p.n_batch = p.n_ubatch = 32;
    p.n_threads = p.n_threads_batch = 1;
    p.embeddings = true;
    struct llama_context *c = llama_init_from_model(m, p);
    if (!c || llama_decode(c, llama_batch_get_one(&token, 1))) {
        llama_free(c);
        return qp_fail(err, QP_MODEL, "%s: cannot be run: %s", path, qp_ggml_reason());
    }
    found->mean = !llama_get_memory(c); /* keeps no keys and values: an encoder, which sees the whole text */
    llama_free(c);
    if (!found->heads)
        return qp_fail(err, QP_MODEL,
                       "%s: its last layer shows no attention heads (a recurrent or unusual model); name another one",
                       path);
    return QP_OK;
}
