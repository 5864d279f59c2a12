/* What an entry of a reference list says: who, what, when, and by which identifier. Pure functions; any thread.
 *
 * Styles that are told apart: "Name A, Name B (2004). Title. Venue" and "Name, A. and Name, B. (2004)" (JSS, APA), "Ann
 * Name. 2004. Title. Venue" (ACM), "A. Name. Title. Venue, 2004." (plain, plainnat), "A. Name, “Title,” Venue, 2004"
 * (IEEE).
 */
#ifndef QP_INGEST_ENTRY_H
#define QP_INGEST_ENTRY_H

#include "base/arena.h"

typedef struct qp_entry {
    uint32_t number; /* in a numbered list, else 0 */
    qp_str text;     /* the entry as one line */
    qp_str authors;  /* as they stand there; n == 0 here and below: not found */
    qp_str surname;  /* of the first author: what "(Name et al. 2004)" begins with */
    qp_str title;
    qp_str year;       /* "2004", with the letter that tells it from another: "2004a" */
    qp_str doi, arxiv; /* "10.1145/361002.361007", "arxiv:1706.03762" */
} qp_entry;

/* The lines of an entry as one: words that a line's end parted are joined, addresses too. In the arena. */
qp_str qp_entry_line(qp_str lines, qp_arena *);
/* Fills all but number and text out of text; strings are parts of it or in the arena. */
void qp_entry_read(qp_entry *, qp_arena *);
/* Bytes of "AUTHORS YEAR" at the beginning of s, as of JSS, APA and ACM; 0: it does not begin so. */
size_t qp_entry_opening(qp_str s);
bool qp_entry_dated(qp_str); /* is there a year in it? */
/* Does s begin with a name: "A. B. Name," or "Ann Name and" or "Ann Name."? */
bool qp_entry_name(qp_str s);

#endif
