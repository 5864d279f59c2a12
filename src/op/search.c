/* O_vs: the best k nodes of an index, by inner product or by terms. */
#include "op/ops.h"

static const qp_opt opts[] = {
    {"index",
     "node.dense, node.bm25, node.tfidf, node.doc2query or node.splade; of entities alone entity.dense ...; of edges "
     "edge.dense "
     "(relations), triple.dense",
     QP_TEXT, offsetof(qp_search_opt, index), "node.dense", 0, 0, NULL},
    {"k", "how many nodes", QP_INT, offsetof(qp_search_opt, k), "10", 1, 1e9, NULL},
    {"exact", "dense: scan, never an approximate index", QP_BOOL, offsetof(qp_search_opt, exact), "false", 0, 0, NULL},
    {"k1", "BM25: how soon a term's count saturates", QP_FLOAT, offsetof(qp_search_opt, k1), "1.2", 0, 100, NULL},
    {"b", "BM25: how much a long text is held against it", QP_FLOAT, offsetof(qp_search_opt, b), "0.75", 0, 1, NULL},
    {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_search_opt *o = opt;
    qp_probe probe = {.text = q->text, .exact = o->exact, .allow = q->allow, .k1 = (float)o->k1, .b = (float)o->b};
    qp_list found = {0};
    (void)in, (void)n_in;
    if (o->k1 == 0) /* b has no effect then, and 0 with 0 would mean the defaults */
        probe.b = 1;
    if (qp_str_ends(qp_str_of(o->index), QP_STR(".dense"))) {
        probe.vector = qp_query_vector(q);
        probe.dim = q->graph->dim;
    }
    if (qp_str_ends(qp_str_of(o->index), QP_STR(".splade")))
        probe.terms = qp_query_terms(q);
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, o->index, &probe, (uint32_t)o->k, &found, q->mem, &q->err);
    qp_str index = qp_str_of(o->index);
    bool edges = qp_str_starts(index, QP_STR("edge.")) || qp_str_starts(index, QP_STR("triple."));
    return edges ? (qp_set){.edges = found} : qp_set_of(found);
}

/* A lexical index needs no model. */
static unsigned asks(const void *opt)
{
    qp_str index = qp_str_of(((const qp_search_opt *)opt)->index);
    return qp_str_ends(index, QP_STR(".dense"))    ? QP_NEEDS_EMBEDDER
           : qp_str_ends(index, QP_STR(".splade")) ? QP_NEEDS_SPARSE
                                                   : 0;
}

const qp_op qp_op_search = {
    .name = "search",
    .help = "the best nodes of an index for the question",
    .source = "FastInsight, 3.1.1, Definition 2 (O_vs)",
    .opts = opts,
    .opt_size = sizeof(qp_search_opt),
    .run = run,
    .asks = asks,
};

qp_set qp_search(qp_query *q, const char *index, uint32_t k)
{
    return qp_run(q, &qp_op_search, NULL, 0, &(qp_search_opt){index, k, false, 1.2, .75});
}

qp_set qp_search_among(qp_query *q, const char *index, qp_list of)
{
    const uint64_t *outer = q->allow;
    uint64_t *these = of.n ? qp_new(q->mem, uint64_t, q->graph->nodes / 64 + 1u) : NULL;
    if (!these) {
        if (of.n)
            qp_oom(&q->err);
        return (qp_set){0};
    }
    for (uint32_t i = 0; i < of.n; i++)
        these[of.at[i].id / 64] |= UINT64_C(1) << (of.at[i].id % 64);
    q->allow = these;
    qp_set found = qp_search(q, index, of.n);
    q->allow = outer;
    return found;
}
