/* Models: where each kind of qp_model comes from. A qp_model may be used by any thread at once; it spreads plural calls
 * over its own contexts (one per core).
 */
#ifndef QP_MODEL_MODEL_H
#define QP_MODEL_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "quipu_op.h"

typedef enum qp_purpose {
    QP_EMBEDDER,
    QP_RANKER,
    QP_WRITER,
    QP_SPARSE,
    QP_ATTENTION, /* attend: any model on this machine, whatever the registry says it is for; default: the writer's */
    QP_PURPOSES
} qp_purpose;

/* `name`: a registered name, a .gguf file, "hash" or "hash:DIM" (no weights; for tests and offline first steps),
 * "openai:MODEL@URL", "ollama:MODEL@URL", "jina:MODEL@URL", "cohere:MODEL@URL" (keys from the environment; "@URL" may
 * be left out for the provider's own), or null for the default of that purpose. QP_MODEL if it is missing, truncated,
 * foreign, or cannot do what the purpose wants. threads 0: one per core. */
qp_code qp_model_open(qp_purpose, const char *name, int threads, qp_model **, qp_err *);
void qp_model_close(qp_model *); /* takes null */

/* The kinds, one file each. */
qp_code qp_model_open_bert(const char *path, qp_purpose, int threads, qp_model **, qp_err *);  /* our own encoder */
qp_code qp_model_open_llama(const char *path, qp_purpose, int threads, qp_model **, qp_err *); /* llama.cpp */
/* Our own decoder, open for its attention; the file must be one that qp_decoder_takes. */
qp_code qp_model_open_decoder(const char *path, int threads, qp_model **, qp_err *);
qp_code qp_model_open_http(const char *spec, qp_purpose, qp_model **, qp_err *);
qp_code qp_model_open_hash(uint32_t dim, qp_purpose, qp_model **, qp_err *);

/* A file's name without folder and ".gguf": what a model is called in traces. malloc'ed; null without memory. */
char *qp_model_file_name(const char *path);

/* The path of a registered model on this machine, in the arena; QP_MODEL with the `quipu model pull` line if it is not
 * here. */
qp_code qp_registry_find(qp_purpose, const char *name, char **path, qp_arena *, qp_err *);

#endif
