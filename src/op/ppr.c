/* O_gs: personalised PageRank from a set, over the whole graph. */
#include "graph/ppr.h"

#include <math.h>

#include "graph/inside.h"

#include "op/chain.h"
#include "op/ops.h"

static const qp_opt opts[] = {{"top", "how many nodes", QP_INT, offsetof(qp_ppr_opt, top), "1000", 1, 1e9, NULL},
                              {"alpha", "probability of starting again", QP_FLOAT, offsetof(qp_ppr_opt, alpha), "0.15",
                               1e-6, .999999, NULL},
                              QP_PPR_ENGINE_OPTION(qp_ppr_opt),
                              QP_PPR_WITHIN_OPTION(qp_ppr_opt),
                              {"tolerance", "of the engine; 0: its own", QP_FLOAT, offsetof(qp_ppr_opt, tolerance), "0",
                               0, 1, NULL},
                              {"seed", "of fora's walks", QP_INT, offsetof(qp_ppr_opt, seed), "0", 0, 1e15, NULL},
                              {"by_score", "weight the nodes it starts from by their scores", QP_BOOL,
                               offsetof(qp_ppr_opt, by_score), "false", 0, 0, NULL},
                              QP_EDGES_HERE(qp_ppr_opt),
                              QP_DIRECTION_HERE(qp_ppr_opt),
                              {0}};

static qp_ppr_engine engine_of(const char *name)
{
    qp_ppr_engine e = QP_PPR_AUTO;
    while (e + 1 < QP_PPR_ENGINES && strcmp(qp_ppr_engine_name(e), name))
        e++;
    return e;
}

/* False after an error. */
static bool fill_query(qp_query *q, qp_list from, const qp_ppr_opt *o, uint32_t nodes, qp_ppr_query *how)
{
    const qp_id *seeds = qp_list_ids(q, from);
    float *weight = qp_new(q->mem, float, from.n + 1u);
    if (!seeds || !weight) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < from.n; i++)
        weight[i] = from.at[i].score > 0 ? from.at[i].score : 0;
    *how = (qp_ppr_query){.seed = seeds,
                          .weight = o->by_score ? weight : NULL,
                          .n_seeds = from.n,
                          .alpha = o->alpha,
                          .engine = engine_of(o->engine),
                          .tolerance = o->tolerance,
                          .top = (uint32_t)(o->top < nodes ? o->top : nodes),
                          .below = o->passages ? q->graph->entity : 0,
                          .single = o->single,
                          .dangling = o->even ? QP_PPR_UNIFORM : QP_PPR_RESTART,
                          .random = (uint64_t)o->seed,
                          .threads = 1,
                          .cancel = q->cancel};
    return true;
}

/* The walks that the index keeps, if they stop as these would; false after an error. */
static bool stored_walks(qp_query *q, qp_walk walk, qp_ppr_query *how, qp_ppr_walks *out)
{
    qp_stops s = {0};
    bool all = walk.types == UINT64_MAX && walk.direction == QP_BOTH && !walk.across && q->graph->stops;
    if (how->engine == QP_PPR_FORA && all && q->graph->stops(q->graph->self, &s, &q->err))
        return false;
    *out = (qp_ppr_walks){s.alpha, s.epsilon, s.n, s.start, s.stop};
    if (s.n && fabs(how->alpha - s.alpha) < 1e-9) {
        how->alpha = s.alpha;
        how->walks = out;
    }
    return true;
}

static qp_list in_graph(qp_query *q, qp_walk walk, qp_list from, const qp_ppr_opt *o)
{
    qp_walked walked;
    qp_ppr_query how;
    qp_ppr_walks walks;
    qp_ppr_result found = {0};
    if (qp_query_chain(q, walk, &walked) && fill_query(q, from, o, walked.chain->out.n, &how) &&
        stored_walks(q, walk, &how, &walks)) {
        qp_ppr_space *space = qp_walked_space(q, &walked);
        if (space)
            qp_ppr(space, &how, q->mem, &found, &q->err);
        qp_walked_give(&walked, space);
    }
    qp_walked_done(&walked);
    return qp_query_scored(q, found.at, found.n);
}

/* The whole graph is looked at nowhere: this costs what the communities hold. */
static qp_list in_parts(qp_query *q, qp_walk walk, qp_list from, const qp_ppr_opt *o)
{
    qp_partition parts;
    qp_arcs arcs;
    qp_ppr_query how;
    qp_ppr_result found = {0};
    if (!qp_query_parts(q, walk, &parts))
        return (qp_list){0};
    if (!parts.n) {
        qp_fail(&q->err, QP_INPUT,
                "within=partition wants an index with communities, and to walk all edges both ways: add them with "
                "`quipu index -o partition=yes SOURCE`, leave edges and direction out");
        return (qp_list){0};
    }
    if (!q->graph->arcs(q->graph->self, walk, &arcs, q->mem, &q->err) && fill_query(q, from, o, arcs.n, &how)) {
        const qp_csr graph = {arcs.n, arcs.start, arcs.node, NULL};
        qp_ppr_inside(&graph, &parts, &how, q->mem, &found, &q->err);
    }
    return qp_query_scored(q, found.at, found.n);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_ppr_opt *o = opt;
    (void)n_in;
    if (!in[0].nodes.n)
        return (qp_set){0};
    qp_walk walk = qp_query_walk(q, o->edges, o->direction);
    return qp_set_of(*o->within == 'p' ? in_parts(q, walk, in[0].nodes, o) : in_graph(q, walk, in[0].nodes, o));
}

const qp_op qp_op_ppr = {
    .name = "ppr",
    .help = "the nodes where a walk that starts again and again at a set is most often: personalised PageRank",
    .source = "FastInsight, 3.1.2 (O_gs); LEGO-GraphRAG, SBE-PPR; engines: docs/methods.md",
    .opts = opts,
    .opt_size = sizeof(qp_ppr_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_ppr_from(qp_query *q, qp_set from, double alpha, uint32_t top)
{
    return qp_run(q, &qp_op_ppr, &from, 1,
                  &(qp_ppr_opt){.top = top, .alpha = alpha, .engine = "auto", .within = "graph"});
}

qp_set qp_ppr_by_score(qp_query *q, qp_set from, double alpha, uint32_t top)
{
    return qp_run(q, &qp_op_ppr, &from, 1,
                  &(qp_ppr_opt){.top = top, .alpha = alpha, .engine = "auto", .within = "graph", .by_score = true});
}
