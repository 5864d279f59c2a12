#include "model/kernel.h"

#include <math.h>
#include <string.h>

#include "model/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define SLICE 384 /* of k; 384 x 16 floats are 24 KB */

#if defined(__x86_64__)
static bool avx512_usable(void)
{
    return __builtin_cpu_supports("avx512f");
}
#define K(name) avx512_##name
#define NAME "avx512"
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define GREATER(a, b) (__typeof__(a))_mm512_max_ps((__m512)(a), (__m512)(b))
#define LANES 16
#define ROWS 12
#define VECTORS 2
#include "model/kernel_body.h"

static bool avx2_usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#define K(name) avx2_##name
#define NAME "avx2"
#define TARGET __attribute__((target("avx2,fma")))
#define GREATER(a, b) (__typeof__(a))_mm256_max_ps((__m256)(a), (__m256)(b))
#define LANES 8
#define ROWS 6
#define VECTORS 2
#include "model/kernel_body.h"
#endif

static bool plain_usable(void)
{
    return true;
}
#define K(name) plain_##name
#define NAME "plain"
#define TARGET
#define GREATER(a, b) K(select)((a) > (b), a, b)
#define LANES 4
#define ROWS 4
#define VECTORS 2
#include "model/kernel_body.h"

static const qp_kernels *const all[] = {
#if defined(__x86_64__)
    &avx512_kernels, &avx2_kernels,
#endif
    &plain_kernels, NULL};

const qp_kernels *const *qp_kernels_all(void)
{
    return all;
}

const qp_kernels *qp_kernels_best(void)
{
    const qp_kernels *const *k = all;
    while (!(*k)->usable())
        k++;
    return *k;
}

size_t qp_packed_size(const qp_kernels *kernels, uint32_t n, uint32_t k)
{
    return (size_t)((n + kernels->width - 1) / kernels->width * kernels->width) * k;
}
