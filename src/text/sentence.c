#include "text/sentence.h"

#include <ctype.h>
#include <strings.h>
#include <unicode/uchar.h>

#include "text/utf8.h"

/* Words before a full stop that seldom end a sentence; sorted for nothing, there are few. "etc." is left out: a capital
 * after it begins a sentence more often than not. */
static const char *const abbreviations[] = {
    "al",  "approx", "art", "bzw",  "ca",  "cap",  "capt", "cf",   "ch",   "co",  "col", "corp", "dept", "dr",
    "ed",  "eds",    "eq",  "eqs",  "est", "ex",   "fig",  "figs", "ff",   "gen", "gov", "hon",  "hr",   "inc",
    "jr",  "lt",     "ltd", "mme",  "mr",  "mrs",  "ms",   "mt",   "no",   "nos", "nr",  "op",   "p",    "par",
    "pp",  "prof",   "ref", "refs", "rep", "resp", "rev",  "sec",  "sen",  "sgt", "sr",  "st",   "str",  "tab",
    "vgl", "viz",    "vol", "vols", "vs",  "jan",  "feb",  "aug",  "sept", "oct", "nov", "dec",
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does the word that ends at `stop` (the place of a full stop) keep the sentence going? */
static bool is_abbreviation(qp_str s, size_t from, size_t stop)
{
    size_t at = stop, dots = 0;

    while (at > from && (isalpha((unsigned char)s.at[at - 1]) || s.at[at - 1] == '.'))
        dots += s.at[--at] == '.';
    if (at > from && (unsigned char)s.at[at - 1] >= 0x80) /* the tail of a word of other letters */
        return false;
    qp_str word = qp_str_slice(s, at, stop);
    if (word.n == 1)
        return isupper((unsigned char)word.at[0]) && word.at[0] != 'I';
    if (dots && dots * 2 + 1 == word.n) /* e.g, i.e, z.B, U.S: one letter between the stops */
        return islower((unsigned char)word.at[0]);
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++)
        if (strlen(abbreviations[i]) == word.n && !strncasecmp(abbreviations[i], word.at, word.n))
            return true;
    return false;
}

/* Does a new block begin after the line break at `at`: a blank line, a list item, a table row? */
static bool ends_block(qp_str s, size_t at)
{
    size_t p = at + 1, digits = 0;

    while (p < s.n && (s.at[p] == ' ' || s.at[p] == '\t' || s.at[p] == '\r'))
        p++;
    if (p >= s.n || s.at[p] == '\n' || s.at[p] == '\f' || s.at[p] == '|')
        return true;
    if ((s.at[p] == '-' || s.at[p] == '*' || s.at[p] == '+') && p + 1 < s.n && s.at[p + 1] == ' ')
        return true;
    if (s.n - p > 3 && memcmp(s.at + p, "\xE2\x80\xA2", 3) == 0) /* a bullet */
        return true;
    while (p < s.n && isdigit((unsigned char)s.at[p]) && digits < 4)
        p++, digits++;
    return digits && p + 1 < s.n && (s.at[p] == '.' || s.at[p] == ')') && s.at[p + 1] == ' ';
}

static int break_class(uint32_t c)
{
    return u_getIntPropertyValue((UChar32)c, UCHAR_SENTENCE_BREAK);
}

/* Past what closes a sentence after its terminator: more terminators, quotes, brackets. */
static size_t skip_close(qp_str s, size_t at)
{
    while (at < s.n) {
        size_t next = at;
        uint32_t c = qp_utf8_next(s, &next);
        int class = break_class(c);

        if (u_charType((UChar32)c) == U_START_PUNCTUATION ||
            (class != U_SB_CLOSE && class != U_SB_STERM && class != U_SB_ATERM))
            break;
        at = next;
    }
    return at;
}

/* Is there a boundary behind the terminator at [stop, after)? *end: where the sentence ends if so, else where to look
 * on. */
static bool ends_sentence(qp_str s, size_t from, size_t stop, size_t after, int class, size_t *end)
{
    bool wide = (unsigned char)s.at[stop] >= 0x80 && class == U_SB_STERM;
    size_t next;

    *end = skip_close(s, after);
    next = *end;
    if (next >= s.n)
        return true;
    if (!is_space(s.at[next]))
        return wide && break_class(qp_utf8_next(s, &next)) != U_SB_SCONTINUE;
    if (class == U_SB_ATERM && *end == after && is_abbreviation(s, from, stop))
        return false;
    while (next < s.n && is_space(s.at[next]))
        next++;
    if (next >= s.n)
        return true;
    class = break_class(qp_utf8_next(s, &next));
    return class != U_SB_LOWER && class != U_SB_SCONTINUE; /* SB8, SB8a */
}

bool qp_sentence_next(qp_str s, size_t *at, qp_span *out)
{
    size_t p = *at;

    while (p < s.n && is_space(s.at[p]))
        p++;
    if (p >= s.n)
        return false;
    out->from = p;
    out->to = s.n;
    while (p < s.n) {
        unsigned char c = (unsigned char)s.at[p];
        size_t next = p + 1, end;
        int class = U_SB_OTHER;

        if (c >= 0x80) {
            next = p;
            class = break_class(qp_utf8_next(s, &next));
        } else if (c == '.') {
            class = U_SB_ATERM;
        } else if (c == '!' || c == '?') {
            class = U_SB_STERM;
        } else if (c == '\f' || (c == '\n' && ends_block(s, p))) {
            out->to = p;
            break;
        }
        if (class == U_SB_ATERM || class == U_SB_STERM) {
            if (ends_sentence(s, out->from, p, next, class, &end)) {
                out->to = end;
                break;
            }
            next = end;
        }
        p = next;
    }
    *at = out->to;
    while (out->to > out->from && is_space(s.at[out->to - 1]))
        out->to--;
    return true;
}
