/* Many sequences of tokens cut into batches for the cores: by length, so that workers end together and a batch's
 * sequences are much alike. Fill ids and starts (and what of a sequence is not its tokens), plan, then run batch i:
 * sequences [batches[i], batches[i + 1]). One thread fills and plans, any may read.
 */
#ifndef QP_MODEL_BATCHES_H
#define QP_MODEL_BATCHES_H

#include "model/encoder.h"
#include "model/wordpiece.h"

typedef struct qp_batches {
    qp_ids ids;             /* all sequences, end to end */
    qp_sequence *sequences; /* in the caller's order until they are planned, then longest first */
    uint32_t *starts;       /* in ids, in the caller's order; n + 1 of them */
    uint32_t *order;        /* place of each in the caller's order */
    uint32_t *batches;
    uint32_t n, n_batches;
    void *block;
} qp_batches;

qp_code qp_batches_begin(qp_batches *, uint32_t n, qp_err *); /* of a zeroed one, n > 0 */
/* Each batch ends with the sequence that brings it to `rows`, or to a worker's share of all. */
qp_code qp_batches_plan(qp_batches *, int threads, uint32_t rows, qp_err *);
void qp_batches_end(qp_batches *); /* takes a zeroed one */

#endif
