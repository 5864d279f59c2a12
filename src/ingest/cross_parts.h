/* What the files of cross-references share; private to them. A scan is of one document's text, one thread. */
#ifndef QP_INGEST_CROSS_PARTS_H
#define QP_INGEST_CROSS_PARTS_H

#include <ctype.h>
#include <strings.h>

#include "base/map.h"
#include "ingest/reader.h"

enum { LONGEST_NUMBER = 32 };

typedef enum kind { DIVISION, CAPTION, EQUATION, STATEMENT } kind;

typedef struct keyword {
    const char *word,
        *name; /* what labels are called under; of divisions all are "section" where the number stands bare */
    kind kind;
} keyword;

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

/* ---- characters: each looks at a place in s, which may be its end ---- */
static inline bool is(qp_str s, size_t at, int (*class)(int))
{
    return at < s.n && class((unsigned char)s.at[at]);
}

static inline bool follows(qp_str s, size_t at, const char *what)
{
    size_t n = strlen(what);
    return at + n <= s.n && !strncasecmp(s.at + at, what, n);
}

/* Bytes of white space there, and of what looks like it or like nothing: no-break spaces, marks of direction, zero
 * widths. */
size_t qp_cross_blank(qp_str s, size_t at);
size_t qp_cross_skip_blank(qp_str s, size_t at);
size_t qp_cross_skip_space(qp_str s, size_t at); /* over blanks and one line break */
size_t qp_cross_dash(qp_str s, size_t at);       /* bytes of a dash there */

/* "3", "3.2", "A.1", "IV", "12a", "3.1B", then "(1)(b)"; a dot before a bracket is left out. Returns where it ends,
 * `at` if there is none. */
size_t qp_cross_number(qp_str s, size_t at, char out[LONGEST_NUMBER]);

/* "IV"; C, D, L alone are letters: they come after A and B, or M. */
bool qp_cross_is_roman(const char *number);

/* ---- labels ---- */
/* The word there that a number follows, and where it ends; null: none. The first one is "section". */
const keyword *qp_cross_word(qp_str s, size_t at, size_t *end);
const keyword *qp_cross_section(void);
/* "table 2", in the arena. */
qp_str qp_cross_name(scan *, const char *word, const char *number);
/* Fills the places. */
void qp_cross_labels(scan *);

#endif
