/* Personalised PageRank: how often a walk that starts at the seeds, and starts again with probability alpha before each
 * step, is at each node. pi = alpha s + (1 - alpha) P' pi, s the seeds' weights scaled to sum 1, P the chain.
 *
 * One door, several engines; the result names the one that ran.
 *   exact     until a sweep (f64 or f32) would move no more than the tolerance: power iteration, on undirected graphs
 *             conjugate gradients, which need fewer sweeps where a graph mixes slowly. Any graph, any seeds.
 *   bounded   push (PowerPush, Wu et al., SIGMOD 2021), until at most the tolerance of l1 error is left, which it reports.
 *             Costs what it touches. Where a tight bound touches the whole graph and the graph mixes fast, exact is
 *             cheaper: R-MAT 100k/1M, 1e-4, is 28 sweeps' arcs where exact has 1e-9 after as many, read in order.
 *   fast      push until no residual is above tolerance x degree; the larger ones take a step more, to hubs alone; what
 *             comes straight back is added, and what they then hold is taken to be where a long walk would take it. No
 *             bound; a query costs what it touches whatever the size of the graph. For the best thousand nodes of one or a
 *             few seeds. See docs/methods.md for what it loses and where.
 *   fora      push, then random walks from what is left (Wang et al., KDD 2017): unbiased, relative error `tolerance` for
 *             scores above delta with probability 1 - 1/n; for the top k, delta falls from 1/k until the k-th is above
 *             (1 + tolerance) delta. With `walks` they are read, not walked (FORA+).
 *   backward  push against the arcs from one seed (as RBS does), turned round by pi(s,t) d(s) = pi(t,s) d(t): undirected
 *             graphs and one seed only. Each score is at most tolerance d(t)/d(s) too low.
 *   auto      exact where the graph is small (2^18 nodes and arcs), where all scores are wanted, or more than
 *             QP_CHAIN_HUBS of them, or where more than one node in 64 is a seed; else fast.
 *
 * Scores and their order are the same for any number of threads.
 */
#ifndef QP_GRAPH_PPR_H
#define QP_GRAPH_PPR_H

#include "graph/chain.h"
#include "graph/rank.h"

typedef enum qp_ppr_engine {
    QP_PPR_AUTO,
    QP_PPR_EXACT,
    QP_PPR_BOUNDED,
    QP_PPR_FAST,
    QP_PPR_FORA,
    QP_PPR_BACKWARD,
    QP_PPR_ENGINES
} qp_ppr_engine;
const char *qp_ppr_engine_name(qp_ppr_engine); /* "auto", ... */

/* Where a dangling node's mass goes. */
typedef enum qp_ppr_dangling {
    QP_PPR_RESTART, /* to the seeds, by their weights: networkx, igraph */
    QP_PPR_UNIFORM  /* to all nodes alike: AGRAG, eq. 11 */
} qp_ppr_dangling;

/* Walks made beforehand (FORA+): node v's stops stand at stop[start[v]] .. stop[start[v+1]-1], each the end of a walk
 * that took one step from v and then stopped with probability alpha at every node it came to. Plain arrays: they can be
 * stored and mapped. A walk that came to a dangling node ends as QP_PPR_ASTRAY. */
typedef struct qp_ppr_walks {
    double alpha, epsilon;
    uint32_t n;
    const uint64_t *start;
    const uint32_t *stop;
} qp_ppr_walks;
#define QP_PPR_ASTRAY UINT32_MAX

typedef struct qp_ppr_query {
    const uint32_t *seed; /* n_seeds nodes; one named twice counts twice */
    const float *weight;  /* n_seeds, from 0 up, scaled to sum 1 here; null: all alike */
    uint32_t n_seeds;     /* at least 1 */
    double alpha; /* probability of starting again, in (0, 1); networkx' "alpha" and igraph's "damping" are 1 - alpha */
    qp_ppr_engine engine;
    qp_ppr_dangling dangling;
    double tolerance; /* 0: the engine's own. exact: l1 change of a sweep, 1e-9 (f32: 1e-6); bounded: l1 error, 1e-4;
                         fast: residual over degree, 1e-5, from 2^24 nodes or directed 5e-6; fora: relative error, .5; backward: 1e-6 */
    uint32_t top;     /* how many are wanted; 0: all with a score above 0 */
    uint32_t below;   /* only nodes below it are wanted; 0: any */
    bool single;      /* exact: in f32, half the memory traffic */
    bool settle; /* bounded: stop as soon as the first `top` are certain (as a set), though the bound is not reached */
    uint64_t random;            /* fora: seed of its walks */
    int threads;                /* exact: 0 is one per core; the others use one */
    const qp_ppr_walks *walks;  /* fora: null walks anew */
    volatile const int *cancel; /* set to non-zero, perhaps by another thread: QP_STOPPED; may be null */
} qp_ppr_query;

typedef struct qp_ppr_result {
    const qp_scored *at; /* best first, of equals the smaller id; in the query's arena */
    uint32_t n;
    qp_ppr_engine engine; /* that ran */
    double error;         /* l1 distance to the truth is at most this, but for rounding; below 0: no bound */
    bool settled;         /* the first `top` are certain (bounded with `settle`) */
    uint64_t arcs;        /* read, steps of walks included */
    uint32_t sweeps;      /* iterations, epochs of pushing, rounds of walks */
} qp_ppr_result;

/* What a thread computes in, used again by its next query: 24 bytes a node for fast, fora and backward (most of it
 * address space that a query never touches), 20 for bounded, 32 (undirected: 40; f32: half) for exact, and 4 more on a
 * small graph, each made when first needed. */
typedef struct qp_ppr_space qp_ppr_space;
qp_code qp_ppr_space_new(const qp_chain *, qp_ppr_space **, qp_err *); /* keeps the chain */
void qp_ppr_space_free(qp_ppr_space *);                                /* takes null */

/* QP_USAGE: alpha, tolerance or engine that cannot be; QP_INPUT: no seeds, a node that is not there, weights that are
 * negative, not finite or all 0; QP_STOPPED: cancelled. After an error the space can be used again. */
qp_code qp_ppr(qp_ppr_space *, const qp_ppr_query *, qp_arena *, qp_ppr_result *, qp_err *);

/* The other way round: pi(s, target) for every s, each at most `tolerance` too low (0: 1e-6), s with 0 left out.
 * QP_USAGE on a directed graph with dangling nodes: where they go depends on s. */
qp_code qp_ppr_target(qp_ppr_space *, uint32_t target, double alpha, double tolerance, uint32_t top,
                      volatile const int *cancel, qp_arena *, qp_ppr_result *, qp_err *);

/* The walks fora needs at this alpha and relative error (its tolerance), in malloc's memory: free with qp_ppr_walks_free.
 * The same for any number of threads. */
qp_code qp_ppr_walks_make(const qp_chain *, double alpha, double epsilon, uint64_t seed, int threads, qp_ppr_walks *,
                          qp_err *);
void qp_ppr_walks_free(qp_ppr_walks *); /* takes {0} */

#endif
