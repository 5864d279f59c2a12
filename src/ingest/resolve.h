/* Edges from what documents say: references matched to documents by path, identifier and title; next/previous chunk;
 * heading hierarchy; edges given. A pure function of the store's documents, references and given edges. */
#ifndef QP_INGEST_RESOLVE_H
#define QP_INGEST_RESOLVE_H

#include "store/store.h"

qp_code qp_resolve(qp_store *, qp_index_report *, qp_err *);

#endif
