#include "method/first.h"

enum { DEPTH = 1000 }; /* of each ranking that is fused with another */

qp_set qp_hybrid(qp_query *q, const char *how, float weight, uint32_t depth, uint32_t k)
{
    qp_set dense = qp_search(q, "node.dense", depth);
    return qp_fuse(q, dense, qp_search(q, "node.bm25", depth), how, weight, k);
}

qp_set qp_first(qp_query *q, const char *first, uint32_t k)
{
    switch (*first) {
    case 'h': return qp_hybrid(q, "minmax", .5f, k > DEPTH ? k : DEPTH, k);
    case 'b': return qp_search(q, "node.bm25", k);
    case 't': return qp_search(q, "node.tfidf", k);
    default: return qp_search(q, "node.dense", k);
    }
}

qp_set qp_pool(qp_query *q, const char *first, double mix, uint32_t k)
{
    return qp_first(q, first, mix > 0 && *first != 'v' && k < DEPTH ? DEPTH : k);
}

/* Inner products are to be had for any node. The other scores come from the ranking itself: what is not in its best
 * thousand gets nothing. */
qp_set qp_mixed(qp_query *q, qp_set set, qp_set pool, const char *first, double mix)
{
    if (mix == 0)
        return set;
    qp_set by_first = *first == 'v'  ? qp_score(q, set)
                      : pool.nodes.n ? qp_top(q, pool, DEPTH)
                                     : qp_first(q, first, DEPTH);
    return qp_mix(q, set, by_first, (float)(1 - mix));
}
