/* HippoRAG's question files (MuSiQue, HotpotQA, 2WikiMultiHopQA), as lines in BEIR's layout. They name documents by
 * title and text, not by id.
 */
#ifndef QP_EVAL_HIPPORAG_H
#define QP_EVAL_HIPPORAG_H

#include "base/err.h"
#include "base/str.h"

/* Finds the id of the document with this title and, among several, this beginning; n == 0: there is none. */
typedef struct qp_titled {
    qp_str (*find)(void *self, qp_str title, qp_str text);
    void *self;
} qp_titled;

typedef struct qp_beir { /* what queries.jsonl, answers.jsonl and qrels.tsv would hold */
    qp_buf queries, answers, qrels;
} qp_beir;

/* A gold document that the index does not have is judged under its title, so that it counts as missed. QP_INPUT with
 * the number of the first item that is no question. Free the buffers, also after an error. */
qp_code qp_hipporag_read(const char *path, const qp_titled *, qp_beir *, qp_err *);
void qp_beir_free(qp_beir *);

#endif
