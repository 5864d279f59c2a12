/* Safetensors checkpoints: a map of the file and a table of what is in it.
 *
 * The bytes are foreign: the header's length, the JSON, every shape and every offset is checked before a tensor is
 * handed out, so a qp_tensor always lies whole inside the map. As the format's own reader does, the tensors must fill
 * the data part without gaps or overlaps. Read only; any thread.
 */
#ifndef QP_MODEL_SAFETENSORS_H
#define QP_MODEL_SAFETENSORS_H

#include "base/arena.h"
#include "base/err.h"

#define QP_TENSOR_DIMS 4

typedef enum qp_tensor_type {
    QP_TENSOR_F32,
    QP_TENSOR_F16,
    QP_TENSOR_BF16,
    QP_TENSOR_F64,
    QP_TENSOR_OTHER
} qp_tensor_type;

typedef struct qp_tensor {
    const char *name; /* without NUL inside */
    qp_tensor_type type;
    uint32_t n_dims;              /* 0: one number */
    uint64_t dim[QP_TENSOR_DIMS]; /* slowest first, as PyTorch prints it; 1 beyond n_dims */
    const uint8_t *at;            /* little endian, not aligned */
    uint64_t bytes;
} qp_tensor;

typedef struct qp_safetensors qp_safetensors;

/* A .safetensors file, or a folder with model.safetensors or model.safetensors.index.json and its parts. */
qp_code qp_safetensors_open(const char *path, qp_safetensors **, qp_err *);
void qp_safetensors_close(qp_safetensors *); /* takes null */

size_t qp_safetensors_count(const qp_safetensors *);
const qp_tensor *qp_safetensors_at(const qp_safetensors *, size_t i);           /* in the order of the headers */
const qp_tensor *qp_safetensors_find(const qp_safetensors *, const char *name); /* or null */

/* The table of one file's bytes, for which `where` stands in messages; the tensors point into `bytes`. */
qp_code qp_safetensors_parse(const uint8_t *bytes, uint64_t n, const char *where, qp_arena *, qp_tensor **tensors,
                             size_t *count, qp_err *);

/* Row by row: items [from, from + n) of a tensor as floats. QP_INPUT for integers. */
qp_code qp_tensor_floats(const qp_tensor *, uint64_t from, uint64_t n, float *out, qp_err *);

#endif
