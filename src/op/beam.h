/* Beam search for paths (LEGO-GraphRAG, Algorithm 1), with whoever judges them. */
#ifndef QP_OP_BEAM_H
#define QP_OP_BEAM_H

#include "op/op.h"

/* Scores n paths, told by their last hits: higher is better, -INFINITY drops one. False ends the search: after an
 * error, or because what was found is enough. */
typedef bool (*qp_path_judge)(qp_query *, void *ctx, const qp_hit *path, uint32_t n, float *score);

typedef struct qp_beam_how {
    uint32_t width, hops;
    bool simple;       /* no node twice */
    const char *prune; /* "none" | "mean" | "percentile": keep those above it, at most `widest`, instead of `width` */
    double percentile; /* of the normalised scores, 0..1 */
    uint32_t widest;
    qp_path_judge judge;
    void *ctx;
} qp_beam_how;

/* From each start through the subgraph of `sub`; the paths that every round kept, of all starts, best first. */
qp_list qp_beam_search(qp_query *, qp_list starts, qp_set sub, qp_walk, const qp_beam_how *);

/* Scores paths by their text (whole), or by the item of their last triple: op/eem.h. */
bool qp_judge_paths(qp_query *, const char *eem, const char *item, bool whole, const qp_hit *path, uint32_t n,
                    float *score);

#endif
