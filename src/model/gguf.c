#include "model/gguf.h"

#include <ggml.h>
#include <gguf.h>
#include <llama.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- logs ---- */

static _Thread_local char reason[200];

static void keep_reason(enum ggml_log_level level, const char *text, void *user)
{
    (void)user;
    if (level != GGML_LOG_LEVEL_ERROR || reason[0]) /* the first complaint is the cause, what follows is its wake */
        return;
    const char *colon = strstr(text, ": "); /* "function: reason" */
    snprintf(reason, sizeof reason, "%s", colon ? colon + 2 : text);
    reason[strcspn(reason, "\n")] = 0;
}

static void set_log(void)
{
    llama_log_set(keep_reason, NULL);
    llama_backend_init();
}

void qp_ggml_quiet(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_log);
    reason[0] = 0;
}

const char *qp_ggml_reason(void)
{
    return reason;
}

/* ---- opening ---- */

/* gguf.h reads the header within bounds; where the tensors lie it takes on trust. */
static qp_code check_tensors(const qp_gguf *g, qp_err *err)
{
    size_t start = gguf_get_data_offset(g->meta);
    if (start > g->file.n)
        return qp_fail(err, QP_MODEL, "%s: cut short: tensors begin at byte %zu of %zu; fetch it again", g->path, start,
                       g->file.n);
    size_t room = g->file.n - start;
    for (int64_t i = 0; i < gguf_get_n_tensors(g->meta); i++) {
        size_t offset = gguf_get_tensor_offset(g->meta, i), size = gguf_get_tensor_size(g->meta, i);
        if (offset > room || size > room - offset)
            return qp_fail(err, QP_MODEL,
                           "%s: cut short: tensor %.64s wants bytes up to %zu, the file has %zu; fetch it "
                           "again",
                           g->path, gguf_get_tensor_name(g->meta, i), start + offset + size, g->file.n);
    }
    return QP_OK;
}

qp_code qp_gguf_open(const char *path, qp_gguf *g, qp_err *err)
{
    *g = (qp_gguf){0};
    qp_ggml_quiet();
    qp_err why = {0};
    if (qp_file_map(path, &g->file, &why))
        return qp_fail(err, QP_MODEL, "%s", why.message);
    qp_code code = QP_OK;
    if (!(g->path = strdup(path)))
        code = qp_oom(err);
    else if (g->file.n < 24 || memcmp(g->file.at, "GGUF", 4))
        code = qp_fail(err, QP_MODEL,
                       "%s: not a GGUF file (it must begin with 'GGUF'); `quipu model import` converts "
                       "safetensors",
                       path);
    else if (!(g->meta = gguf_init_from_buffer(g->file.at, g->file.n, (struct gguf_init_params){.no_alloc = true})))
        code = qp_fail(err, QP_MODEL, "%s: damaged or cut short: %s", path,
                       reason[0] ? reason : "its header cannot be read");
    else
        code = check_tensors(g, err);
    if (code)
        qp_gguf_close(g);
    else
        g->data = g->file.at + gguf_get_data_offset(g->meta);
    return code;
}

void qp_gguf_close(qp_gguf *g)
{
    if (g->meta)
        gguf_free(g->meta);
    if (g->file.at)
        qp_file_unmap(&g->file);
    free(g->path);
    *g = (qp_gguf){0};
}

qp_digest qp_gguf_digest(const qp_gguf *g, qp_str settings)
{
    qp_str parts[] = {{(const char *)g->file.at, g->file.n}, settings};
    return qp_digest_parts(parts, 2);
}

/* ---- values ---- */

static int64_t find_key(const qp_gguf *g, const char *key, enum gguf_type type)
{
    int64_t id = gguf_find_key(g->meta, key);
    return id >= 0 && gguf_get_kv_type(g->meta, id) == type ? id : -1;
}

static int64_t find_array(const qp_gguf *g, const char *key, enum gguf_type type)
{
    int64_t id = find_key(g, key, GGUF_TYPE_ARRAY);
    return id >= 0 && gguf_get_arr_type(g->meta, id) == type ? id : -1;
}

bool qp_gguf_has(const qp_gguf *g, const char *key)
{
    return gguf_find_key(g->meta, key) >= 0;
}

qp_str qp_gguf_text(const qp_gguf *g, const char *key)
{
    int64_t id = find_key(g, key, GGUF_TYPE_STRING);
    return qp_str_of(id < 0 ? NULL : gguf_get_val_str(g->meta, id));
}

bool qp_gguf_uint(const qp_gguf *g, const char *key, uint64_t *value)
{
    int64_t id = gguf_find_key(g->meta, key), n = 0;
    if (id < 0)
        return false;
    switch (gguf_get_kv_type(g->meta, id)) {
    case GGUF_TYPE_BOOL: n = gguf_get_val_bool(g->meta, id); break;
    case GGUF_TYPE_UINT8: n = gguf_get_val_u8(g->meta, id); break;
    case GGUF_TYPE_UINT16: n = gguf_get_val_u16(g->meta, id); break;
    case GGUF_TYPE_UINT32: n = gguf_get_val_u32(g->meta, id); break;
    case GGUF_TYPE_UINT64: n = (int64_t)gguf_get_val_u64(g->meta, id); break;
    case GGUF_TYPE_INT32: n = gguf_get_val_i32(g->meta, id); break;
    case GGUF_TYPE_INT64: n = gguf_get_val_i64(g->meta, id); break;
    default: return false;
    }
    *value = (uint64_t)n;
    return n >= 0;
}

bool qp_gguf_real(const qp_gguf *g, const char *key, double *value)
{
    int64_t id = find_key(g, key, GGUF_TYPE_FLOAT32);
    if (id >= 0)
        *value = gguf_get_val_f32(g->meta, id);
    return id >= 0;
}

size_t qp_gguf_texts(const qp_gguf *g, const char *key)
{
    int64_t id = find_array(g, key, GGUF_TYPE_STRING);
    return id < 0 ? 0 : gguf_get_arr_n(g->meta, id);
}

qp_str qp_gguf_text_at(const qp_gguf *g, const char *key, size_t i)
{
    int64_t id = find_array(g, key, GGUF_TYPE_STRING);
    return qp_str_of(id < 0 || i >= gguf_get_arr_n(g->meta, id) ? NULL : gguf_get_arr_str(g->meta, id, i));
}

/* ---- tensors ---- */

bool qp_gguf_tensor(const qp_gguf *g, const char *name, qp_tensor *t)
{
    int64_t id = gguf_find_tensor(g->meta, name);
    if (id < 0)
        return false;
    const int64_t *ne = gguf_get_tensor_ne(g->meta, id);
    if (ne[2] != 1 || ne[3] != 1 || ne[0] < 1 || ne[1] < 1 || ne[0] > INT32_MAX || ne[1] > INT32_MAX)
        return false;
    *t = (qp_tensor){g->data + gguf_get_tensor_offset(g->meta, id), gguf_get_tensor_type(g->meta, id), (uint32_t)ne[1],
                     (uint32_t)ne[0]};
    return true;
}

static bool is_f32(const qp_tensor *t)
{
    return t->type == GGML_TYPE_F32;
}

bool qp_tensor_is_readable(const qp_tensor *t)
{
    return is_f32(t) || ggml_get_type_traits(t->type)->to_float;
}

void qp_tensor_row(const qp_tensor *t, uint32_t row, float *out)
{
    const uint8_t *from = t->at + (size_t)row * ggml_row_size(t->type, t->cols);
    if (is_f32(t))
        memcpy(out, from, (size_t)t->cols * sizeof *out);
    else
        ggml_get_type_traits(t->type)->to_float(from, out, t->cols);
}

qp_code qp_gguf_want(const qp_gguf *g, const char *name, uint32_t rows, uint32_t cols, qp_tensor *t, qp_err *err)
{
    if (!qp_gguf_tensor(g, name, t))
        return qp_fail(err, QP_MODEL, "%s: has no tensor %s, which this kind of model needs", g->path, name);
    if ((rows && t->rows != rows) || (cols && t->cols != cols))
        return qp_fail(err, QP_MODEL, "%s: tensor %s is %u x %u, wanted %u x %u", g->path, name, t->rows, t->cols, rows,
                       cols);
    if (!qp_tensor_is_readable(t))
        return qp_fail(err, QP_MODEL, "%s: tensor %s is of a type that cannot be read as numbers", g->path, name);
    return QP_OK;
}

qp_code qp_gguf_floats(const qp_gguf *g, const char *name, uint32_t rows, uint32_t cols, float **out, qp_err *err)
{
    qp_tensor t;
    qp_code code = qp_gguf_want(g, name, rows, cols, &t, err);
    if (code)
        return code;
    if (!(*out = malloc((size_t)rows * cols * sizeof **out)))
        return qp_oom(err);
    for (uint32_t i = 0; i < rows; i++)
        qp_tensor_row(&t, i, *out + (size_t)i * cols);
    return QP_OK;
}
