/* Text classification by retrieval (AGRAG, IV-A): a passage carries the label that its document's metadata give; the
 * labels of the passages that were found are the candidates, and the writer chooses one.
 */
#ifndef QP_ANSWER_LABEL_H
#define QP_ANSWER_LABEL_H

#include "quipu_op.h"

typedef struct qp_label {
    qp_str text;
    qp_id node;  /* the best passage that carries it, ... */
    float score; /* ... and what it was found with */
} qp_label;

typedef struct qp_labelled {
    const qp_label *at; /* the chosen one, then the others by their best passages; in the query's arena */
    uint32_t n;
    bool written; /* a writer chose; else the best passage did */
} qp_labelled;

/* field: the metadata's, a text, a number, or a list of them; null: "label". With q->writer it chooses, else the best
 * passage's label is taken. QP_NONE: no passage that was found carries any. */
qp_code qp_label_choose(qp_query *, qp_set found, const char *field, qp_labelled *, qp_err *);

#endif
