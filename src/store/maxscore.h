/* The best k nodes by a sum over the question's terms, out of blocked postings: the engine of BM25, tf-idf and learned
 * terms. Private to src/store.
 *
 * MaxScore over windows of nodes (Turtle and Flood, 1995; block bounds as in Ding and Suel, 2011): in a window, each
 * term's blocks bound what it can add. Terms that together cannot lift a node into the best k are only looked up for
 * nodes that the others found. Scores are sums of whole numbers (2^-36 each), so they do not depend on the order in
 * which terms are added, and skipping changes no result.
 */
#ifndef QP_STORE_MAXSCORE_H
#define QP_STORE_MAXSCORE_H

#include "store/mapped.h"

typedef enum qp_gain {                 /* what a term of weight w adds to a node that has it tf times */
                       QP_GAIN_BM25,   /* w tf / (tf + base + slope length) */
                       QP_GAIN_TFIDF,  /* w (1 + ln tf) idf / norm */
                       QP_GAIN_IMPACT, /* w tf / QP_IMPACT, at most 256 */
} qp_gain;

typedef struct qp_scoring {
    qp_gain gain;
    double base, slope;
    const uint32_t *length; /* of nodes, for BM25 */
    const float *norm;      /* for tf-idf */
} qp_scoring;

typedef struct qp_asked { /* a term of the question */
    const qp_block_entry *block;
    uint32_t n_blocks;
    double weight, idf;
} qp_asked;

/* Terms are all different. Only nodes of `allow` (null: all) are found, and only those with a term. */
qp_code qp_maxscore(const qp_snapshot *, qp_range, const qp_postings *, qp_scoring, const qp_asked *, uint32_t n,
                    const uint64_t *allow, uint32_t k, qp_list *, qp_arena *, qp_err *);

#endif
