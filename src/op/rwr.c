/* O_gs: random walks with restart from a set, counted. */
#include "graph/rwr.h"
#include "op/chain.h"
#include "op/ops.h"

typedef struct rwr_opt {
    int64_t top, steps, seed;
    double alpha;
    const char *edges;
} rwr_opt;

static const qp_opt opts[] = {{"top", "how many nodes", QP_INT, offsetof(rwr_opt, top), "1000", 1, 1e9, NULL},
                              {"alpha", "probability of starting again", QP_FLOAT, offsetof(rwr_opt, alpha), "0.15",
                               1e-6, .999999, NULL},
                              {"steps", "visits counted", QP_INT, offsetof(rwr_opt, steps), "100000", 1, 1e9, NULL},
                              {"seed", "of the walks", QP_INT, offsetof(rwr_opt, seed), "0", 0, 1e15, NULL},
                              QP_EDGES_HERE(rwr_opt),
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const rwr_opt *o = opt;
    (void)n_in;
    if (!in[0].nodes.n)
        return (qp_set){0};
    qp_walk walk = qp_query_walk(q, o->edges, NULL);
    qp_walked walked;
    const qp_id *seeds = qp_query_chain(q, walk, &walked) ? qp_list_ids(q, in[0].nodes) : NULL;
    const qp_rwr_query how = {.seed = seeds,
                              .n_seeds = in[0].nodes.n,
                              .alpha = o->alpha,
                              .steps = (uint64_t)o->steps,
                              .top = (uint32_t)o->top,
                              .random = (uint64_t)o->seed,
                              .cancel = q->cancel};
    qp_rwr_result found = {0};
    if (seeds)
        qp_rwr(walked.chain, &how, q->mem, &found, &q->err);
    qp_walked_done(&walked);
    return qp_set_of(qp_query_scored(q, found.at, found.n));
}

const qp_op qp_op_rwr = {
    .name = "rwr",
    .help = "the nodes that random walks from a set visit most, starting again now and then",
    .source = "LEGO-GraphRAG, SBE-RWR",
    .opts = opts,
    .opt_size = sizeof(rwr_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_rwr_from(qp_query *q, qp_set from, double alpha, uint32_t top, uint64_t seed)
{
    return qp_run(q, &qp_op_rwr, &from, 1,
                  &(rwr_opt){.top = top, .alpha = alpha, .steps = 100000, .seed = (int64_t)seed});
}
