/* The algebra: minus. */
#include "op/idmap.h"
#include "op/ops.h"

static qp_list minus(qp_query *q, qp_list a, qp_list b)
{
    qp_idmap gone = qp_idmap_in(q->mem);
    qp_hit *out = qp_new(q->mem, qp_hit, a.n);
    uint32_t n = 0;
    for (uint32_t i = 0; out && i < b.n; i++)
        if (!qp_idmap_put(&gone, b.at[i].id, 0, NULL))
            out = NULL;
    for (uint32_t i = 0; out && i < a.n; i++)
        if (!qp_idmap_get(&gone, a.at[i].id))
            out[n++] = a.at[i];
    if (!out)
        qp_oom(&q->err);
    return (qp_list){out, out ? n : 0};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    qp_set out = in[0];
    (void)opt, (void)n_in;
    out.nodes = minus(q, in[0].nodes, in[1].nodes);
    return out;
}

const qp_op qp_op_minus = {
    .name = "minus",
    .help = "the first set without the nodes of the second",
    .source = "FastInsight, Algorithm 3, line 1",
    .in_min = 2,
    .in_max = 2,
    .run = run,
};

qp_set qp_minus(qp_query *q, qp_set a, qp_set b)
{
    return qp_run(q, &qp_op_minus, (qp_set[]){a, b}, 2, NULL);
}
