#include "model/batches.h"

#include <stdlib.h>

qp_code qp_batches_begin(qp_batches *b, uint32_t n, qp_err *err)
{
    b->n = n;
    b->sequences = b->block = calloc(2 * (size_t)n, sizeof *b->sequences);
    b->starts = malloc(((size_t)n + 1) * 3 * sizeof *b->starts);
    if (!b->sequences || !b->starts)
        return qp_oom(err);
    b->order = b->starts + n + 1;
    b->batches = b->order + n + 1;
    return QP_OK;
}

static int longer_first(const void *x, const void *y, void *lengths)
{
    const uint32_t *a = x, *b = y, *starts = lengths;
    uint32_t na = starts[*a + 1] - starts[*a], nb = starts[*b + 1] - starts[*b];
    return na != nb ? (na > nb ? -1 : 1) : (*a > *b) - (*a < *b);
}

qp_code qp_batches_plan(qp_batches *b, int threads, uint32_t rows, qp_err *err)
{
    if (b->ids.oom)
        return qp_oom(err);
    b->starts[b->n] = b->ids.n;
    qp_sequence *given = b->sequences, *sorted = given + b->n;
    for (uint32_t i = 0; i < b->n; i++) {
        b->order[i] = i;
        given[i].ids = b->ids.at + b->starts[i];
        given[i].n = b->starts[i + 1] - b->starts[i];
    }
    qsort_r(b->order, b->n, sizeof *b->order, longer_first, b->starts);
    uint32_t share = b->ids.n / (uint32_t)threads, cap = share < rows ? share : rows, sum = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        sorted[i] = given[b->order[i]];
        if (!sum)
            b->batches[b->n_batches++] = i;
        sum += sorted[i].n;
        if (sum >= cap)
            sum = 0;
    }
    b->batches[b->n_batches] = b->n;
    b->sequences = sorted;
    return QP_OK;
}

void qp_batches_end(qp_batches *b)
{
    free(b->ids.at);
    free(b->ids.word);
    free(b->block);
    free(b->starts);
}
