#include "ingest/html_guard.h"

#include <ctype.h>
#include <gumbo.h>
#include <string.h>
#include <strings.h>

/* Does the tag that begins at `at` end itself ("<path .../>")? Only what HTML does not know may, and only inside SVG: a
 * parser takes <div/> for <div>. */
static bool closes_itself(qp_str s, size_t at, size_t n)
{
    const char *end = memchr(s.at + at, '>', s.n - at);
    return end && end[-1] == '/' && gumbo_tagn_enum(s.at + at, (unsigned)n) == GUMBO_TAG_UNKNOWN;
}

size_t qp_html_depth(qp_str s)
{
    static const char *const flat[] = {"p",     "li",    "td",     "tr",    "th",    "dt",      "dd",
                                       "br",    "hr",    "img",    "rp",    "rt",    "col",     "link",
                                       "meta",  "input", "area",   "base",  "wbr",   "option",  "thead",
                                       "tbody", "tfoot", "source", "embed", "param", "colgroup"};
    size_t depth = 0, deepest = 0, svg = 0;

    for (size_t i = 0; i + 1 < s.n; i++) {
        if (s.at[i] != '<')
            continue;
        bool end = s.at[i + 1] == '/';
        size_t from = i + 1 + end, n = 0;
        while (from + n < s.n && isalnum((unsigned char)s.at[from + n]) && n < 16)
            n++;
        bool nests = n > 0;
        for (size_t k = 0; nests && k < sizeof flat / sizeof *flat; k++)
            nests = strlen(flat[k]) != n || strncasecmp(flat[k], s.at + from, n);
        if (n == 3 && !strncasecmp("svg", s.at + from, 3))
            svg += end ? -(size_t)(svg > 0) : 1;
        if (nests && !end && svg && closes_itself(s, from, n))
            continue;
        if (nests && !end)
            deepest = ++depth > deepest ? depth : deepest;
        else if (nests && depth)
            depth--;
    }
    return deepest;
}
