/* What stands behind a qp_index: the folder, the snapshot in use, the models once they are needed. */
#ifndef QP_API_INDEX_H
#define QP_API_INDEX_H

#include "base/err.h"
#include "model/model.h"
#include "quipu_op.h"
#include "store/snapshot.h"

/* A snapshot in use, and by how many; closed by the last. */
typedef struct qp_held qp_held;

/* The snapshot that is current now. Any thread. Given back with qp_held_release. QP_STORE: there is none. */
qp_code qp_index_hold(qp_index *, qp_held **, qp_err *);
void qp_held_release(qp_held *); /* takes null */
const qp_snapshot *qp_held_snapshot(const qp_held *);

/* The index's model of this purpose, opened on first use and shared from then on. *model null with QP_OK: it was
 * configured as "none". Any thread. */
qp_code qp_index_model(qp_index *, qp_purpose, const qp_model **, qp_err *);

/* The same for a model that can be done without: *model null with QP_OK and *why where it is not to be had; the error
 * where it was asked for by name. */
qp_code qp_index_optional(qp_index *, qp_purpose, const qp_model **, qp_err *why, qp_err *);

/* The name or file the model was, or will be, opened by; null: the default one. The index owns it. */
const char *qp_index_name(const qp_index *, qp_purpose);

/* Was a model of this purpose named when the index was opened (other than "none")? One that the index itself remembers
 * was not. */
bool qp_index_names(const qp_index *, qp_purpose);

/* The models that an operator needs, into the query. An embedder must be the one that made the snapshot's vectors. */
qp_code qp_index_equip(qp_index *, const qp_snapshot *, unsigned needs, qp_query *, qp_err *);

/* What was trained on this index, by name. */
qp_trained *qp_index_trained(qp_index *);

/* As it was opened. The index owns the folder's path. */
const char *qp_index_folder(const qp_index *);
bool qp_index_creates(const qp_index *);      /* may make the folder's index where there is none */
bool qp_index_is_published(const qp_index *); /* is there something to open? */
int qp_index_threads(const qp_index *);       /* 0: one per core */
uint64_t qp_index_seed(const qp_index *);

/* Under which the store remembers the model of a purpose: "embedder". */
const char *qp_index_setting(qp_purpose);

#endif
