/* What a reader makes of a file: running text, and marks that say what stands where in it.
 *
 * Readers append through these calls alone, so that white space is treated alike everywhere: paragraphs are parted by a
 * blank line, list items and table rows by a line break, words by one space. An extract belongs to one thread; running
 * out of memory sets `oom`, which whoever asked for the reading looks at once.
 */
#ifndef QP_INGEST_EXTRACT_H
#define QP_INGEST_EXTRACT_H

#include "base/arena.h"
#include "base/err.h"

typedef enum qp_mark_kind { QP_MARK_HEADING, QP_MARK_PAGE, QP_MARK_ANCHOR, QP_MARK_REFERENCE } qp_mark_kind;

typedef struct qp_mark {
    qp_mark_kind kind;
    uint32_t level;  /* heading: 1 the highest; page: its number from 1; reference: 1 = said by the whole document */
    size_t from, to; /* bytes of the text; to: of headings */
    qp_str type;     /* reference: "link", "cites", "man", "next" */
    qp_str target;   /* reference: what it points at; anchor: its name */
    qp_str anchor;   /* reference: fragment in the target, or empty */
} qp_mark;

typedef struct qp_extract {
    qp_arena *mem;  /* of all strings here */
    qp_buf text;    /* UTF-8 without NUL */
    qp_mark *marks; /* headings and pages rise; the others may stand anywhere */
    size_t n_marks, cap;
    qp_str title;
    qp_buf meta;       /* a JSON object, or empty */
    uint64_t replaced; /* broken byte sequences and NULs */
    bool oom;
    bool space; /* a space is due before the next word */
} qp_extract;

void qp_extract_init(qp_extract *, qp_arena *);
void qp_extract_free(qp_extract *); /* the text, the marks; the arena is the caller's */

void qp_extract_words(qp_extract *, qp_str);    /* white space becomes one space */
void qp_extract_literal(qp_extract *, qp_str);  /* as it is */
void qp_extract_block(qp_extract *, int lines); /* what follows stands behind 1 or 2 line breaks */
void qp_extract_title(qp_extract *, qp_str);    /* the first one that is not empty counts */

/* A heading is what is added between the two calls; begin returns what end wants. */
size_t qp_extract_heading_begin(qp_extract *, uint32_t level);
void qp_extract_heading_end(qp_extract *, size_t heading);
void qp_extract_anchor(qp_extract *, qp_str name);
/* A reference at the end of the text so far. */
void qp_extract_reference(qp_extract *, qp_str type, qp_str target, qp_str anchor);
/* An href: splits off the fragment, turns DOI and arXiv addresses into "cites", drops what leaves the set of documents
 * (http:, mailto:, javascript:, ...). */
void qp_extract_link(qp_extract *, qp_str href);
/* A reference at a place of the text; whole: every chunk says it. */
void qp_extract_mark(qp_extract *, qp_mark);

/* Adds "key": value to the metadata, value as text; the first of a key counts. */
void qp_extract_meta(qp_extract *, const char *key, qp_str value);

#endif
