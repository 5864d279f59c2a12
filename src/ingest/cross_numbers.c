/* The characters and numbers that references and labels are made of. */
#include <strings.h>

#include "ingest/cross_parts.h"

size_t qp_cross_blank(qp_str s, size_t at)
{
    static const char *const others[] = {"\xC2\xA0",     "\xE2\x80\x8B", "\xE2\x80\x8E", "\xE2\x80\x8F",
                                         "\xE2\x80\xAF", "\xE2\x81\xA0", "\xEF\xBB\xBF"};

    if (at < s.n && (s.at[at] == ' ' || s.at[at] == '\t' || s.at[at] == '~'))
        return 1;
    for (size_t i = 0; at < s.n && (unsigned char)s.at[at] > 0x7F && i < sizeof others / sizeof *others; i++)
        if (qp_str_starts(qp_str_slice(s, at, s.n), qp_str_of(others[i])))
            return strlen(others[i]);
    return 0;
}

size_t qp_cross_skip_blank(qp_str s, size_t at)
{
    for (size_t n; (n = qp_cross_blank(s, at)); at += n)
        ;
    return at;
}

/* Over what is not to be seen, marks of direction above all. */
static size_t skip_marks(qp_str s, size_t at)
{
    for (size_t n; at < s.n && (unsigned char)s.at[at] >= 0x80 && (n = qp_cross_blank(s, at)); at += n)
        ;
    return at;
}

size_t qp_cross_skip_space(qp_str s, size_t at)
{
    at = qp_cross_skip_blank(s, at);
    return at < s.n && s.at[at] == '\n' ? qp_cross_skip_blank(s, at + 1) : at;
}

size_t qp_cross_dash(qp_str s, size_t at)
{
    return follows(s, at, "-") ? 1 : follows(s, at, "\xE2\x80\x93") || follows(s, at, "\xE2\x80\x94") ? 3 : 0;
}

bool qp_cross_is_roman(const char *s)
{
    size_t n = strlen(s);
    return n && strspn(s, "IVXLC") == n && (n > 1 || strchr("IVX", *s));
}

size_t qp_cross_number(qp_str s, size_t at, char out[LONGEST_NUMBER])
{
    size_t i = at, n = 0;
    bool digits = false;

    while (i < s.n && n < LONGEST_NUMBER / 2) {
        size_t from = i, letters = 0, numerals = 0;
        for (; is(s, i, isupper) && letters < 5; i++, letters++)
            numerals += strchr("IVXLC", s.at[i]) != NULL;
        if (letters > 1 && numerals < letters)
            return at;
        for (; is(s, i, isdigit) && i - from < 5; i++)
            digits = true;
        if (i == from)
            break;
        if (is(s, i, isalpha) && i > from + letters && !is(s, i + 1, isalnum)) /* "12a", "3.1B" */
            i++;
        if (is(s, i, isalnum))
            return at;
        memcpy(out + n, s.at + from, i - from);
        n += i - from;
        if (follows(s, i, ".") && (is(s, i + 1, isdigit) || (is(s, i + 1, isupper) && is(s, i + 2, isdigit))))
            out[n++] = s.at[i++];
        else
            break;
    }
    if (n && out[n - 1] == '.')
        n--, i--;
    out[n] = 0;
    if (qp_cross_is_roman(out) && follows(s, i, "-") && is(s, i + 1, isupper) && !is(s, i + 2, isalnum)) { /* "III-C" */
        memcpy(out + n, s.at + i, 2);
        n += 2;
        i += 2;
    }
    if (n && digits && follows(s, i, ".("))
        i++;
    for (size_t open; n + 8 < LONGEST_NUMBER && follows(s, open = skip_marks(s, i), "(");) {
        size_t end = open + 1;
        while (is(s, end, isalnum) && end - open < 6)
            end++;
        if (end == open + 1 || !follows(s, end, ")"))
            break;
        memcpy(out + n, s.at + open, end + 1 - open);
        n += end + 1 - open;
        i = end + 1;
    }
    out[n] = 0;
    return n ? i : at;
}
