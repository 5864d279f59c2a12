/* O_m: the cross-encoder reads the question with each node's text. */
#include "op/ops.h"

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    qp_list nodes = in[0].nodes;
    qp_set out = in[0];
    const qp_id *ids = qp_list_ids(q, nodes);
    (void)opt, (void)n_in;
    out.nodes = qp_list_scored(q, nodes, ids && nodes.n ? qp_query_rank(q, ids, nodes.n) : NULL);
    return out;
}

const qp_op qp_op_rerank = {
    .name = "rerank",
    .help = "sorts nodes by the cross-encoder's score; a node is encoded once a question",
    .source = "FastInsight, 3.1.3, Definition 4 (O_m)",
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_RANKER,
};

qp_set qp_rerank(qp_query *q, qp_set a)
{
    return qp_run(q, &qp_op_rerank, &a, 1, NULL);
}
