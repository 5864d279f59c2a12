/* Evaluation: judgements, runs, measures, significance, reports. */
#ifndef QP_EVAL_EVAL_H
#define QP_EVAL_EVAL_H

#include "quipu_op.h"
#include "store/snapshot.h"

/* What an evaluation runs on: one snapshot, the models, a folder with queries.jsonl and qrels.tsv. All are borrowed. */
typedef struct qp_bench_ctx {
    const qp_snapshot *snapshot;
    const qp_model *embedder, *ranker, *writer, *sparse,
        *attention;        /* null: not there; methods that need it are refused */
    const qp_model *judge; /* what `-o judge` names; null: it names none */
    bool quotes;           /* nobody named a writer: what one that a method took would answer is quoted instead */
    qp_trained *trained;   /* what was trained; null: nothing */
    int threads;           /* of an operator, and of the statistics; 0: one per core */
} qp_bench_ctx;

/* The models that these options' methods and task need, as QP_NEEDS_*, so that they can be opened. */
qp_code qp_evaluate_needs(const char *dataset, const qp_eval_options *, unsigned *needs, qp_err *);

/* What `-o judge` says: a name or address of a writer model, "writer" for the one that answers; null: none. In the
 * arena. */
qp_code qp_evaluate_judge(const qp_eval_options *, const char **name, qp_arena *, qp_err *);

/* Runs the methods on the questions of a data set folder, one question at a time unless `-o jobs=N`, and reports in the
 * shape of report.c; `*json` is malloc'ed. Settings that are the evaluation's own (metrics, task, split, graph,
 * start, share, extract, jobs: table in plan.c) are taken, the others go to the methods. Times are those of each method
 * alone: what several methods ask of the models for one question is computed once and charged to each.
 * QP_INPUT: a broken line in the folder, an unknown method, option, metric; whatever fails on the first question. */
qp_code qp_evaluate(const qp_bench_ctx *, const char *dataset, const qp_eval_options *, char **json, qp_err *);

#endif
