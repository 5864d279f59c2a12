/* Arithmetic on rows of floats. */
#ifndef QP_BASE_VECTOR_H
#define QP_BASE_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* The inner product. Sixteen running sums: a compiler may keep them in vector registers without reordering what the
 * source says, so the result is the same with and without them. */
static inline float qp_dot(const float *a, const float *b, size_t n)
{
    float sum[16] = {0};
    size_t whole = n / 16 * 16;
    for (size_t i = 0; i < whole; i += 16)
        for (size_t j = 0; j < 16; j++)
            sum[j] += a[i + j] * b[i + j];
    double all = 0;
    for (size_t j = 0; j < 16; j++)
        all += sum[j];
    for (size_t i = whole; i < n; i++)
        all += a[i] * b[i];
    return (float)all;
}

/* Rows that lie anywhere come from memory one by one, and memory is slow: a row that will be read some steps on is
 * prefetched. */
enum { QP_AHEAD = 8 }; /* single numbers: as many as come while one is waited for */
static inline void qp_fetch_row(const float *row, size_t n)
{
    for (size_t i = 0; i < n; i += 64 / sizeof *row)
        __builtin_prefetch(row + i);
}

/* To unit length; zeros stay. */
static inline void qp_make_unit(float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * v[i];
    float scale = sum > 0 ? (float)(1 / sqrt(sum)) : 0;
    for (size_t i = 0; i < n; i++)
        v[i] *= scale;
}

/* Is any of them not 0? What has no vector is kept as zeros. */
static inline bool qp_is_there(const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != 0)
            return true;
    return false;
}

#endif
