/* The products of int8.c for one instruction set. Included once for each, with
 *   K(name)   the name for this set            TARGET  its function attribute
 *   LANES     32-bit numbers in a vector       ROWS, VECTORS  the register tile: ROWS x VECTORS sums
 *   DOT       each lane of a sum and the four products of bytes there
 *   K(greatest), K(total)   of the lanes of a vector
 */
enum { K(width) = LANES * VECTORS };

typedef float K(vec) __attribute__((vector_size(4 * LANES)));
typedef int32_t K(ivec) __attribute__((vector_size(4 * LANES)));
typedef int8_t K(bytes) __attribute__((vector_size(LANES)));

TARGET INLINE K(vec) K(load)(const float *at)
{
    K(vec) v;
    memcpy(&v, at, sizeof v);
    return v;
}

TARGET INLINE K(ivec) K(load_bytes)(const void *at)
{
    K(ivec) v;
    memcpy(&v, at, sizeof v);
    return v;
}

TARGET INLINE K(ivec) K(all)(const void *at)
{
    int32_t one;
    memcpy(&one, at, sizeof one);
    return one - (K(ivec)){0};
}

TARGET static block K(round_block)(int8_t *out, const float *a, uint32_t n)
{
    const float magic = 12582912.f; /* 1.5 * 2^23: adding it rounds to an integer, which stands in the low bits */
    float full[QP_INT8_BLOCK];
    if (n < QP_INT8_BLOCK) {
        memset(full, 0, sizeof full);
        a = memcpy(full, a, n * sizeof *a);
    }
    K(vec) most = {0};
    for (int i = 0; i < QP_INT8_BLOCK; i += LANES) {
        K(vec) x = (K(vec))((K(ivec))K(load)(a + i) & 0x7fffffff);
        K(ivec) more = x > most;
        most = (K(vec))((more & (K(ivec))x) | (~more & (K(ivec))most));
    }
    const float top = K(greatest)(most);
    const float scale = top > 1e-30f ? MOST / top : 0; /* below, the scale might be infinite */
    K(ivec) sums = {0};
    for (int i = 0; i < QP_INT8_BLOCK; i += LANES) {
        K(ivec) whole = (K(ivec))(K(load)(a + i) * scale + magic) - 0x4b400000;
        sums += whole;
        K(bytes) narrow = __builtin_convertvector(whole, K(bytes));
        memcpy(out + i, &narrow, sizeof narrow);
    }
    return (block){top / MOST, -RAISED * K(total)(sums)};
}

TARGET static void K(round)(void *out, const float *a, uint32_t m, uint32_t k)
{
    int8_t *bytes = out;
    block *b = (block *)(bytes + bytes_of(m, k));
    for (uint32_t i = 0; i < m; i++, a += k)
        for (uint32_t from = 0; from < k; from += QP_INT8_BLOCK, bytes += QP_INT8_BLOCK)
            *b++ = K(round_block)(bytes, a + from, k - from < QP_INT8_BLOCK ? k - from : QP_INT8_BLOCK);
}

/* `rows` is a constant at each call, so that the sums stay in registers. */
TARGET INLINE void K(tile)(const uint32_t rows, const int8_t *a, const block *of, uint32_t blocks, const uint8_t *w,
                           const float *bias, bool add, float *c, size_t ldc)
{
    const size_t stride = (size_t)blocks * QP_INT8_BLOCK;
    K(vec) total[ROWS][VECTORS];
    UNROLL for (uint32_t i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++)
    {
        total[i][j] = K(load)(bias + j * LANES);
        if (add)
            total[i][j] += K(load)(c + i * ldc + j * LANES);
    }
    for (uint32_t b = 0; b < blocks; b++, a += QP_INT8_BLOCK, of++) {
        K(ivec) sum[ROWS][VECTORS];
        UNROLL for (uint32_t i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++) sum[i][j] =
            K(all)(&of[(size_t)i * blocks].start);
        for (int x = 0; x < STEPS; x++, w += K(width) * QUAD) {
            K(ivec) column[VECTORS];
            UNROLL for (int j = 0; j < VECTORS; j++) column[j] = K(load_bytes)(w + j * LANES * QUAD);
            UNROLL for (uint32_t i = 0; i < rows; i++)
            {
                K(ivec) four = K(all)(a + i * stride + x * QUAD);
                UNROLL for (int j = 0; j < VECTORS; j++) sum[i][j] = DOT(sum[i][j], column[j], four);
            }
        }
        UNROLL for (int j = 0; j < VECTORS; j++)
        {
            K(vec) unit = K(load)((const float *)w + j * LANES);
            UNROLL for (uint32_t i = 0; i < rows; i++) total[i][j] +=
                __builtin_convertvector(sum[i][j], K(vec)) * (unit * of[(size_t)i * blocks].unit);
        }
        w += K(width) * sizeof(float);
    }
    UNROLL for (uint32_t i = 0; i < rows; i++) UNROLL for (int j = 0; j < VECTORS; j++)
        memcpy(c + i * ldc + j * LANES, &total[i][j], sizeof total[i][j]);
}

/* All rows against one panel. */
TARGET static void K(panel)(const int8_t *a, const block *of, uint32_t m, const uint8_t *w, uint32_t blocks,
                            const float *bias, bool add, float *c, size_t ldc)
{
    const size_t stride = (size_t)blocks * QP_INT8_BLOCK;
    for (uint32_t left = m, rows; left; left -= rows, a += rows * stride, of += (size_t)rows * blocks, c += rows * ldc)
        if (left >= ROWS)
            K(tile)(rows = ROWS, a, of, blocks, w, bias, add, c, ldc);
        else if (left >= ROWS / 2)
            K(tile)(rows = ROWS / 2, a, of, blocks, w, bias, add, c, ldc);
        else if (left >= 2)
            K(tile)(rows = 2, a, of, blocks, w, bias, add, c, ldc);
        else
            K(tile)(rows = 1, a, of, blocks, w, bias, add, c, ldc);
}

/* The last panel where its columns do not fill it: a row beside C, then what is there is copied. */
TARGET static void K(edge)(const int8_t *a, const block *of, uint32_t m, const uint8_t *w, uint32_t blocks,
                           uint32_t there, const float *bias, bool add, float *c, size_t ldc)
{
    float start[K(width)] = {0}, out[K(width)] = {0};
    memcpy(start, bias, there * sizeof *start);
    for (uint32_t i = 0; i < m; i++, a += (size_t)blocks * QP_INT8_BLOCK, of += blocks, c += ldc) {
        memcpy(out, c, there * sizeof *out);
        K(panel)(a, of, 1, w, blocks, start, add, out, K(width));
        memcpy(c, out, there * sizeof *out);
    }
}

TARGET static void K(gemm)(const void *a, uint32_t m, const void *w, uint32_t n, uint32_t k, const float *bias,
                           bool add, float *c)
{
    const block *of = (const block *)((const int8_t *)a + bytes_of(m, k));
    const uint8_t *panel = w;
    for (uint32_t p = 0; p < n; p += K(width), panel += panel_size(K(width), k))
        if (n - p >= K(width))
            K(panel)(a, of, m, panel, blocks_of(k), bias + p, add, c + p, n);
        else
            K(edge)(a, of, m, panel, blocks_of(k), n - p, bias + p, add, c + p, n);
}

static const qp_int8 K(kernel) = {NAME, K(width), K(usable), K(round), K(gemm)};

#undef K
#undef NAME
#undef TARGET
#undef DOT
#undef LANES
#undef ROWS
#undef VECTORS
