#include "graph/seeds.h"

#include <math.h>
#include <stdlib.h>

typedef struct seed {
    uint32_t node;
    double weight;
} seed;

static int by_node(const void *left, const void *right)
{
    const seed *a = left, *b = right;
    return (a->node > b->node) - (a->node < b->node);
}

static qp_code read_all(const uint32_t *node, const float *weight, uint32_t n, uint32_t nodes, seed *all, double *sum,
                        qp_err *err)
{
    *sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1;
        if (node[i] >= nodes)
            return qp_fail(err, QP_INPUT, "seed %u is not there: the graph has %u nodes", node[i], nodes);
        if (!(w >= 0 && w < INFINITY))
            return qp_fail(err, QP_INPUT, "seed %u weighs %g: wanted a finite number from 0 up", node[i], w);
        all[i] = (seed){node[i], w};
        *sum += w;
    }
    return *sum > 0 ? QP_OK : qp_fail(err, QP_INPUT, "all %u seeds weigh 0: one must weigh more", n);
}

qp_code qp_seeds_make(const uint32_t *given, const float *weighs, uint32_t n, uint32_t nodes, qp_arena *mem,
                      qp_seeds *made, qp_err *err)
{
    if (!n)
        return qp_fail(err, QP_INPUT, "no node to start from");
    seed *all = qp_new(mem, seed, n);
    uint32_t *node = qp_new(mem, uint32_t, n), kept = 0;
    double *weight = qp_new(mem, double, n), *up_to = qp_new(mem, double, n), sum;
    if (!all || !node || !weight || !up_to)
        return qp_oom(err);
    qp_code code = read_all(given, weighs, n, nodes, all, &sum, err);
    if (code)
        return code;
    qsort(all, n, sizeof *all, by_node);
    for (uint32_t i = 0; i < n; i++) {
        if (all[i].weight == 0)
            continue;
        if (!kept || node[kept - 1] != all[i].node)
            node[kept++] = all[i].node;
        weight[kept - 1] += all[i].weight / sum;
    }
    for (uint32_t i = 0; i < kept; i++)
        up_to[i] = weight[i] + (i ? up_to[i - 1] : 0);
    *made = (qp_seeds){node, weight, up_to, kept};
    return QP_OK;
}

uint32_t qp_seeds_draw(const qp_seeds *s, qp_random *random)
{
    double at = qp_random_unit(random) * s->up_to[s->n - 1];
    uint32_t low = 0, high = s->n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->up_to[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return s->node[low];
}
