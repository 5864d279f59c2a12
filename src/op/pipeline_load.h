/* What pipeline.c and pipeline_step.c share while a file is read. */
#ifndef QP_OP_PIPELINE_LOAD_H
#define QP_OP_PIPELINE_LOAD_H

#include <yaml.h>

#include "op/pipeline.h"

enum { QP_FILES_MAX = 8, QP_REPEATS_MAX = 8, QP_STAGES_MAX = 1000, QP_PARAMS_MAX = 32, QP_TEXT_MAX = 4096 };

typedef struct qp_param { /* an option the file declares: its type is that of what it stands for */
    const char *name, *standard;
    yaml_node_t *node;
    qp_opt *opt; /* in the pipeline's table; its name is null until a step uses it */
} qp_param;

typedef struct qp_loader {
    const char *path;
    yaml_document_t *doc;
    qp_pipeline *p;
    const qp_op *const *more; /* what a step may name beside the operators */
    int files;                /* nesting of files */
    uint32_t *stages;         /* of all files so far */
    const char *sets[QP_SETS_MAX];
    int n_sets;
    qp_param params[QP_PARAMS_MAX];
    int n_params;
    qp_err *err;
} qp_loader;

/* Fails with "FILE:LINE: message". */
qp_code qp_loader_refuse(qp_loader *, const yaml_node_t *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A scalar's text; null after an error, or if it is none. `what` names it in the error. */
const char *qp_loader_text(qp_loader *, const yaml_node_t *, const char *what);
yaml_node_t *qp_loader_node(qp_loader *, int index);
/* The list of steps under `node`; depth counts nested repeats. */
qp_code qp_loader_stages(qp_loader *, const yaml_node_t *node, int depth, qp_stages *);
/* A file as an operator, `files` deep. */
qp_code qp_loader_file(const char *path, const qp_op *const *more, int files, uint32_t *stages, const qp_op **,
                       qp_err *);

#endif
