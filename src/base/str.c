#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int qp_str_cmp(qp_str a, qp_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool qp_str_starts(qp_str s, qp_str prefix)
{
    return s.n >= prefix.n && qp_str_eq((qp_str){s.at, prefix.n}, prefix);
}

bool qp_str_ends(qp_str s, qp_str suffix)
{
    return s.n >= suffix.n && qp_str_eq((qp_str){s.at + (s.n - suffix.n), suffix.n}, suffix);
}

qp_str qp_str_trim(qp_str s)
{
    while (s.n && is_space(s.at[0])) {
        s.at++;
        s.n--;
    }
    while (s.n && is_space(s.at[s.n - 1]))
        s.n--;
    return s;
}

qp_str qp_str_slice(qp_str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from >= to)
        return (qp_str){s.at ? s.at + (from < s.n ? from : s.n) : "", 0};
    return (qp_str){s.at + from, to - from};
}

qp_str qp_str_split(qp_str s, char sep, qp_str *rest)
{
    const char *cut = s.n ? memchr(s.at, sep, s.n) : NULL;
    if (!cut) {
        *rest = (qp_str){NULL, 0};
        return s;
    }
    size_t n = (size_t)(cut - s.at);
    *rest = (qp_str){cut + 1, s.n - n - 1};
    return (qp_str){s.at, n};
}

char *qp_buf_room(qp_buf *b, size_t n)
{
    if (b->oom || n > SIZE_MAX / 2 - b->n) {
        b->oom = true;
        return NULL;
    }
    size_t need = b->n + n + 1; /* the NUL */
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
            cap *= 2;
        char *at = realloc(b->at, cap);
        if (!at) {
            b->oom = true;
            return NULL;
        }
        b->at = at;
        b->cap = cap;
    }
    return b->at + b->n;
}

void qp_buf_add(qp_buf *b, const void *bytes, size_t n)
{
    char *room = qp_buf_room(b, n);
    if (!room)
        return;
    if (n)
        memcpy(room, bytes, n);
    b->n += n;
    b->at[b->n] = 0;
}

void qp_buf_str(qp_buf *b, qp_str s)
{
    qp_buf_add(b, s.at, s.n);
}

void qp_buf_text(qp_buf *b, const char *terminated)
{
    qp_buf_add(b, terminated, strlen(terminated));
}

void qp_buf_char(qp_buf *b, char c)
{
    qp_buf_add(b, &c, 1);
}

void qp_buf_vfmt(qp_buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *room = n < 0 ? NULL : qp_buf_room(b, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void qp_buf_fmt(qp_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    qp_buf_vfmt(b, format, args);
    va_end(args);
}

void qp_buf_clear(qp_buf *b)
{
    b->n = 0;
    b->oom = false;
    if (b->at)
        b->at[0] = 0;
}

void qp_buf_free(qp_buf *b)
{
    free(b->at);
    *b = (qp_buf){0};
}

bool qp_str_has_lines(qp_str text, qp_str lines)
{
    for (qp_str rest = text; rest.n; qp_str_split(rest, '\n', &rest))
        if (qp_str_starts(rest, lines) && (rest.n == lines.n || rest.at[lines.n] == '\n'))
            return true;
    return false;
}
