/* Measures: what is right about one question's ranking or answer, as a number; higher is better.
 *
 * A measure is a record that carries its own definition and where it comes from; one table lists them, a file each.
 * `name@k` looks at the first k ranks, `name` alone at the whole ranking. Relevant = judged above 0; a document nobody
 * judged counts 0, as in trec_eval. Pure functions: any thread.
 */
#ifndef QP_EVAL_MEASURE_H
#define QP_EVAL_MEASURE_H

#include "base/arena.h"
#include "base/err.h"
#include "quipu_op.h"

/* An answer beside what is known to be right. */
typedef struct qp_answered {
    qp_str text;        /* citation marks [n] included */
    const qp_str *gold; /* accepted answers */
    uint32_t n_gold;
    const double *cited; /* grade of each distinct document cited */
    uint32_t n_cited;
    uint32_t citations, supported;           /* citations, and how many a sentence of the source bears out */
    double accuracy, coverage, faithfulness; /* what the judge says (judged.h) */
    double win;                              /* and of it beside the first contender's answer */
    double recalled, shared; /* if it is right: what it adds to its class's recall, and F1 (classes.c) */
} qp_answered;

/* What a method on a knowledge graph looked at (explored.h). */
typedef struct qp_explored {
    uint32_t nodes, edges, components; /* of the subgraph */
    uint32_t found;                    /* right entities in it */
    const uint32_t *first_path;        /* of each right entity: the first path that has it, from 0; UINT32_MAX: none */
    uint32_t predicted;                /* how many of the first ranks one would answer */
    uint32_t tokens;                   /* of the context */
} qp_explored;

/* Which passage first bears out each statement the answer rests on (evidence.h): its place from 0; UINT32_MAX: none. */
typedef struct qp_evidenced {
    const uint32_t *first;
    uint32_t n;
} qp_evidenced;

/* What a method gave for one question, beside its judgements. */
typedef struct qp_outcome {
    const double *grade; /* of the document at each rank, best first */
    uint32_t n;
    const double *ideal;          /* grades above 0 of all judged documents, falling */
    uint32_t relevant;            /* how many those are */
    const double *distance;       /* relevant x n: u(document at that rank -> relevant document), see topology.h;
                                 infinite: no path; null: no graph was looked at */
    const qp_answered *answer;    /* null: none was asked for */
    const qp_explored *explored;  /* null: not a task on a knowledge graph */
    const qp_evidenced *evidence; /* null: nobody asked */
} qp_outcome;

typedef enum qp_wants {
    QP_WANTS_RANKING,
    QP_WANTS_GRAPH,
    QP_WANTS_ANSWER,
    QP_WANTS_CLASSES, /* answers of all questions: each is one of a few */
    QP_WANTS_EXPLORED,
    QP_WANTS_EVIDENCE,
    QP_WANTS_JUDGE, /* and an answer */
    QP_WANTS_RIVAL  /* a judge, an answer, and the first contender's */
} qp_wants;

typedef struct qp_measure {
    const char *name, *help;
    const char *definition; /* the formula, with i a rank from 1 and g(i) the grade there */
    const char *citation;
    qp_wants wants;
    bool cut;                                     /* takes @k */
    double (*of)(const qp_outcome *, uint32_t k); /* k: at least 1; UINT32_MAX: the whole ranking */
} qp_measure;

/* All measures, in the order of the manual; ends with null. */
const qp_measure *const *qp_measures(void);

/* "ndcg@10": a measure and where it is cut. */
typedef struct qp_metric {
    const qp_measure *measure;
    uint32_t k;    /* UINT32_MAX: not cut */
    char name[32]; /* as it was asked for */
} qp_metric;

/* "ndcg@10,map" into metrics in the arena. QP_INPUT: an unknown name (with the nearest), a k of 0 or above `depth`. */
qp_code qp_metrics_parse(const char *list, uint32_t depth, const qp_metric **, uint32_t *n, qp_arena *, qp_err *);

/* The files of the table. */
extern const qp_measure qp_measure_ndcg, qp_measure_ndcg_bin, qp_measure_recall, qp_measure_recall_cap, qp_measure_p,
    qp_measure_hit, qp_measure_mrr, qp_measure_map, qp_measure_tr, qp_measure_misstr, qp_measure_em, qp_measure_f1,
    qp_measure_cite_p, qp_measure_cite_r, qp_measure_cite_ok, qp_measure_sub_recall, qp_measure_sub_f1,
    qp_measure_sub_nodes, qp_measure_sub_edges, qp_measure_sub_components, qp_measure_context_tokens,
    qp_measure_path_recall, qp_measure_set_hit, qp_measure_set_f1, qp_measure_answer_hit, qp_measure_entity_f1,
    qp_measure_rouge_l, qp_measure_rouge_l_f, qp_measure_evidence, qp_measure_acc, qp_measure_cov, qp_measure_fs,
    qp_measure_win, qp_measure_accuracy, qp_measure_macro_recall, qp_measure_macro_f1;

/* The ranks a measure cut at k looks at. */
static inline uint32_t qp_outcome_depth(const qp_outcome *o, uint32_t k)
{
    return o->n < k ? o->n : k;
}

#endif
