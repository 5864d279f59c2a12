/* The contextual citation graph among a question's candidates (CG-RAG, 4.2.2).
 *
 * It is made here and not when a document is indexed: only what is near the question is looked at, n and the sparse
 * signal stay options of the question, and other methods walk the edges that their papers define. In an index of one
 * chunk a document, and where the cited one has at most n, there is nothing to rank and it costs nothing.
 *
 * Readings. Messages are passed among the candidates, so what a citation leads to outside of them is dropped, after the
 * best were chosen: the graph is that part of the whole one. N(i) holds both ends; `in`: those that eq. 2's arrows lead
 * to i from, which are what i cites or refers to, and the chunk before it.
 */
#include <stdlib.h>

#include "base/sorted.h"
#include "op/cited.h"
#include "op/idmap.h"
#include "op/lesegr.h"
#include "op/ops.h"

typedef struct arc {
    qp_id from, to;
} arc;

typedef struct builder {
    qp_query *q;
    const qp_lesegr_opt *o;
    qp_idmap inside;
    qp_id *node; /* candidates, in order of arrival */
    uint32_t n, cap;
    arc *arcs;
    uint32_t n_arcs, cap_arcs;
    qp_led *edges;
    uint32_t n_edges, cap_edges;
    qp_cited cited;
} builder;

static bool grow(builder *b, void **at, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    uint32_t wanted = *cap ? *cap * 2 : 256;
    void *more = qp_arena_array(b->q->mem, wanted, size);
    if (!more) {
        qp_oom(&b->q->err);
        return false;
    }
    if (n)
        memcpy(more, *at, n * size);
    *at = more;
    *cap = wanted;
    return true;
}

static bool add_node(builder *b, qp_id id)
{
    bool added;
    if (!qp_query_allows(b->q, id))
        return true;
    if (!qp_idmap_put(&b->inside, id, 0, &added)) {
        qp_oom(&b->q->err);
        return false;
    }
    if (!added)
        return true;
    if (!grow(b, (void **)&b->node, b->n, &b->cap, sizeof *b->node))
        return false;
    b->node[b->n++] = id;
    return true;
}

/* An edge, by which j joins N(i); and i joins N(j), unless only what arrows lead to counts. Without messages it is still
 * what is around a result. */
static bool add_edge(builder *b, qp_led edge, qp_id i, qp_id j)
{
    if (i == j)
        return true;
    if (!grow(b, (void **)&b->edges, b->n_edges, &b->cap_edges, sizeof *b->edges))
        return false;
    b->edges[b->n_edges++] = edge;
    for (int back = 0; b->o->graph && back < (*b->o->direction == 'i' ? 1 : 2); back++) {
        if (!grow(b, (void **)&b->arcs, b->n_arcs, &b->cap_arcs, sizeof *b->arcs))
            return false;
        b->arcs[b->n_arcs++] = back ? (arc){j, i} : (arc){i, j};
    }
    return true;
}

/* ---- edges ---- */

static bool any_inside(const builder *b, qp_id first, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !qp_idmap_get(&b->inside, first + i))
        i++;
    return i < n;
}

/* An edge of the index that begins at a candidate: to what it names, or to the best chunks of what it cites. */
static bool take_edge(builder *b, qp_id id, const qp_link *link)
{
    uint32_t chunks = qp_cited_chunks(&b->cited, link->from, link->to);
    const qp_hit named = {link->to, QP_NO_ID, 0, NULL};
    qp_list ends = {&named, 1};
    if (!any_inside(b, link->to, chunks ? chunks : 1))
        return b->q->err.code == QP_OK;
    if (chunks)
        ends = qp_cited_best(&b->cited, link->from, link->to, chunks);
    bool next = qp_str_eq(link->type, QP_STR("next")); /* the earlier chunk is the later one's context */
    for (uint32_t k = 0; k < ends.n; k++) {
        const qp_led edge = {id, link->from, ends.at[k].id};
        if (qp_idmap_get(&b->inside, edge.to) &&
            !add_edge(b, edge, next ? edge.to : edge.from, next ? edge.from : edge.to))
            return false;
    }
    return b->q->err.code == QP_OK;
}

static bool take_edges(builder *b)
{
    qp_query *q = b->q;
    qp_adj adj = {0};
    qp_walk walk = qp_query_walk(q, b->o->edges, "out");
    uint32_t n = b->n;
    if (q->err.code || q->graph->incident(q->graph->self, b->node, n, walk, &adj, q->mem, &q->err))
        return false;
    qp_link *links = qp_new(q->mem, qp_link, adj.start[n] + 1u);
    if (!links)
        return qp_oom(&q->err), false;
    if (q->graph->link(q->graph->self, adj.edge, adj.start[n], links, &q->err))
        return false;
    for (uint32_t i = 0; i < n && !qp_query_over(q, "lesegr"); i++)
        for (uint32_t a = adj.start[i]; a < adj.start[i + 1]; a++)
            if (!take_edge(b, adj.edge[a], &links[a]))
                return false;
    return q->err.code == QP_OK;
}

/* ---- arrays ---- */

static int by_ends(const void *a, const void *b)
{
    const arc *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

uint32_t qp_context_place(const qp_context *c, qp_id id)
{
    uint32_t n = c->candidates.graph.n;
    const qp_id *at = n ? bsearch(&id, c->node, n, sizeof id, qp_by_u32) : NULL;
    return at ? (uint32_t)(at - c->node) : QP_NO_ID;
}

/* Rows of places, each neighbour once. */
static bool lay_out(builder *b, qp_context *c)
{
    qp_query *q = b->q;
    uint64_t *start = qp_new(q->mem, uint64_t, (size_t)b->n + 1);
    uint32_t *target = qp_new(q->mem, uint32_t, b->n_arcs + 1u);
    if (!start || !target)
        return qp_oom(&q->err), false;
    if (b->n)
        qsort(b->node, b->n, sizeof *b->node, qp_by_u32);
    c->node = b->node;
    c->edge = b->edges;
    c->n_edges = b->n_edges;
    c->candidates.graph = (qp_csr){b->n, start, target, NULL};
    if (b->n_arcs)
        qsort(b->arcs, b->n_arcs, sizeof *b->arcs, by_ends);
    uint64_t n = 0;
    for (uint32_t i = 0; i < b->n_arcs; i++) {
        uint32_t from = qp_context_place(c, b->arcs[i].from), to = qp_context_place(c, b->arcs[i].to);
        bool again = i && !by_ends(&b->arcs[i], &b->arcs[i - 1]);
        if (again || from == QP_NO_ID || to == QP_NO_ID)
            continue;
        target[n++] = to;
        start[from + 1]++;
    }
    for (uint32_t i = 0; i < b->n; i++)
        start[i + 1] += start[i];
    return true;
}

/* The sparse signal over the largest among the candidates; where no candidate has a term of the question, all count
 * alike. */
static bool weigh(builder *b, qp_context *c)
{
    qp_query *q = b->q;
    uint32_t n = c->candidates.graph.n;
    float *delta = qp_new(q->mem, float, n + 1u), most = 0;
    if (!delta)
        return qp_oom(&q->err), false;
    if (!qp_cited_sparse(&b->cited, qp_sparse_index(b->o->sparse), q->text, c->node, n, delta))
        return false;
    for (uint32_t i = 0; i < n; i++)
        most = delta[i] > most ? delta[i] : most;
    for (uint32_t i = 0; i < n && most > 0; i++)
        delta[i] = delta[i] > 0 ? delta[i] / most : 0;
    c->candidates.delta = most > 0 ? delta : NULL;
    return true;
}

static bool add_nodes(builder *b, qp_list nodes)
{
    for (uint32_t i = 0; i < nodes.n && !b->o->full; i++)
        if (nodes.at[i].id < b->q->graph->entity && !add_node(b, nodes.at[i].id))
            return false;
    for (qp_id i = 0; i < b->q->graph->entity && b->o->full; i++)
        if (!add_node(b, i))
            return false;
    return true;
}

bool qp_lesegr_context(qp_query *q, qp_list nodes, const qp_lesegr_opt *o, qp_context *c)
{
    builder b = {.q = q, .o = o, .inside = qp_idmap_in(q->mem)};
    *c = (qp_context){.candidates = {.query = qp_query_vector(q), .flat = !o->alpha}};
    if (q->err.code || !qp_cited_begin(&b.cited, q, o))
        return qp_oom(&q->err), false;
    if (!add_nodes(&b, nodes) || !take_edges(&b) || !lay_out(&b, c) || (o->delta && !weigh(&b, c)))
        return false;
    float *vectors = qp_new(q->mem, float, (size_t)b.n * q->graph->dim + 1);
    if (!vectors)
        return qp_oom(&q->err), false;
    c->candidates.vector = vectors;
    return q->graph->vectors(q->graph->self, "node.dense", c->node, b.n, vectors, &q->err) == QP_OK;
}
