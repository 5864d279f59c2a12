/* O_gs: personalised PageRank from a set, over the whole graph. */
#include "graph/ppr.h"

#include "op/chain.h"
#include "op/ops.h"

typedef struct ppr_opt {
    int64_t top;
    double alpha, tolerance;
    const char *engine, *edges, *direction;
    int64_t seed;
    bool by_score;
} ppr_opt;

static const qp_opt opts[] = {{"top", "how many nodes", QP_INT, offsetof(ppr_opt, top), "1000", 1, 1e9, NULL},
                              {"alpha", "probability of starting again", QP_FLOAT, offsetof(ppr_opt, alpha), "0.15",
                               1e-6, .999999, NULL},
                              {"engine", "how it is computed; auto: exact in small graphs, fast in large ones", QP_ENUM,
                               offsetof(ppr_opt, engine), "auto", 0, 0, "auto|exact|bounded|fast|fora|backward"},
                              {"tolerance", "of the engine; 0: its own", QP_FLOAT, offsetof(ppr_opt, tolerance), "0", 0,
                               1, NULL},
                              {"seed", "of fora's walks", QP_INT, offsetof(ppr_opt, seed), "0", 0, 1e15, NULL},
                              {"by_score", "weight the nodes it starts from by their scores", QP_BOOL,
                               offsetof(ppr_opt, by_score), "false", 0, 0, NULL},
                              QP_EDGES_HERE(ppr_opt),
                              QP_DIRECTION_HERE(ppr_opt),
                              {0}};

static qp_ppr_engine engine_of(const char *name)
{
    qp_ppr_engine e = QP_PPR_AUTO;
    while (e + 1 < QP_PPR_ENGINES && strcmp(qp_ppr_engine_name(e), name))
        e++;
    return e;
}

static qp_list run_on(qp_query *q, const qp_walked *walked, qp_list from, const ppr_opt *o)
{
    const qp_id *seeds = qp_list_ids(q, from);
    float *weight = qp_new(q->mem, float, from.n + 1u);
    qp_ppr_result found = {0};
    if (!seeds || !weight) {
        qp_oom(&q->err);
        return (qp_list){0};
    }
    for (uint32_t i = 0; i < from.n; i++)
        weight[i] = from.at[i].score > 0 ? from.at[i].score : 0;
    const qp_ppr_query how = {.seed = seeds,
                              .weight = o->by_score ? weight : NULL,
                              .n_seeds = from.n,
                              .alpha = o->alpha,
                              .engine = engine_of(o->engine),
                              .tolerance = o->tolerance,
                              .top = (uint32_t)(o->top < walked->chain->out.n ? o->top : walked->chain->out.n),
                              .random = (uint64_t)o->seed,
                              .threads = 1,
                              .cancel = q->cancel};
    qp_ppr_space *space = qp_walked_space(q, walked);
    if (space)
        qp_ppr(space, &how, q->mem, &found, &q->err);
    qp_walked_give(walked, space);
    return qp_query_scored(q, found.at, found.n);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const ppr_opt *o = opt;
    (void)n_in;
    if (!in[0].nodes.n)
        return (qp_set){0};
    qp_walk walk = qp_query_walk(q, o->edges, o->direction);
    qp_walked walked;
    qp_list found = qp_query_chain(q, walk, &walked) ? run_on(q, &walked, in[0].nodes, o) : (qp_list){0};
    qp_walked_done(&walked);
    return qp_set_of(found);
}

const qp_op qp_op_ppr = {
    .name = "ppr",
    .help = "the nodes where a walk that starts again and again at a set is most often: personalised PageRank",
    .source = "FastInsight, 3.1.2 (O_gs); LEGO-GraphRAG, SBE-PPR; engines: docs/methods.md",
    .opts = opts,
    .opt_size = sizeof(ppr_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_ppr_from(qp_query *q, qp_set from, double alpha, uint32_t top)
{
    return qp_run(q, &qp_op_ppr, &from, 1, &(ppr_opt){.top = top, .alpha = alpha, .engine = "auto"});
}

qp_set qp_ppr_by_score(qp_query *q, qp_set from, double alpha, uint32_t top)
{
    return qp_run(q, &qp_op_ppr, &from, 1, &(ppr_opt){.top = top, .alpha = alpha, .engine = "auto", .by_score = true});
}
