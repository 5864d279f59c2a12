/* Subgraph extraction: by structure (k-hop, PPR, random walk with restart), by a semantic model over the PPR subgraph's
 * triples, or by vectors and a hop. */
#include "op/choose.h"
#include "method/lego.h"
#include "op/eem.h"
#include "op/ops.h"
#include "op/sub.h"

/* The best max_edge edges by score, with the starts and, of the subgraph they come from, the nodes at their ends: with the
 * PageRank by which paths to them are sorted. */
static qp_set keep_edges(qp_query *q, const lego_opt *o, qp_set starts, qp_set sub, qp_list edges)
{
    edges.n = edges.n < o->max_edge ? edges.n : (uint32_t)o->max_edge;
    const qp_set kept = {.edges = edges}, nodes = qp_set_of(sub.nodes);
    const qp_set ends = edges.n ? qp_set_of(qp_induce_set(q, kept).nodes) : (qp_set){0};
    return qp_join(q, qp_join(q, qp_set_of(starts.nodes), qp_minus(q, nodes, qp_minus(q, nodes, ends))), kept);
}

static qp_set by_model(qp_query *q, const lego_opt *o, qp_set starts, qp_set sub)
{
    const qp_id *ids = qp_list_ids(q, sub.edges);
    const float *score = ids ? qp_eem_edges(q, o->eem, o->item, ids, sub.edges.n) : NULL;
    qp_hit *hit = score ? qp_list_copy(q, sub.edges) : NULL;
    for (uint32_t i = 0; hit && i < sub.edges.n; i++)
        hit[i].score = score[i];
    return keep_edges(q, o, starts, sub, qp_list_sorted(q, hit, hit ? sub.edges.n : 0, sub.edges.n));
}

/* The writer reads triples, a window at a time; before it the embedder may thin them out. */
static qp_set by_writer(qp_query *q, const lego_opt *o, qp_set starts, qp_set sub)
{
    qp_set few = sub;
    uint32_t n_chosen, first = o->prefilter ? (uint32_t)o->prefilter : 4 * (uint32_t)o->max_edge;
    lego_opt wide = *o;
    wide.max_edge = first;
    few.edges = by_model(q, &wide, starts, sub).edges;
    qp_str *text = qp_new(q->mem, qp_str, few.edges.n + 1u);
    const qp_id *ids = qp_list_ids(q, few.edges);
    if (!text || !ids || q->graph->text(q->graph->self, QP_TRIPLE, ids, few.edges.n, text, q->mem, &q->err))
        return (qp_set){0};
    const qp_choice choice = {o->extract_prompt,     "lego-extract.txt",  o->example,
                              (uint32_t)o->max_edge, (uint32_t)o->window, false};
    const uint32_t *chosen = qp_choose(q, &choice, text, few.edges.n, &n_chosen);
    qp_hit *hit = chosen ? qp_new(q->mem, qp_hit, n_chosen + (size_t)o->max_edge + 1) : NULL;
    uint32_t n = 0;
    for (; hit && n < n_chosen; n++) {
        hit[n] = few.edges.at[chosen[n]];
        hit[n].score = (float)(n_chosen - n);
    }
    for (uint32_t i = 0; hit && o->supplement && i < few.edges.n && n < o->max_edge;
         i++) { /* the embedder's, after them */
        bool known = false;
        for (uint32_t j = 0; j < n_chosen; j++)
            known |= chosen[j] == i;
        if (!known) {
            hit[n] = few.edges.at[i];
            hit[n++].score = -(float)i - 1;
        }
    }
    return keep_edges(q, o, starts, sub, qp_list_sorted(q, hit, n, n));
}

static qp_set by_steps(qp_query *q, const lego_opt *o, qp_set starts)
{
    qp_set near = qp_hop(q, starts, (uint32_t)o->khop);
    near = qp_join(q, starts, near);
    return near.nodes.n > o->max_ent ? qp_set_of((qp_list){near.nodes.at, (uint32_t)o->max_ent}) : near;
}

/* The nodes nearest by vectors, and one hop around them: LEGO's vector database (its precomputation). */
static qp_set by_vectors(qp_query *q, const lego_opt *o, qp_set starts)
{
    qp_set found = qp_join(q, starts, qp_search(q, "entity.dense", (uint32_t)o->top_k));
    found = qp_join(q, found, qp_hop(q, found, 1));
    return found.nodes.n > o->max_ent ? qp_set_of((qp_list){found.nodes.at, (uint32_t)o->max_ent}) : found;
}

qp_set lego_extract(qp_query *q, const lego_opt *o, qp_set starts)
{
    if (!strcmp(o->se, "sbe-khop"))
        return by_steps(q, o, starts);
    if (!strcmp(o->se, "sbe-rwr"))
        return qp_rwr_from(q, starts, o->alpha, (uint32_t)o->max_ent, (uint64_t)o->seed);
    if (!strcmp(o->se, "vdb"))
        return by_vectors(q, o, starts);
    const qp_ppr_opt how = {
        .top = o->max_ent, .alpha = o->alpha, .engine = o->engine, .within = o->within, .seed = o->seed};
    qp_set sub = qp_join(q, starts, qp_run(q, &qp_op_ppr, &starts, 1, &how));
    if (*o->se == 's' && o->se[1] == 'b')
        return sub;
    sub = qp_induce_set(q, sub);
    return !strcmp(o->se, "sae-llm") ? by_writer(q, o, starts, sub) : by_model(q, o, starts, sub);
}
