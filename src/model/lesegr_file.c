/* LeSeGR's weights as a GGUF file. */
#include <ggml.h>
#include <gguf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "model/gguf.h"
#include "model/lesegr_parts.h"

#define KEY_ENCODER "lesegr.encoder" /* string: gcn, gat, gt */
#define KEY_LAYERS "lesegr.layers"   /* u32, as the next four */
#define KEY_DIM "lesegr.dim"
#define KEY_HIDDEN "lesegr.hidden"
#define KEY_HEADS "lesegr.heads"
#define KEY_MLP "lesegr.mlp"
#define KEY_EMBEDDER "lesegr.embedder" /* string: digest */
#define KEY_SPARSE "lesegr.sparse"     /* string */
#define KEY_SETTINGS "lesegr.settings" /* string */
#define KEY_HIT "lesegr.hit_at_1"      /* f32 */

static void describe(const qp_lesegr *m, qp_lesegr_about about, struct gguf_context *g)
{
    gguf_set_val_str(g, "general.architecture", "lesegr");
    gguf_set_val_str(g, KEY_ENCODER, qp_lesegr_kinds[m->shape.kind]);
    gguf_set_val_u32(g, KEY_LAYERS, m->shape.layers);
    gguf_set_val_u32(g, KEY_DIM, m->shape.dim);
    gguf_set_val_u32(g, KEY_HIDDEN, m->shape.hidden);
    gguf_set_val_u32(g, KEY_HEADS, m->shape.heads);
    gguf_set_val_u32(g, KEY_MLP, m->shape.mlp);
    gguf_set_val_str(g, KEY_EMBEDDER, about.embedder);
    gguf_set_val_str(g, KEY_SPARSE, about.sparse);
    gguf_set_val_str(g, KEY_SETTINGS, about.settings);
    gguf_set_val_f32(g, KEY_HIT, (float)about.hit);
}

static qp_code write_file(const qp_lesegr *m, const char *path, qp_lesegr_about about, qp_err *err)
{
    struct ggml_context *mem =
        ggml_init((struct ggml_init_params){.mem_size = (LESEGR_PARTS + 1) * ggml_tensor_overhead(), .no_alloc = true});
    struct gguf_context *g = gguf_init_empty();
    if (!mem || !g)
        return qp_oom(err);
    describe(m, about, g);
    for (uint32_t i = 0; i < m->parts; i++) {
        const qp_lesegr_part *p = &m->part[i];
        struct ggml_tensor *t = ggml_new_tensor_2d(mem, GGML_TYPE_F32, p->cols, p->rows);
        ggml_set_name(t, p->name);
        t->data = m->weights + p->at;
        gguf_add_tensor(g, t);
    }
    bool written = gguf_write_to_file(g, path, false);
    gguf_free(g);
    ggml_free(mem);
    return written ? QP_OK : qp_fail(err, QP_STORE, "%s: the weights cannot be written; is there room?", path);
}

qp_code qp_lesegr_save(const qp_lesegr *m, const char *path, qp_lesegr_about about, qp_err *err)
{
    char *temporary = NULL;
    qp_ggml_quiet();
    if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return qp_oom(err);
    qp_code code = write_file(m, temporary, about, err);
    if (!code)
        code = qp_file_publish(temporary, path, err);
    if (code)
        unlink(temporary);
    free(temporary);
    return code;
}

static qp_code read_shape(const qp_gguf *g, qp_lesegr_shape *shape, qp_err *err)
{
    const char *const keys[] = {KEY_LAYERS, KEY_DIM, KEY_HIDDEN, KEY_HEADS, KEY_MLP};
    uint32_t *const to[] = {&shape->layers, &shape->dim, &shape->hidden, &shape->heads, &shape->mlp};
    qp_str kind = qp_gguf_text(g, KEY_ENCODER);
    if (!qp_str_eq(qp_gguf_text(g, "general.architecture"), QP_STR("lesegr")))
        return qp_fail(err, QP_MODEL, "%s: weights of LeSeGR were wanted, this is another model", g->path);
    while (qp_lesegr_kinds[shape->kind] && !qp_str_eq(kind, qp_str_of(qp_lesegr_kinds[shape->kind])))
        shape->kind++;
    for (int i = 0; i < 5; i++) {
        uint64_t value = 0;
        if (!qp_gguf_uint(g, keys[i], &value) || value > UINT32_MAX || !qp_lesegr_kinds[shape->kind])
            return qp_fail(err, QP_MODEL, "%s: %s is missing or no number, or the encoder is none of gcn, gat, gt",
                           g->path, keys[i]);
        *to[i] = (uint32_t)value;
    }
    return QP_OK;
}

static qp_code fits(const qp_gguf *g, const qp_lesegr_shape *shape, uint32_t dim, const char *embedder, qp_err *err)
{
    qp_str made_for = qp_gguf_text(g, KEY_EMBEDDER);
    if (shape->dim != dim)
        return qp_fail(err, QP_MODEL,
                       "%s: trained on vectors of %u numbers, the index has %u: train again with `quipu train lesegr`",
                       g->path, shape->dim, dim);
    if (!qp_str_eq(made_for, qp_str_of(embedder)))
        return qp_fail(err, QP_MODEL,
                       "%s: trained on another embedder's vectors (%.*s...) than the index has (%.12s...): train again "
                       "with `quipu train lesegr`",
                       g->path, (int)(made_for.n < 12 ? made_for.n : 12), made_for.n ? made_for.at : "", embedder);
    return QP_OK;
}

static qp_code read_weights(const qp_gguf *g, qp_lesegr *m, qp_err *err)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const qp_lesegr_part *p = &m->part[i];
        qp_tensor t;
        qp_code code = qp_gguf_want(g, p->name, p->rows, p->cols, &t, err);
        if (code)
            return code;
        for (uint32_t r = 0; r < p->rows; r++)
            qp_tensor_row(&t, r, m->weights + p->at + (size_t)r * p->cols);
    }
    return QP_OK;
}

qp_code qp_lesegr_load(const char *path, uint32_t dim, qp_lesegr **out, qp_lesegr_about *about, qp_arena *mem,
                       qp_err *err)
{
    qp_gguf g;
    qp_lesegr_shape shape = {0};
    qp_lesegr *m = NULL;
    qp_random any = qp_random_seed(0);
    qp_code code = qp_gguf_open(path, &g, err);
    if (code)
        return code;
    code = read_shape(&g, &shape, err);
    if (!code)
        code = fits(&g, &shape, dim, about->embedder, err);
    if (!code)
        code = qp_lesegr_new(shape, &any, &m, err);
    if (!code)
        code = read_weights(&g, m, err);
    if (!code)
        code = qp_lesegr_ready(m, false, err);
    if (!code) {
        about->sparse = qp_arena_str(mem, qp_gguf_text(&g, KEY_SPARSE)).at;
        about->settings = qp_arena_str(mem, qp_gguf_text(&g, KEY_SETTINGS)).at;
        qp_gguf_real(&g, KEY_HIT, &about->hit);
        code = about->sparse && about->settings ? QP_OK : qp_oom(err);
    }
    qp_gguf_close(&g);
    if (code)
        qp_lesegr_free(m);
    else
        *out = m;
    return code;
}
