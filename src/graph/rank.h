/* The best of many: nodes with scores pass by, the k best stay. */
#ifndef QP_GRAPH_RANK_H
#define QP_GRAPH_RANK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct qp_scored {
    double score;
    uint32_t node;
} qp_scored;

/* One thread. */
typedef struct qp_rank {
    qp_scored *at; /* the n that came and are not yet known to be too bad; room for twice k */
    uint64_t n, room;
    uint32_t k, below; /* nodes from there on are let pass; UINT32_MAX: none is */
    qp_scored least;   /* whoever is not before it has k before him: nothing to add */
} qp_rank;

/* Room for the best k, in the arena. */
qp_code qp_rank_init(qp_rank *, uint32_t k, qp_arena *, qp_err *);
/* Drops all but the best k. */
void qp_rank_cut(qp_rank *);
/* The best k, best first; more may be added after it. */
void qp_rank_sort(qp_rank *);

/* The order of every list here: the higher score, of equals the smaller id. */
static inline bool qp_scored_before(qp_scored a, qp_scored b)
{
    return a.score > b.score || (a.score == b.score && a.node < b.node);
}

static inline void qp_rank_add(qp_rank *rank, uint32_t node, double score)
{
    qp_scored one = {score, node};
    if (node >= rank->below || !qp_scored_before(one, rank->least))
        return;
    if (rank->n == rank->room)
        qp_rank_cut(rank);
    rank->at[rank->n++] = one;
}

#endif
