/* What the engines of ppr.h share. Private to them. */
#ifndef QP_GRAPH_PPR_SPACE_H
#define QP_GRAPH_PPR_SPACE_H

#include "graph/ppr.h"
#include "graph/seeds.h"

/* A node of fast, fora and backward: 16 bytes, so that a touch is one cache line. */
typedef struct ppr_node {
    float r;       /* residual: mass that came here and has not gone on */
    float p;       /* reserve: mass that stays */
    float degree;  /* arcs, at least 1; r is compared with it */
    uint32_t flag; /* TOUCHED, QUEUED; from PPR_BACK to PPR_HUB, chain.h's back; from there, a hub's place, and 1 */
} ppr_node;
enum { PPR_TOUCHED = 1, PPR_QUEUED = 2, PPR_BACK = 4, PPR_HUB = 1 << 16, PPR_BACKS = PPR_HUB / PPR_BACK };

static inline double ppr_back(const ppr_node *x)
{
    uint32_t parts = x->flag % PPR_HUB / PPR_BACK;
    return (double)parts / PPR_BACKS;
}

typedef struct ppr_mass {
    double r, p;
} ppr_mass;

struct qp_ppr_space {
    const qp_chain *chain;
    ppr_node *node;    /* n */
    uint32_t *touched; /* n, the first n_touched used: what has to be reset */
    uint32_t n_touched;
    uint32_t *now, *next; /* n each: queues of a round and of the one after it */
    ppr_mass *mass;       /* n: of bounded */
    void *dense;          /* of exact */
    uint32_t *order;      /* n, of exact: the rows as it sweeps them */
    size_t dense_size;
};

/* A query, checked. */
typedef struct ppr_run {
    qp_ppr_space *space;
    const qp_chain *chain;
    const qp_ppr_query *query;
    qp_seeds seeds;
    double tolerance;
    qp_arena *mem;
    qp_ppr_result *result;
} ppr_run;

qp_code ppr_exact(ppr_run *, qp_err *);
qp_code ppr_conjugate(ppr_run *, qp_err *); /* exact, on an undirected graph */
qp_code ppr_bounded(ppr_run *, qp_err *);
qp_code ppr_fast(ppr_run *, qp_err *);
qp_code ppr_fora(ppr_run *, qp_err *);
qp_code ppr_backward(ppr_run *, qp_err *);

/* Made when first needed, and kept. */
qp_code ppr_space_push(qp_ppr_space *, qp_err *); /* node, touched, now, next */
qp_code ppr_space_mass(qp_ppr_space *, qp_err *); /* mass, touched */
qp_code ppr_space_dense(qp_ppr_space *, size_t bytes, qp_err *);
void ppr_space_reset(qp_ppr_space *); /* what was touched is 0 again */

/* Nodes that are swept together, about as many arcs in each block: from[i] .. from[i+1]-1. They do not depend on the
 * number of threads, so neither do sums over them. */
enum { PPR_BLOCKS = 64, PPR_AHEAD = 48 }; /* arcs from the one that is read to the one that is fetched */
typedef struct ppr_blocks {
    uint32_t from[PPR_BLOCKS + 1];
} ppr_blocks;
void ppr_blocks_cut(const qp_csr *, ppr_blocks *);
/* How many threads sweep: one where arcs are few. */
int ppr_threads(const ppr_run *);

qp_code ppr_stopped(qp_err *);
/* Hands the result a rank's list. */
void ppr_answer(ppr_run *, qp_rank *);
/* A place for `top` of at most n candidates. */
qp_code ppr_rank(ppr_run *, qp_rank *, uint32_t n, qp_err *);

#endif
