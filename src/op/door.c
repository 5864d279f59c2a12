/* The one door to an operator: whatever runs was let in here, and stands in the trace. */
#include "op/op.h"

static bool may_enter(qp_query *q, const qp_op *op, int n_in)
{
    if (qp_query_over(q, op->name))
        return false;
    if (n_in >= op->in_min && n_in <= op->in_max)
        return true;
    qp_fail(&q->err, QP_USAGE, "'%s' reads %d to %d sets, %d were given", op->name, op->in_min, op->in_max, n_in);
    return false;
}

qp_set qp_run(qp_query *q, const qp_op *op, const qp_set *in, int n_in, const void *opt)
{
    qp_set none = {0};
    if (!may_enter(q, op, n_in))
        return none;
    uint32_t sum = 0;
    for (int i = 0; i < n_in; i++)
        sum += in[i].nodes.n;
    uint32_t step = qp_trace_open(q, op, opt, sum);
    q->depth++;
    qp_set out = op->self ? qp_pipeline_run(q, op, in, n_in, opt) : op->run(q, in, n_in, opt);
    q->depth--;
    if (q->err.code != QP_OK)
        out = none;
    qp_trace_close(q, step, out.nodes.n);
    return out;
}
