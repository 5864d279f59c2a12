/* The methods that are one search: vector, bm25, doc2query, tfidf; and two searches fused: hybrid. */
#include "method/first.h"
#include "method/methods.h"
#include "op/ops.h"

typedef struct vector_opt {
    int64_t top;
    bool exact;
} vector_opt;

static const qp_opt vector_opts[] = {{"exact", "scan, never an approximate index", QP_BOOL, offsetof(vector_opt, exact),
                                      "false", 0, 0, NULL},
                                     QP_TOP_OPTION(vector_opt),
                                     {0}};

static qp_set vector(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const vector_opt *o = opt;
    (void)in, (void)n_in;
    return qp_run(q, &qp_op_search, NULL, 0, &(qp_search_opt){"node.dense", o->top, o->exact, 1.2, .75});
}

const qp_op qp_method_vector = {
    .name = "vector",
    .help = "dense search: the passages whose vectors are nearest to the question's",
    .source = "FastInsight, 4.1.1 (Vector Search)",
    .opts = vector_opts,
    .opt_size = sizeof(vector_opt),
    .run = vector,
    .needs = QP_NEEDS_EMBEDDER,
};

typedef struct bm25_opt {
    int64_t top;
    double k1, b;
} bm25_opt;

static const qp_opt bm25_opts[] = {{"k1", "how soon a term's count saturates", QP_FLOAT, offsetof(bm25_opt, k1), "1.2",
                                    0, 100, NULL},
                                   {"b", "how much a long text is held against it", QP_FLOAT, offsetof(bm25_opt, b),
                                    "0.75", 0, 1, NULL},
                                   QP_TOP_OPTION(bm25_opt),
                                   {0}};

static qp_set bm25(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const bm25_opt *o = opt;
    (void)in, (void)n_in;
    return qp_run(q, &qp_op_search, NULL, 0, &(qp_search_opt){"node.bm25", o->top, false, o->k1, o->b});
}

static qp_set doc2query(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const bm25_opt *o = opt;
    (void)in, (void)n_in;
    return qp_run(q, &qp_op_search, NULL, 0, &(qp_search_opt){"node.doc2query", o->top, false, o->k1, o->b});
}

const qp_op qp_method_doc2query = {
    .name = "doc2query",
    .help = "BM25 over passages and the questions a writer wrote for them, on an index made with -o doc2query=N",
    .source = "Nogueira, Yang, Lin, Cho, arXiv:1904.08375",
    .opts = bm25_opts,
    .opt_size = sizeof(bm25_opt),
    .run = doc2query,
};

const qp_op qp_method_bm25 = {
    .name = "bm25",
    .help = "lexical search, Lucene's BM25",
    .source = "Robertson, Zaragoza 2009",
    .opts = bm25_opts,
    .opt_size = sizeof(bm25_opt),
    .run = bm25,
};

typedef struct tfidf_opt {
    int64_t top;
} tfidf_opt;

static const qp_opt tfidf_opts[] = {QP_TOP_OPTION(tfidf_opt), {0}};

static qp_set tfidf(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const tfidf_opt *o = opt;
    (void)in, (void)n_in;
    return qp_search(q, "node.tfidf", (uint32_t)o->top);
}

const qp_op qp_method_tfidf = {
    .name = "tfidf",
    .help = "lexical search by TF-IDF",
    .source = "Salton, Buckley 1988",
    .opts = tfidf_opts,
    .opt_size = sizeof(tfidf_opt),
    .run = tfidf,
};

typedef struct hybrid_opt {
    const char *fuse;
    double weight;
    int64_t depth, top;
} hybrid_opt;

static const qp_opt hybrid_opts[] = {{"fuse", "minmax: scores scaled to 0..1; rrf: reciprocal ranks", QP_ENUM,
                                      offsetof(hybrid_opt, fuse), "minmax", 0, 0, "minmax|rrf"},
                                     {"weight", "share of dense; BM25 has the rest", QP_FLOAT,
                                      offsetof(hybrid_opt, weight), "0.5", 0, 1, NULL},
                                     {"depth", "nodes of each ranking that are fused", QP_INT,
                                      offsetof(hybrid_opt, depth), "1000", 1, 1e6, NULL},
                                     QP_TOP_OPTION(hybrid_opt),
                                     {0}};

static qp_set hybrid(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const hybrid_opt *o = opt;
    (void)in, (void)n_in;
    return qp_hybrid(q, o->fuse, (float)o->weight, (uint32_t)o->depth, (uint32_t)o->top);
}

const qp_op qp_method_hybrid = {
    .name = "hybrid",
    .help = "BM25 and dense search fused",
    .source = "rrf: Cormack, Clarke, Buettcher, SIGIR 2009; minmax: weighted sum of scaled scores",
    .opts = hybrid_opts,
    .opt_size = sizeof(hybrid_opt),
    .run = hybrid,
    .needs = QP_NEEDS_EMBEDDER,
};
