/* Edges from what documents say: references matched to documents by path, identifier and title; next/previous chunk;
 * heading hierarchy; edges given. A pure function of the store's documents, references and given edges.
 *
 * Types: "link" (by path, relative to the file that says it, or wiki:NAME by file name or title), "man"
 * (NAME(SECTION)), "cites" (a DOI, an arXiv id, or "work:" and what an entry of a reference list says: identifiers,
 * title, all of it), "xref" ("Section 3" to the chunk where that begins, in the same document), "next" (chunk to the
 * following one, and rel=next), "parent" (chunk to the one its section begins in), and whatever given edges are called.
 * An edge starts at the chunk that says it, at every chunk where the document as a whole does, and ends at the chunk of
 * the anchor, else at the document's first one. Both ends the same chunk: dropped. Parallel edges of one type are one,
 * the heavier.
 */
#ifndef QP_INGEST_RESOLVE_H
#define QP_INGEST_RESOLVE_H

#include "store/store.h"

/* Fills chunks, edges and edges_unknown of the report (may be null). The watch (may be null) hears one line about given
 * edges whose ends are not there. */
qp_code qp_resolve(qp_store *, const qp_watch *, qp_index_report *, qp_err *);

#endif
