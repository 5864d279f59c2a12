#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

qp_code qp_fail(qp_err *err, qp_code code, const char *format, ...)
{
    if (!err || err->code != QP_OK)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    for (char *c = err->message; *c; c++) /* one line, whatever a file name or a foreign message holds */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return code;
}

qp_code qp_oom(qp_err *err)
{
    return qp_fail(err, QP_STORE, "out of memory: close other programs, or index and ask in smaller parts");
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein's distance, one row at a time; names longer than the row are never near. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(a), m = strlen(b);
    size_t row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

const char *qp_nearest(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, names[i]);
        size_t length = strlen(name) > strlen(names[i]) ? strlen(name) : strlen(names[i]);
        if (d < least && d * 3 <= length) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
