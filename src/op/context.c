/* The contextual citation graph among a question's candidates (CG-RAG, 4.2.2).
 *
 * It is made here and not when a document is indexed: only what is near the question is looked at, n and the sparse
 * signal stay options of the question, and other methods walk the edges that their papers define. In an index of one
 * chunk a document, and where the cited one has at most n, there is nothing to rank and it costs nothing.
 *
 * Readings. An edge from a document to the first chunk of another is a citation of that document; one to a later chunk
 * names that chunk, and stays. r_ij: tf-idf or BM25 with c_i as the question, and the inner product, each scaled to
 * 0..1 over the cited document's chunks, added. N(i) holds both ends; `in`: those that eq. 2's arrows lead to i from,
 * which are what i cites or refers to, and the chunk before it.
 */
#include <stdlib.h>

#include "base/sorted.h"
#include "base/vector.h"
#include "op/idmap.h"
#include "op/lesegr.h"
#include "op/ops.h"

enum { LONGEST = 100000 }; /* chunks of a cited document that are looked at */

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
    uint64_t *allow; /* a bit a node, all clear between uses */
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

/* ---- chunks of a cited document ---- */

static qp_str document_of(builder *b, qp_id id)
{
    qp_about about = {0};
    if (id >= b->q->graph->entity || b->q->err.code ||
        b->q->graph->about(b->q->graph->self, &id, 1, &about, b->q->mem, &b->q->err))
        return (qp_str){0};
    return about.document;
}

/* How many chunks the document has whose first chunk this is; 0: it is another chunk. */
static uint32_t chunks_from(builder *b, qp_id id, qp_str document)
{
    uint32_t n = 1;
    if (id && qp_str_eq(document_of(b, id - 1), document))
        return 0;
    while (n < LONGEST && qp_str_eq(document_of(b, id + n), document))
        n++;
    return n;
}

static void scale(float *x, uint32_t n)
{
    float low = x[0], high = x[0];
    for (uint32_t i = 1; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] = high > low ? (x[i] - low) / (high - low) : 0;
}

const char *qp_sparse_index(const char *sparse)
{
    static const char *const indices[] = {"node.tfidf", "node.doc2query", "node.splade"};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        if (!strcmp(sparse, indices[i] + strlen("node.")))
            return indices[i];
    return "node.bm25";
}

/* What the lexical index says of these nodes with `text` as the question; 0: nothing in common. */
static bool sparse_of(builder *b, const char *index, qp_str text, const qp_id *ids, uint32_t n, float *out)
{
    qp_query *q = b->q;
    qp_list found = {0};
    qp_probe probe = {.text = text, .allow = b->allow};
    if (qp_str_ends(qp_str_of(index), QP_STR("splade")))
        probe.terms = qp_query_terms(q);
    for (uint32_t i = 0; i < n; i++)
        b->allow[ids[i] / 64] |= UINT64_C(1) << (ids[i] % 64);
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, index, &probe, n, &found, q->mem, &q->err);
    for (uint32_t i = 0; i < n; i++)
        b->allow[ids[i] / 64] = 0;
    qp_idmap at = qp_idmap_in(q->mem);
    for (uint32_t i = 0; i < found.n; i++)
        if (!qp_idmap_put(&at, found.at[i].id, i, NULL))
            return qp_oom(&q->err), false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *slot = qp_idmap_get(&at, ids[i]);
        out[i] = slot ? found.at[*slot].score : 0;
    }
    return q->err.code == QP_OK;
}

/* r_ij of chunk i and the n chunks from `first` on. Learned terms of a passage are not to be had: BM25 stands in. */
static float *relevance(builder *b, qp_id i, qp_id first, uint32_t n)
{
    qp_query *q = b->q;
    uint32_t dim = q->graph->dim;
    float *sparse = qp_new(q->mem, float, n), *dense = qp_new(q->mem, float, n);
    float *vectors = qp_new(q->mem, float, ((size_t)n + 1) * dim);
    qp_id *ids = qp_new(q->mem, qp_id, n + 1u);
    qp_str text;
    if (!sparse || !dense || !vectors || !ids)
        return qp_oom(&q->err), NULL;
    for (uint32_t k = 0; k < n; k++)
        ids[k] = first + k;
    ids[n] = i;
    if (q->graph->vectors(q->graph->self, "node.dense", ids, n + 1, vectors, &q->err) ||
        q->graph->text(q->graph->self, QP_NODE, &i, 1, &text, q->mem, &q->err) ||
        !sparse_of(b, *b->o->sparse == 't' ? "node.tfidf" : "node.bm25", text, ids, n, sparse))
        return NULL;
    for (uint32_t k = 0; k < n; k++)
        dense[k] = qp_dot(vectors + (size_t)k * dim, vectors + (size_t)n * dim, dim);
    scale(sparse, n);
    scale(dense, n);
    for (uint32_t k = 0; k < n; k++)
        sparse[k] += dense[k];
    return sparse;
}

/* The edge's beginning joined with the best n chunks of the document that begins at its end. */
static bool cite(builder *b, qp_led edge, uint32_t chunks)
{
    qp_query *q = b->q;
    qp_id i = edge.from, first = edge.to;
    uint32_t best = (uint32_t)b->o->n;
    const float *r = chunks > best ? relevance(b, i, first, chunks) : NULL;
    qp_hit *hits = qp_new(q->mem, qp_hit, chunks);
    if (!hits || q->err.code || (chunks > best && !r))
        return qp_oom(&q->err), false;
    for (uint32_t k = 0; k < chunks; k++)
        hits[k] = (qp_hit){first + k, QP_NO_ID, r ? r[k] : 0, NULL};
    qp_list kept = qp_list_sorted(q, hits, chunks, best);
    for (uint32_t k = 0; k < kept.n; k++) {
        edge.to = kept.at[k].id;
        if (!add_node(b, edge.to) || (qp_idmap_get(&b->inside, edge.to) && !add_edge(b, edge, i, edge.to)))
            return false;
    }
    return q->err.code == QP_OK;
}

/* ---- edges ---- */

/* An edge of the index that begins at a candidate. */
static bool take_edge(builder *b, qp_id id, const qp_link *link, qp_str document)
{
    const qp_led edge = {id, link->from, link->to};
    qp_str other = document_of(b, link->to);
    if (!qp_str_eq(other, document) && other.n) {
        uint32_t chunks = chunks_from(b, link->to, other);
        if (chunks > 1)
            return cite(b, edge, chunks);
    }
    if (!qp_idmap_get(&b->inside, link->to))
        return b->q->err.code == QP_OK;
    bool next = qp_str_eq(link->type, QP_STR("next")); /* the earlier chunk is the later one's context */
    return next ? add_edge(b, edge, link->to, link->from) : add_edge(b, edge, link->from, link->to);
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
    for (uint32_t i = 0; i < n && !qp_query_over(q, "lesegr"); i++) {
        qp_str document = document_of(b, b->node[i]);
        for (uint32_t a = adj.start[i]; a < adj.start[i + 1]; a++)
            if (!take_edge(b, adj.edge[a], &links[a], document))
                return false;
    }
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
    if (!sparse_of(b, qp_sparse_index(b->o->sparse), q->text, c->node, n, delta))
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
    b.allow = qp_new(q->mem, uint64_t, q->graph->nodes / 64 + 1u);
    if (q->err.code || !b.allow)
        return qp_oom(&q->err), false;
    if (!add_nodes(&b, nodes) || !take_edges(&b) || !lay_out(&b, c) || (o->delta && !weigh(&b, c)))
        return false;
    float *vectors = qp_new(q->mem, float, (size_t)b.n * q->graph->dim + 1);
    if (!vectors)
        return qp_oom(&q->err), false;
    c->candidates.vector = vectors;
    return q->graph->vectors(q->graph->self, "node.dense", c->node, b.n, vectors, &q->err) == QP_OK;
}
