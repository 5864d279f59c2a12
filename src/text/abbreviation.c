#include "text/abbreviation.h"

#include <ctype.h>
#include <string.h>

enum { SHORTEST = 2, LONGEST = 10, MOST_WORDS = 2, FAR = 400 }; /* bytes before a bracket that are looked at */

static bool is_mark(char c) /* ASCII alone: bytes of other letters are taken as they are */
{
    return !isalnum((unsigned char)c) && !((unsigned char)c & 0x80);
}

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static size_t words_in(qp_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.at[i] != ' ' && s.at[i] != '\n' && (!i || s.at[i - 1] == ' ' || s.at[i - 1] == '\n');
    return n;
}

/* Capitals and digits, without a digit in front. */
static int capitals(qp_str s)
{
    int n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += isupper((unsigned char)s.at[i]) || (i && isdigit((unsigned char)s.at[i]));
    return n;
}

/* Two to ten characters of at most two words, a letter among them, a letter or digit first. Ours: of more than three
 * one is no small letter, "(spread)". */
static bool may_be_brief(qp_str s)
{
    bool letter = false;
    for (size_t i = 0; i < s.n; i++)
        letter |= isalpha((unsigned char)s.at[i]) != 0;
    return s.n >= SHORTEST && s.n <= LONGEST && letter && isalnum((unsigned char)s.at[0]) &&
           words_in(s) <= MOST_WORDS && (s.n <= 3 || capitals(s) || isdigit((unsigned char)s.at[0]));
}

/* The last words of s, no more than an abbreviation of n characters can stand for. */
static qp_str last_words(qp_str s, size_t n)
{
    const size_t most = n + 5 < 2 * n ? n + 5 : 2 * n;
    s = qp_str_trim(s);
    size_t from = s.n;
    for (size_t words = 0; from && s.n - from < FAR; from--)
        if ((s.at[from - 1] == ' ' || s.at[from - 1] == '\n') && ++words == most)
            break;
    return qp_str_slice(s, from, s.n);
}

qp_str qp_abbreviated(qp_str brief, qp_str words)
{
    size_t at = words.n;
    for (size_t i = brief.n; i-- > 0;) {
        if (is_mark(brief.at[i]))
            continue;
        do {
            if (!at)
                return (qp_str){"", 0};
            at--;
        } while (lower(words.at[at]) != lower(brief.at[i]) || (!i && at && !is_mark(words.at[at - 1])));
    }
    while (at && words.at[at - 1] != ' ' && words.at[at - 1] != '\n') /* "non-PN" begins at its first mark's word */
        at--;
    while (at < words.n && is_mark(words.at[at])) /* "[estrogen receptor" */
        at++;
    return qp_str_slice(words, at, words.n);
}

/* A pair that says something: longer than its abbreviation, which is none of its words. */
static bool offer(qp_str brief, qp_str full, qp_abbreviation_fn found, void *ctx)
{
    if (full.n <= brief.n)
        return true;
    for (qp_str rest = full, word; rest.at && rest.n;) {
        word = qp_str_split(rest, ' ', &rest);
        if (qp_str_eq(word, brief))
            return true;
    }
    return found(ctx, brief, full);
}

/* The word right before a bracket. */
static qp_str word_before(qp_str text, size_t open)
{
    size_t to = open;
    while (to && text.at[to - 1] == ' ')
        to--;
    size_t from = to;
    while (from && to - from <= LONGEST && text.at[from - 1] != ' ' && text.at[from - 1] != '\n')
        from--;
    return qp_str_slice(text, from, to);
}

/* The end of the sentence before is not looked over. */
static qp_str clause_before(qp_str text, size_t open)
{
    size_t from = open > FAR ? open - FAR : 0;
    for (size_t i = open; i-- > from + 1;)
        if (strchr(";:()\n", text.at[i]) || (text.at[i] == ' ' && strchr(".?!", text.at[i - 1]))) {
            from = i + 1;
            break;
        }
    return qp_str_slice(text, from, open);
}

void qp_abbreviations(qp_str text, qp_abbreviation_fn found, void *ctx)
{
    bool more = true;
    for (size_t open = 0; more && open < text.n; open++) {
        const char *at = memchr(text.at + open, '(', text.n - open);
        if (!at)
            return;
        open = (size_t)(at - text.at);
        size_t close = open + 1;
        while (close < text.n && close - open < FAR && !strchr("()\n", text.at[close]))
            close++;
        if (close == text.n || text.at[close] != ')')
            continue;
        qp_str inside = qp_str_slice(text, open + 1, close), rest, before = word_before(text, open);
        qp_str brief = qp_str_trim(qp_str_split(inside, ',', &rest)); /* "(PN, see below)" */
        if (may_be_brief(brief) && (!rest.at || capitals(brief)))     /* "(ie, of these)" */
            more = offer(brief, qp_abbreviated(brief, last_words(clause_before(text, open), brief.n)), found, ctx);
        else if (words_in(inside) > MOST_WORDS && may_be_brief(before) && capitals(before) > 1)
            more = offer(before, qp_abbreviated(before, inside), found, ctx); /* "PN (peripheral neuropathy)" */
    }
}
