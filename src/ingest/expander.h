/* Doc2Query: questions that a passage answers, written for it and searched with it (Nogueira, Yang, Lin, Cho, "Document
 * expansion by query prediction", arXiv:1904.08375).
 *
 * Readings: a writer that follows instructions stands for the paper's sequence-to-sequence model, which was trained on
 * MS MARCO; it is asked once a passage, greedily, for n different questions, where the paper samples ten, each by
 * itself. A question that repeats another of its passage, a list's number or bullet, and a line that only leads up to
 * the list ("Here are five questions:") are left out.
 */
#ifndef QP_INGEST_EXPANDER_H
#define QP_INGEST_EXPANDER_H

#include "base/hash.h"
#include "ingest/settings.h"

typedef struct qp_expander {
    const qp_model *writer; /* null: what another run had written is all there is */
    uint32_t n;             /* questions a passage; 0: none */
    qp_buf prompt;          /* with {text} and {n} */
    char digest[33];        /* of writer, prompt and n: what questions are kept under; "" where n is 0 */
} qp_expander;

/* As the settings say. Without a writer the store's last one is meant; QP_MODEL if there was none. */
qp_code qp_expander_open(qp_store *, const qp_reading *, const qp_model *writer, qp_expander *, qp_err *);
void qp_expander_close(qp_expander *);
/* The questions of a passage, a line each; in the arena. QP_MODEL without a writer. */
qp_code qp_expander_write(const qp_expander *, qp_str passage, qp_str *out, qp_arena *, qp_err *);
/* Adds what asking about a passage takes: tokens of the prompt. */
qp_code qp_expander_count(const qp_expander *, qp_str passage, uint64_t *tokens, qp_err *);

#endif
