/* The kernels for one instruction set. Included by kernel.c once for each, with
 *   K(name)   the name for this set            TARGET  its function attribute
 *   LANES     floats in a vector               ROWS, VECTORS  the register tile: ROWS x VECTORS accumulators
 *   GREATER   lane by lane, the greater of two vectors
 */
enum { K(width) = LANES * VECTORS };

typedef float K(vec) __attribute__((vector_size(4 * LANES)));
typedef int32_t K(ivec) __attribute__((vector_size(4 * LANES)));

TARGET INLINE K(vec) K(load)(const float *at)
{
    K(vec) v;
    memcpy(&v, at, sizeof v);
    return v;
}

TARGET INLINE void K(store)(float *at, K(vec) v)
{
    memcpy(at, &v, sizeof v);
}

TARGET INLINE K(vec) K(all)(float x)
{
    return x - (K(vec)){0};
}

TARGET INLINE K(vec) K(select)(K(ivec) mask, K(vec) yes, K(vec) no)
{
    return (K(vec))((mask & (K(ivec))yes) | (~mask & (K(ivec))no));
}

/* The first n < LANES floats, `rest` in the other lanes. */
TARGET INLINE K(vec) K(load_part)(const float *at, uint32_t n, float rest)
{
    K(vec) v = K(all)(rest);
    memcpy(&v, at, n * sizeof *at);
    return v;
}

TARGET INLINE float K(sum)(K(vec) v)
{
    float s[LANES];
    K(store)(s, v);
    UNROLL for (int half = LANES / 2; half; half /= 2) UNROLL for (int i = 0; i < half; i++) s[i] += s[i + half];
    return s[0];
}

TARGET INLINE float K(greatest)(K(vec) v)
{
    float s[LANES];
    K(store)(s, v);
    UNROLL for (int half = LANES / 2; half; half /= 2) UNROLL for (int i = 0; i < half; i++) s[i] =
        s[i] > s[i + half] ? s[i] : s[i + half];
    return s[0];
}

/* e^x of x <= 0, relative error below 2e-7; x is clamped to where the result is a normal float. The polynomial is the
 * minimax one of degree five on [-ln 2 / 2, ln 2 / 2]. */
TARGET INLINE K(vec) K(exp)(K(vec) x)
{
    x = GREATER(x, K(all)(-87.f));
    const float magic = 12582912.f; /* 1.5 * 2^23: adding it rounds to an integer, which stands in the low bits */
    K(vec) rounded = x * 1.44269504f + magic, n = rounded - magic;
    K(vec) r = x - n * .693145752f - n * 1.42860677e-6f; /* ln 2 in two parts */
    K(vec) p = K(all)(.00829765508f);
    p = p * r + .041915382f;
    p = p * r + .166675747f;
    p = p * r + .499988949f;
    p = p * r + .999999692f;
    p = p * r + 1.00000007f;
    return (K(vec))((K(ivec))p + ((K(ivec))rounded << 23));
}

/* ---- matrices ---- */

TARGET static void K(pack)(void *out, const float *w, size_t row, size_t column, uint32_t n, uint32_t k)
{
    for (uint32_t p = 0; p < n; p += K(width)) {
        float *panel = (float *)out + (size_t)p * k;
        uint32_t there = n - p < K(width) ? n - p : K(width);
        for (uint32_t i = 0; row == 1 && i < k; i++)
            memcpy(panel + (size_t)i * K(width), w + p + i * column, there * sizeof *panel);
        for (uint32_t j = 0; row != 1 && j < there; j++) {
            const float *from = w + (p + j) * row;
            for (uint32_t i = 0; i < k; i++)
                panel[(size_t)i * K(width) + j] = from[i * column];
        }
        for (uint32_t i = 0; there < K(width) && i < k; i++)
            memset(panel + (size_t)i * K(width) + there, 0, (K(width) - there) * sizeof *panel);
    }
}

/* `rows` is a constant at each call, so that the accumulators stay in registers. */
TARGET INLINE void K(tile)(const uint32_t rows, const float *a, size_t lda, const float *w, uint32_t k,
                           const float *bias, bool add, float *c, size_t ldc)
{
    K(vec) sum[ROWS][VECTORS];
    UNROLL for (uint32_t i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++)
    {
        sum[i][j] = bias ? K(load)(bias + j * LANES) : K(all)(0);
        if (add)
            sum[i][j] += K(load)(c + i * ldc + j * LANES);
    }
    for (uint32_t x = 0; x < k; x++, w += K(width)) {
        K(vec) column[VECTORS];
        UNROLL for (int j = 0; j < VECTORS; j++) column[j] = K(load)(w + j * LANES);
        UNROLL for (uint32_t i = 0; i < rows; i++)
        {
            K(vec) one = K(all)(a[i * lda + x]);
            UNROLL for (int j = 0; j < VECTORS; j++) sum[i][j] += one * column[j];
        }
    }
    UNROLL for (uint32_t i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++)
        K(store)(c + i * ldc + j * LANES, sum[i][j]);
}

/* All rows of A against one panel. Meanwhile the panel that comes next is fetched, a part with each tile; null: none. */
TARGET static void K(panel)(const float *a, size_t lda, uint32_t m, const float *w, const float *next, uint32_t k,
                            const float *bias, bool add, float *c, size_t ldc)
{
    enum { LINE = 16 }; /* floats */
    const uint32_t lines = next ? k * K(width) / LINE : 0, share = lines / (m / ROWS + 1) + 1;
    for (uint32_t line = 0; m >= ROWS; m -= ROWS, a += ROWS * lda, c += ROWS * ldc) {
        for (uint32_t i = 0; i < share && line < lines; i++, line++)
            __builtin_prefetch(next + (size_t)line * LINE, 0, 2);
        K(tile)(ROWS, a, lda, w, k, bias, add, c, ldc);
    }
    for (; m >= ROWS / 2; m -= ROWS / 2, a += ROWS / 2 * lda, c += ROWS / 2 * ldc) /* small tiles wait for their sums */
        K(tile)(ROWS / 2, a, lda, w, k, bias, add, c, ldc);
    for (; m >= 2; m -= 2, a += 2 * lda, c += 2 * ldc)
        K(tile)(2, a, lda, w, k, bias, add, c, ldc);
    if (m)
        K(tile)(1, a, lda, w, k, bias, add, c, ldc);
}

/* The last panel of a matrix whose columns do not fill it: computed beside C, then what is there is copied. */
TARGET static void K(edge)(const float *a, size_t lda, uint32_t m, const float *w, uint32_t there, uint32_t k,
                           const float *bias, bool add, float *c, size_t ldc)
{
    float start[K(width)] = {0}, out[ROWS * K(width)];
    if (bias)
        memcpy(start, bias, there * sizeof *start);
    for (uint32_t rows; m; m -= rows, a += rows * lda, c += rows * ldc) {
        rows = m < ROWS ? m : ROWS;
        for (uint32_t i = 0; add && i < rows; i++)
            memcpy(out + i * K(width), c + i * ldc, there * sizeof *out);
        K(panel)(a, lda, rows, w, NULL, k, start, add, out, K(width));
        for (uint32_t i = 0; i < rows; i++)
            memcpy(c + i * ldc, out + i * K(width), there * sizeof *out);
    }
}

TARGET static void K(gemm)(const float *a, size_t lda, uint32_t m, const void *w, uint32_t n, uint32_t k,
                           const float *bias, bool add, float *c, size_t ldc)
{
    for (uint32_t from = 0, to; from < k; from = to) { /* a slice of k at a time: its panel stays in the first cache */
        to = k - from > SLICE + SLICE / 2 ? from + SLICE : k;
        const float *start = from ? NULL : bias;
        for (uint32_t p = 0; p < n; p += K(width)) {
            const float *panel = (const float *)w + (size_t)p * k + (size_t)from * K(width);
            const float *next = n - p > K(width) ? panel + (size_t)k * K(width) : NULL;
            if (n - p >= K(width))
                K(panel)(a + from, lda, m, panel, next, to - from, start ? start + p : NULL, add || from, c + p, ldc);
            else
                K(edge)(a + from, lda, m, panel, n - p, to - from, start ? start + p : NULL, add || from, c + p, ldc);
        }
    }
}

/* ---- the rest of a layer ---- */

TARGET static void K(norm)(float *x, uint32_t n, const float *gain, const float *bias, float epsilon)
{
    uint32_t i = 0;
    K(vec) s = K(all)(0);
    for (; i + LANES <= n; i += LANES)
        s += K(load)(x + i);
    float mean = K(sum)(s);
    for (; i < n; i++)
        mean += x[i];
    mean /= (float)n;
    K(vec) v = K(all)(0);
    for (i = 0; i + LANES <= n; i += LANES) {
        K(vec) d = K(load)(x + i) - mean;
        v += d * d;
    }
    float variance = K(sum)(v);
    for (; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    float scale = 1 / sqrtf(variance / (float)n + epsilon);
    for (i = 0; i + LANES <= n; i += LANES)
        K(store)(x + i, (K(load)(x + i) - mean) * scale * K(load)(gain + i) + K(load)(bias + i));
    for (; i < n; i++)
        x[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}

/* x/2 (1 + erf(x / sqrt 2)); erf by Abramowitz and Stegun 7.1.26, error below 2e-7. */
TARGET INLINE K(vec) K(gelu_of)(K(vec) x)
{
    K(vec) z = (K(vec))((K(ivec))x & 0x7fffffff) * .70710678f;
    K(vec) t = 1.f / (1.f + .3275911f * z);
    K(vec) p = K(all)(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - .284496736f;
    p = p * t + .254829592f;
    K(vec) tail = .5f * p * t * K(exp)(-z * z); /* (1 - erf |z|) / 2 */
    return x * K(select)(x < 0, tail, 1.f - tail);
}

TARGET static void K(gelu)(float *x, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        K(store)(x + i, K(gelu_of)(K(load)(x + i)));
    if (i < n) {
        float rest[LANES] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *x);
        K(store)(rest, K(gelu_of)(K(load)(rest)));
        memcpy(x + i, rest, (n - i) * sizeof *x);
    }
}

/* (1 - e^-2|x|) / (1 + e^-2|x|) with the sign of x: error below 2e-7. */
TARGET INLINE K(vec) K(tanh_of)(K(vec) x)
{
    K(vec) t = K(exp)(-2.f * (K(vec))((K(ivec))x & 0x7fffffff));
    K(vec) y = (1.f - t) / (1.f + t);
    return (K(vec))((K(ivec))y | ((K(ivec))x & ~0x7fffffff));
}

TARGET static void K(tanh)(float *x, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        K(store)(x + i, K(tanh_of)(K(load)(x + i)));
    if (i < n) {
        float rest[LANES] = {0};
        memcpy(rest, x + i, (n - i) * sizeof *x);
        K(store)(rest, K(tanh_of)(K(load)(rest)));
        memcpy(x + i, rest, (n - i) * sizeof *x);
    }
}

TARGET static void K(softmax)(float *x, uint32_t n, float scale)
{
    const uint32_t whole = n / LANES * LANES, left = n - whole;
    K(vec) most = K(load_part)(x + whole, left, x[0]);
    for (uint32_t i = 0; i < whole; i += LANES)
        most = GREATER(K(load)(x + i), most);
    const float top = K(greatest)(most);
    K(vec) rest = K(exp)((K(load_part)(x + whole, left, -INFINITY) - top) * scale), s = rest; /* e^-87 past the end */
    for (uint32_t i = 0; i < whole; i += LANES) {
        K(vec) e = K(exp)((K(load)(x + i) - top) * scale);
        K(store)(x + i, e);
        s += e;
    }
    const float share = 1 / K(sum)(s);
    for (uint32_t i = 0; i < whole; i += LANES)
        K(store)(x + i, K(load)(x + i) * share);
    rest *= share;
    memcpy(x + whole, &rest, left * sizeof *x);
}

static const qp_kernels K(kernels) = {NAME,    K(width), sizeof(float), K(usable), K(pack),
                                      K(gemm), K(norm),  K(gelu),       K(tanh),   K(softmax)};

#undef K
#undef NAME
#undef TARGET
#undef GREATER
#undef LANES
#undef ROWS
#undef VECTORS
