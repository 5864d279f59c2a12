/* The operators: table, door, memo, trace, pipelines. */
#ifndef QP_OP_OP_H
#define QP_OP_OP_H

#include "base/arena.h"
#include "base/err.h"
#include "quipu_op.h"

/* All operators, in the order of the manual; ends with null. */
const qp_op *const *qp_ops(void);
const qp_op *qp_op_find(const char *name); /* null: none */

/* ---- a query's life ---- */
/* Zeroes q, gives it an arena and a walk over all edges, both ways; the rest is the caller's to fill. */
qp_code qp_query_begin(qp_query *, qp_str text, qp_err *);
/* Frees the arena, and the memo if the query made its own; trace and a given memo are the caller's. */
void qp_query_end(qp_query *);
/* If the view has a graph of its own for this question, the query is kept to it (scope and allow, with what allow let
 * through already). */
qp_code qp_query_in_scope(qp_query *, qp_str id, qp_err *);
/* The models it needs with these options. */
static inline unsigned qp_op_needs(const qp_op *op, const void *opt)
{
    return op->asks ? op->asks(opt) : op->needs;
}
/* Is it over: an error stuck, the caller cancelled, the deadline passed? Long operators look between batches. */
bool qp_query_over(qp_query *, const char *where);
/* The walk an operator's or a method's options mean; null or "" edges, null or "query" direction: the query's own. */
qp_walk qp_query_walk(qp_query *, const char *edges, const char *direction);

/* ---- what is asked of view and ranker once per question, whoever asks ----
 * A memo serves one question on one view at a time; with another text, vector or walk what depends on it is forgotten.
 * A query without one makes its own. The functions return one entry per id, in the same order, in the query's arena;
 * null after an error. */
qp_memo *qp_memo_new(void); /* null without memory */
void qp_memo_free(qp_memo *);
void qp_memo_clear(qp_memo *); /* for another view or ranker, or to measure from nothing */

/* The ranker's latents, width floats each; they live until the memo is cleared or asked about another text. Counts
 * passes into q->model_passes. A ranker that gives only scores fails here with QP_MODEL; qp_query_rank works with
 * both. */
const float *const *qp_query_latents(qp_query *, const qp_id *, uint32_t n);
/* The ranker's scores. */
const float *qp_query_rank(qp_query *, const qp_id *, uint32_t n);
/* dot(v_q, v_n), v_q being qp_query_vector. */
const float *qp_query_dots(qp_query *, const qp_id *, uint32_t n);

typedef struct qp_row { /* neighbours of a node, as in qp_adj */
    const qp_id *node, *edge;
    uint32_t n;
} qp_row;
/* The neighbours by this walk, and how many those are in the whole graph. */
const qp_row *qp_query_rows(qp_query *, qp_walk, const qp_id *, uint32_t n);
const uint32_t *qp_query_degrees(qp_query *, qp_walk, const qp_id *, uint32_t n);
/* A computed number of this question, kept under any bytes. */
bool qp_query_kept(qp_query *, qp_str key, float *value); /* false: not there */
void qp_query_keep(qp_query *, qp_str key, float value);

/* ---- the trace: a line per operator, parents before their parts ---- */
typedef struct qp_step {
    const char *name;
    int depth;        /* nesting */
    uint32_t in, out; /* nodes */
    uint32_t model_passes, paths_cut;
    double ms, model_ms; /* inclusive of nested steps; of it, inside models */
    char options[160];   /* "alpha=0.2" */
} qp_step;
qp_trace *qp_trace_new(void); /* null without memory */
void qp_trace_free(qp_trace *);
const qp_step *qp_trace_steps(const qp_trace *, uint32_t *n);
double qp_trace_model_ms(const qp_trace *, const char *which); /* "embed" | "rank" | "write": total of the query */
void qp_trace_add_model_ms(qp_query *, const char *which, double ms);
/* For the door: the step's number, to be closed with what it returned. */
uint32_t qp_trace_open(qp_query *, const qp_op *, const void *opt, uint32_t in);
void qp_trace_close(qp_query *, uint32_t step, uint32_t out);

/* ---- options ---- */
#define QP_OPTION(...) \
    {                  \
        __VA_ARGS__    \
    } /* a line of an option table that several operators share */
/* Zeroed, in the arena, filled; null after an error. */
void *qp_options_new(const qp_op *, const qp_setting *, size_t n, qp_arena *, qp_err *);
/* Sets one option from its text; the error names op and option. */
qp_code qp_option_set(const qp_op *, const qp_opt *, const char *value, void *opt, qp_arena *, qp_err *);
const qp_opt *qp_option_find(const qp_op *, const char *name, qp_err *); /* QP_INPUT with the nearest name */
/* "alpha=0.2 edges=*", cut to size. */
void qp_options_print(const qp_op *, const void *opt, char *out, size_t size);

/* ---- lists ---- */
/* Sorts by score descending, then id rising, keeps the first k; the copy lives in the query's arena. */
qp_list qp_list_sorted(qp_query *, const qp_hit *, uint32_t n, uint32_t k);
/* A copy with these scores (null after an error), sorted. */
qp_list qp_list_scored(qp_query *, qp_list, const float *score);
/* A copy that may be written to; null after an error. */
qp_hit *qp_list_copy(qp_query *, qp_list);
const qp_id *qp_list_ids(qp_query *, qp_list);           /* null after an error */
const qp_link *qp_list_links(qp_query *, qp_list edges); /* null after an error */
/* The hits of a path from its beginning to its last one, however long it is; how many. 0 after an error. */
uint32_t qp_path_chain(qp_query *, const qp_hit *last, const qp_hit ***out);
static inline qp_set qp_set_of(qp_list nodes)
{
    return (qp_set){.nodes = nodes};
}

/* ---- user pipelines (YAML) ---- */
/* Loads and checks a pipeline; it is an operator like any other, freed with qp_pipeline_free. `more`: what a step may
 * name beside the operators (the methods, a layer above), ending with null. */
qp_code qp_pipeline_load(const char *path, const qp_op *const *more, const qp_op **, qp_err *);
void qp_pipeline_free(const qp_op *);
qp_set qp_pipeline_run(qp_query *, const qp_op *, const qp_set *in, int n_in, const void *opt); /* for the door */

#endif
