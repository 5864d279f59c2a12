/* The tensors: which are wanted under which name, their shapes, and the bytes of each in the type asked for. */
#include "model/import.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "model/safetensors.h"

enum { WORDS, POSITIONS, SEGMENTS, WIDTH, FF, ONE, NONE, ANY };

/* In the checkpoint: prefix, "encoder.layer.N." for per-layer ones, name, ".weight" or ".bias". */
static const struct want {
    const char *from, *to;
    bool layer, plain; /* plain: always F32 */
    int rows, columns; /* of the weight; its bias has `rows` items */
    bool no_bias;
} body[] =
    {
        {"embeddings.word_embeddings", "token_embd", false, false, WORDS, WIDTH, true},
        {"embeddings.position_embeddings", "position_embd", false, true, POSITIONS, WIDTH, true},
        {"embeddings.token_type_embeddings", "token_types", false, true, SEGMENTS, WIDTH, true},
        {"embeddings.LayerNorm", "token_embd_norm", false, true, WIDTH, NONE, false},
        {"attention.self.query", "attn_q", true, false, WIDTH, WIDTH, false},
        {"attention.self.key", "attn_k", true, false, WIDTH, WIDTH, false},
        {"attention.self.value", "attn_v", true, false, WIDTH, WIDTH, false},
        {"attention.output.dense", "attn_output", true, false, WIDTH, WIDTH, false},
        {"attention.output.LayerNorm", "attn_output_norm", true, true, WIDTH, NONE, false},
        {"intermediate.dense", "ffn_up", true, false, FF, WIDTH, false},
        {"output.dense", "ffn_down", true, false, WIDTH, FF, false},
        {"output.LayerNorm", "layer_output_norm", true, true, WIDTH, NONE, false},
},
  bert_head[] =
      {
          {"pooler.dense", "cls", false, true, WIDTH, WIDTH, false},
          {"classifier", "cls.output", false, true, ONE, WIDTH, false},
},
  roberta_head[] = {
      {"classifier.dense", "cls", false, true, WIDTH, WIDTH, false},
      {"classifier.out_proj", "cls.output", false, true, ONE, WIDTH, false},
};

static const struct want projection = {"linear", "token_proj", false, true, ANY, WIDTH, true}; /* ColBERT's */

/* SPLADE's; the output's weight is the word embeddings. */
static const struct want mlm_head[] = {
    {"cls.predictions.transform.dense", "mlm.dense", false, false, WIDTH, WIDTH, false},
    {"cls.predictions.transform.LayerNorm", "mlm.norm", false, true, WIDTH, NONE, false},
};
static const struct want mlm_output = {"cls.predictions", "mlm.output", false, true, WORDS, NONE, false};

typedef struct job { /* one tensor to write */
    const qp_tensor *from;
    struct ggml_tensor *to;
    uint64_t skip; /* rows left out in front */
} job;

typedef struct plan {
    qp_checkpoint *c;
    struct gguf_context *out;
    struct ggml_context *mem;
    job *job;
    size_t n, most;
    const char *prefix;
} plan;

static uint64_t size_of(const qp_checkpoint *c, int which)
{
    const uint64_t sizes[] = {c->vocab, c->positions + c->skip, c->segments, c->width, c->ff, 1, 0, 0};
    return sizes[which];
}

/* With the prefix and without it, under today's name and under the TensorFlow one of early checkpoints. */
static const qp_tensor *find(const plan *p, const char *layer, const struct want *w, bool bias)
{
    static const char *const modern[] = {".weight", ".bias"}, *const early[] = {".gamma", ".beta"};
    for (int i = 0; i < 4; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s%s%s%s", i & 1 ? "" : p->prefix, layer, w->from, (i & 2 ? early : modern)[bias]);
        const qp_tensor *t = qp_safetensors_find(p->c->weights, name);
        if (t)
            return t;
    }
    return NULL;
}

static qp_code add(plan *p, const struct want *w, int layer, bool bias, qp_err *err)
{
    const qp_checkpoint *c = p->c;
    char in[40] = "", name[GGML_MAX_NAME];
    uint64_t rows = size_of(c, w->rows), columns = bias ? 0 : size_of(c, w->columns);

    if (w->layer)
        snprintf(in, sizeof in, "encoder.layer.%d.", layer);
    const qp_tensor *t = find(p, in, w, bias);
    if (!t)
        return qp_fail(err, QP_INPUT, "%s: the checkpoint has no tensor %s%s%s", c->folder, in, w->from,
                       bias ? ".bias" : ".weight");
    if (w->rows == ANY && t->n_dims == 2)
        rows = t->dim[0];
    if (t->n_dims != (columns ? 2 : 1) || t->dim[0] != rows || (columns && t->dim[1] != columns))
        return qp_fail(err, QP_INPUT, "%s: tensor %.80s is %llu x %llu where config.json says %llu x %llu", c->folder,
                       t->name, (unsigned long long)t->dim[0], (unsigned long long)t->dim[1], (unsigned long long)rows,
                       (unsigned long long)(columns ? columns : 1));
    uint64_t skip = w->rows == POSITIONS ? c->skip : 0;
    enum ggml_type type = w->plain || bias ? GGML_TYPE_F32 : c->type;
    if (columns % (uint64_t)ggml_blck_size(type)) /* Q8_0 packs 32 in a block */
        type = GGML_TYPE_F16;
    struct ggml_tensor *to = columns ? ggml_new_tensor_2d(p->mem, type, (int64_t)columns, (int64_t)(rows - skip))
                                     : ggml_new_tensor_1d(p->mem, type, (int64_t)rows);
    if (w->layer)
        snprintf(name, sizeof name, "blk.%d.%s.%s", layer, w->to, bias ? "bias" : "weight");
    else
        snprintf(name, sizeof name, "%s.%s", w->to, bias ? "bias" : "weight");
    ggml_set_name(to, name);
    gguf_add_tensor(p->out, to);
    p->job[p->n++] = (job){t, to, skip};
    return QP_OK;
}

static qp_code add_all(plan *p, const struct want *want, size_t n, int layer, qp_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (want[i].layer != (layer >= 0))
            continue;
        qp_code code = add(p, &want[i], layer, false, err);
        if (!code && !want[i].no_bias)
            code = add(p, &want[i], layer, true, err);
        if (code)
            return code;
    }
    return QP_OK;
}

static qp_code add_mlm_head(plan *p, qp_err *err)
{
    const qp_checkpoint *c = p->c;
    if (yyjson_is_false(yyjson_obj_get(c->config, "tie_word_embeddings")))
        return qp_fail(err, QP_INPUT,
                       "%s/config.json: tie_word_embeddings is false; a sparse encoder whose output is its word "
                       "embeddings is what is computed",
                       c->folder);
    qp_code code = add_all(p, mlm_head, sizeof mlm_head / sizeof *mlm_head, -1, err);
    return code ? code : add(p, &mlm_output, -1, true, err);
}

static qp_code make_plan(plan *p, qp_err *err)
{
    qp_checkpoint *c = p->c;
    static const char *const prefixes[] = {"", "bert.", "roberta."};
    const size_t n_body = sizeof body / sizeof *body;
    qp_code code;

    p->prefix = "";
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof name, "%sembeddings.word_embeddings.weight", prefixes[i]);
        if (qp_safetensors_find(c->weights, name))
            p->prefix = prefixes[i];
    }
    p->most = 2 * n_body * ((size_t)c->layers + 1) + 5; /* and a head */
    p->job = qp_new(c->mem, job, p->most);
    p->mem = ggml_init((struct ggml_init_params){.mem_size = p->most * ggml_tensor_overhead(), .no_alloc = true});
    if (!p->job || !p->mem)
        return qp_oom(err);
    if ((code = add_all(p, body, n_body, -1, err)))
        return code;
    for (uint32_t i = 0; i < c->layers; i++)
        if ((code = add_all(p, body, n_body, (int)i, err)))
            return code;
    if (c->classifier)
        return add_all(p, c->roberta ? roberta_head : bert_head, 2, -1, err);
    if (c->late)
        return add(p, &projection, -1, false, err);
    return c->sparse ? add_mlm_head(p, err) : QP_OK;
}

/* What may be left out: language-model heads, the pooler of an encoder, saved position numbers. */
static bool may_be_left(const char *name)
{
    static const char *const known[] = {"pooler.",  "cls.predictions.",        "cls.seq_relationship.",
                                        "lm_head.", "embeddings.position_ids", "embeddings.token_type_ids"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *at = strstr(name, known[i]);
        if (at && (at == name || at[-1] == '.'))
            return true;
    }
    return false;
}

static qp_code refuse_leftovers(const plan *p, qp_err *err)
{
    for (size_t i = 0; i < qp_safetensors_count(p->c->weights); i++) {
        const qp_tensor *t = qp_safetensors_at(p->c->weights, i);
        bool used = may_be_left(t->name);
        for (size_t j = 0; !used && j < p->n; j++)
            used = p->job[j].from == t;
        if (!used)
            return qp_fail(err, QP_INPUT,
                           "%s: the checkpoint has a tensor %.80s that a %s does not know; leaving it out would change "
                           "what the model says",
                           p->c->folder, t->name, p->c->classifier ? "BERT cross-encoder" : "BERT encoder");
    }
    return QP_OK;
}

static qp_code to_type(const job *j, const float *row, uint64_t rows, void *out, qp_err *err)
{
    int64_t columns = j->to->ne[0], n = columns * (int64_t)rows;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(row[i]))
            return qp_fail(err, QP_INPUT, "tensor %.80s holds a value that is not finite", j->from->name);
    if (j->to->type == GGML_TYPE_F32)
        memcpy(out, row, (size_t)n * sizeof *row);
    else if (j->to->type == GGML_TYPE_BF16) /* _ref: the same bits on every processor */
        ggml_fp32_to_bf16_row_ref(row, out, n);
    else
        ggml_quantize_chunk(j->to->type, row, out, 0, (int64_t)rows, columns, NULL);
    return QP_OK;
}

static qp_code put(FILE *f, const void *bytes, size_t n, const char *file, qp_err *err)
{
    if (n && fwrite(bytes, 1, n, f) != n)
        return qp_fail(err, QP_STORE, "%s: writing failed: %s", file, strerror(errno));
    return QP_OK;
}

#define ITEMS (1 << 20) /* converted at once, in whole rows */

static qp_code write_tensor(const job *j, FILE *f, const char *file, qp_err *err)
{
    static const char zeros[GGUF_DEFAULT_ALIGNMENT];
    uint64_t columns = (uint64_t)j->to->ne[0], rows = (uint64_t)j->to->ne[1];
    size_t row_bytes = ggml_row_size(j->to->type, j->to->ne[0]);
    uint64_t step = columns < ITEMS ? ITEMS / columns : 1;
    float *in = malloc(step * columns * sizeof *in);
    char *out = malloc(step * row_bytes);
    qp_code code = in && out ? QP_OK : qp_oom(err);

    for (uint64_t r = 0; !code && r < rows; r += step) {
        uint64_t n = rows - r < step ? rows - r : step;
        code = qp_tensor_floats(j->from, (r + j->skip) * columns, n * columns, in, err);
        if (!code)
            code = to_type(j, in, n, out, err);
        if (!code)
            code = put(f, out, n * row_bytes, file, err);
    }
    if (!code) {
        size_t bytes = row_bytes * rows;
        code = put(f, zeros, GGML_PAD(bytes, GGUF_DEFAULT_ALIGNMENT) - bytes, file, err);
    }
    free(in);
    free(out);
    return code;
}

static void tell(const qp_watch *watch, uint64_t done, uint64_t total, double start)
{
    qp_progress p = {.stage = "convert", .done = done, .total = total, .seconds = (qp_now_ms() - start) / 1000};
    if (watch && watch->progress)
        watch->progress(watch->user, &p);
}

static qp_code write_all(const plan *p, FILE *f, const char *file, const qp_watch *watch, qp_err *err)
{
    double start = qp_now_ms(), last = start;
    size_t n = gguf_get_meta_size(p->out);
    void *header = malloc(n);
    qp_code code = header ? QP_OK : qp_oom(err);

    if (!code) {
        gguf_get_meta_data(p->out, header);
        code = put(f, header, n, file, err);
    }
    free(header);
    for (size_t i = 0; !code && i < p->n; i++) {
        if (watch && qp_cancelled(watch->cancel))
            return qp_fail(err, QP_STOPPED, "import of %s: stopped", p->c->folder);
        code = write_tensor(&p->job[i], f, file, err);
        if (qp_now_ms() - last > 100 || i + 1 == p->n) {
            last = qp_now_ms();
            tell(watch, i + 1, p->n, start);
        }
    }
    return code;
}

qp_code qp_import_weights(qp_checkpoint *c, struct gguf_context *out, const char *file, const qp_watch *watch,
                          qp_err *err)
{
    plan p = {.c = c, .out = out};
    FILE *f = NULL;
    qp_code code = make_plan(&p, err);

    if (!code)
        code = refuse_leftovers(&p, err);
    if (!code && !(f = fopen(file, "wbe")))
        code = qp_fail(err, QP_STORE, "%s: cannot be written: %s", file, strerror(errno));
    if (!code)
        code = write_all(&p, f, file, watch, err);
    if (f && fclose(f) && !code)
        code = qp_fail(err, QP_STORE, "%s: writing failed: %s", file, strerror(errno));
    if (p.mem)
        ggml_free(p.mem);
    return code;
}
