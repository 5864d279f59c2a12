/* What several methods share: the first stage, the walk, and the options for both. */
#ifndef QP_METHOD_FIRST_H
#define QP_METHOD_FIRST_H

#include "op/op.h"

#define QP_FIRST_OPTION(type)                                                                                 \
    QP_OPTION("first", "first stage (the papers' is vector)", QP_ENUM, offsetof(type, first), "vector", 0, 0, \
              "vector|hybrid|bm25|tfidf")
#define QP_EDGES_OPTION(type) \
    QP_OPTION("edges", "edge types walked, as cites,ref; * = all", QP_TEXT, offsetof(type, edges), "*", 0, 0, NULL)
#define QP_DIRECTION_OPTION(type)                                                                          \
    QP_OPTION("direction", "which way edges are walked", QP_ENUM, offsetof(type, direction), "both", 0, 0, \
              "both|out|in")
#define QP_MIX_OPTION(type)                                                                                \
    QP_OPTION("mix", "ours: share of the first stage's score, min-max scaled, in the final one", QP_FLOAT, \
              offsetof(type, mix), "0", 0, 1, NULL)
#define QP_TOP_OPTION(type) \
    QP_OPTION("top", "how many nodes are returned", QP_INT, offsetof(type, top), "10", 1, 1e6, NULL)

/* The best k by "vector", "bm25", "tfidf" or "hybrid". */
qp_set qp_first(qp_query *, const char *first, uint32_t k);
/* BM25 and dense, `depth` of each, fused: "minmax" | "rrf", weight = share of dense. */
qp_set qp_hybrid(qp_query *, const char *how, float weight, uint32_t depth, uint32_t k);
/* The first stage of a method that ends with qp_mixed: at least its best k, and as many as mixing wants. */
qp_set qp_pool(qp_query *, const char *first, double mix, uint32_t k);
/* The final set with `mix` of the first stage's score in it; as it is where mix is 0. pool: what qp_pool gave, or
 * empty. */
qp_set qp_mixed(qp_query *, qp_set, qp_set pool, const char *first, double mix);

/* The best k, where there are more. */
static inline qp_set qp_cut_to(qp_query *q, qp_set set, uint32_t k)
{
    return set.nodes.n > k ? qp_top(q, set, k) : set;
}

static inline uint32_t qp_min(int64_t a, int64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

#endif
