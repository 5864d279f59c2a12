#include "ingest/identifier.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <utf8proc.h>

#include "text/utf8.h"

static bool digit(qp_str s, size_t i)
{
    return i < s.n && isdigit((unsigned char)s.at[i]);
}

static qp_str lowered(qp_str prefix, qp_str s, qp_arena *a)
{
    char *out = qp_arena_alloc(a, prefix.n + s.n + 1);

    if (!out)
        return (qp_str){0};
    memcpy(out, prefix.at, prefix.n);
    for (size_t i = 0; i < s.n; i++)
        out[prefix.n + i] = (char)tolower((unsigned char)s.at[i]);
    return (qp_str){out, prefix.n + s.n};
}

/* A DOI is "10.", four to nine digits, "/", and then anything; in running text its end is where white space, a quote or
 * an angle bracket stands, less closing punctuation that is more likely the sentence's. */
static size_t doi_at(qp_str s)
{
    size_t n = 3, depth = 0;

    if (s.n < 8 || memcmp(s.at, "10.", 3) != 0)
        return 0;
    while (digit(s, n))
        n++;
    if (n < 7 || n > 12 || n >= s.n || s.at[n] != '/')
        return 0;
    size_t prefix = ++n;
    while (n < s.n && n - prefix < 200 && (unsigned char)s.at[n] > ' ' && (unsigned char)s.at[n] < 0x7F &&
           !strchr("\"<>{}|\\^`", s.at[n])) {
        if (s.at[n] == ')' || s.at[n] == ']') {
            if (!depth)
                break;
            depth--;
        }
        depth += s.at[n] == '(' || s.at[n] == '[';
        n++;
    }
    if (n - prefix >= 200)
        return 0;
    while (n > prefix && strchr(".,;:'*?!", s.at[n - 1]))
        n--;
    return n > prefix ? n : 0;
}

/* 1706.03762 with an optional version: after "arXiv:" or in an address of arxiv.org only. */
static size_t arxiv_number_at(qp_str s)
{
    size_t n = 5;

    for (size_t i = 0; i < 9; i++)
        if (i == 4 ? i >= s.n || s.at[i] != '.' : !digit(s, i))
            return 0;
    while (n < 10 && digit(s, n))
        n++;
    return digit(s, n) ? 0 : n;
}

static size_t version_at(qp_str s, size_t n)
{
    if (n + 1 < s.n && s.at[n] == 'v' && digit(s, n + 1))
        for (n++; digit(s, n);)
            n++;
    return n;
}

size_t qp_identifier_at(qp_str s, qp_str *id, qp_arena *a)
{
    size_t n = doi_at(s), skip = 6;

    if (n) {
        if (n > 15 && !strncasecmp(s.at, "10.48550/arxiv.", 15)) { /* arXiv's own DOIs name the same paper */
            size_t number = arxiv_number_at(qp_str_slice(s, 15, n));
            if (number) {
                *id = lowered(QP_STR("arxiv:"), qp_str_slice(s, 15, 15 + number), a);
                return n;
            }
        }
        *id = lowered(QP_STR(""), qp_str_slice(s, 0, n), a);
        return n;
    }
    if (s.n < 15 || strncasecmp(s.at, "arxiv:", 6) != 0)
        return 0;
    while (skip < s.n && s.at[skip] == ' ' && skip < 8)
        skip++;
    n = arxiv_number_at(qp_str_slice(s, skip, s.n));
    if (!n)
        return 0;
    *id = lowered(QP_STR("arxiv:"), qp_str_slice(s, skip, skip + n), a);
    return version_at(s, skip + n);
}

bool qp_identifier_find(qp_str s, size_t *at, size_t *n, qp_str *id, qp_arena *a)
{
    for (size_t i = 0; i + 8 < s.n; i++) {
        if (s.at[i] != '1' && (s.at[i] | 0x20) != 'a')
            continue;
        if (i && isalnum((unsigned char)s.at[i - 1]))
            continue;
        *n = qp_identifier_at(qp_str_slice(s, i, s.n), id, a);
        if (*n) {
            *at = i;
            return true;
        }
    }
    return false;
}

bool qp_identifier_in_address(qp_str address, qp_str *id, qp_arena *a)
{
    qp_str host = address, path;
    size_t at, n;

    for (size_t i = 0; i + 3 < address.n; i++)
        if (memcmp(address.at + i, "://", 3) == 0) {
            host = qp_str_slice(address, i + 3, address.n);
            break;
        }
    host = qp_str_split(host, '/', &path);
    if (qp_str_ends(host, QP_STR("doi.org")))
        return qp_identifier_find(qp_percent_decoded(path, a), &at, &n, id, a);
    if (!qp_str_ends(host, QP_STR("arxiv.org")))
        return false;
    qp_str_split(path, '/', &path); /* abs/, pdf/, html/ */
    n = arxiv_number_at(path);
    if (n)
        *id = lowered(QP_STR("arxiv:"), qp_str_slice(path, 0, n), a);
    return n > 0;
}

size_t qp_man_page_at(qp_str s)
{
    size_t n = 0;

    if (!s.n || !(isalpha((unsigned char)s.at[0]) || s.at[0] == '_' || s.at[0] == '['))
        return 0;
    while (n < s.n && n < 64 && (isalnum((unsigned char)s.at[n]) || strchr("_.:+-[", s.at[n])))
        n++;
    if (n + 2 >= s.n || s.at[n] != '(' || s.at[n + 1] < '1' || s.at[n + 1] > '9')
        return 0;
    n += 2;
    for (int suffix = 0; n < s.n && suffix < 4 && islower((unsigned char)s.at[n]); suffix++)
        n++;
    return n < s.n && s.at[n] == ')' ? n + 1 : 0;
}

qp_str qp_title_key(qp_str title, qp_arena *a)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)title.at, (utf8proc_ssize_t)title.n, &folded,
                                      UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    char *out = n > 0 ? qp_arena_alloc(a, (size_t)n + 1) : NULL;
    size_t at = 0, m = 0;
    qp_str s = {(const char *)folded, n > 0 ? (size_t)n : 0};

    while (out && at < s.n) {
        size_t from = at;
        utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)qp_utf8_next(s, &at));

        if (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO) { /* letters, marks, numbers */
            memcpy(out + m, s.at + from, at - from);
            m += at - from;
        } else if (m && out[m - 1] != ' ') {
            out[m++] = ' ';
        }
    }
    free(folded);
    while (m && out[m - 1] == ' ')
        m--;
    return (qp_str){out ? out : "", m};
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

qp_str qp_percent_decoded(qp_str s, qp_arena *a)
{
    char *out;
    size_t m = 0;

    if (!s.n || !memchr(s.at, '%', s.n) || !(out = qp_arena_alloc(a, s.n + 1)))
        return s;
    for (size_t i = 0; i < s.n; i++) {
        if (s.at[i] == '%' && i + 2 < s.n && hex(s.at[i + 1]) >= 0 && hex(s.at[i + 2]) >= 0) {
            out[m++] = (char)(hex(s.at[i + 1]) << 4 | hex(s.at[i + 2]));
            i += 2;
        } else {
            out[m++] = s.at[i];
        }
    }
    return qp_utf8_valid((qp_str){out, m}) == m ? (qp_str){out, m} : s;
}
