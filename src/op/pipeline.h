/* A loaded pipeline; private to src/op. pipeline.c reads the file, pipeline_step.c its steps, repeat.c runs them.
 *
 * Everything lies in the pipeline's arena. Nothing changes after loading, so any thread may run it.
 */
#ifndef QP_OP_PIPELINE_H
#define QP_OP_PIPELINE_H

#include "op/op.h"

enum {
    QP_SETS_MAX = 64,     /* named sets of a pipeline; set 0 is the result of the last operator that ran */
    QP_INPUTS_MAX = 8,    /* sets that one step reads */
    QP_ROUNDS_MAX = 10000 /* of a repeat that does not say */
};

typedef struct qp_number { /* 10, or the option it stands for */
    const qp_opt *option;  /* null: n */
    int64_t n;
} qp_number;

typedef struct qp_condition { /* "ret < $budget": the size of a set against a number */
    enum { QP_ALWAYS, QP_LT, QP_LE, QP_GT, QP_GE, QP_EQ, QP_NE } how;
    int set;
    qp_number than;
} qp_condition;

typedef struct qp_binding { /* "alpha: $alpha" */
    const qp_opt *to, *from;
} qp_binding;

typedef struct qp_stage qp_stage;
typedef struct qp_stages {
    qp_stage *at;
    uint32_t n;
} qp_stages;

struct qp_stage {
    qp_condition when;
    const qp_op *op; /* null: a repeat */
    void *opt;       /* op->opt_size bytes, before bindings */
    qp_binding *binding;
    uint32_t n_bindings;
    int in[QP_INPUTS_MAX], n_in, as;

    qp_condition go_on, until; /* a repeat's, tested before and after each round */
    qp_number times;
    qp_stages body;
};

typedef struct qp_pipeline {
    qp_op op; /* what the caller holds; op.self is this */
    qp_arena *mem;
    qp_stages stages;
    int n_inputs;        /* named sets 1 to n_inputs are what the pipeline is given */
    const qp_op **parts; /* pipelines it loaded */
    uint32_t n_parts;
} qp_pipeline;

typedef struct qp_walk_choice { /* every pipeline's first two options */
    const char *edges, *direction;
} qp_walk_choice;

#endif
