/* The registry: which models Quipu knows by name, where each can be had, and which are on this machine.
 *
 * It is a JSON file, models/registry.json, found by qp_share_find, so a user may replace it. A model's file is
 * ${QUIPU_MODELS:-${XDG_DATA_HOME:-~/.local/share}/quipu/models}/NAME.gguf; some ship with Quipu in models/.
 */
#ifndef QP_MODEL_REGISTRY_H
#define QP_MODEL_REGISTRY_H

#include "base/arena.h"
#include "base/err.h"
#include "model/model.h"

typedef struct qp_model_file {
    const char *path;   /* within the source; no ".." */
    const char *sha256; /* null: what the hub's header says is checked */
} qp_model_file;

typedef enum qp_source_kind { QP_FROM_HUB, QP_FROM_PACKAGE, QP_FROM_SHARE, QP_FROM_PATH } qp_source_kind;

typedef struct qp_model_source {
    qp_source_kind kind;
    const char *name;    /* hub: "owner/repository"; package: its name; share, path: the file */
    const char *version; /* hub: a revision; package: its version; else null */
    const char *folder;  /* in front of each file's path, "" for none */
    qp_model_file *file; /* the weights first, then what their conversion reads */
    size_t n_files;
} qp_model_source;

typedef struct qp_model_entry {
    const char *name, *about, *license, *pooling; /* pooling: "mean", "cls", "splade", "last", "rank", or null */
    qp_purpose purpose;
    bool standard;                             /* the default of its purpose */
    uint32_t dim, max_tokens;                  /* 0: not known */
    const char *query_prefix, *passage_prefix; /* what an embedder wants before a text; or null */
    const char *type;                          /* weights' type after a conversion; null: bf16 */
    qp_model_source *source;
    size_t n_sources;
} qp_model_entry;

typedef struct qp_registry {
    const char *hub; /* the model hub's base URL; $QUIPU_HUB overrides it */
    const qp_model_entry *model;
    size_t n;
} qp_registry;

/* Everything in the arena. QP_INPUT with the place if the file is not what it should be. */
qp_code qp_registry_load(qp_registry *, qp_arena *, qp_err *);
qp_code qp_registry_parse(qp_str json, const char *where, qp_registry *, qp_arena *, qp_err *);
const qp_model_entry *qp_registry_get(const qp_registry *, const char *name); /* or null */
/* The default of a purpose, or null. */
const qp_model_entry *qp_registry_standard(const qp_registry *, qp_purpose);
/* "embedder", "reranker", "writer", "sparse encoder", "attention model" */
const char *qp_purpose_name(qp_purpose);

/* The folder of models, which may not be there yet, and the file that a name has in it. QP_INPUT for a name with other
 * than letters, digits, '.', '_' and '-'. */
qp_code qp_models_folder(char **path, qp_arena *, qp_err *);
qp_code qp_models_file(const char *name, char **path, qp_arena *, qp_err *);
/* Where a registered model's file lies now: in the folder of models, or beside the registry; *path null: nowhere. */
qp_code qp_registry_locate(const qp_model_entry *, char **path, qp_arena *, qp_err *);

#endif
