/* From bytes to a published snapshot: read, cut, store, resolve, embed, publish. Each stage is keyed by the digest of
 * its input and settings, so a killed run goes on where it stood. */
#ifndef QP_INGEST_INGEST_H
#define QP_INGEST_INGEST_H

#include "quipu_op.h"
#include "store/store.h"

/* embedder null: an index without vectors. The counter of tokens for chunk sizes is the embedder's, else words. */
qp_code qp_ingest(qp_store *, const qp_model *embedder, const char *const *sources, size_t n, const qp_index_options *,
                  qp_index_report *, qp_err *);
/* After a delete: resolve and publish. */
qp_code qp_ingest_refresh(qp_store *, const qp_model *embedder, const qp_watch *, qp_err *);

#endif
