/* From bytes to a published snapshot: read, cut, store, resolve, embed, publish. Each stage is keyed by the digest of
 * its input and settings, so a killed run goes on where it stood. */
#ifndef QP_INGEST_INGEST_H
#define QP_INGEST_INGEST_H

#include "quipu_op.h"
#include "store/store.h"

typedef struct qp_makers { /* of what is kept beside the texts; null: an index without */
    const qp_model *embedder, *sparse, *attention;
    const qp_model *writer; /* of relations, if `-o relations=writer`; may be null else */
} qp_makers;

/* The counter of tokens for chunk sizes is the embedder's, else words.
 *
 * A document's key is its `_id` in records and data sets; of a file it is its place below the source, the source's own
 * name first ("manual/select.html"; more of the path where two would share a name). A document that cannot be read is
 * one warning and counted; with `strict` it ends the run as QP_INPUT. Cancelling ends it as QP_STOPPED; what was read
 * and embedded until then is kept, nothing is published. */
qp_code qp_ingest(qp_store *, qp_makers, int threads, const char *const *sources, size_t n, const qp_index_options *,
                  qp_index_report *, qp_err *);
/* After a delete: resolve, make what a text lacks, publish. Models null: nothing is lacking (qp_store_complete). */
qp_code qp_ingest_refresh(qp_store *, qp_makers, const qp_watch *, qp_err *);

/* The settings that qp_index_options may hold, as an option table (`run` is null): for the manual. */
const qp_op *qp_ingest_options(void);

#endif
