#include "ingest/entry.h"

#include <ctype.h>
#include <strings.h>

#include "ingest/identifier.h"

enum { LONGEST_AUTHORS = 700, SHORTEST_TITLE = 4 };

static bool is(qp_str s, size_t at, int (*class)(int))
{
    return at < s.n && class((unsigned char)s.at[at]);
}

static bool follows(qp_str s, size_t at, const char *what)
{
    size_t n = strlen(what);
    return at + n <= s.n && !memcmp(s.at + at, what, n);
}

/* "doi:10.1016/S0167-9473(02)" may go on in the next line. */
static bool ends_in_address(qp_str s)
{
    size_t at = s.n;
    while (at && !isspace((unsigned char)s.at[at - 1]))
        at--;
    qp_str word = qp_str_slice(s, at, s.n);
    return qp_str_starts(word, QP_STR("http")) || qp_str_starts(word, QP_STR("10.")) ||
           qp_str_starts(word, QP_STR("doi:10."));
}

qp_str qp_entry_line(qp_str lines, qp_arena *a)
{
    char *out = qp_arena_alloc(a, lines.n + 1);
    size_t n = 0;

    for (size_t at = 0; out && at < lines.n; at++) {
        char c = lines.at[at];
        if (follows(lines, at, "\xC2\xA0")) {
            out[n++] = ' ';
            at++;
            continue;
        }
        if (!isspace((unsigned char)c)) {
            out[n++] = c;
            continue;
        }
        bool line = c == '\n';
        while (is(lines, at + 1, isspace))
            line |= lines.at[++at] == '\n';
        bool hyphen = n > 1 && out[n - 1] == '-' && islower((unsigned char)out[n - 2]) && is(lines, at + 1, islower);
        bool address = n > 0 && (out[n - 1] == '/' || follows(lines, at + 1, "//") ||
                                 (is(lines, at + 1, isdigit) && ends_in_address((qp_str){out, n})));
        if (line && hyphen)
            n--;
        else if (n && !(line && address))
            out[n++] = ' ';
    }
    return qp_str_trim((qp_str){out ? out : "", n});
}

/* ---- years ---- */

/* "2004", "2004a"; 0: no year stands here by itself. */
static size_t year_at(qp_str s, size_t at)
{
    if (at && (isalnum((unsigned char)s.at[at - 1]) || strchr(".:/-_", s.at[at - 1])))
        return 0;
    if (!follows(s, at, "18") && !follows(s, at, "19") && !follows(s, at, "20"))
        return 0;
    if (!is(s, at + 2, isdigit) || !is(s, at + 3, isdigit) || is(s, at + 4, isdigit))
        return 0;
    size_t n = 4 + (is(s, at + 4, islower) && !is(s, at + 5, isalnum));
    return is(s, at + n, isalnum) || (follows(s, at + n, ".") && is(s, at + n + 1, isdigit)) ||
                   follows(s, at + n, "-") || follows(s, at + n, "/") || follows(s, at + n, "\xE2\x80\x93")
               ? 0
               : n;
}

/* The last one; one with a letter before all others. */
static qp_str last_year(qp_str s)
{
    qp_str last = {0};
    for (size_t at = s.n; at-- > 0;) {
        size_t n = year_at(s, at);
        if (n > 4 || (n && !last.n))
            last = qp_str_slice(s, at, at + n);
        if (n > 4)
            break;
    }
    return last;
}

bool qp_entry_dated(qp_str s)
{
    return last_year(s).n > 0;
}

/* ---- names ---- */

/* Parts of names and what stands between them; a title's words begin small, quotes and digits are in no name. */
static bool in_names(qp_str word)
{
    static const char *const small[] = {"and", "et",  "al.",  "al.,",         "al",   "de",      "van",    "von",
                                        "der", "den", "la",   "del",          "da",   "di",      "dos",    "le",
                                        "du",  "ten", "ter",  "\xE2\x80\xA6", "eds.", "editors", "others", "&",
                                        "...", "for", "team", "team.",        "of",   "the"};
    unsigned char c = (unsigned char)word.at[0];

    for (size_t i = 0; i < word.n; i++)
        if (isdigit((unsigned char)word.at[i]) || strchr("/:@=", word.at[i]) ||
            (word.at[i] == '.' && is(word, i + 1, islower)))
            return false;
    if (isupper(c) || c >= 0xC3)
        return c != 0xE2 || qp_str_starts(word, QP_STR("\xE2\x80\xA6"));
    if (c == '(')
        return qp_str_starts(word, QP_STR("(ed"));
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (qp_str_eq(word, qp_str_of(small[i])))
            return true;
    return (c == 'd' || c == 'l' || c == 'v') && word.n > 3 &&
           (word.at[1] == '\'' || !memcmp(word.at + 1, "\xE2\x80\x99", 3));
}

/* "A.", "J.-P.", "AC": no surname. */
static bool initials(qp_str word)
{
    size_t letters = 0;
    for (size_t i = 0; i < word.n; i++) {
        if (islower((unsigned char)word.at[i]))
            return false;
        letters += isupper((unsigned char)word.at[i]) != 0;
    }
    return letters && letters < 4;
}

/* Is the period at its end part of the word, among names? */
static bool abbreviated(qp_str word)
{
    static const char *const known[] = {"al.", "eds.", "ed.", "Jr.", "St.", "(eds."};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (qp_str_eq(word, qp_str_of(known[i])))
            return true;
    return initials(word);
}

/* Where the year of "AUTHORS (2004a)" or "AUTHORS. 2004." is; 0: no such opening. */
static size_t opening_year(qp_str s)
{
    bool sentence = false; /* a word before ended with a period: only a year may follow */

    for (size_t at = 0; at < s.n && at < LONGEST_AUTHORS;) {
        size_t end = at;
        while (end < s.n && !isspace((unsigned char)s.at[end]))
            end++;
        qp_str word = qp_str_slice(s, at, end);
        bool bracket = word.at[0] == '(';
        size_t n = at ? year_at(s, at + bracket) : 0;
        if (n && bracket && strchr("),", s.n > at + 1 + n ? s.at[at + 1 + n] : '?'))
            return at + 1;
        if (n && s.at[at - 2] == '.' && follows(s, at + n, ".") && at + n + 12 < s.n)
            return at;
        if (sentence || !in_names(word))
            return 0;
        sentence = word.at[word.n - 1] == '.' && !abbreviated(word);
        for (at = end; is(s, at, isspace); at++)
            ;
    }
    return 0;
}

size_t qp_entry_opening(qp_str s)
{
    size_t year = opening_year(s);
    return year ? year + year_at(s, year) : 0;
}

bool qp_entry_name(qp_str s)
{
    size_t words = 0;

    for (size_t at = 0; at < s.n && words < 6; words++) {
        size_t end = at;
        while (end < s.n && !isspace((unsigned char)s.at[end]))
            end++;
        qp_str word = qp_str_slice(s, at, end);
        if (word.n > 1 && !initials(word) && strchr(".,", word.at[word.n - 1]))
            return words > 0 && in_names(word);
        if (words && qp_str_eq(word, QP_STR("and")))
            return words > 1;
        if (!in_names(word))
            return false;
        at = end + 1;
    }
    return false;
}

/* The first author's: before a comma less initials, or the last word of "Ann B. Name". */
static qp_str surname_of(qp_str authors)
{
    size_t end = 0, at;

    while (end < authors.n && authors.at[end] != ',' && !follows(authors, end, " and ") &&
           !follows(authors, end, " & ") && !follows(authors, end, " et al"))
        end++;
    qp_str first = qp_str_trim(qp_str_slice(authors, 0, end));
    while (first.n && strchr(".;:", first.at[first.n - 1]))
        first.n--;
    size_t whole = first.n;
    for (;; first = qp_str_trim(qp_str_slice(first, 0, at))) {
        for (at = first.n; at && first.at[at - 1] != ' '; at--)
            ;
        qp_str last = qp_str_slice(first, at, first.n);
        if (!at || qp_str_eq(last, QP_STR("Team"))) /* R Core Team */
            return first;
        if (!initials(last)) /* else "Zeileis A", "van de Wiel M. A." */
            return first.n < whole ? first : last;
    }
}

/* ---- titles ---- */

typedef enum letters { NAMES, INVERTED, TITLE } letters; /* what one before a period is */

/* Where the sentence that begins at `at` ends: at "?", or at a period that neither an initial nor an abbreviation has.
 * In "Henderson R, Diggle P. Title" there are no such initials; in titles a letter is one behind a capital: "by A. B.
 * Name", but not "Models with R." */
static size_t sentence_end(qp_str s, size_t at, letters what)
{
    static const char *const short_words[] = {"vs",  "St", "al",   "Jr",  "Dr", "No",  "Vol",
                                              "eds", "ed", "Proc", "Int", "J",  "e.g", "i.e"};

    for (size_t i = at; i < s.n; i++) {
        if (strchr("?!", s.at[i]) && (i + 1 == s.n || s.at[i + 1] == ' '))
            return i + 1;
        if (s.at[i] != '.' || (i + 1 < s.n && s.at[i + 1] != ' '))
            continue;
        size_t from = i, before;
        while (from > at && s.at[from - 1] != ' ' && s.at[from - 1] != '-')
            from--;
        for (before = from; before > at && s.at[before - 1] == ' '; before--)
            ;
        for (; before > at && s.at[before - 1] != ' '; before--)
            ;
        qp_str word = qp_str_slice(s, from, i);
        bool short_ = word.n == 1 && is(word, 0, isalpha) &&
                      (what == NAMES || (what == TITLE && is(word, 0, isupper) && from > at && is(s, before, isupper)));
        for (size_t k = 0; k < sizeof short_words / sizeof *short_words && !short_; k++)
            short_ = qp_str_eq(word, qp_str_of(short_words[k]));
        if (!short_ || (what != TITLE && qp_str_eq(word, QP_STR("al")))) /* "et al." is the last of the authors */
            return i;
    }
    return s.n;
}

/* What stands between the first opening quote and the closing one that ends a sentence or phrase. */
static qp_str quoted(qp_str s, size_t *opens)
{
    static const char *const open[] = {"\xE2\x80\x9C", "``", "\"", "\xE2\x80\x9F"}, *const close[] = {"\xE2\x80\x9D",
                                                                                                      "''", "\"",
                                                                                                      "\xE2\x80\x9D"};

    for (size_t at = 0; at < s.n; at++)
        for (size_t k = 0; k < sizeof open / sizeof *open; k++) {
            if (!follows(s, at, open[k]))
                continue;
            size_t from = at + strlen(open[k]), depth = 1;
            for (size_t end = from; end < s.n; end++) {
                depth += k != 2 && follows(s, end, open[k]);
                if (follows(s, end, close[k]) && !--depth) {
                    *opens = at;
                    return qp_str_slice(s, from, end);
                }
            }
            return (qp_str){0};
        }
    return (qp_str){0};
}

static qp_str stripped(qp_str s)
{
    s = qp_str_trim(s);
    while (s.n && strchr(".,;:()[]*_ ", s.at[0]))
        s = qp_str_slice(s, 1, s.n);
    while (s.n && strchr(".,;:(*_ ", s.at[s.n - 1]))
        s.n--;
    return s;
}

/* Less the date that a thing without a venue ends in: "Title, May 2007". */
static qp_str undated(qp_str title)
{
    qp_str year = last_year(title);
    size_t at = year.n ? (size_t)(year.at - title.at) : 0;
    if (!at || at + year.n != title.n)
        return title;
    while (at && title.at[at - 1] != ',')
        at--;
    return at > 1 && title.n - at < 20 ? qp_str_slice(title, 0, at - 1) : title;
}

static qp_str title_from(qp_str s, size_t at)
{
    while (at < s.n && strchr(" .,;:)]", s.at[at]))
        at++;
    qp_str title = undated(stripped(qp_str_slice(s, at, sentence_end(s, at, TITLE))));
    return title.n >= SHORTEST_TITLE ? title : (qp_str){0};
}

/* "Henderson R, Diggle P. Title": there an initial is the end of a name, and may be that of all names. "Jason C. Hsu.
 * Title" looks like "Hsu JC. Title" up to its first period. */
static bool inverted(qp_str s)
{
    size_t end = 0, at, next;
    while (end < s.n && !strchr(",.", s.at[end]))
        end++;
    for (at = end; at && s.at[at - 1] != ' '; at--)
        ;
    if (!at || end == s.n || !initials(qp_str_slice(s, at, end)))
        return false;
    for (next = end + 2; next < s.n && s.at[next] != ' '; next++)
        ;
    return s.at[end] == ',' || (!strchr(".,", s.at[next - 1]) && !follows(s, next, " and "));
}

/* "Auer et al. (2020) Sören Auer ... 2020. Title": HTML puts the tag before the entry itself. */
static qp_str without_tag(qp_str s, size_t year, size_t n)
{
    qp_str rest = qp_str_trim(qp_str_slice(s, year + n + follows(s, year + n, ")"), s.n));
    size_t again = opening_year(rest);
    return again && qp_str_eq(qp_str_slice(rest, again, again + n), qp_str_slice(s, year, year + n)) ? rest : s;
}

static void read_identifiers(qp_entry *c, qp_arena *a)
{
    size_t at, n, from = 0;
    qp_str id;

    while (from < c->text.n && qp_identifier_find(qp_str_slice(c->text, from, c->text.n), &at, &n, &id, a)) {
        qp_str *kind = qp_str_starts(id, QP_STR("arxiv:")) ? &c->arxiv : &c->doi;
        if (!kind->n)
            *kind = id;
        from += at + n;
    }
    for (from = 0; !c->arxiv.n && from + 10 < c->text.n; from++)
        if (!strncasecmp(c->text.at + from, "arxiv.org/", 10) &&
            qp_identifier_in_address(qp_str_slice(c->text, from, c->text.n), &id, a))
            c->arxiv = id;
}

void qp_entry_read(qp_entry *c, qp_arena *a)
{
    qp_str s = c->text, title;
    size_t year = opening_year(s), quote = 0;

    read_identifiers(c, a);
    if (year) {
        s = without_tag(s, year, year_at(s, year));
        year = opening_year(s);
    }
    title = quoted(s, &quote);
    if (year && (!title.n || quote > year)) {
        size_t n = year_at(s, year);
        c->authors = stripped(qp_str_slice(s, 0, year));
        c->year = qp_str_slice(s, year, year + n);
        c->title = title.n && quote < year + n + 8 ? stripped(title) : title_from(s, year + n);
    } else {
        size_t end = sentence_end(s, 0, inverted(s) ? INVERTED : NAMES);
        if (title.n && end >= quote) /* else a quote within a title */
            end = quote;
        else
            title = (qp_str){0};
        c->authors = stripped(qp_str_slice(s, 0, end));
        c->title = title.n ? stripped(title) : title_from(s, end);
        c->year = last_year(s);
    }
    c->surname = surname_of(c->authors);
}
