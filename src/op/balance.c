/* Passages are joined to many entities and would outweigh them: AGRAG's and HippoRAG 2's balance factor. */
#include "op/ops.h"

typedef struct balance_opt {
    double factor;
} balance_opt;

static const qp_opt opts[] = {{"factor", "of the passages' scores", QP_FLOAT, offsetof(balance_opt, factor), "0.05", 0,
                               1e6, NULL},
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const balance_opt *o = opt;
    qp_set out = in[0];
    qp_hit *hit = qp_list_copy(q, out.nodes);
    (void)n_in;
    for (uint32_t i = 0; hit && i < out.nodes.n; i++)
        if (hit[i].id < q->graph->entity)
            hit[i].score *= (float)o->factor;
    out.nodes = qp_list_sorted(q, hit, hit ? out.nodes.n : 0, out.nodes.n);
    return out;
}

const qp_op qp_op_balance = {
    .name = "balance",
    .help = "multiplies the scores of passages, and leaves those of entities",
    .source = "AGRAG, III-C (0.05); HippoRAG 2, passage node weight",
    .opts = opts,
    .opt_size = sizeof(balance_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_balance(qp_query *q, qp_set a, double factor)
{
    return qp_run(q, &qp_op_balance, &a, 1, &(balance_opt){factor});
}
