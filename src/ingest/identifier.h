/* Names by which documents point at each other: DOIs, arXiv ids, man pages, titles. Pure functions; any thread. */
#ifndef QP_INGEST_IDENTIFIER_H
#define QP_INGEST_IDENTIFIER_H

#include "base/arena.h"

/* The DOI or arXiv id that begins at s: *id becomes "10.1145/361002.361007" (lower case) or "arxiv:1706.03762" (without
 * its version) in the arena; returns the bytes it takes up in s, 0 if there is none. */
size_t qp_identifier_at(qp_str s, qp_str *id, qp_arena *);
/* The first one in s, e.g. of an address such as https://doi.org/10.1145/361002.361007; *at: where it begins. */
bool qp_identifier_find(qp_str s, size_t *at, size_t *n, qp_str *id, qp_arena *);
/* The identifier an http address stands for: doi.org and arxiv.org ones only. */
bool qp_identifier_in_address(qp_str address, qp_str *id, qp_arena *);

/* "printf(3)" at s: name, then a section in parentheses. Returns the bytes it takes up, 0 if there is none. */
size_t qp_man_page_at(qp_str s);

/* Lower case (NFKC, case folding), letters and digits only, words parted by one space: what titles are compared by. */
qp_str qp_title_key(qp_str title, qp_arena *);

/* %41 to A; what is no escape stays, and what would become no UTF-8 stays whole. */
qp_str qp_percent_decoded(qp_str, qp_arena *);

#endif
