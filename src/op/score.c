/* O_vs on few nodes: the bi-encoder's score of nodes that something else found. */
#include "op/ops.h"

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    qp_list nodes = in[0].nodes;
    qp_set out = in[0];
    const qp_id *ids = qp_list_ids(q, nodes);
    (void)opt, (void)n_in;
    out.nodes = qp_list_scored(q, nodes, ids && nodes.n ? qp_query_dots(q, ids, nodes.n) : NULL);
    return out;
}

const qp_op qp_op_score = {
    .name = "score",
    .help = "sorts nodes by the inner product of their vectors with the question's",
    .source = "FastInsight, 3.1.1, Example 1",
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_score(qp_query *q, qp_set a)
{
    return qp_run(q, &qp_op_score, &a, 1, NULL);
}
