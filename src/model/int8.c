#include "model/int8.h"

#include <stdlib.h>
#include <string.h>

#include "model/unroll.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* A packed matrix is panels of `width` columns, each its blocks in order of k: QP_INT8_BLOCK x width bytes, the four of
 * each column that are multiplied at once side by side, and width floats, what the block's numbers are multiples of.
 * The instructions want one factor without sign: weights stand 128 higher, and each sum starts 128 times the row's
 * numbers lower. */
enum { QUAD = 4, RAISED = 128, MOST = 127, STEPS = QP_INT8_BLOCK / QUAD };

typedef struct block { /* of a row */
    float unit;
    int32_t start; /* -RAISED x the sum of its numbers */
} block;

static uint32_t blocks_of(uint32_t k)
{
    return (k + QP_INT8_BLOCK - 1) / QP_INT8_BLOCK;
}

static size_t bytes_of(uint32_t m, uint32_t k)
{
    return (size_t)m * blocks_of(k) * QP_INT8_BLOCK;
}

size_t qp_int8_rows_size(uint32_t m, uint32_t k)
{
    return bytes_of(m, k) + (size_t)m * blocks_of(k) * sizeof(block);
}

static size_t panel_size(uint32_t width, uint32_t k)
{
    return (size_t)blocks_of(k) * width * (QP_INT8_BLOCK + sizeof(float));
}

size_t qp_int8_packed_size(const qp_int8 *kernel, uint32_t n, uint32_t k)
{
    return (n + kernel->width - 1) / kernel->width * panel_size(kernel->width, k);
}

/* Of one column: n of its weights. */
static void pack_block(const qp_int8 *kernel, uint8_t *at, float *unit, const float *w, uint32_t n)
{
    _Alignas(64) struct {
        uint32_t four[STEPS];
        block block;
    } rounded; /* as a row of one block */
    const uint32_t raise = 0x80808080;
    kernel->round(&rounded, w, 1, n);
    *unit = rounded.block.unit;
    for (int i = 0; i < STEPS; i++) {
        const uint32_t four = rounded.four[i] ^ raise; /* without sign, and 128 more */
        memcpy(at + (size_t)i * QUAD * kernel->width, &four, sizeof four);
    }
}

void qp_int8_pack(const qp_int8 *kernel, void *out, const float *w, uint32_t n, uint32_t k)
{
    const uint32_t width = kernel->width;
    uint8_t *at = out;
    for (uint32_t p = 0; p < n; p += width)
        for (uint32_t from = 0; from < k; from += QP_INT8_BLOCK) {
            const uint32_t there = k - from < QP_INT8_BLOCK ? k - from : QP_INT8_BLOCK;
            float *unit = (float *)(at + (size_t)QP_INT8_BLOCK * width);
            memset(at, RAISED, (size_t)QP_INT8_BLOCK * width);
            memset(unit, 0, width * sizeof *unit);
            for (uint32_t j = 0; j < width && p + j < n; j++)
                pack_block(kernel, at + (size_t)j * QUAD, unit + j, w + (size_t)(p + j) * k + from, there);
            at = (uint8_t *)(unit + width);
        }
}

#if defined(__x86_64__)

static bool avx512_usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}
#define K(name) avx512_##name
#define NAME "avx512vnni"
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni,avx2,fma")))
TARGET INLINE float K(greatest)(__m512 v)
{
    return _mm512_reduce_max_ps(v);
}
TARGET INLINE int32_t K(total)(__v16si v)
{
    return _mm512_reduce_add_epi32((__m512i)v);
}
#define DOT(sum, w, a) (__typeof__(sum))_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(w), (__m512i)(a))
#define LANES 16
#define ROWS 12
#define VECTORS 2
#include "model/int8_body.h"

static bool avx_usable(void)
{
    unsigned a = 0, b, c, d; /* not every compiler's builtin knows the name */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           a >> 4 & 1;
}
#define K(name) avx_##name
#define NAME "avxvnni"
#define TARGET __attribute__((target("avxvnni,avx2,fma")))
TARGET INLINE float K(greatest)(__m256 v)
{
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}
TARGET INLINE int32_t K(total)(__v8si v)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
    half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    return _mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 1);
}
#define DOT(sum, w, a) (__typeof__(sum))_mm256_dpbusd_avx_epi32((__m256i)(sum), (__m256i)(w), (__m256i)(a))
#define LANES 8
#define ROWS 6
#define VECTORS 2
#include "model/int8_body.h"
#endif

static const qp_int8 *const all[] = {
#if defined(__x86_64__)
    &avx512_kernel, &avx_kernel,
#endif
    NULL};

const qp_int8 *const *qp_int8_all(void)
{
    return all;
}

qp_code qp_int8_best(const qp_int8 **out, qp_err *err)
{
    const char *said = getenv("QUIPU_PRECISION"), *wanted = said && *said ? said : "int8";
    const qp_int8 *const *k = all;
    while (*k && !(*k)->usable())
        k++;
    const bool floats = !strcmp(wanted, "f32");
    if (!floats && strcmp(wanted, "int8"))
        return qp_fail(err, QP_INPUT, "QUIPU_PRECISION is '%.40s'; wanted f32 or int8", wanted);
    *out = floats ? NULL : *k;
    return QP_OK;
}
