#include "store/dot.h"

#include <math.h>
#include <string.h>

#if defined __AVX2__
#include <immintrin.h>
#endif

enum { ABREAST = 4 }; /* rows that are multiplied at once */

/* dot_blocks: a with `rows` rows, for the first *done of n numbers, as many as the widest instruction takes. `rows` is a
 * constant at each call, so that the sums stay in registers. */
#define INLINE static inline __attribute__((always_inline))
#if defined __AVX512VNNI__ && defined __AVX512BW__
/* vpdpbusd multiplies unsigned by signed: b + 128 is unsigned, and 128 sum(a) is taken off again. */
INLINE void dot_blocks(const int8_t *a, const int8_t *b, const int rows, uint32_t n, int32_t *out, uint32_t *done)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    __m512i sum[ABREAST] = {0}, bias = {0};
    uint32_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i x = _mm512_loadu_si512(a + i);
        bias = _mm512_dpbusd_epi32(bias, flip, x);
        for (int r = 0; r < rows; r++)
            sum[r] = _mm512_dpbusd_epi32(sum[r], _mm512_xor_si512(_mm512_loadu_si512(b + (size_t)r * n + i), flip), x);
    }
    *done = i;
    for (int r = 0; r < rows; r++)
        out[r] = _mm512_reduce_add_epi32(_mm512_sub_epi32(sum[r], bias));
}
#elif defined __AVX2__
INLINE __m256i widened(const int8_t *at) /* to 16 bits: no product or pair of them can overflow */
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)at));
}

INLINE void dot_blocks(const int8_t *a, const int8_t *b, const int rows, uint32_t n, int32_t *out, uint32_t *done)
{
    __m256i sum[ABREAST];
    uint32_t i = 0;
    for (int r = 0; r < rows; r++)
        sum[r] = _mm256_setzero_si256();
    for (; i + 16 <= n; i += 16) {
        const __m256i x = widened(a + i);
        for (int r = 0; r < rows; r++)
            sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(x, widened(b + (size_t)r * n + i)));
    }
    *done = i;
    for (int r = 0; r < rows; r++) {
        int32_t lane[8];
        memcpy(lane, &sum[r], sizeof lane);
        out[r] = (lane[0] + lane[4]) + (lane[1] + lane[5]) + (lane[2] + lane[6]) + (lane[3] + lane[7]);
    }
}
#else
INLINE void dot_blocks(const int8_t *a, const int8_t *b, const int rows, uint32_t n, int32_t *out, uint32_t *done)
{
    (void)a, (void)b, (void)n;
    memset(out, 0, (size_t)rows * sizeof *out);
    *done = 0;
}
#endif

INLINE void dot_rows(const int8_t *a, const int8_t *b, const int rows, uint32_t n, int32_t *out)
{
    uint32_t done;
    dot_blocks(a, b, rows, n, out, &done);
    for (int r = 0; r < rows; r++)
        for (uint32_t i = done; i < n; i++)
            out[r] += (int32_t)a[i] * b[(size_t)r * n + i];
}

int32_t qp_dot_i8(const int8_t *a, const int8_t *b, uint32_t n)
{
    int32_t sum;
    dot_rows(a, b, 1, n, &sum);
    return sum;
}

void qp_dot_i8_rows(const int8_t *a, const int8_t *rows, uint32_t n, uint32_t dim, int32_t *out)
{
    uint32_t i = 0;
    for (; i + ABREAST <= n; i += ABREAST)
        dot_rows(a, rows + (size_t)i * dim, ABREAST, dim, out + i);
    for (; i < n; i++)
        dot_rows(a, rows + (size_t)i * dim, 1, dim, out + i);
}

float qp_quantise(const float *v, uint32_t n, int8_t *code)
{
    float most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fabsf(v[i]) > most ? fabsf(v[i]) : most;
    float scale = most / 127;
    if (!(scale > 1e-30f) || !isfinite(scale)) {
        memset(code, 0, n);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        code[i] = (int8_t)lrintf(v[i] / scale);
    return scale;
}
