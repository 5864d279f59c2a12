/* Cross-references of running text: "Section 3.2", "Figures 2-4", "Eq. (5)", "Rule 5.2.1(3)", "paragraph (2)".
 *
 * What is numbered is a label: a division (section, rule, article, ...), a figure, a table, an equation, a theorem. Its
 * place is the heading or the line that begins with its number, the caption, the line that ends in "(5)". Lines of text
 * out of a PDF look like labels by chance, so each is given points for what a real one has (a colon, a blank line
 * before, a capital after), and the best of a name stands for it, the first among equals (cross_labels.c). What is said
 * to be somebody else's ("Section 3 of the Companies Act", "COBS Rule 22.4.2", "Table 2 in [5]") is left alone, unless
 * the title names them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/cross_parts.h"

enum { MOST_NUMBERS = 64 };

/* Do the words name this document? */
static bool ours(const scan *z, qp_str words_)
{
    qp_str title = z->x->title, name = qp_str_trim(words_);
    return title.n && name.n > 1 && memmem(title.at, title.n, name.at, name.n);
}

/* The next one or two words in capitals: "Companies Act". */
static qp_str proper_name(qp_str s, size_t at)
{
    size_t end = at;
    for (int n = 0; n < 2; n++) {
        size_t from = qp_cross_skip_space(s, end);
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
    at = qp_cross_skip_space(z->s, at);
    bool of = follows(z->s, at, "of "), in = follows(z->s, at, "in ");
    if (!of && !in)
        return false;
    at = qp_cross_skip_space(z->s, at + 2);
    if (follows(z->s, at, "["))
        return true;
    size_t name = follows(z->s, at, "the ") ? qp_cross_skip_space(z->s, at + 4) : at, end;
    if (qp_cross_word(z->s, name, &end)) /* "of Schedule 1", "in Figure 2" */
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
    const uint64_t *slot = z->oom ? NULL : qp_map_get(z->at, qp_cross_name(z, word, number));
    return slot ? &z->places[*slot] : NULL;
}

/* May the label be the number alone? Chapter 3 is "3 Methods", Appendix A is "A Proofs"; Schedule 1 is not "1
 * Scope". */
static bool stands_bare(const keyword *w, const char *number)
{
    static const char *const outside[] = {"appendix", "annex", "schedule", "part"};
    bool inside = w->kind == DIVISION;

    for (size_t i = 0; inside && isdigit((unsigned char)number[0]) && i < sizeof outside / sizeof *outside; i++)
        inside = strcmp(w->name, outside[i]) != 0;
    return inside;
}

/* The place of a number: as it is, else without its last "(b)" or letter. */
static place *place_of(scan *z, const keyword *w, const char *number)
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
    size_t from = qp_cross_skip_space(s, at), dash = qp_cross_dash(s, from);
    bool comma = follows(s, from, ",");

    *range = dash;
    if (dash)
        return qp_cross_skip_space(s, from + dash);
    from = qp_cross_skip_space(s, from + comma);
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        if (follows(s, from, joints[i])) {
            *range = i > 2;
            return qp_cross_skip_space(s, from + strlen(joints[i]));
        }
    return comma ? from : at;
}

/* What lies between the last number found and `last`: 3 and 4 of "2 to 5", 3.3 of "3.2-3.4". */
static void fill(char found[][LONGEST_NUMBER], size_t *n, const char *last)
{
    char first[LONGEST_NUMBER];
    memcpy(first, found[*n - 1], sizeof first);
    const char *dot = strrchr(first, '.');
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
static size_t numbers_at(const scan *z, const keyword *w, size_t at, char found[][LONGEST_NUMBER], size_t *n)
{
    char number[LONGEST_NUMBER];
    size_t end = at;
    bool range = false;

    while (*n < MOST_NUMBERS) {
        size_t bracket = w->kind == EQUATION && follows(z->s, at, "("),
               next = qp_cross_number(z->s, at + bracket, number);
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
    size_t more = strlen(number);
    if (n + more >= LONGEST_NUMBER)
        return NULL;
    if (n)
        memcpy(whole, own.at, n);
    memcpy(whole + n, number, more + 1);
    return place_of(z, qp_cross_section(), whole);
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
        const keyword *w = at && isalnum((unsigned char)z->s.at[at - 1]) ? NULL : qp_cross_word(z->s, at, &end);
        if (!w)
            continue;
        size_t from = qp_cross_skip_space(z->s, end + follows(z->s, end, ".")), n = 0;
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
        qp_cross_labels(&z);
    if (!z.oom && qp_map_size(z.at))
        find_references(&z);
    for (size_t i = 0; !z.oom && i < qp_map_size(z.at); i++)
        if (z.places[i].named)
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_ANCHOR, .from = z.places[i].at, .target = z.places[i].name});
    x->oom |= z.oom;
    qp_map_free(z.at);
    free(z.places);
}
