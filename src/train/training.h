/* A training under way: train.c begins and ends it, learn.c runs it. Private to them. */
#ifndef QP_TRAIN_TRAINING_H
#define QP_TRAIN_TRAINING_H

#include "base/random.h"
#include "model/trained.h"
#include "train/adamw.h"
#include "train/example.h"
#include "train/train.h"

enum { QP_TRAIN_BATCH = 64, QP_TRAIN_THREADS = 256 }; /* at most */

typedef struct qp_train_opt {
    qp_cgrag_opt candidates;
    const char *kind, *file;
    int64_t hidden, heads, mlp, batch, epochs, patience;
    double share, rate, decay, temperature, clip;
} qp_train_opt;

typedef struct qp_held_back { /* on the questions held back */
    double hit, mrr;
} qp_held_back;

typedef struct qp_epoch {
    double loss; /* mean of a question; of epoch 0, before any step: none */
    qp_held_back held;
    double seconds;
} qp_epoch;

typedef struct qp_training {
    const qp_lesson *lesson;
    const qp_train_opt *o;
    const qp_watch *watch;
    const qp_view *view;
    qp_examples x;
    qp_lesegr *model;
    qp_adamw adamw;
    float *weights;
    size_t n; /* of them */
    /* A gradient and a loss for each question of a batch: their sums do not depend on the threads. */
    float *gradient[QP_TRAIN_BATCH];
    double loss[QP_TRAIN_BATCH];
    const uint32_t *order; /* questions of the batch at hand */
    uint32_t *rank;        /* of each question held back, its first right candidate's; 0: it is not there */
    int threads;           /* as many as there are arenas in scratch */
    qp_arena *mem, *scratch[QP_TRAIN_THREADS];
    const char *path;
    qp_epoch *epochs; /* from 0 on */
    uint32_t done, best;
    double start;
} qp_training;

/* Epoch after epoch until the questions held back get no better; the best weights are at `path`. Of an opened
 * training. */
qp_code qp_training_run(qp_training *, qp_random *, qp_err *);

#endif
