/* LeSeGR's graph encoder: message passing over a question's candidate subgraph (CG-RAG, 4.3, equations 4 to 9).
 *
 *     s_ij = delta_qj alpha_ij,  alpha_ii = 1,  alpha_ij = MLP(c_i - c_j) = sigmoid(w2 relu(W1 (c_i - c_j) + b1) + b2)
 *     o_i  = sum over j in {i} + N(i) of a_ij s_ij V h_j            4 heads side by side: `hidden` numbers
 *     h_i' = s_ii h_i + W relu(o_i + b) + b'
 *     score_i = v_q . h_i after the last layer,  h_j = c_j before the first
 *
 * What the encoders differ in is a_ij:
 *     gcn   1 / sqrt((|N(i)| + 1) (|N(j)| + 1))                                           (Kipf, Welling, 2016)
 *     gat   softmax_j of leaky(s_ii l . V h_i + s_ij r . V h_j), slope .2, a head each    (Velickovic et al., 2017)
 *     gt    softmax_j of (s_ii Q h_i + b_q) . s_ij K h_j / sqrt(hidden / heads), a head   (Shi et al., 2020)
 *
 * Readings. MSG is linear, so delta alpha may be taken out of it. A node's own message skips over what is learned, as in
 * Shi et al., and W begins at zero: training starts from the scores that Proposition 4.1 gives without neighbours,
 * post-retrieval fusion. Their biases of K and V change nothing beside b and b'.
 *
 * Without weights (Proposition 4.1): alpha_ij = max(0, c_i . c_j), h_i' = mean over j in {i} + N(i) of s_ij h_j.
 */
#ifndef QP_MODEL_LESEGR_H
#define QP_MODEL_LESEGR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/random.h"
#include "graph/csr.h"
#include "quipu_op.h"

typedef enum qp_lesegr_kind { QP_LESEGR_GCN, QP_LESEGR_GAT, QP_LESEGR_GT } qp_lesegr_kind;
extern const char *const qp_lesegr_kinds[]; /* "gcn", "gat", "gt", null */

typedef struct qp_lesegr_shape {
    qp_lesegr_kind kind;
    uint32_t layers; /* K, 1 to 8 */
    uint32_t dim;    /* of the embedder */
    uint32_t hidden; /* a multiple of heads */
    uint32_t heads;
    uint32_t mlp; /* hidden units of alpha */
} qp_lesegr_shape;

typedef struct qp_candidates { /* a question's candidate subgraph */
    qp_csr graph;              /* each neighbour once, no self-loops; weights are not read */
    const float *vector;       /* graph.n x dim: c_i */
    const float *delta;        /* graph.n: 0 to 1; null: all 1 */
    const float *query;        /* dim: v_q */
    bool flat;                 /* all alpha are 1 */
} qp_candidates;

/* Scores without weights. MSG and AGG are linear, so v_q is taken in first and numbers are passed, not vectors. */
qp_code qp_lesegr_untrained(const qp_candidates *, uint32_t layers, uint32_t dim, float *score, qp_arena *, qp_err *);

/* ---- weights ---- */
typedef struct qp_lesegr qp_lesegr;

typedef struct qp_lesegr_part { /* a matrix among the weights; rows x cols, row by row, from `at` on */
    char name[32];
    uint32_t rows, cols;
    size_t at;
} qp_lesegr_part;

/* Weights as at the beginning of a training. QP_INPUT: a shape that cannot be. */
qp_code qp_lesegr_new(qp_lesegr_shape, qp_random *, qp_lesegr **, qp_err *);
void qp_lesegr_free(qp_lesegr *); /* takes null */
const qp_lesegr_part *qp_lesegr_parts(const qp_lesegr *, uint32_t *n);
/* All weights end to end, to be read and, by one thread while nobody else asks, written; who wrote calls ready. */
float *qp_lesegr_weights(qp_lesegr *, size_t *n);
/* Packs the weights for the kernels; `training`: for the way back too. */
qp_code qp_lesegr_ready(qp_lesegr *, bool training, qp_err *);

/* ---- passes; any thread, each with an arena of its own ---- */
typedef struct qp_lesegr_pass qp_lesegr_pass;

/* Scores of all candidates, the same on any number of threads (1 or more). */
qp_code qp_lesegr_score(const qp_lesegr *, const qp_candidates *, int threads, const float **score, qp_arena *,
                        qp_err *);
/* They again but for rounding, with every last vector made, to learn from: the pass, with all that the way back reads, lives
 * in the arena. */
qp_code qp_lesegr_forward(const qp_lesegr *, const qp_candidates *, int threads, qp_lesegr_pass **, const float **score,
                          qp_arena *, qp_err *);
/* Adds d loss / d weights to `gradient`, from d loss / d score. The model is ready for training. */
qp_code qp_lesegr_backward(const qp_lesegr *, const qp_candidates *, qp_lesegr_pass *, const float *of_score,
                           float *gradient, qp_arena *, qp_err *);

/* ---- files: GGUF, architecture "lesegr" ---- */
typedef struct qp_lesegr_about {
    const char *embedder; /* digest of the model that made the vectors */
    const char *sparse;   /* what delta was: "bm25", ... */
    const char *settings; /* of the training, "seed=1 share=0.1 ..." */
    double hit;           /* Hit@1 on the questions held back */
} qp_lesegr_about;

/* Written whole or not at all. */
qp_code qp_lesegr_save(const qp_lesegr *, const char *path, qp_lesegr_about, qp_err *);
/* Ready, not for training. QP_MODEL: not such a file, of another embedder than `about->embedder`, of other dimensions than
 * dim. The rest of *about is filled in, from the arena. */
qp_code qp_lesegr_load(const char *path, uint32_t dim, qp_lesegr **, qp_lesegr_about *about, qp_arena *, qp_err *);

#endif
