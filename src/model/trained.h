/* Trained weights of an index's folder, or of any file, each loaded once. Any thread. */
#ifndef QP_MODEL_TRAINED_H
#define QP_MODEL_TRAINED_H

#include "model/lesegr.h"

qp_trained *qp_trained_new(const char *folder); /* null without memory */
void qp_trained_free(qp_trained *);             /* takes null */

/* LeSeGR's weights for vectors of `dim` numbers by this embedder: "gcn", "gat" or "gt" from the folder, "auto" the last
 * trained of those, else a file; they live as long as this. *out null with QP_OK: auto, and there are none. QP_MODEL:
 * they are not there, or do not fit. A file that was written anew is read anew. */
qp_code qp_trained_lesegr(qp_trained *, const char *name, uint32_t dim, const char *embedder, const qp_lesegr **out,
                          const char **sparse, qp_err *);

/* Where a training of this encoder puts its weights: "FOLDER/lesegr-gt.gguf"; in the arena, null without memory. */
char *qp_trained_path(qp_arena *, const char *folder, const char *encoder);

#endif
