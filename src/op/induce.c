/* The edges between the nodes of a set; of a set with edges, their ends join its nodes. */
#include "op/ops.h"
#include "op/sub.h"

typedef struct induce_opt {
    const char *edges;
} induce_opt;

static const qp_opt opts[] = {QP_EDGES_HERE(induce_opt), {0}};

/* Nodes keep their scores and their order; new ones follow. */
static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const induce_opt *o = opt;
    qp_walk walk = qp_query_walk(q, o->edges, NULL);
    qp_sub sub;
    (void)n_in;
    if (!qp_sub_make(q, in[0], walk, &sub))
        return (qp_set){0};
    qp_set made = qp_sub_set(q, &sub);
    qp_set out = qp_join(q, qp_set_of(in[0].nodes), qp_set_of(made.nodes));
    out.edges = in[0].edges.n ? in[0].edges : made.edges;
    out.paths = in[0].paths;
    return out;
}

const qp_op qp_op_induce = {
    .name = "induce",
    .help = "adds the edges between a set's nodes, or the nodes at the ends of its edges",
    .source = "GEAR, section on fusion; CG-RAG, contextual subgraphs",
    .opts = opts,
    .opt_size = sizeof(induce_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_induce_set(qp_query *q, qp_set a)
{
    return qp_run(q, &qp_op_induce, &a, 1, &(induce_opt){NULL});
}
