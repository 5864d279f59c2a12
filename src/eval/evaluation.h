/* An evaluation in the making: what was asked for, what came out, question by question. Private to src/eval; the parts
 * that fill it stand in the order they run. */
#ifndef QP_EVAL_EVALUATION_H
#define QP_EVAL_EVALUATION_H

#include "eval/contender.h"
#include "eval/eval.h"
#include "eval/judgements.h"
#include "eval/measure.h"
#include "eval/ranking.h"
#include "eval/significance.h"
#include "eval/topology.h"

/* Where a question's time goes. Stages are charged as if the method had run alone, see meter.h. */
typedef enum qp_stage { QP_TOTAL, QP_EMBED, QP_RANK, QP_WRITE, QP_REST, QP_STAGES } qp_stage;
extern const char *const qp_stage_names[QP_STAGES];

typedef struct qp_trial { /* one contender on one question */
    qp_ranking ranking;
    const char *failure; /* why it failed, and counts as an empty ranking; null: it did not */
    double ms[QP_STAGES];
    uint32_t passes; /* cross-encoder passes the method alone would have made */
    const qp_answered *answer;
    const qp_explored *explored;
    const qp_evidenced *evidence;
} qp_trial;

typedef struct qp_plan {          /* what `-o` says to the evaluation itself */
    const char *metrics;          /* null: those of the task */
    const char *task;             /* "retrieval" | "answers" | "graph" | "evidence" | "labels" */
    const char *judge;            /* null: none */
    const char *win_prompt;       /* of the judge that compares two answers; null: ours */
    const char *split;            /* "all" | "dev" | "test" */
    const char *start;            /* the contender whose first ten the correlations start from */
    const char *graph;            /* edge types that tr and misstr look at */
    const char *compare;          /* "all" | "none": pairs whose differences are reported */
    const char *prompt, *choices; /* of the writer's answers; or null */
    const char *by;               /* the field of queries.jsonl that parts the questions into groups; null: one group */
    const char *label;            /* the field of the metadata that holds a document's label */
    bool share, extract;
    int64_t jobs, tokens; /* tokens: of the longest answer; 0: as in ask */
} qp_plan;
extern const qp_op qp_plan_options; /* its option table; it is never run */

typedef struct qp_group { /* of questions that have the same in the field plan.by */
    qp_str value;         /* empty: those that have it not */
    uint32_t n;
    qp_draws draws; /* over them alone; the same columns */
} qp_group;

typedef struct qp_evaluation {
    const qp_bench_ctx *ctx;
    const qp_eval_options *options;
    const char *dataset;
    qp_plan plan;
    uint32_t depth;
    qp_arena *mem;
    qp_map *documents;     /* ids to numbers: the index's own documents first, in its order */
    uint32_t *document_of; /* of each node of the snapshot */
    qp_judgements judgements;
    uint32_t *asked, n; /* numbers of the questions, rising */
    qp_contender *contenders;
    uint32_t n_contenders, n_methods; /* methods first, then run files */
    const qp_metric *metrics;
    uint32_t n_metrics;
    qp_topology topology; /* made if a metric looks at the graph */
    qp_trial *trials;     /* n x n_contenders */
    double *value;        /* n x (n_contenders x n_metrics) */
    qp_draws draws;
    qp_group *groups;             /* in the order of their first questions */
    uint32_t n_groups, *group_of; /* of each question asked */
} qp_evaluation;

/* Is there a metric of this kind? */
static inline bool qp_evaluation_wants(const qp_evaluation *e, qp_wants wants)
{
    for (uint32_t m = 0; m < e->n_metrics; m++)
        if (e->metrics[m].measure->wants == wants)
            return true;
    return false;
}

static inline qp_trial *qp_trial_of(const qp_evaluation *e, uint32_t question, uint32_t contender)
{
    return &e->trials[(size_t)question * e->n_contenders + contender];
}

static inline uint32_t qp_column_of(const qp_evaluation *e, uint32_t contender, uint32_t metric)
{
    return contender * e->n_metrics + metric;
}

static inline double qp_value_of(const qp_evaluation *e, uint32_t question, uint32_t contender, uint32_t metric)
{
    return e->value[(size_t)question * e->n_contenders * e->n_metrics + qp_column_of(e, contender, metric)];
}

/* plan.c: which questions, which contenders, which metrics. */
qp_code qp_plan_make(qp_evaluation *, qp_err *);

/* group.c: which question is in which group; then what each says, once all values are there. */
qp_code qp_groups_make(qp_evaluation *, qp_err *);
qp_code qp_groups_draw(qp_evaluation *, uint32_t draws, qp_err *);

/* trial.c: one worker's tools, and all contenders on one question. */
typedef struct qp_bench qp_bench;
qp_bench *qp_bench_new(const qp_evaluation *); /* null without memory */
void qp_bench_free(qp_bench *);
qp_code qp_bench_run(qp_bench *, uint32_t question, qp_err *);

/* classes.c: the metrics that look at the answers of all questions, once those are there. */
qp_code qp_classes_measure(qp_evaluation *, qp_err *);

/* summary.c: numbers over all questions.
 *
 * The time that a share p of a contender's questions stayed within (nearest rank). `scratch`: n doubles. */
double qp_evaluation_ms(const qp_evaluation *, uint32_t contender, qp_stage, double p, double *scratch);
double qp_evaluation_passes(const qp_evaluation *, uint32_t contender); /* mean a question */
/* How many questions failed; *first is why the first one did, or null. */
uint32_t qp_evaluation_failures(const qp_evaluation *, uint32_t contender, const char **first);
/* How Recall and MissTR of the first ten of the contender `plan.start` go with what recall@100 of a contender adds to
 * them (FastInsight, Table 6). False where that is not to be had: runs less than 100 deep, no graph, no such
 * contender. */
bool qp_evaluation_correlate(const qp_evaluation *, uint32_t contender, double *recall, double *misstr);

/* report.c, page.c: the finished evaluation as JSON (malloc'ed; null without memory) and as a page. */
char *qp_report_json(const qp_evaluation *, qp_err *);
qp_code qp_report_page(const qp_evaluation *, const char *path, qp_err *);

#endif
