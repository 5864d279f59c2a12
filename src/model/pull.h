/* Fetching a model: what the kinds of source share. A source's files are laid into a folder of their own, each whole
 * and verified before it gets its name there; a download under way is FILE.part, and goes on where it stood.
 */
#ifndef QP_MODEL_PULL_H
#define QP_MODEL_PULL_H

#include "model/registry.h"

typedef struct qp_pull {
    const qp_model_entry *model;
    const qp_model_source *source;
    const char *hub;    /* base URL */
    const char *folder; /* where the files go */
    const qp_watch *watch;
    qp_arena *mem;
} qp_pull;

/* All files of the source in the folder. QP_MODEL if it cannot be had, or is not what the registry says. */
qp_code qp_pull_hub(const qp_pull *, qp_err *);
qp_code qp_pull_package(const qp_pull *, qp_err *);

/* Where file i of the source goes, its folder made. */
qp_code qp_pull_place(const qp_pull *, size_t i, char **path, qp_err *);
/* QP_STOPPED if the caller wants to stop. */
qp_code qp_pull_stopped(const qp_pull *, qp_err *);
void qp_pull_say(const qp_pull *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
