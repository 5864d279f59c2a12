#include "text/utf8.h"

/* Length of the well-formed sequence at p (Unicode 15, table 3-7), or 0; *bad: the bytes of the maximal broken part. */
static size_t sequence(const unsigned char *p, size_t n, size_t *bad)
{
    unsigned char low = 0x80, high = 0xBF; /* bounds of the second byte */
    size_t need;

    *bad = 1;
    if (p[0] < 0x80)
        return p[0] != 0;
    if (p[0] >= 0xC2 && p[0] <= 0xDF) {
        need = 2;
    } else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        need = 3;
        low = p[0] == 0xE0 ? 0xA0 : 0x80;
        high = p[0] == 0xED ? 0x9F : 0xBF;
    } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        need = 4;
        low = p[0] == 0xF0 ? 0x90 : 0x80;
        high = p[0] == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (n < 2 || p[1] < low || p[1] > high)
        return 0;
    for (*bad = 2; *bad < need; (*bad)++)
        if (*bad >= n || (p[*bad] & 0xC0) != 0x80)
            return 0;
    return need;
}

size_t qp_utf8_valid(qp_str s)
{
    const unsigned char *p = (const unsigned char *)s.at;
    size_t at = 0, bad;

    while (at < s.n) {
        uint64_t eight;

        if (at + 8 <= s.n) { /* eight ASCII bytes without NUL at once */
            memcpy(&eight, p + at, 8);
            if (!((eight | (eight - 0x0101010101010101u)) & 0x8080808080808080u)) {
                at += 8;
                continue;
            }
        }
        size_t step = sequence(p + at, s.n - at, &bad);
        if (!step)
            return at;
        at += step;
    }
    return at;
}

size_t qp_utf8_put(char out[4], uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        c = QP_REPLACEMENT;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static uint64_t repair_utf16(qp_str s, bool big, qp_buf *out)
{
    const unsigned char *p = (const unsigned char *)s.at;
    uint64_t replaced = s.n & 1;
    char bytes[4];

    for (size_t at = 2; at + 1 < s.n; at += 2) {
        uint32_t c = big ? (uint32_t)(p[at] << 8 | p[at + 1]) : (uint32_t)(p[at + 1] << 8 | p[at]);

        if (c >= 0xD800 && c <= 0xDBFF && at + 3 < s.n) {
            uint32_t low = big ? (uint32_t)(p[at + 2] << 8 | p[at + 3]) : (uint32_t)(p[at + 3] << 8 | p[at + 2]);
            if (low >= 0xDC00 && low <= 0xDFFF) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                at += 2;
            }
        }
        if (c == 0 || (c >= 0xD800 && c <= 0xDFFF)) {
            c = QP_REPLACEMENT;
            replaced++;
        }
        qp_buf_add(out, bytes, qp_utf8_put(bytes, c));
    }
    return replaced;
}

uint64_t qp_utf8_repair(qp_str s, qp_buf *out)
{
    uint64_t replaced = 0;

    if (s.n >= 2 && (memcmp(s.at, "\xFF\xFE", 2) == 0 || memcmp(s.at, "\xFE\xFF", 2) == 0))
        return repair_utf16(s, s.at[0] == '\xFE', out);
    if (s.n >= 3 && memcmp(s.at, "\xEF\xBB\xBF", 3) == 0)
        s = qp_str_slice(s, 3, s.n);
    while (s.n) {
        size_t good = qp_utf8_valid(s), bad;

        qp_buf_add(out, s.at, good);
        s = qp_str_slice(s, good, s.n);
        if (!s.n)
            break;
        sequence((const unsigned char *)s.at, s.n, &bad);
        qp_buf_add(out, "\xEF\xBF\xBD", 3);
        s = qp_str_slice(s, bad, s.n);
        replaced++;
    }
    return replaced;
}

uint32_t qp_utf8_next(qp_str s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.at + *at;
    size_t bad, step = sequence(p, s.n - *at, &bad);

    *at += step ? step : 1;
    switch (step) {
    case 1: return p[0];
    case 2: return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3: return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    case 4:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
               (p[3] & 0x3F);
    default: return QP_REPLACEMENT;
    }
}

size_t qp_utf8_count(qp_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += (s.at[i] & 0xC0) != 0x80;
    return n;
}

size_t qp_utf8_floor(qp_str s, size_t at)
{
    if (at >= s.n)
        return s.n;
    while (at > 0 && (s.at[at] & 0xC0) == 0x80)
        at--;
    return at;
}
