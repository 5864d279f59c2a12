#include "op/cited.h"

#include "base/vector.h"
#include "op/idmap.h"
#include "op/ops.h"

enum { LONGEST = 100000 }; /* chunks of a cited document that are looked at */

const char *qp_sparse_index(const char *sparse)
{
    static const char *const indices[] = {"node.tfidf", "node.doc2query", "node.splade"};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        if (!strcmp(sparse, indices[i] + strlen("node.")))
            return indices[i];
    return "node.bm25";
}

bool qp_cited_begin(qp_cited *c, qp_query *q, const qp_lesegr_opt *o)
{
    *c = (qp_cited){q, o, qp_new(q->mem, uint64_t, q->graph->nodes / 64 + 1u)};
    return c->allow ? true : (qp_oom(&q->err), false);
}

static qp_str document_of(qp_cited *c, qp_id id)
{
    qp_about about = {0};
    if (id >= c->q->graph->entity || c->q->err.code ||
        c->q->graph->about(c->q->graph->self, &id, 1, &about, c->q->mem, &c->q->err))
        return (qp_str){0};
    return about.document;
}

uint32_t qp_cited_chunks(qp_cited *c, qp_id i, qp_id to)
{
    qp_str document = document_of(c, to);
    uint32_t n = 1;
    if (!document.n || qp_str_eq(document, document_of(c, i)) || (to && qp_str_eq(document, document_of(c, to - 1))))
        return 0;
    while (n < LONGEST && qp_str_eq(document_of(c, to + n), document))
        n++;
    return n > 1 ? n : 0;
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

bool qp_cited_sparse(qp_cited *c, const char *index, qp_str text, const qp_id *ids, uint32_t n, float *out)
{
    qp_query *q = c->q;
    qp_list found = {0};
    qp_probe probe = {.text = text, .allow = c->allow};
    if (qp_str_ends(qp_str_of(index), QP_STR("splade")))
        probe.terms = qp_query_terms(q);
    for (uint32_t i = 0; i < n; i++)
        c->allow[ids[i] / 64] |= UINT64_C(1) << (ids[i] % 64);
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, index, &probe, n, &found, q->mem, &q->err);
    for (uint32_t i = 0; i < n; i++)
        c->allow[ids[i] / 64] = 0;
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
static float *relevance(qp_cited *c, qp_id i, qp_id first, uint32_t n)
{
    qp_query *q = c->q;
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
        !qp_cited_sparse(c, *c->o->sparse == 't' ? "node.tfidf" : "node.bm25", text, ids, n, sparse))
        return NULL;
    for (uint32_t k = 0; k < n; k++)
        dense[k] = qp_dot(vectors + (size_t)k * dim, vectors + (size_t)n * dim, dim);
    scale(sparse, n);
    scale(dense, n);
    for (uint32_t k = 0; k < n; k++)
        sparse[k] += dense[k];
    return sparse;
}

qp_list qp_cited_best(qp_cited *c, qp_id i, qp_id first, uint32_t chunks)
{
    qp_query *q = c->q;
    uint32_t best = (uint32_t)c->o->n;
    const float *r = chunks > best ? relevance(c, i, first, chunks) : NULL;
    qp_hit *hits = qp_new(q->mem, qp_hit, chunks + 1u);
    if (!hits || q->err.code || (chunks > best && !r))
        return qp_oom(&q->err), (qp_list){0};
    for (uint32_t k = 0; k < chunks; k++)
        hits[k] = (qp_hit){first + k, QP_NO_ID, r ? r[k] : 0, NULL};
    return qp_list_sorted(q, hits, chunks, best);
}

/* ---- hops ---- */

typedef struct reached {
    qp_idmap seen;
    qp_hit *at;
    uint32_t n, most;
} reached;

static bool reach(qp_query *q, reached *r, qp_hit hit)
{
    bool added;
    if (r->n == r->most || !qp_query_allows(q, hit.id))
        return true;
    if (!qp_idmap_put(&r->seen, hit.id, 0, &added))
        return qp_oom(&q->err), false;
    if (added)
        r->at[r->n++] = hit;
    return true;
}

/* How many chunks the document has that the hit was reached at the first of, along the arrow; 0: it is itself meant. */
static uint32_t chunks_of(qp_cited *c, const qp_hit *hit)
{
    qp_link link;
    if (!hit->from || hit->via == QP_NO_ID || c->q->graph->link(c->q->graph->self, &hit->via, 1, &link, &c->q->err))
        return 0;
    return link.from == hit->from->id ? qp_cited_chunks(c, link.from, hit->id) : 0;
}

static bool reach_by(qp_cited *c, reached *r, const qp_hit *hit)
{
    uint32_t chunks = chunks_of(c, hit);
    if (!chunks)
        return reach(c->q, r, *hit);
    qp_list best = qp_cited_best(c, hit->from->id, hit->id, chunks);
    for (uint32_t k = 0; k < best.n; k++)
        if (!reach(c->q, r, (qp_hit){best.at[k].id, hit->via, hit->score, hit->from}))
            return false;
    return true;
}

qp_list qp_cited_reached(qp_query *q, qp_list seeds, qp_list hops, uint32_t most, const qp_lesegr_opt *o)
{
    qp_cited c;
    reached r = {.seen = qp_idmap_in(q->mem), .at = qp_new(q->mem, qp_hit, most + 1u), .most = most};
    if (!r.at || !qp_cited_begin(&c, q, o))
        return qp_oom(&q->err), (qp_list){0};
    for (uint32_t i = 0; i < seeds.n; i++)
        if (!reach(q, &r, seeds.at[i]))
            break;
    for (uint32_t i = 0; i < hops.n && r.n < most && !qp_query_over(q, "lesegr"); i++)
        if (!reach_by(&c, &r, &hops.at[i]))
            break;
    return (qp_list){r.at, q->err.code ? 0 : r.n};
}
