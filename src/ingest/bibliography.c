#include "ingest/bibliography.h"

#include <ctype.h>
#include <strings.h>

enum { MOST_ENTRIES = 5000, LONGEST_ENTRY = 1500, LONGEST_GAP = 5, MOST_LETTERS = 12 /* from one entry to the next */ };

typedef enum style { NUMBERED, ITEMS, DATED, NAMED } style; /* of the lines that entries begin with */

typedef struct list {
    qp_str s;
    style style;
    char bracket; /* of a number: '[' or 0 */
    uint32_t number;
    size_t lines; /* no list has more entries */
    qp_entry *at;
    size_t n;
    qp_arena *mem;
} list;

/* Is the line a heading of a reference list? */
static bool heads_list(qp_str line)
{
    static const char *const names[] = {"references",  "bibliography", "literature cited",
                                        "works cited", "literatur",    "literaturverzeichnis",
                                        "références",  "참고문헌",     "参考文献"};
    line = qp_str_trim(line);
    while (line.n && (isdigit((unsigned char)line.at[0]) || strchr(".# \t*", line.at[0]))) /* "7. References" */
        line = qp_str_slice(line, 1, line.n);
    while (line.n && strchr(":.*", line.at[line.n - 1]))
        line.n--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == line.n && !strncasecmp(names[i], line.at, line.n))
            return true;
    return false;
}

static qp_str line_at(qp_str s, size_t at, size_t *next)
{
    const char *end = memchr(s.at + at, '\n', s.n - at);
    *next = end ? (size_t)(end - s.at) + 1 : s.n;
    return qp_str_slice(s, at, *next);
}

static size_t list_start(qp_str s)
{
    size_t found = s.n;

    for (size_t at = 0, next; at < s.n; at = next) {
        qp_str line = line_at(s, at, &next);
        if (line.n < 40 && heads_list(line))
            found = next;
    }
    return found;
}

/* ---- how entries begin ---- */

/* The number an entry begins with ("[12] ", "12. "); *skip: the bytes before its text. 0: none. */
static uint32_t entry_number(qp_str line, size_t *skip, char *bracket)
{
    size_t i = 0;
    uint32_t number = 0;

    while (i < line.n && strchr(" -\f\t", line.at[i]))
        i++;
    *bracket = i < line.n && line.at[i] == '[' ? '[' : 0;
    i += *bracket != 0;
    size_t from = i;
    for (; i < line.n && isdigit((unsigned char)line.at[i]) && i - from < 4; i++)
        number = number * 10 + (uint32_t)(line.at[i] - '0');
    if (i == from || i + 1 >= line.n || line.at[i] != (*bracket ? ']' : '.') || (!*bracket && line.at[i + 1] != ' '))
        return 0;
    *skip = i + 1;
    return number;
}

static size_t item_mark(qp_str line)
{
    size_t at = 0;
    while (at < line.n && strchr(" \t\f", line.at[at]))
        at++;
    qp_str rest = qp_str_slice(line, at, line.n);
    return qp_str_starts(rest, QP_STR("- ")) ? at + 2 : qp_str_starts(rest, QP_STR("\xE2\x80\xA2")) ? at + 3 : 0;
}

/* Could the text before be a whole entry? It ends as sentences, addresses and pages do. */
static bool finished(qp_str before)
{
    before = qp_str_trim(before);
    return !before.n || strchr(".)]>/?", before.at[before.n - 1]) || isdigit((unsigned char)before.at[before.n - 1]);
}

/* The letter that names sort by, of what begins here. */
static int letter(const list *l, qp_str s)
{
    qp_entry c = {.text = qp_entry_line(qp_str_slice(s, 0, 300), l->mem)};
    qp_entry_read(&c, l->mem);
    return c.surname.n ? tolower((unsigned char)c.surname.at[0]) : 0;
}

/* Lists without numbers are sorted, which lines of an entry are by chance alone. */
static bool in_order(const list *l, size_t start, qp_str rest)
{
    int gap = start == SIZE_MAX ? 0 : letter(l, rest) - letter(l, qp_str_slice(l->s, start, l->s.n));
    return gap >= 0 && gap < MOST_LETTERS;
}

/* Does an entry begin with this line? *skip: what is before its text. */
static bool begins(list *l, size_t start, size_t at, qp_str line, size_t *skip)
{
    qp_str rest = qp_str_slice(l->s, at, l->s.n), before = qp_str_slice(l->s, start, at);
    char bracket = 0;
    *skip = 0;
    if (l->style == NUMBERED) {
        uint32_t number = entry_number(line, skip, &bracket);
        bool next = number > l->number && number <= l->number + LONGEST_GAP && bracket == l->bracket;
        if (next)
            l->number = number;
        return next;
    }
    if (l->style == ITEMS)
        return (*skip = item_mark(line)) > 0;
    while (*skip < line.n && isspace((unsigned char)line.at[*skip]))
        ++*skip;
    if (*skip == line.n)
        return false;
    rest = qp_str_slice(rest, *skip, rest.n);
    bool whole = start == SIZE_MAX || finished(before),
         apart = qp_str_ends(before, QP_STR("\n\n")) || line.at[0] == '\f';
    if ((whole || apart) && qp_entry_opening(rest)) /* a running title may stand between */
        return true;
    if (!whole)
        return false;
    return l->style == NAMED && (start == SIZE_MAX || qp_entry_dated(qp_str_slice(before, 0, 2 * LONGEST_ENTRY))) &&
           qp_entry_name(rest) && in_order(l, start, rest);
}

/* Numbers and items mark an entry beyond doubt, where there are some; else most entries must begin "AUTHORS YEAR". */
static style style_of(list *l)
{
    size_t numbers = 0, items = 0, dated = 0, named = 0, skip;
    char bracket;
    for (size_t at = 0, next; at < l->s.n; at = next, l->lines++) {
        qp_str line = line_at(l->s, at, &next), rest = qp_str_slice(l->s, at, l->s.n);
        uint32_t number = entry_number(line, &skip, &bracket);
        if (number == numbers + 1 && (!numbers || bracket == l->bracket)) {
            numbers++;
            l->bracket = bracket;
        }
        items += item_mark(line) > 0;
        dated += qp_entry_opening(rest) > 0;
        named += qp_entry_name(rest);
    }
    if (numbers > 2 || (numbers && !dated && !named))
        return NUMBERED;
    if (items > 2 || (items && !dated && !named))
        return ITEMS;
    return dated > 2 && dated * 3 > named ? DATED : NAMED;
}

/* ---- entries ---- */

static bool furniture(qp_str line) /* a page's number by itself */
{
    line = qp_str_trim(line);
    for (size_t i = 0; i < line.n; i++)
        if (!isdigit((unsigned char)line.at[i]))
            return false;
    return line.n > 0 && line.n < 5;
}

/* The lines of an entry: not the numbers and running titles of pages, and nothing behind a blank line once it is
 * whole. */
static qp_str gathered(const list *l, size_t from, size_t to)
{
    qp_buf out = {0};
    bool blank = false, page = false;

    for (size_t at = from, next; at < to && out.n < LONGEST_ENTRY; at = next) {
        qp_str line = line_at(qp_str_slice(l->s, 0, to), at, &next), said = qp_str_trim(line);
        page |= furniture(line) || (line.n && line.at[0] == '\f');
        if (!said.n) {
            blank = true;
            continue;
        }
        if (blank && out.n && finished(qp_buf_view(&out)) && (l->style != NAMED || qp_entry_dated(qp_buf_view(&out))))
            break;
        size_t after;
        bool alone = next >= to || !qp_str_trim(line_at(l->s, next, &after)).n;
        if (!furniture(line) && !(blank && page && alone && out.n)) {
            qp_buf_str(&out, said);
            qp_buf_char(&out, '\n');
            page = false;
        }
        blank = false;
    }
    qp_str line = out.oom ? (qp_str){0} : qp_entry_line(qp_str_slice(qp_buf_view(&out), 0, LONGEST_ENTRY), l->mem);
    qp_buf_free(&out);
    return line;
}

static void add(list *l, uint32_t number, size_t from, size_t to)
{
    qp_entry c = {.number = number, .text = gathered(l, from, to)};
    if (c.text.n < 8 || l->n == MOST_ENTRIES)
        return;
    qp_entry_read(&c, l->mem);
    l->at[l->n++] = c;
}

/* The next heading; a reader that knows of none leaves the rest of the text. */
static size_t list_end(const qp_extract *x, size_t from)
{
    for (size_t i = 0; i < x->n_marks; i++)
        if (x->marks[i].kind == QP_MARK_HEADING && x->marks[i].from >= from)
            return x->marks[i].from;
    return x->text.n;
}

bool qp_bibliography_find(const qp_extract *x, qp_bibliography *out)
{
    qp_str text = qp_buf_view(&x->text);
    size_t from = list_start(text), start = SIZE_MAX, skip;
    list l = {.s = qp_str_slice(text, from, list_end(x, from)), .mem = x->mem};

    *out = (qp_bibliography){.from = from};
    if (from == text.n)
        return true;
    l.style = style_of(&l);
    l.at = qp_new(x->mem, qp_entry, l.lines < MOST_ENTRIES ? l.lines + 1 : MOST_ENTRIES);
    if (!l.at)
        return false;
    for (size_t at = 0, next; at < l.s.n; at = next) {
        qp_str line = line_at(l.s, at, &next);
        uint32_t number = l.number;
        if (!begins(&l, start, at, line, &skip))
            continue;
        if (start != SIZE_MAX)
            add(&l, l.style == NUMBERED ? number : 0, start, at);
        start = at + skip;
    }
    if (start != SIZE_MAX)
        add(&l, l.style == NUMBERED ? l.number : 0, start, l.s.n);
    out->at = l.at;
    out->n = l.n;
    return true;
}
