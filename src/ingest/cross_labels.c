/* Labels: what a document's own numbers stand at. Each is given points for what a real one has, and the best of a name
 * stands for it. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "ingest/cross_parts.h"

enum { MOST_PLACES = 1 << 16, GOOD = 3 };

static const keyword words[] = {
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

qp_str qp_cross_name(scan *z, const char *word, const char *number)
{
    qp_str name = qp_arena_fmt(z->x->mem, "%s %s", word, number);
    for (size_t i = 0; i < name.n; i++)
        ((char *)(uintptr_t)name.at)[i] = (char)tolower((unsigned char)name.at[i]);
    z->oom |= !name.at;
    return name;
}

const keyword *qp_cross_section(void)
{
    return &words[0];
}

static void label(scan *z, const char *word, const char *number, size_t at, int points)
{
    size_t n = qp_map_size(z->at);
    bool added;
    if (points < GOOD || z->oom || n >= MOST_PLACES)
        return;
    qp_str name = qp_cross_name(z, word, number);
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
    size_t next = qp_cross_skip_blank(line, behind);
    bool leader = memmem(line.at, line.n, " . .", 4) || memmem(line.at, line.n, "....", 4); /* of a table of contents */
    int points = apart - 4 * leader;

    if (next == line.n)
        return points + 3;
    if (strchr(":|", line.at[next]) || qp_cross_dash(line, next))
        return points + 4;
    if (line.at[next] == '.')
        return points + 2;
    return points + (line.at[next] == '(' && next > behind);
}

/* "3.2 Title", "5.2.1 A person must", "(3) in the case of": the number alone. */
static void bare_label(scan *z, qp_str line, size_t at, bool heading, bool apart)
{
    char number[LONGEST_NUMBER], part[2 * LONGEST_NUMBER];
    size_t end = qp_cross_number(line, 0, number), depth = 0;

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
    size_t text = qp_cross_skip_blank(line, end + (follows(line, end, ".") || follows(line, end, ")")));
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
    if (qp_cross_is_roman(z->top) && isupper((unsigned char)number[0]) && !number[1] && !qp_cross_is_roman(number)) {
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

const keyword *qp_cross_word(qp_str s, size_t at, size_t *end)
{
    size_t n = 0;
    if (follows(s, at, "\xC2\xA7")) {
        *end = at + 2 + 2u * follows(s, at + 2, "\xC2\xA7");
        return &words[0];
    }
    while (is(s, at + n, isalpha) && n < 16)
        n++;
    size_t next = qp_cross_skip_space(s, at + n + follows(s, at + n, "."));
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
    const keyword *w = qp_cross_word(line, 0, &end);
    size_t from = w ? qp_cross_skip_blank(line, end + follows(line, end, ".")) : 0,
           to = w ? qp_cross_number(line, from, number) : 0;

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
    size_t end = qp_cross_number(line, open, number);
    qp_str before = qp_str_slice(line, 0, open - 1);
    bool formula = memchr(before.at, '=', before.n) || qp_str_ends(before, QP_STR("  "));
    if (end == line.n - 1 && (!qp_str_trim(before).n || formula))
        label(z, "equation", number, at, GOOD + formula);
}

static qp_str bare(qp_str line)
{
    line = qp_str_trim(line);
    while (line.n && (strchr("#*_|\f", line.at[0]) || qp_cross_blank(line, 0) || qp_str_starts(line, QP_STR("- "))))
        line = qp_str_slice(line, qp_cross_blank(line, 0) ? qp_cross_blank(line, 0) : 1, line.n);
    return line;
}

void qp_cross_labels(scan *z)
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
