/* A GGUF file, mapped and checked before anybody reads a byte of it.
 *
 * Foreign bytes: opening proves that the header is whole and that every tensor lies inside the file, so that what
 * follows (ours, or llama.cpp's loader) never reads past its end. Shared read-only by any number of threads.
 */
#ifndef QP_MODEL_GGUF_H
#define QP_MODEL_GGUF_H

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"

typedef struct qp_gguf {
    char *path;
    qp_mapped file;
    struct gguf_context *meta;
    const uint8_t *data; /* where tensors begin */
} qp_gguf;

/* QP_MODEL with one line: not there, not a GGUF, cut short, or not for this machine's byte order. */
qp_code qp_gguf_open(const char *path, qp_gguf *, qp_err *);
void qp_gguf_close(qp_gguf *); /* takes a zeroed one */

/* Identity: of all bytes of the file and of `settings`. */
qp_digest qp_gguf_digest(const qp_gguf *, qp_str settings);

/* Values by key. A key of another type counts as absent. */
bool qp_gguf_has(const qp_gguf *, const char *key);
qp_str qp_gguf_text(const qp_gguf *, const char *key);                /* n == 0: absent */
bool qp_gguf_uint(const qp_gguf *, const char *key, uint64_t *value); /* any integer type, or bool */
bool qp_gguf_real(const qp_gguf *, const char *key, double *value);
/* The i-th of an array of strings; n == 0 past its end. */
size_t qp_gguf_texts(const qp_gguf *, const char *key); /* length; 0: absent */
qp_str qp_gguf_text_at(const qp_gguf *, const char *key, size_t i);

/* A tensor of `rows` x `cols` (a vector: rows 1). */
typedef struct qp_tensor {
    const uint8_t *at;
    int type; /* ggml_type */
    uint32_t rows, cols;
} qp_tensor;
/* False if there is none of this name; QP_MODEL is for the caller to say. Shapes of more than two dimensions, or
 * above 2^31 items a dimension, are "none". */
bool qp_gguf_tensor(const qp_gguf *, const char *name, qp_tensor *);
/* Can its rows be read as floats? */
bool qp_tensor_is_readable(const qp_tensor *);
/* Row `row` as cols floats; the tensor must be readable. */
void qp_tensor_row(const qp_tensor *, uint32_t row, float *out);
/* The readable tensor of this name and shape (0: any), or QP_MODEL with what is there instead. */
qp_code qp_gguf_want(const qp_gguf *, const char *name, uint32_t rows, uint32_t cols, qp_tensor *, qp_err *);
/* The same as rows x cols floats, malloc'ed. */
qp_code qp_gguf_floats(const qp_gguf *, const char *name, uint32_t rows, uint32_t cols, float **out, qp_err *);

/* llama.cpp and ggml print through this: nowhere, but the last line that looked like a reason is kept per thread.
 * Everything that calls them first calls qp_ggml_quiet. */
void qp_ggml_quiet(void);
const char *qp_ggml_reason(void); /* "" if none since the last call to qp_ggml_quiet in this thread */

#endif
