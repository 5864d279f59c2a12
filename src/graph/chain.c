#include "graph/chain.h"

#include <math.h>
#include <stdlib.h>

#include "graph/chain_limit.h"

static qp_code check_rows(const qp_csr *g, const char *name, qp_err *err)
{
    if (g->start[0] != 0)
        return qp_fail(err, QP_INPUT, "%s: the first row starts at arc %llu, not 0", name,
                       (unsigned long long)g->start[0]);
    for (uint32_t v = 0; v < g->n; v++)
        if (g->start[v + 1] < g->start[v])
            return qp_fail(err, QP_INPUT, "%s: row %u ends before it starts", name, v);
    uint64_t arcs = g->start[g->n], bad = 0;
    for (uint64_t e = 0; e < arcs; e++)
        bad += g->target[e] >= g->n;
    if (bad)
        return qp_fail(err, QP_INPUT, "%s: %llu arcs lead to nodes that are not there (the graph has %u)", name,
                       (unsigned long long)bad, g->n);
    for (uint64_t e = 0; g->weight && e < arcs; e++)
        if (!(g->weight[e] >= 0 && g->weight[e] <= 3e38f))
            return qp_fail(err, QP_INPUT, "%s: arc %llu weighs %g: wanted a finite number from 0 up", name,
                           (unsigned long long)e, g->weight[e]);
    return QP_OK;
}

static qp_code check(const qp_csr *out, const qp_csr *in, qp_err *err)
{
    qp_code code = check_rows(out, "graph", err);
    if (code == QP_OK && in) {
        if (in->n != out->n || !in->weight != !out->weight)
            return qp_fail(err, QP_INPUT, "transpose: not of this graph (nodes %u and %u)", out->n, in->n);
        code = check_rows(in, "transpose", err);
        if (code == QP_OK && in->start[in->n] != out->start[out->n])
            code = qp_fail(err, QP_INPUT, "transpose: not of this graph (arcs %llu and %llu)",
                           (unsigned long long)out->start[out->n], (unsigned long long)in->start[in->n]);
    }
    return code;
}

static qp_code sum_weights(qp_chain *c, qp_err *err)
{
    const qp_csr *g = &c->out;
    double *sum = malloc(((size_t)g->n + 1) * sizeof *sum);
    float *up_to = malloc((g->start[g->n] + 1) * sizeof *up_to);
    c->sum = sum;
    c->up_to = up_to;
    if (!sum || !up_to)
        return qp_oom(err);
    for (uint32_t v = 0; v < g->n; v++) {
        sum[v] = 0;
        for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++)
            up_to[e] = (float)(sum[v] += g->weight[e]);
    }
    return QP_OK;
}

static void count(qp_chain *c)
{
    for (uint32_t v = 0; v < c->out.n; v++) {
        double sum = qp_chain_sum(c, v);
        c->volume += sum;
        c->n_dangling += !(sum > 0);
    }
}

qp_code qp_chain_new(const qp_csr *out, const qp_csr *in, qp_chain **made, qp_err *err)
{
    *made = NULL;
    qp_code code = check(out, in, err);
    if (code)
        return code;
    qp_chain *c = calloc(1, sizeof *c);
    if (!c)
        return qp_oom(err);
    *c = (qp_chain){.out = *out, .in = in ? *in : *out, .undirected = !in};
    if (out->weight)
        code = sum_weights(c, err);
    if (code == QP_OK) {
        count(c);
        code = chain_limit(c, err);
        if (code == QP_OK)
            code = chain_hubs(c, err);
        if (code == QP_OK && c->undirected)
            code = chain_back(c, err);
    }
    if (code) {
        qp_chain_free(c);
        return code;
    }
    *made = c;
    return QP_OK;
}

void qp_chain_free(qp_chain *c)
{
    if (!c)
        return;
    free((void *)c->sum);
    free((void *)c->up_to);
    free((void *)c->limit);
    free((void *)c->part);
    free((void *)c->part_volume);
    free((void *)c->hub_start);
    free((void *)c->hub);
    free((void *)c->hub_limit);
    free((void *)c->beside_start);
    free((void *)c->beside);
    free((void *)c->beside_weight);
    free((void *)c->back);
    free(c);
}

uint32_t qp_chain_step(const qp_chain *c, uint32_t v, qp_random *random)
{
    uint64_t low = c->out.start[v], high = c->out.start[v + 1];
    if (!c->up_to)
        return c->out.target[low + qp_random_below(random, high - low)];
    /* the first arc whose running sum is above a point of the row's last: an arc of weight 0 is never it */
    float at = (float)(qp_random_unit(random) * c->up_to[high - 1]);
    at = at < c->up_to[high - 1] ? at : nextafterf(c->up_to[high - 1], 0);
    for (high--; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        if (c->up_to[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return c->out.target[low];
}
