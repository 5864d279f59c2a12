/* The reference list at the end of a paper: where it is, and its entries. Pure; any thread. */
#ifndef QP_INGEST_BIBLIOGRAPHY_H
#define QP_INGEST_BIBLIOGRAPHY_H

#include "ingest/entry.h"
#include "ingest/extract.h"

typedef struct qp_bibliography {
    size_t from; /* byte of the text where it begins; the text's length: there is none */
    const qp_entry *at;
    size_t n; /* at most 5,000 */
} qp_bibliography;

/* What follows the last line that is a heading like "References", up to the next heading. Lists are numbered ("[12]
 * ...", "12. ..."), of items ("- ..."), or of entries that begin with their authors, in the order of the list. False:
 * no memory. */
bool qp_bibliography_find(const qp_extract *, qp_bibliography *); /* in its arena */

#endif
