/* Cross-references of running text: "Section 3.2", "Figures 2-4", "Eq. (5)", "Rule 5.2.1(3)", "paragraph (2)".
 *
 * What is numbered is a label: a division (section, rule, article, ...), a figure, a table, an equation, a theorem. Its
 * place is the heading or the line that begins with its number, the caption, the line that ends in "(5)". Lines of text
 * out of a PDF look like labels by chance, so each is given points for what a real one has (a colon, a blank line before,
 * a capital after), and the best of a name stands for it, the first among equals. What is said to be somebody else's
 * ("Section 3 of the Companies Act", "COBS Rule 22.4.2", "Table 2 in [5]") is left alone, unless the title names them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/map.h"
#include "ingest/reader.h"

enum { MOST_NUMBERS = 64, MOST_PLACES = 1 << 16, LONGEST_NUMBER = 32, GOOD = 3 };

typedef enum kind { DIVISION, CAPTION, EQUATION, STATEMENT } kind;

static const struct word {
    const char *word,
        *name; /* what labels are called under; of divisions all are "section" where the number stands bare */
    kind kind;
} words[] = {
    {"sections", "section", DIVISION},
    {"section", "section", DIVISION},
    {"sec", "section", DIVISION},
    {"secs", "section", DIVISION},
    {"sect", "section", DIVISION},
    {"subsection", "section", DIVISION},
    {"chapters", "chapter", DIVISION},
    {"chapter", "chapter", DIVISION},
    {"chap", "chapter", DIVISION},
    {"articles", "article", DIVISION},
    {"article", "article", DIVISION},
    {"art", "article", DIVISION},
    {"rules", "rule", DIVISION},
    {"rule", "rule", DIVISION},
    {"regulations", "regulation", DIVISION},
    {"regulation", "regulation", DIVISION},
    {"paragraphs", "paragraph", DIVISION},
    {"paragraph", "paragraph", DIVISION},
    {"subparagraph", "paragraph", DIVISION},
    {"para", "paragraph", DIVISION},
    {"paras", "paragraph", DIVISION},
    {"clauses", "clause", DIVISION},
    {"clause", "clause", DIVISION},
    {"part", "part", DIVISION},
    {"parts", "part", DIVISION},
    {"appendix", "appendix", DIVISION},
    {"appendices", "appendix", DIVISION},
    {"app", "appendix", DIVISION},
    {"annex", "annex", DIVISION},
    {"schedule", "schedule", DIVISION},
    {"figures", "figure", CAPTION},
    {"figure", "figure", CAPTION},
    {"figs", "figure", CAPTION},
    {"fig", "figure", CAPTION},
    {"tables", "table", CAPTION},
    {"table", "table", CAPTION},
    {"tab", "table", CAPTION},
    {"algorithms", "algorithm", CAPTION},
    {"algorithm", "algorithm", CAPTION},
    {"alg", "algorithm", CAPTION},
    {"listing", "listing", CAPTION},
    {"equations", "equation", EQUATION},
    {"equation", "equation", EQUATION},
    {"eqs", "equation", EQUATION},
    {"eqns", "equation", EQUATION},
    {"eqn", "equation", EQUATION},
    {"eq", "equation", EQUATION},
    {"theorems", "theorem", STATEMENT},
    {"theorem", "theorem", STATEMENT},
    {"lemmas", "lemma", STATEMENT},
    {"lemma", "lemma", STATEMENT},
    {"propositions", "proposition", STATEMENT},
    {"proposition", "proposition", STATEMENT},
    {"corollary", "corollary", STATEMENT},
    {"definitions", "definition", STATEMENT},
    {"definition", "definition", STATEMENT},
};

typedef struct place {
    qp_str name; /* "table 2" */
    size_t at;
    int points;
    bool named; /* by a reference */
} place;

typedef struct scan {
    qp_extract *x;
    qp_str s;
    place *places;
    size_t cap;
    qp_map *at;                    /* name -> place */
    char division[LONGEST_NUMBER]; /* the one that lines stand in: "(2)" is a part of it */
    char top[LONGEST_NUMBER];      /* the one that numbered parts were last seen in */
    bool oom;
} scan;

/* ---- characters ---- */

/* White space, and what looks like it or like nothing: no-break spaces, marks of direction, zero widths. */
static size_t blank_at(qp_str s, size_t at)
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

static size_t skip_blank(qp_str s, size_t at)
{
    for (size_t n; (n = blank_at(s, at)); at += n)
        ;
    return at;
}

/* Over what is not to be seen, marks of direction above all. */
static size_t skip_marks(qp_str s, size_t at)
{
    for (size_t n; at < s.n && (unsigned char)s.at[at] >= 0x80 && (n = blank_at(s, at)); at += n)
        ;
    return at;
}

/* Over blanks and one line break. */
static size_t skip_space(qp_str s, size_t at)
{
    at = skip_blank(s, at);
    return at < s.n && s.at[at] == '\n' ? skip_blank(s, at + 1) : at;
}

static bool is(qp_str s, size_t at, int (*class)(int))
{
    return at < s.n && class((unsigned char)s.at[at]);
}

static bool follows(qp_str s, size_t at, const char *what)
{
    size_t n = strlen(what);
    return at + n <= s.n && !strncasecmp(s.at + at, what, n);
}

static size_t dash_at(qp_str s, size_t at)
{
    return follows(s, at, "-") ? 1 : follows(s, at, "\xE2\x80\x93") || follows(s, at, "\xE2\x80\x94") ? 3 : 0;
}

/* ---- numbers ---- */

/* C, D, L alone are letters: they come after A and B, or M. */
static bool is_roman(const char *s)
{
    size_t n = strlen(s);
    return n && strspn(s, "IVXLC") == n && (n > 1 || strchr("IVX", *s));
}

/* "3", "3.2", "A.1", "IV", "12a", "3.1B", then "(1)(b)"; a dot before a bracket is left out. Returns where it ends, `at` if there
 * is none. */
static size_t number_at(qp_str s, size_t at, char out[LONGEST_NUMBER])
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
    if (is_roman(out) && follows(s, i, "-") && is(s, i + 1, isupper) && !is(s, i + 2, isalnum)) { /* "III-C" */
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

/* ---- labels ---- */

static qp_str name_of(scan *z, const char *word, const char *number)
{
    qp_str name = qp_arena_fmt(z->x->mem, "%s %s", word, number);
    for (size_t i = 0; i < name.n; i++)
        ((char *)(uintptr_t)name.at)[i] = (char)tolower((unsigned char)name.at[i]);
    z->oom |= !name.at;
    return name;
}

static void label(scan *z, const char *word, const char *number, size_t at, int points)
{
    size_t n = qp_map_size(z->at);
    bool added;
    if (points < GOOD || z->oom || n >= MOST_PLACES)
        return;
    qp_str name = name_of(z, word, number);
    place *grown = qp_array_room(z->places, n, &z->cap, sizeof *grown);
    z->places = grown ? grown : z->places;
    uint64_t *slot = grown ? qp_map_put(z->at, name, &added) : NULL;
    if (!slot) {
        z->oom = true;
        return;
    }
    if (added)
        *slot = n;
    bool appendix = !number[1] && isupper((unsigned char)*number); /* they come last: "A Paper on ..." is none */
    if (added || z->places[*slot].points + !appendix <= points)
        z->places[*slot] = (place){name, at, points, false};
}

/* Points of the line for being a label's: what stands behind the number, and before the line. */
static int points_of(qp_str line, size_t behind, bool apart)
{
    size_t next = skip_blank(line, behind);
    bool leader = memmem(line.at, line.n, " . .", 4) || memmem(line.at, line.n, "....", 4); /* of a table of contents */
    int points = apart - 4 * leader;

    if (next == line.n)
        return points + 3;
    if (strchr(":|", line.at[next]) || dash_at(line, next))
        return points + 4;
    if (line.at[next] == '.')
        return points + 2;
    return points + (line.at[next] == '(' && next > behind);
}

/* "3.2 Title", "5.2.1 A person must", "(3) in the case of": the number alone. */
static void bare_label(scan *z, qp_str line, size_t at, bool heading, bool apart)
{
    char number[LONGEST_NUMBER], part[2 * LONGEST_NUMBER];
    size_t end = number_at(line, 0, number), depth = 0;

    if (!end)
        return;
    if (number[0] == '(') {
        const char *close = strchr(number, ')');
        bool inner = !isdigit((unsigned char)number[1]) && *z->division;
        snprintf(part, sizeof part, "%s%.*s", inner ? z->division : z->top, (int)(close - number + 1), number);
        if (!*z->top || strlen(part) >= LONGEST_NUMBER)
            return;
        label(z, "section", part, at, GOOD);
        if (!inner)
            strcpy(z->division, part);
        return;
    }
    for (const char *c = number; *c; c++)
        depth += *c == '.' || *c == '(';
    size_t text = skip_blank(line, end + (follows(line, end, ".") || follows(line, end, ")")));
    bool capital = is(line, text, isupper) || (text < line.n && (unsigned char)line.at[text] >= 0x80);
    bool title = line.n - text < 90 && !strchr(".,;", line.at[line.n - 1]);
    int points = heading ? 8 : apart + capital + title + (depth > 0) + (depth > 1);
    if (!isdigit((unsigned char)number[0]) && !heading && !follows(line, end, ".") && !(apart && capital && title))
        points -= 2;                  /* "A man", "I" */
    if (text == end && text < line.n) /* "3rd", "3,000" */
        return;
    if (points_of(line, end, false) < 0 || (title && is(line, line.n - 1, isdigit) && text == line.n))
        points -= 3;
    label(z, "section", number, at, points);
    if (is_roman(z->top) && isupper((unsigned char)number[0]) && !number[1] && !is_roman(number)) {
        snprintf(part, sizeof part, "%s-%s", z->top, number);
        label(z, "section", part, at, points);
    } else if (points >= GOOD) {
        char *open = strchr(number, '(');
        strcpy(z->division, number);
        if (open)
            *open = 0;
        strcpy(z->top, number);
        label(z, "section", number, at, points - (open != NULL)); /* "5.2.1(1)" may be how 5.2.1 begins */
    }
}

static const struct word *word_at(qp_str s, size_t at, size_t *end)
{
    size_t n = 0;
    if (follows(s, at, "\xC2\xA7")) {
        *end = at + 2 + 2u * follows(s, at + 2, "\xC2\xA7");
        return &words[0];
    }
    while (is(s, at + n, isalpha) && n < 16)
        n++;
    size_t next = skip_space(s, at + n + follows(s, at + n, "."));
    if (n < 2 || n > 12 || is(s, at + n, isalnum) ||
        !(is(s, next, isdigit) || is(s, next, isupper) || follows(s, next, "(")))
        return NULL; /* most words: no number follows */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].word[0] == (s.at[at] | 0x20) && !strncasecmp(words[i].word, s.at + at, n) && !words[i].word[n]) {
            *end = at + n;
            return &words[i];
        }
    return NULL;
}

/* "Table 2: ...", "Article 5", "Theorem 3 (Name). ..." */
static bool worded_label(scan *z, qp_str line, size_t at, bool heading, bool apart)
{
    char number[LONGEST_NUMBER];
    size_t end;
    const struct word *w = word_at(line, 0, &end);
    size_t from = w ? skip_blank(line, end + follows(line, end, ".")) : 0, to = w ? number_at(line, from, number) : 0;

    if (!w || to == from)
        return false;
    if (w->kind == EQUATION)
        return true;
    int points = points_of(line, to, apart) + (heading ? 8 : 0) + (w->kind == STATEMENT);
    label(z, w->name, number, at, points);
    if (w->kind == DIVISION && points >= GOOD) {
        strcpy(z->division, number);
        strcpy(z->top, number);
    }
    return true;
}

/* "... = x + y    (5)" */
static void equation_label(scan *z, qp_str line, size_t at)
{
    char number[LONGEST_NUMBER];
    size_t open = line.n;
    while (open && line.n - open < 8 && line.at[open - 1] != '(')
        open--;
    if (line.n < 3 || line.at[line.n - 1] != ')' || !open || line.at[open - 1] != '(' || !is(line, open, isdigit))
        return;
    size_t end = number_at(line, open, number);
    qp_str before = qp_str_slice(line, 0, open - 1);
    bool formula = memchr(before.at, '=', before.n) || qp_str_ends(before, QP_STR("  "));
    if (end == line.n - 1 && (!qp_str_trim(before).n || formula))
        label(z, "equation", number, at, GOOD + formula);
}

/* ---- lines ---- */

static qp_str bare(qp_str line)
{
    line = qp_str_trim(line);
    while (line.n && (strchr("#*_|\f", line.at[0]) || blank_at(line, 0) || qp_str_starts(line, QP_STR("- "))))
        line = qp_str_slice(line, blank_at(line, 0) ? blank_at(line, 0) : 1, line.n);
    return line;
}

static void find_labels(scan *z)
{
    const qp_mark *marks = z->x->marks;
    size_t mark = 0;
    bool apart = true;

    for (size_t at = 0; at < z->s.n && !z->oom;) {
        const char *feed = memchr(z->s.at + at, '\n', z->s.n - at);
        size_t next = feed ? (size_t)(feed - z->s.at) + 1 : z->s.n;
        qp_str line = bare(qp_str_slice(z->s, at, next));
        while (mark < z->x->n_marks && (marks[mark].kind != QP_MARK_HEADING || marks[mark].from < at))
            mark++;
        bool heading = mark < z->x->n_marks && marks[mark].from < next;
        if (line.n) {
            size_t from = (size_t)(line.at - z->s.at);
            if (!worded_label(z, line, from, heading, apart))
                bare_label(z, line, from, heading, apart);
            equation_label(z, line, from);
        }
        apart = !line.n;
        at = next;
    }
}

/* ---- references ---- */

/* Do the words name this document? */
static bool ours(const scan *z, qp_str words_)
{
    qp_str title = z->x->title, name = qp_str_trim(words_);
    return name.n > 1 && memmem(title.at, title.n, name.at, name.n);
}

/* The next one or two words in capitals: "Companies Act". */
static qp_str proper_name(qp_str s, size_t at)
{
    size_t end = at;
    for (int n = 0; n < 2; n++) {
        size_t from = skip_space(s, end);
        if (!is(s, from, isupper))
            break;
        for (end = from; is(s, end, isalnum); end++)
            ;
    }
    return qp_str_slice(s, at, end);
}

/* Does what follows say that the numbers are another document's? "of the Act", "of FSMR", "in [5]", "to the Rules" */
static bool foreign_behind(const scan *z, size_t at)
{
    at = skip_space(z->s, at);
    bool of = follows(z->s, at, "of "), in = follows(z->s, at, "in ");
    if (!of && !in)
        return false;
    at = skip_space(z->s, at + 2);
    if (follows(z->s, at, "["))
        return true;
    size_t name = follows(z->s, at, "the ") ? skip_space(z->s, at + 4) : at, end;
    if (word_at(z->s, name, &end)) /* "of Schedule 1", "in Figure 2" */
        return of;
    return of && is(z->s, name, isupper) && !ours(z, proper_name(z->s, name));
}

/* "COBS Rule 22.4.2": an acronym before, which the title has not. */
static bool foreign_before(const scan *z, size_t at)
{
    size_t end = at;
    while (end && (z->s.at[end - 1] == ' ' || z->s.at[end - 1] == '\n'))
        end--;
    size_t from = end;
    while (from && isupper((unsigned char)z->s.at[from - 1]))
        from--;
    return end - from > 1 && (!from || !isalnum((unsigned char)z->s.at[from - 1])) &&
           !ours(z, qp_str_slice(z->s, from, end));
}

static place *place_named(scan *z, const char *word, const char *number)
{
    const uint64_t *slot = z->oom ? NULL : qp_map_get(z->at, name_of(z, word, number));
    return slot ? &z->places[*slot] : NULL;
}

/* May the label be the number alone? Chapter 3 is "3 Methods", Appendix A is "A Proofs"; Schedule 1 is not "1 Scope". */
static bool stands_bare(const struct word *w, const char *number)
{
    static const char *const outside[] = {"appendix", "annex", "schedule", "part"};
    bool inside = w->kind == DIVISION;

    for (size_t i = 0; inside && isdigit((unsigned char)number[0]) && i < sizeof outside / sizeof *outside; i++)
        inside = strcmp(w->name, outside[i]) != 0;
    return inside;
}

/* The place of a number: as it is, else without its last "(b)" or letter. */
static place *place_of(scan *z, const struct word *w, const char *number)
{
    char rest[LONGEST_NUMBER];
    snprintf(rest, sizeof rest, "%s", number);
    for (size_t n = strlen(rest); n;) {
        place *p = place_named(z, w->name, rest);
        p = p || !stands_bare(w, rest) ? p : place_named(z, "section", rest);
        if (p)
            return p;
        char *open = strrchr(rest, '(');
        if (open && open > rest)
            n = (size_t)(open - rest);
        else if (n > 1 && isalpha((unsigned char)rest[n - 1]) && isdigit((unsigned char)rest[n - 2]))
            n--;
        else
            return NULL;
        rest[n] = 0;
    }
    return NULL;
}

static void refer(scan *z, place *p, size_t at)
{
    if (!p || p->at == at)
        return;
    p->named = true;
    qp_extract_mark(z->x, (qp_mark){.kind = QP_MARK_REFERENCE, .from = at, .type = QP_STR("xref"), .anchor = p->name});
}

/* Behind a number: what joins the next one to it. Returns where that one begins, `at` if there is none. */
static size_t joined_at(qp_str s, size_t at, bool *range)
{
    static const char *const joints[] = {"and ", "or ", "& ", "to ", "through "};
    size_t from = skip_space(s, at), dash = dash_at(s, from);
    bool comma = follows(s, from, ",");

    *range = dash;
    if (dash)
        return skip_space(s, from + dash);
    from = skip_space(s, from + comma);
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        if (follows(s, from, joints[i])) {
            *range = i > 2;
            return skip_space(s, from + strlen(joints[i]));
        }
    return comma ? from : at;
}

/* What lies between the last number found and `last`: 3 and 4 of "2 to 5", 3.3 of "3.2-3.4". */
static void fill(char found[][LONGEST_NUMBER], size_t *n, const char *last)
{
    const char *first = found[*n - 1], *dot = strrchr(first, '.');
    int prefix = dot ? (int)(dot - first) + 1 : 0;
    long from = strtol(first + prefix, NULL, 10), to = 0;

    if (!strncmp(first, last, (size_t)prefix) && strlen(last) > (size_t)prefix)
        to = strtol(last + prefix, NULL, 10);
    while (from && ++from < to && *n < MOST_NUMBERS - 1) {
        snprintf(found[*n], LONGEST_NUMBER, "%.*s%ld", prefix, first, from);
        ++*n;
    }
}

/* Numbers behind a word: "2", "2 and 3", "(3)-(5)", "1 to 4". Returns where the last one ends. */
static size_t numbers_at(const scan *z, const struct word *w, size_t at, char found[][LONGEST_NUMBER], size_t *n)
{
    char number[LONGEST_NUMBER];
    size_t end = at;
    bool range = false;

    while (*n < MOST_NUMBERS) {
        size_t bracket = w->kind == EQUATION && follows(z->s, at, "("), next = number_at(z->s, at + bracket, number);
        if (next == at + bracket || (bracket && !follows(z->s, next, ")")))
            break;
        end = next + bracket;
        if (range)
            fill(found, n, number);
        strcpy(found[(*n)++], number);
        at = joined_at(z->s, end, &range);
        if (at == end)
            break;
    }
    return end;
}

/* The division that the text at a place belongs to: what "(2)" is a part of. */
static const place *around(const place *const *divisions, size_t n, size_t at)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (divisions[mid]->at <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? divisions[low - 1] : NULL;
}

/* "paragraph (2)" within 5.2.1(1) is 5.2.1(2). */
static place *place_within(scan *z, const place *division, const char *number)
{
    char whole[LONGEST_NUMBER];
    const char *open;
    if (!division)
        return NULL;
    qp_str name = division->name, own;
    qp_str_split(name, ' ', &own);
    open = own.n ? memchr(own.at, '(', own.n) : NULL;
    size_t n = open ? (size_t)(open - own.at) : own.n;
    if (n + strlen(number) >= LONGEST_NUMBER)
        return NULL;
    snprintf(whole, sizeof whole, "%.*s%s", (int)n, own.at, number);
    return place_of(z, &words[0], whole);
}

static int by_place(const void *a, const void *b)
{
    const place *x = *(const place *const *)a, *y = *(const place *const *)b;
    return (x->at > y->at) - (x->at < y->at);
}

static const place *const *divisions_of(scan *z, size_t *n)
{
    const place **out = qp_new(z->x->mem, const place *, qp_map_size(z->at) + 1);
    z->oom |= !out;
    *n = 0;
    for (size_t i = 0; out && i < qp_map_size(z->at); i++)
        if (qp_str_starts(z->places[i].name, QP_STR("section ")))
            out[(*n)++] = &z->places[i];
    if (out && *n)
        qsort(out, *n, sizeof *out, by_place);
    return out;
}

static void find_references(scan *z)
{
    char found[MOST_NUMBERS][LONGEST_NUMBER];
    size_t n_divisions, end;
    const place *const *divisions = divisions_of(z, &n_divisions);

    for (size_t at = 0; at < z->s.n && !z->oom; at++) {
        const struct word *w = at && isalnum((unsigned char)z->s.at[at - 1]) ? NULL : word_at(z->s, at, &end);
        if (!w)
            continue;
        size_t from = skip_space(z->s, end + follows(z->s, end, ".")), n = 0;
        bool apart = from > end || isalpha((unsigned char)z->s.at[at]) == 0 || follows(z->s, end, "(");
        end = apart ? numbers_at(z, w, from, found, &n) : end;
        if (!n || foreign_behind(z, end) || foreign_before(z, at))
            continue;
        for (size_t i = 0; i < n; i++)
            refer(z,
                  found[i][0] == '(' ? place_within(z, around(divisions, n_divisions, at), found[i])
                                     : place_of(z, w, found[i]),
                  at);
        at = end - 1;
    }
}

void qp_scan_cross_references(qp_extract *x)
{
    scan z = {.x = x, .s = qp_buf_view(&x->text), .at = qp_map_new()};

    z.oom = !z.at;
    if (z.at)
        find_labels(&z);
    if (!z.oom && qp_map_size(z.at))
        find_references(&z);
    for (size_t i = 0; !z.oom && i < qp_map_size(z.at); i++)
        if (z.places[i].named)
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_ANCHOR, .from = z.places[i].at, .target = z.places[i].name});
    x->oom |= z.oom;
    qp_map_free(z.at);
    free(z.places);
}
