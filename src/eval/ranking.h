/* Rankings: what a method returned for each question, and TREC run files of them.
 *
 * A line of a run file is `qid Q0 docid rank score tag`. Ids stand there as run_id.h says, so that every tool can
 * split the line; one that is not known to the letter is looked for with any white space where it has blanks. Order: score falling, ties by document id falling, which is trec_eval's; the
 * rank column is not read. Files written here hold strictly falling scores (a tie is moved to the next smaller
 * float), so that every reader sees the order that was measured.
 */
#ifndef QP_EVAL_RANKING_H
#define QP_EVAL_RANKING_H

#include "eval/judgements.h"

typedef struct qp_ranked {
    uint32_t document; /* number in the map of documents */
    float score;
} qp_ranked;

typedef struct qp_ranking {
    const qp_ranked *at; /* best first, each document once */
    uint32_t n;
} qp_ranking;

/* Reads a run into of[0 .. judgements->n), the first `depth` of each question; zeroed where the run has no such
 * question. *strangers counts the lines of questions that are not judged. A broken line is QP_INPUT with its number. */
qp_code qp_rankings_read(const char *path, const qp_judgements *, qp_map *documents, uint32_t depth, qp_ranking *of,
                         uint64_t *strangers, qp_arena *, qp_err *);

/* Writes a run whole or not at all; questions without a ranking are left out. */
qp_code qp_rankings_write(const char *path, const char *tag, const qp_judgements *, const qp_map *documents,
                          const qp_ranking *of, qp_err *);

#endif
