/* The algebra: top. A list is best first, so its best k are its first k. */
#include "op/ops.h"

typedef struct top_opt {
    int64_t k;
} top_opt;

static const qp_opt opts[] = {{"k", "how many nodes stay", QP_INT, offsetof(top_opt, k), "10", 0, 1e9, NULL}, {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const top_opt *o = opt;
    qp_set out = in[0];
    (void)q, (void)n_in;
    if (out.nodes.n > o->k)
        out.nodes.n = (uint32_t)o->k;
    return out;
}

const qp_op qp_op_top = {
    .name = "top",
    .help = "the first k nodes",
    .source = "FastInsight, Definition 2 (argtopk)",
    .opts = opts,
    .opt_size = sizeof(top_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_top(qp_query *q, qp_set a, uint32_t k)
{
    return qp_run(q, &qp_op_top, &a, 1, &(top_opt){k});
}
