#include "store/dot.h"

#include <math.h>
#include <string.h>

#if defined __AVX2__
#include <immintrin.h>
#endif

#if defined __AVX512VNNI__ && defined __AVX512BW__
/* vpdpbusd multiplies unsigned by signed: a + 128 is unsigned, and 128 sum(b) is taken off again. */
static int32_t dot_blocks(const int8_t *a, const int8_t *b, uint32_t n, uint32_t *done)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80), ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512(), bias = _mm512_setzero_si512();
    uint32_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i x = _mm512_xor_si512(_mm512_loadu_si512(a + i), flip), y = _mm512_loadu_si512(b + i);
        sum = _mm512_dpbusd_epi32(sum, x, y);
        bias = _mm512_dpbusd_epi32(bias, ones, y);
    }
    *done = i;
    return _mm512_reduce_add_epi32(sum) - 128 * _mm512_reduce_add_epi32(bias);
}
#elif defined __AVX2__
static int32_t dot_blocks(const int8_t *a, const int8_t *b, uint32_t n, uint32_t *done)
{
    __m256i sum = _mm256_setzero_si256();
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) { /* widened to 16 bits: no product or pair of them can overflow */
        __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(a + i)));
        __m256i y = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(b + i)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
    }
    int32_t lane[8], total = 0;
    memcpy(lane, &sum, sizeof lane);
    for (int j = 0; j < 8; j++)
        total += lane[j];
    *done = i;
    return total;
}
#else
static int32_t dot_blocks(const int8_t *a, const int8_t *b, uint32_t n, uint32_t *done)
{
    (void)a;
    (void)b;
    (void)n;
    *done = 0;
    return 0;
}
#endif

int32_t qp_dot_i8(const int8_t *a, const int8_t *b, uint32_t n)
{
    uint32_t i = 0;
    int32_t sum = dot_blocks(a, b, n, &i);
    for (; i < n; i++)
        sum += (int32_t)a[i] * b[i];
    return sum;
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
