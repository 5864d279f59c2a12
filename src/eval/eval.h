/* Evaluation: judgements, runs, measures, significance, reports. */
#ifndef QP_EVAL_EVAL_H
#define QP_EVAL_EVAL_H

#include "quipu_op.h"
#include "store/snapshot.h"

/* What an evaluation runs on: one snapshot, the models, a folder with queries.jsonl and qrels.tsv. */
typedef struct qp_bench_ctx {
    const qp_snapshot *snapshot;
    const qp_model *embedder, *ranker, *writer;
    int threads;
} qp_bench_ctx;

qp_code qp_evaluate(const qp_bench_ctx *, const char *dataset, const qp_eval_options *, char **json, qp_err *);

#endif
