/* AGRAG's reasoning tree: what joins the facts of a question most cheaply. */
#include "op/fare.h"
#include "op/ops.h"

typedef struct steiner_opt {
    qp_fare_opt fare;
} steiner_opt;

static const qp_opt opts[] = {QP_FARE_OPTIONS(steiner_opt), {0}};

/* A set's nodes, and its edges' ends. */
static qp_id *terminals_of(qp_query *q, qp_set set, uint32_t *n)
{
    const qp_id *edge = qp_list_ids(q, set.edges);
    qp_link *link = edge ? qp_new(q->mem, qp_link, set.edges.n + 1u) : NULL;
    qp_id *out = link ? qp_new(q->mem, qp_id, set.nodes.n + 2 * (size_t)set.edges.n + 1) : NULL;
    if (!out)
        qp_oom(&q->err);
    if (!out || q->graph->link(q->graph->self, edge, set.edges.n, link, &q->err))
        return NULL;
    *n = 0;
    for (uint32_t i = 0; i < set.nodes.n; i++)
        out[(*n)++] = set.nodes.at[i].id;
    for (uint32_t i = 0; i < set.edges.n; i++) {
        out[(*n)++] = link[i].from;
        out[(*n)++] = link[i].to;
    }
    return out;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    uint32_t n;
    qp_mcmi tree;
    (void)n_in;
    qp_id *terminal = terminals_of(q, in[0], &n);
    qp_fares *f = terminal ? qp_fares_new(q, &((const steiner_opt *)opt)->fare) : NULL;
    if (!f || qp_mcmi_tree(qp_fares_graph(f), terminal, n, &tree, q->mem, &q->err))
        return (qp_set){0};
    return qp_fares_set(q, &tree, NULL);
}

const qp_op qp_op_steiner = {
    .name = "steiner",
    .help = "a tree through a set's nodes and the ends of its edges that costs little: an edge costs what it is far "
            "from the "
            "question",
    .source = "AGRAG, III-C, Algorithm 3, lines 1 to 10; Mehlhorn 1988",
    .opts = opts,
    .opt_size = sizeof(steiner_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};

qp_set qp_steiner_through(qp_query *q, qp_set facts)
{
    return qp_run(q, &qp_op_steiner, &facts, 1, &(steiner_opt){QP_FARE_STANDARD});
}
