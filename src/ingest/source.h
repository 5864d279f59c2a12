/* One source of `quipu index`: a file, a folder, a data set folder, "-". */
#ifndef QP_INGEST_SOURCE_H
#define QP_INGEST_SOURCE_H

#include "ingest/batch.h"
#include "ingest/triples.h"

/* QP_INPUT: it is not there, or no file, folder or "-". */
qp_code qp_source_look(const char *source, qp_err *);

/* Reads it into the store and takes out what was there from it before and is gone now; from standard input nothing is
 * ever gone. QP_INPUT: it is not there, or nothing that can be read as a whole. */
qp_code qp_source_read(qp_job *, const char *source, qp_err *);

/* What the store holds, for naming files; to be called before the first source. */
qp_code qp_source_prepare(qp_job *, qp_err *);

/* The edges of a tab-separated file (src, dst, type, weight; the last two may be missing; a header line may be there)
 * replace those that this source gave before. Lines that are none are reported and counted. */
qp_code qp_source_edges(qp_job *, const char *source, const char *path, qp_err *);

/* A file of this source that holds triples; and, when all are known, the graph that they make, kept in place of the one
 * that this source gave before. Nothing noted: what it gave before goes. */
qp_code qp_source_graph_note(qp_job *, const char *path, qp_triples_kind, qp_err *);
qp_code qp_source_graph(qp_job *, const char *source, qp_err *);

#endif
