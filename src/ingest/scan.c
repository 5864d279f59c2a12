/* References that running text holds: DOIs, arXiv ids, man pages, and numbers in brackets with the list they count.
 *
 * A list is what follows the last heading or line that says "References" (or its like). Its entries begin with [12] or
 * "12."; each [12] before the list is a citation of that entry from where it stands. What no number points at (lists by
 * author and year, DOIs in such lists) is cited by the document as a whole.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "ingest/identifier.h"
#include "ingest/reader.h"

enum { MOST_ENTRIES = 2000, LONGEST_ENTRY = 600 };

struct entry {
    uint32_t number;
    qp_str target; /* its identifier, else "title:" and its text */
    bool cited;
};

struct list {
    size_t from; /* where it begins; the text's length if there is none */
    struct entry *entries;
    size_t n;
};

/* Is the line a heading of a reference list? */
static bool heads_list(qp_str line)
{
    static const char *const names[] = {"references",  "bibliography", "literature cited",
                                        "works cited", "literatur",    "literaturverzeichnis",
                                        "références",  "참고문헌",     "参考文献"};
    line = qp_str_trim(line);
    while (line.n && (isdigit((unsigned char)line.at[0]) || strchr(".# \t", line.at[0]))) /* "7. References" */
        line = qp_str_slice(line, 1, line.n);
    while (line.n && strchr(":.", line.at[line.n - 1]))
        line.n--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == line.n && !strncasecmp(names[i], line.at, line.n))
            return true;
    return false;
}

static size_t list_start(qp_str s)
{
    size_t found = s.n;

    for (size_t at = 0; at < s.n;) {
        const char *end = memchr(s.at + at, '\n', s.n - at);
        size_t next = end ? (size_t)(end - s.at) + 1 : s.n;
        if (next - at < 40 && heads_list(qp_str_slice(s, at, next)))
            found = next;
        at = next;
    }
    return found;
}

/* The number an entry begins with ("[12] ", "12. "); *skip: the bytes before its text. 0: none. */
static uint32_t entry_number(qp_str line, size_t *skip)
{
    size_t i = 0;
    uint32_t number = 0;

    while (i < line.n && (line.at[i] == ' ' || line.at[i] == '-'))
        i++;
    bool bracket = i < line.n && line.at[i] == '[';
    i += bracket;
    size_t from = i;
    for (; i < line.n && isdigit((unsigned char)line.at[i]) && i - from < 4; i++)
        number = number * 10 + (uint32_t)(line.at[i] - '0');
    if (i == from || i + 1 >= line.n || line.at[i] != (bracket ? ']' : '.') || (!bracket && line.at[i + 1] != ' '))
        return 0;
    *skip = i + 1;
    return number;
}

static void add_entry(struct list *l, uint32_t number, qp_str text, qp_arena *a)
{
    size_t at, n;
    qp_str target;

    text = qp_str_trim(text);
    if (text.n < 8 || l->n == MOST_ENTRIES)
        return;
    if (!qp_identifier_find(text, &at, &n, &target, a))
        target = qp_arena_fmt(a, "title:%.*s", (int)(text.n < LONGEST_ENTRY ? text.n : LONGEST_ENTRY), text.at);
    l->entries[l->n++] = (struct entry){.number = number, .target = target};
}

/* Entries of the list: numbered ones run on to the next number, others are paragraphs (or list items). */
static void read_list(struct list *l, qp_str s, qp_arena *a)
{
    size_t start = l->from;
    uint32_t number = 0, next_number;

    l->entries = qp_new(a, struct entry, MOST_ENTRIES);
    if (!l->entries)
        return;
    for (size_t at = l->from; at < s.n;) {
        const char *end = memchr(s.at + at, '\n', s.n - at);
        size_t next = end ? (size_t)(end - s.at) + 1 : s.n, skip = 0;
        qp_str line = qp_str_slice(s, at, next);
        bool blank = !qp_str_trim(line).n, item = qp_str_starts(line, QP_STR("- "));

        next_number = entry_number(line, &skip);
        if (next_number || ((blank || item) && !number)) {
            add_entry(l, number, qp_str_slice(s, start, at), a);
            number = next_number;
            start = at + (next_number ? skip : item ? 2u : 0u);
        }
        at = next;
    }
    add_entry(l, number, qp_str_slice(s, start, s.n), a);
}

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static struct entry *entry_of(const struct list *l, uint32_t number)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->entries[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return number && low < l->n && l->entries[low].number == number ? &l->entries[low] : NULL;
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

static void scan_body(qp_extract *x, const struct list *l, qp_str s)
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
    struct list l = {.from = list_start(s)};

    if (l.from < s.n)
        read_list(&l, s, x->mem);
    if (l.entries)
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
