/* Terms and postings in the making: nodes are added in order, then all is written. */
#ifndef QP_STORE_LEXICON_H
#define QP_STORE_LEXICON_H

#include "base/str.h"
#include "store/writer.h"

typedef struct qp_lexicon qp_lexicon;

/* language: of text/terms.h. */
qp_code qp_lexicon_new(const char *language, qp_lexicon **, qp_err *);
void qp_lexicon_free(qp_lexicon *); /* takes null */
/* The next node's text; several pieces may be added before qp_lexicon_end closes the node. QP_LIMIT nodes at most. */
void qp_lexicon_add(qp_lexicon *, qp_str text);
qp_code qp_lexicon_end(qp_lexicon *, qp_err *);
/* Writes it to these sections; nodes from `entity` on are entities. Adds the terms' names to STRINGS aside. */
typedef struct qp_lexical_sections {
    qp_section terms, blocks, postings, lengths, norms; /* norms: QP_SECTIONS for none */
} qp_lexical_sections;
extern const qp_lexical_sections qp_lexical_texts, qp_lexical_expanded;
qp_code qp_lexicon_write(qp_lexicon *, const qp_lexical_sections *, uint64_t entity, qp_writer *, qp_lexical_info *,
                         qp_err *);

/* tf-idf as scikit-learn has it (sublinear_tf, smooth_idf): (1 + ln tf)(1 + ln((1 + N) / (1 + df))). */
double qp_tfidf_idf(uint64_t nodes, uint64_t df);
double qp_tfidf_weight(uint32_t tf, double idf);

#endif
