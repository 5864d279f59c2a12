/* CG-RAG, 4.3 and 4.4: candidates by sparse and dense search and K hops, LeSeGR over them, the best with their contexts. */
#include "method/cgrag.h"
#include "method/first.h"
#include "method/methods.h"
#include "op/cited.h"

static const qp_opt opts[] = {QP_LESEGR_OPTIONS(qp_cgrag_opt, lesegr.),
                              QP_CANDIDATE_OPTIONS(qp_cgrag_opt, ),
                              {"context", "neighbours that a returned node's subgraph shows; 0 = all", QP_INT,
                               offsetof(qp_cgrag_opt, context), "8", 0, 1e6, NULL},
                              QP_SUMMARISE_OPTIONS(qp_cgrag_opt, summarise.),
                              QP_TOP_OPTION(qp_cgrag_opt),
                              {0}};

qp_set qp_cgrag_candidates(qp_query *q, qp_set seeds, const qp_cgrag_opt *o)
{
    uint32_t n = (uint32_t)o->seeds, budget = (uint32_t)o->budget;
    if (!seeds.nodes.n)
        seeds = qp_fuse(q, qp_search(q, "node.dense", n), qp_search(q, qp_sparse_index(o->lesegr.sparse), n), "minmax",
                        .5f, budget);
    if (!o->lesegr.graph || o->lesegr.full || seeds.nodes.n >= budget)
        return seeds;
    qp_set near = qp_hop_until(q, seeds, (uint32_t)o->lesegr.layers, budget - seeds.nodes.n);
    return qp_set_of(qp_cited_reached(q, seeds.nodes, near.nodes, budget, &o->lesegr));
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_cgrag_opt *o = opt;
    qp_walk outer = q->walk;
    q->walk = qp_query_walk(q, o->lesegr.edges, "both");
    qp_set c = qp_cgrag_candidates(q, n_in ? in[0] : (qp_set){0}, o);
    c = qp_run(q, &qp_op_lesegr, &c, 1, &o->lesegr);
    c = qp_ego_set(q, qp_top(q, qp_set_of(c.nodes), (uint32_t)o->top), c, "set", (uint32_t)o->context);
    q->walk = outer;
    return *o->summarise.by == 'n' ? c : qp_run(q, &qp_op_summarise, &c, 1, &o->summarise);
}

static unsigned asks(const void *opt)
{
    return qp_lesegr_asks(opt) | qp_summarise_asks(&((const qp_cgrag_opt *)opt)->summarise);
}

const qp_op qp_method_cg_rag = {
    .name = "cg-rag",
    .help = "messages over the citations among candidates (LeSeGR), each result with the subgraph around it",
    .source = "CG-RAG, 4.3, Algorithm 1; 4.4, equations 18 to 20",
    .opts = opts,
    .opt_size = sizeof(qp_cgrag_opt),
    .in_max = 1,
    .run = run,
    .asks = asks,
};
