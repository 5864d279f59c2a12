/* What a training of LeSeGR learns from: labelled questions with their candidates, kept without the passages' vectors,
 * which the view gives back when they are needed. */
#ifndef QP_TRAIN_EXAMPLE_H
#define QP_TRAIN_EXAMPLE_H

#include "method/cgrag.h"
#include "store/snapshot.h"

typedef struct qp_example {
    qp_str id;
    const qp_id *node;   /* n candidates, rising */
    const bool *gold;    /* is it right? */
    uint32_t n, n_gold;  /* n_gold: of those, at least 1 in what is learned from */
    qp_candidates scene; /* its vectors: null till qp_example_load */
} qp_example;

typedef struct qp_examples {
    qp_example *fit, *held; /* learned from; held back */
    uint32_t n_fit, n_held;
    uint32_t strangers; /* questions none of whose labels is in the index */
} qp_examples;

typedef struct qp_teacher { /* where they come from */
    const qp_snapshot *snapshot;
    const qp_model *embedder, *sparse;
    const qp_cgrag_opt *candidates;
    double share; /* of the questions */
    uint64_t seed;
    const qp_watch *watch;
} qp_teacher;

/* Questions of a data set folder, drawn with the seed; of each five, four are learned from. Candidates as the method has
 * them; where they are learned from, the gold chunks join them (at most 16 a document). QP_INPUT: fewer than two questions
 * have labels in the index. */
qp_code qp_examples_read(const char *dataset, const qp_teacher *, qp_examples *, qp_arena *, qp_err *);

/* The candidates with their vectors, in the arena. */
qp_code qp_example_load(const qp_example *, const qp_view *, qp_candidates *, qp_arena *, qp_err *);

#endif
