/* The chunks of a cited document that a chunk has to do with (CG-RAG, 4.2.2).
 *
 * Readings. An edge from a document to the first chunk of another is a citation of that document; one to a later chunk
 * names that chunk, and stays. r_ij: tf-idf or BM25 with c_i as the question, and the inner product, each scaled to
 * 0..1 over the cited document's chunks, added. */
#ifndef QP_OP_CITED_H
#define QP_OP_CITED_H

#include "op/lesegr.h"

typedef struct qp_cited {
    qp_query *q;
    const qp_lesegr_opt *o;
    uint64_t *allow; /* a bit a node, all clear between uses */
} qp_cited;

bool qp_cited_begin(qp_cited *, qp_query *, const qp_lesegr_opt *); /* false after an error */
/* How many chunks a document has that an edge from i to its first one, `to`, cites; 0: the edge names `to` itself. */
uint32_t qp_cited_chunks(qp_cited *, qp_id i, qp_id to);
/* Of the chunks, which begin at `first`, the best n for i, by r_ij; empty after an error. */
qp_list qp_cited_best(qp_cited *, qp_id i, qp_id first, uint32_t chunks);
/* The seeds, then what the hops from them lead to, `most` in all: a citation to the best n chunks of the document whose
 * first chunk was reached by it. Empty after an error. */
qp_list qp_cited_reached(qp_query *, qp_list seeds, qp_list hops, uint32_t most, const qp_lesegr_opt *);
/* What the lexical index says of these nodes with `text` as the question; 0: nothing in common. False after an error. */
bool qp_cited_sparse(qp_cited *, const char *index, qp_str text, const qp_id *, uint32_t n, float *out);

#endif
