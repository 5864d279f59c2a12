/* The operators: table, door, trace, memo, pipelines. */
#ifndef QP_OP_OP_H
#define QP_OP_OP_H

#include "base/arena.h"
#include "base/err.h"
#include "quipu_op.h"

/* All operators, in the order of the manual; ends with null. */
const qp_op *const *qp_ops(void);
const qp_op *qp_op_find(const char *name); /* null: none */

/* ---- a query's life ---- */
/* Zeroes q and gives it an arena; the rest is the caller's to fill. */
qp_code qp_query_begin(qp_query *, qp_str text, qp_err *);
void qp_query_end(qp_query *); /* frees arena; memo and trace are the caller's */

/* ---- latents kept over iterations, and in eval over methods ---- */
qp_memo *qp_memo_new(uint32_t width);
void qp_memo_free(qp_memo *);
void qp_memo_clear(qp_memo *); /* for the next question */
/* The ranker's latents of the nodes, n x width, each computed once; counts passes into q->model_passes. A ranker that
 * gives only scores has width 0 and fails here with QP_MODEL; qp_query_rank works with both. */
const float *qp_query_latents(qp_query *, const qp_id *, uint32_t n);
const float *qp_query_rank(qp_query *, const qp_id *, uint32_t n);

/* ---- the trace: a line per operator ---- */
typedef struct qp_step {
    const char *name;
    int depth;                   /* nesting */
    uint32_t in, out;            /* nodes */
    uint32_t model_passes;
    double ms, model_ms;         /* inclusive of nested steps; of it, inside models */
    char options[160];           /* "alpha=0.2" */
} qp_step;
qp_trace *qp_trace_new(void);
void qp_trace_free(qp_trace *);
void qp_trace_clear(qp_trace *);
const qp_step *qp_trace_steps(const qp_trace *, uint32_t *n);
double qp_trace_model_ms(const qp_trace *, const char *which); /* "embed" | "rank" | "write": total of the query */
void qp_trace_add_model_ms(qp_query *, const char *which, double ms);

/* ---- sets ---- */
/* Sorts by score descending, then id rising, keeps the first k; the copy lives in the query's arena. */
qp_list qp_list_sorted(qp_query *, const qp_hit *, uint32_t n, uint32_t k);

/* ---- user pipelines (YAML) ---- */
/* Loads and checks a pipeline; it is an operator like any other, freed with qp_pipeline_free. */
qp_code qp_pipeline_load(const char *path, const qp_op **, qp_err *);
void qp_pipeline_free(const qp_op *);

#endif
