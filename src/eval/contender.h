/* What an evaluation compares: methods with their options, and runs read from files. */
#ifndef QP_EVAL_CONTENDER_H
#define QP_EVAL_CONTENDER_H

#include "base/arena.h"
#include "base/err.h"
#include "quipu_op.h"

typedef struct qp_contender {
    const char *name;   /* as it was asked for: "fastinsight:alpha=0.1"; unique */
    const char *method; /* "fastinsight" */
    const qp_op *op;    /* null: a run file */
    bool owned;         /* op is a pipeline that was loaded for this */
    void *opt;
    const qp_setting *settings; /* those that were given to it */
    size_t n_settings;
    const char *run_file; /* null: a method */
} qp_contender;

/* "vector,fastinsight:alpha=0.1:edges=cites,ref" and what -o gave besides: a setting goes to every method that has such
 * an option, and is an error if none has. A comma inside an option's value stands where no method's name follows it. */
qp_code qp_contenders_parse(const char *methods, const qp_setting *, size_t n_settings, uint32_t depth, qp_contender **,
                            uint32_t *n, qp_arena *, qp_err *);
void qp_contenders_free(qp_contender *, uint32_t n); /* loaded pipelines; the rest is the arena's */

#endif
