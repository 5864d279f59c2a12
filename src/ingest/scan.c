/* References that running text holds: DOIs, arXiv ids, man pages, and citations with the list that they point into.
 *
 * A citation is [12] of a numbered list, or "Name et al. (2004)" of one that is not; it is made from where it stands.
 * What nothing points at is cited by the document as a whole.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "ingest/bibliography.h"
#include "ingest/identifier.h"
#include "ingest/reader.h"
#include "text/utf8.h"

enum { LONGEST_ENTRY = 600, NEAR = 100 /* bytes between a name and its year */ };

struct entry {
    const qp_entry *c;
    qp_str target;
    bool cited;
};

struct list {
    size_t from; /* where it begins; the text's length if there is none */
    struct entry *entries;
    size_t n;
};

/* All that the document may be known by: "work:DOI, arXiv id, title, entry", parted by tabs. */
static qp_str target_of(const qp_entry *c, qp_arena *a)
{
    qp_str text = qp_str_slice(c->text, 0, qp_utf8_floor(c->text, LONGEST_ENTRY));
    return qp_arena_fmt(a, "work:%.*s\t%.*s\t%.*s\t%.*s", (int)c->doi.n, c->doi.at ? c->doi.at : "", (int)c->arxiv.n,
                        c->arxiv.at ? c->arxiv.at : "", (int)c->title.n, c->title.at ? c->title.at : "", (int)text.n,
                        text.at);
}

static void read_list(struct list *l, const qp_extract *x)
{
    qp_bibliography found;

    if (!qp_bibliography_find(x, &found))
        return;
    l->from = found.from;
    l->entries = found.n ? qp_new(x->mem, struct entry, found.n) : NULL;
    for (size_t i = 0; l->entries && i < found.n; i++)
        l->entries[l->n++] = (struct entry){&found.at[i], target_of(&found.at[i], x->mem), false};
}

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->c->number > y->c->number) - (x->c->number < y->c->number);
}

static struct entry *entry_of(const struct list *l, uint32_t number)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->entries[mid].c->number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return number && low < l->n && l->entries[low].c->number == number ? &l->entries[low] : NULL;
}

static void cite(qp_extract *x, struct entry *e, size_t at)
{
    if (e) {
        e->cited = true;
        qp_extract_mark(x,
                        (qp_mark){.kind = QP_MARK_REFERENCE, .from = at, .type = QP_STR("cites"), .target = e->target});
    }
}

/* [3], [3, 5], [7-9], [7–9] at s; returns the bytes, 0 if it is nothing of the kind. */
static size_t cite_bracket(qp_extract *x, const struct list *l, qp_str s, size_t at)
{
    uint32_t number = 0, first = 0;
    size_t i = 1, digits = 0;

    for (; i < s.n && i < 80; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (isdigit(c) && digits < 4) {
            number = number * 10 + (uint32_t)(c - '0');
            digits++;
            continue;
        }
        if (c == ' ')
            continue;
        bool dash = c == '-' || (c == 0xE2 && s.n - i > 2 && (unsigned char)s.at[i + 1] == 0x80 &&
                                 (unsigned char)s.at[i + 2] == 0x93);
        if (!digits || (c != ',' && c != ';' && c != ']' && !dash))
            return 0;
        if (dash) {
            first = number;
            i += c == 0xE2 ? 2 : 0;
        } else {
            if (!first || number < first || number - first > 50)
                first = number;
            for (; first <= number; first++)
                cite(x, entry_of(l, first), at);
            first = 0;
        }
        number = 0;
        digits = 0;
        if (c == ']')
            return i + 1;
    }
    return 0;
}

/* Where the name last stands in the text, as a word by itself; SIZE_MAX: nowhere. */
static size_t last_name(qp_str text, qp_str name)
{
    for (size_t at = text.n; name.n > 1 && at-- > 0;)
        if (qp_str_starts(qp_str_slice(text, at, text.n), name) && (!at || !isalpha((unsigned char)text.at[at - 1])) &&
            (at + name.n == text.n || !isalpha((unsigned char)text.at[at + name.n])))
            return at;
    return SIZE_MAX;
}

/* "Zeileis and Hothorn (2002)", "(Hothorn et al., 2006a; Zeileis, 2004)": of the entries with the year that stands here
 * the one whose first author is named last before it. */
static size_t cite_year(qp_extract *x, struct list *l, qp_str s, size_t at)
{
    struct entry *best = NULL;
    size_t n = 4, nearest = 0;

    if (at && isalnum((unsigned char)s.at[at - 1]))
        return 0;
    n += at + 4 < s.n && islower((unsigned char)s.at[at + 4]);
    qp_str year = qp_str_slice(s, at, at + n), before = qp_str_slice(s, at < NEAR ? 0 : at - NEAR, at);
    if (year.n < 4 || (at + n < s.n && isalnum((unsigned char)s.at[at + n])))
        return 0;
    for (size_t i = 0; i < l->n; i++) {
        struct entry *e = &l->entries[i];
        if (e->c->number || !qp_str_eq(e->c->year, year))
            continue;
        size_t found = last_name(before, e->c->surname);
        if (found != SIZE_MAX && (!best || found > nearest)) {
            best = e;
            nearest = found;
        }
    }
    cite(x, best, at);
    return best ? n : 0;
}

static void scan_body(qp_extract *x, struct list *l, qp_str s)
{
    for (size_t at = 0; at < l->from; at++) {
        unsigned char c = (unsigned char)s.at[at], before = at ? (unsigned char)s.at[at - 1] : ' ';
        qp_str rest = {s.at + at, s.n - at}, id;
        size_t n;

        if (c == '[' && l->n && (n = cite_bracket(x, l, rest, at))) {
            at += n - 1;
        } else if (c == '(' && at && isalnum(before)) {
            size_t from = at; /* back to where the name of a man page could begin */
            while (from && at - from < 64 &&
                   (isalnum((unsigned char)s.at[from - 1]) || strchr("_.:+-", s.at[from - 1])))
                from--;
            qp_str page = {s.at + from, s.n - from};
            n = qp_man_page_at(page);
            if (n > at - from)
                qp_extract_mark(x, (qp_mark){.kind = QP_MARK_REFERENCE,
                                             .from = from,
                                             .type = QP_STR("man"),
                                             .target = qp_str_slice(page, 0, n)});
        } else if (l->n && (c == '1' || c == '2') && (n = cite_year(x, l, s, at))) {
            at += n - 1;
        } else if ((c == '1' || (c | 0x20) == 'a') && !isalnum(before) && (n = qp_identifier_at(rest, &id, x->mem))) {
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_REFERENCE, .from = at, .type = QP_STR("cites"), .target = id});
            at += n - 1;
        }
    }
}

/* A paper says its own DOI or arXiv id on its first page, before anything else of the kind. */
static void own_identifier(qp_extract *x, qp_str s, const char *format)
{
    size_t at, n;
    qp_str id;

    if (strcmp(format, "pdf") != 0)
        return;
    const char *feed = s.n ? memchr(s.at, '\f', s.n) : NULL;
    size_t page = feed ? (size_t)(feed - s.at) : s.n;
    if (qp_identifier_find(qp_str_slice(s, 0, page < 6000 ? page : 6000), &at, &n, &id, x->mem))
        qp_extract_meta(x, qp_str_starts(id, QP_STR("arxiv:")) ? "arxiv" : "doi", id);
}

void qp_scan_references(qp_extract *x, const char *format)
{
    qp_str s = qp_buf_view(&x->text);
    struct list l = {.from = s.n};

    read_list(&l, x);
    if (l.n)
        qsort(l.entries, l.n, sizeof *l.entries, by_number);
    scan_body(x, &l, s);
    for (size_t i = 0; i < l.n; i++)
        if (!l.entries[i].cited)
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_REFERENCE,
                                         .level = 1,
                                         .from = l.from,
                                         .type = QP_STR("cites"),
                                         .target = l.entries[i].target});
    own_identifier(x, s, format);
}
