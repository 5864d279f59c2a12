/* A safetensors file from somewhere else: refused with a reason, or every item of every tensor can be read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const qp_tensor *t)
{
    float some[256];
    uint64_t items = 1;
    qp_err err = {0};
    for (uint32_t i = 0; i < t->n_dims; i++)
        items *= t->dim[i];
    for (uint64_t from = 0, n; from < items; from += n) {
        n = items - from < 256 ? items - from : 256;
        if (qp_tensor_floats(t, from, n, some, &err))
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_arena *mem = qp_arena_new();
    qp_tensor *tensor;
    size_t n;
    qp_err err = {0};
    if (qp_safetensors_parse(data, size, "input", mem, &tensor, &n, &err) == QP_OK)
        for (size_t i = 0; i < n; i++)
            read_all(&tensor[i]);
    else if (!*err.message || strchr(err.message, '\n'))
        abort();
    qp_arena_free(mem);
    return 0;
}
