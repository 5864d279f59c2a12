#include "model/safetensors.h"

#include <stdlib.h>

#include <ggml.h>
#include <yyjson.h>

#include "base/file.h"

#define MOST_HEADER (100u << 20) /* the format's own limit */
#define MOST_TENSORS 100000
#define MOST_PARTS 1000

struct qp_safetensors {
    qp_arena *mem;
    qp_mapped *part;
    size_t parts;
    const qp_tensor **tensor; /* of all parts */
    size_t n;
};

static const struct {
    const char *name;
    qp_tensor_type type;
    uint64_t size;
} types[] = {
    {"F32", QP_TENSOR_F32, 4},    {"F16", QP_TENSOR_F16, 2},       {"BF16", QP_TENSOR_BF16, 2},
    {"F64", QP_TENSOR_F64, 8},    {"I64", QP_TENSOR_OTHER, 8},     {"U64", QP_TENSOR_OTHER, 8},
    {"I32", QP_TENSOR_OTHER, 4},  {"U32", QP_TENSOR_OTHER, 4},     {"I16", QP_TENSOR_OTHER, 2},
    {"U16", QP_TENSOR_OTHER, 2},  {"I8", QP_TENSOR_OTHER, 1},      {"U8", QP_TENSOR_OTHER, 1},
    {"BOOL", QP_TENSOR_OTHER, 1}, {"F8_E4M3", QP_TENSOR_OTHER, 1}, {"F8_E5M2", QP_TENSOR_OTHER, 1},
};

static uint64_t type_size(const char *name, qp_tensor_type *type)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name)) {
            *type = types[i].type;
            return types[i].size;
        }
    return 0;
}

/* The bytes a shape needs, or an error: an unknown type, too many dimensions, a product that overflows. */
static qp_code read_shape(yyjson_val *item, qp_tensor *t, uint64_t *wanted, const char *where, qp_err *err)
{
    const char *type = yyjson_get_str(yyjson_obj_get(item, "dtype"));
    yyjson_val *shape = yyjson_obj_get(item, "shape");
    uint64_t bytes = type_size(type, &t->type);

    if (!bytes)
        return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' has the type '%.20s', which is not a safetensors type", where,
                       t->name, type ? type : "(none)");
    if (!yyjson_is_arr(shape) || yyjson_arr_size(shape) > QP_TENSOR_DIMS)
        return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' has no shape of at most %d dimensions", where, t->name,
                       QP_TENSOR_DIMS);
    size_t i, n;
    yyjson_val *dim;
    for (i = 0; i < QP_TENSOR_DIMS; i++)
        t->dim[i] = 1;
    t->n_dims = (uint32_t)yyjson_arr_size(shape);
    yyjson_arr_foreach(shape, i, n, dim) {
        t->dim[i] = yyjson_get_uint(dim);
        if (!yyjson_is_uint(dim) || __builtin_mul_overflow(bytes, t->dim[i], &bytes))
            return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' has an impossible shape", where, t->name);
    }
    *wanted = bytes;
    return QP_OK;
}

static qp_code read_tensor(yyjson_val *name, yyjson_val *item, const uint8_t *data, uint64_t size, const char *where,
                           qp_arena *mem, qp_tensor *t, qp_err *err)
{
    if (strlen(yyjson_get_str(name)) != yyjson_get_len(name) || !yyjson_get_len(name))
        return qp_fail(err, QP_INPUT, "%s: a tensor's name is empty or has a NUL byte", where);
    t->name = qp_arena_cstr(mem, yyjson_get_str(name));
    if (!t->name)
        return qp_oom(err);
    uint64_t wanted = 0;
    qp_code code = read_shape(item, t, &wanted, where, err);
    if (code)
        return code;
    yyjson_val *offsets = yyjson_obj_get(item, "data_offsets");
    yyjson_val *from = yyjson_arr_get(offsets, 0), *to = yyjson_arr_get(offsets, 1);
    if (yyjson_arr_size(offsets) != 2 || !yyjson_is_uint(from) || !yyjson_is_uint(to))
        return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' has no pair of data_offsets", where, t->name);
    uint64_t a = yyjson_get_uint(from), b = yyjson_get_uint(to);
    if (a > b || b > size)
        return qp_fail(err, QP_INPUT,
                       "%s: tensor '%.80s' lies at bytes %llu to %llu of %llu: the file is cut short or damaged; fetch "
                       "it again",
                       where, t->name, (unsigned long long)a, (unsigned long long)b, (unsigned long long)size);
    if (b - a != wanted)
        return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' has %llu bytes where its shape needs %llu", where, t->name,
                       (unsigned long long)(b - a), (unsigned long long)wanted);
    t->at = data + a;
    t->bytes = wanted;
    return QP_OK;
}

static int by_place(const void *a, const void *b)
{
    const qp_tensor *x = *(qp_tensor *const *)a, *y = *(qp_tensor *const *)b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(qp_tensor *const *)a)->name, (*(qp_tensor *const *)b)->name);
}

/* The tensors must tile the data part, and no name may come twice. */
static qp_code check_tiling(qp_tensor *tensor, size_t n, const uint8_t *data, uint64_t size, const char *where,
                            qp_arena *mem, qp_err *err)
{
    qp_tensor **order = qp_new(mem, qp_tensor *, n ? n : 1);
    if (!order)
        return qp_oom(err);
    for (size_t i = 0; i < n; i++)
        order[i] = tensor + i;
    qsort(order, n, sizeof *order, by_place);
    const uint8_t *end = data;
    for (size_t i = 0; i < n; end = order[i]->at + order[i]->bytes, i++)
        if (order[i]->at != end)
            return qp_fail(err, QP_INPUT, "%s: there is a gap or an overlap before tensor '%.80s'", where,
                           order[i]->name);
    if (end != data + size)
        return qp_fail(err, QP_INPUT, "%s: %llu bytes follow the last tensor; the file is not a whole safetensors file",
                       where, (unsigned long long)(data + size - end));
    qsort(order, n, sizeof *order, by_name);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(order[i - 1]->name, order[i]->name))
            return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' is there twice", where, order[i]->name);
    return QP_OK;
}

static qp_code read_table(yyjson_val *root, const uint8_t *data, uint64_t size, const char *where, qp_arena *mem,
                          qp_tensor **tensors, size_t *count, qp_err *err)
{
    size_t i, n, used = 0;
    yyjson_val *name, *item;

    if (!yyjson_is_obj(root) || yyjson_obj_size(root) > MOST_TENSORS)
        return qp_fail(err, QP_INPUT, "%s: the safetensors header is not one JSON object of at most %d tensors", where,
                       MOST_TENSORS);
    qp_tensor *tensor = qp_new(mem, qp_tensor, yyjson_obj_size(root) + 1);
    if (!tensor)
        return qp_oom(err);
    yyjson_obj_foreach(root, i, n, name, item) {
        if (yyjson_equals_str(name, "__metadata__"))
            continue;
        qp_code code = read_tensor(name, item, data, size, where, mem, tensor + used++, err);
        if (code)
            return code;
    }
    *tensors = tensor;
    *count = used;
    return check_tiling(tensor, used, data, size, where, mem, err);
}

qp_code qp_safetensors_parse(const uint8_t *bytes, uint64_t n, const char *where, qp_arena *mem, qp_tensor **tensors,
                             size_t *count, qp_err *err)
{
    uint64_t header = 0;
    if (n < 8)
        return qp_fail(err, QP_INPUT, "%s: %llu bytes, too short for a safetensors file", where, (unsigned long long)n);
    for (int i = 7; i >= 0; i--)
        header = header << 8 | bytes[i];
    if (header > MOST_HEADER || header > n - 8)
        return qp_fail(
            err, QP_INPUT,
            "%s: not a safetensors file: its header would be %llu bytes of %llu (cut short, or another format)", where,
            (unsigned long long)header, (unsigned long long)n);
    yyjson_read_err why;
    /* Without the in-situ flag the bytes are only read. */
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)(bytes + 8), header, 0, NULL, &why);
    if (!doc)
        return qp_fail(err, QP_INPUT, "%s: the safetensors header is not JSON: %s at byte %zu", where, why.msg,
                       why.pos + 8);
    qp_code code =
        read_table(yyjson_doc_get_root(doc), bytes + 8 + header, n - 8 - header, where, mem, tensors, count, err);
    yyjson_doc_free(doc);
    return code;
}

static qp_code add_part(qp_safetensors *s, const char *path, qp_err *err)
{
    qp_tensor *tensor;
    size_t n;
    qp_code code = qp_file_map(path, &s->part[s->parts], err);
    if (code)
        return code;
    s->parts++;
    const qp_mapped *m = &s->part[s->parts - 1];
    code = qp_safetensors_parse(m->at, m->n, path, s->mem, &tensor, &n, err);
    if (code)
        return code;
    const qp_tensor **all = qp_new(s->mem, const qp_tensor *, s->n + n + 1);
    if (!all)
        return qp_oom(err);
    memcpy(all, s->tensor, s->n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        if (s->parts > 1 && qp_safetensors_find(s, tensor[i].name))
            return qp_fail(err, QP_INPUT, "%s: tensor '%.80s' is in another part too", path, tensor[i].name);
        all[s->n + i] = tensor + i;
    }
    s->tensor = all;
    s->n += n;
    return QP_OK;
}

/* The distinct files that an index's weight_map names, in order of first appearance. They are names, never paths. */
static qp_code part_names(yyjson_val *map, const char *where, const char **names, size_t *n, qp_err *err)
{
    size_t i, size;
    yyjson_val *tensor, *file;

    yyjson_obj_foreach(map, i, size, tensor, file) {
        const char *name = yyjson_get_str(file);
        if (!name || !*name || *name == '.' || strchr(name, '/') || strlen(name) != yyjson_get_len(file))
            return qp_fail(err, QP_INPUT, "%s: names a part that is no plain file name", where);
        size_t at = 0;
        while (at < *n && strcmp(names[at], name))
            at++;
        if (at == MOST_PARTS)
            return qp_fail(err, QP_INPUT, "%s: names more than %d parts", where, MOST_PARTS);
        names[at] = name;
        *n += at == *n;
    }
    if (!*n)
        return qp_fail(err, QP_INPUT, "%s: has no weight_map that names the parts", where);
    return QP_OK;
}

static qp_code open_parts(qp_safetensors *s, const char *folder, const char *index, qp_err *err)
{
    const char **names = qp_new(s->mem, const char *, MOST_PARTS + 1);
    qp_buf text = {0};
    size_t n = 0;
    qp_code code = names ? qp_file_read(index, 64 << 20, &text, err) : qp_oom(err);
    yyjson_doc *doc = code ? NULL : yyjson_read(text.at ? text.at : "", text.n, 0);

    if (!code)
        code = part_names(yyjson_obj_get(yyjson_doc_get_root(doc), "weight_map"), index, names, &n, err);
    if (!code && !(s->part = qp_new(s->mem, qp_mapped, n)))
        code = qp_oom(err);
    for (size_t i = 0; !code && i < n; i++) {
        const char *path = qp_path_join(s->mem, folder, names[i]);
        code = path ? add_part(s, path, err) : qp_oom(err);
    }
    yyjson_doc_free(doc);
    qp_buf_free(&text);
    return code;
}

static qp_code open_folder(qp_safetensors *s, const char *folder, qp_err *err)
{
    char *single = qp_path_join(s->mem, folder, "model.safetensors");
    char *index = qp_path_join(s->mem, folder, "model.safetensors.index.json");
    char *pickle = qp_path_join(s->mem, folder, "pytorch_model.bin");

    if (!single || !index || !pickle)
        return qp_oom(err);
    if (qp_path_exists(single))
        return add_part(s, single, err);
    if (qp_path_exists(index))
        return open_parts(s, folder, index, err);
    if (qp_path_exists(pickle))
        return qp_fail(err, QP_INPUT,
                       "%s: holds only pytorch_model.bin, a pickle, which can run code and is not read here; save the "
                       "model as safetensors",
                       folder);
    return qp_fail(err, QP_INPUT, "%s: holds no model.safetensors", folder);
}

qp_code qp_safetensors_open(const char *path, qp_safetensors **out, qp_err *err)
{
    qp_safetensors *s = calloc(1, sizeof *s);
    if (!s || !(s->mem = qp_arena_new()) || !(s->part = qp_new(s->mem, qp_mapped, 1))) {
        qp_safetensors_close(s);
        return qp_oom(err);
    }
    s->tensor = qp_new(s->mem, const qp_tensor *, 1);
    qp_code code = !s->tensor ? qp_oom(err) : qp_path_is_dir(path) ? open_folder(s, path, err) : add_part(s, path, err);
    if (code) {
        qp_safetensors_close(s);
        return code;
    }
    *out = s;
    return QP_OK;
}

void qp_safetensors_close(qp_safetensors *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->parts; i++)
        qp_file_unmap(&s->part[i]);
    qp_arena_free(s->mem);
    free(s);
}

size_t qp_safetensors_count(const qp_safetensors *s)
{
    return s->n;
}

const qp_tensor *qp_safetensors_at(const qp_safetensors *s, size_t i)
{
    return s->tensor[i];
}

const qp_tensor *qp_safetensors_find(const qp_safetensors *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->tensor[i]->name, name))
            return s->tensor[i];
    return NULL;
}

static float bf16_to_float(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

qp_code qp_tensor_floats(const qp_tensor *t, uint64_t from, uint64_t n, float *out, qp_err *err)
{
    static const uint8_t width[] = {
        [QP_TENSOR_F32] = 4, [QP_TENSOR_F16] = 2, [QP_TENSOR_BF16] = 2, [QP_TENSOR_F64] = 8};
    if (t->type == QP_TENSOR_OTHER)
        return qp_fail(err, QP_INPUT,
                       "tensor '%.80s' holds integers or 8-bit floats where F32, F16, BF16 or F64 was wanted", t->name);
    uint64_t items = t->bytes / width[t->type];
    if (from > items || n > items - from)
        return qp_fail(err, QP_BUG, "tensor '%.80s': items %llu+%llu of %llu", t->name, (unsigned long long)from,
                       (unsigned long long)n, (unsigned long long)items);
    const uint8_t *at = t->at + from * width[t->type];
    if (t->type == QP_TENSOR_F32) {
        memcpy(out, at, n * sizeof *out);
        return QP_OK;
    }
    for (uint64_t i = 0; i < n; i++, at += width[t->type]) {
        uint16_t half;
        double wide;
        memcpy(&half, at, sizeof half);
        if (t->type == QP_TENSOR_F64) {
            memcpy(&wide, at, sizeof wide);
            out[i] = (float)wide;
        } else {
            out[i] = t->type == QP_TENSOR_F16 ? ggml_fp16_to_fp32(half) : bf16_to_float(half);
        }
    }
    return QP_OK;
}
