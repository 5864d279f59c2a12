#include <stdlib.h>

#include "base/huge.h"
#include "graph/chain_limit.h"

enum { AHEAD = 48 };

/* each[u] = 1 / the sum of u's row: a table half as large as the rows' starts, and read at random. */
static double two_steps(const qp_csr *g, const float *each, uint32_t v)
{
    const uint64_t last = g->start[g->n];
    double sum = 0;
    for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++) {
        const double w = g->weight ? g->weight[e] : 1;
        __builtin_prefetch(&each[g->target[e + AHEAD < last ? e + AHEAD : e]]);
        sum += w * w * each[g->target[e]];
    }
    return sum * each[v];
}

qp_code chain_back(qp_chain *c, qp_err *err)
{
    const uint32_t n = c->out.n;
    const size_t bytes = ((size_t)n + 1) * sizeof(float);
    float *each = qp_huge(malloc(bytes), bytes), *back = malloc(bytes);
    c->back = back;
    for (uint32_t v = 0; each && back && v < n; v++) {
        const double sum = qp_chain_sum(c, v);
        each[v] = sum > 0 ? (float)(1 / sum) : 0;
    }
    for (uint32_t v = 0; each && back && v < n; v++)
        back[v] = (float)two_steps(&c->out, each, v);
    free(each);
    return each && back ? QP_OK : qp_oom(err);
}
