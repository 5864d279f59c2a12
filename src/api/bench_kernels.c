/* The kernels, one run each. */
#include "api/bench_parts.h"
#include "method/cgrag.h"

static qp_code reopen(bench *b, qp_err *err)
{
    qp_snapshot_close(b->snapshot);
    b->snapshot = NULL;
    qp_code code = qp_snapshot_open_file(b->path, 1, &b->snapshot, err);
    if (!code)
        b->q.graph = qp_snapshot_view(b->snapshot);
    return code;
}

static qp_code search(bench *b, const char *index, bool exact, qp_err *err)
{
    qp_list found;
    qp_probe probe = {.text = qp_buf_view(&b->words), .vector = b->vector, .dim = b->q.graph->dim, .exact = exact};
    return b->q.graph->search(b->q.graph->self, index, &probe, 10, &found, b->q.mem, err);
}

static qp_code run_open_bm25(bench *b, qp_err *err)
{
    qp_code code = reopen(b, err);
    return code ? code : search(b, "node.bm25", false, err);
}

static qp_code run_bm25(bench *b, qp_err *err)
{
    return search(b, "node.bm25", false, err);
}

static qp_code run_dense(bench *b, qp_err *err)
{
    return search(b, "node.dense", false, err);
}

static qp_code run_exact(bench *b, qp_err *err)
{
    return search(b, "node.dense", true, err);
}

enum { HOPPED = 100 };

static void some_nodes(bench *b, qp_hit *hits)
{
    for (uint32_t i = 0; i < HOPPED; i++)
        hits[i] = (qp_hit){(qp_id)qp_random_below(&b->random, b->q.graph->nodes), QP_NO_ID, 1.f / (float)(i + 1), NULL};
}

static qp_code run_hop(bench *b, qp_err *err)
{
    qp_hit hits[HOPPED];
    some_nodes(b, hits);
    qp_hop(&b->q, (qp_set){.nodes = {hits, HOPPED}}, 1);
    return b->q.err.code ? qp_fail(err, b->q.err.code, "%s", b->q.err.message) : QP_OK;
}

static qp_code run_stex(bench *b, qp_err *err)
{
    qp_hit hits[HOPPED];
    some_nodes(b, hits);
    b->q.vector = b->vector;
    qp_stex(&b->q, (qp_set){.nodes = {hits, HOPPED}}, 1);
    return b->q.err.code ? qp_fail(err, b->q.err.code, "%s", b->q.err.message) : QP_OK;
}

/* Five relations from anywhere, which is harder than those of one question: nothing joins them nearby. */
static qp_code run_agrag(bench *b, qp_err *err)
{
    enum { FACTS = 5 };
    qp_query *q = &b->q;
    qp_hit hit[FACTS];
    for (uint32_t n = 0; n < FACTS;) {
        qp_link l;
        hit[n] = (qp_hit){(qp_id)qp_random_below(&b->random, q->graph->edges), QP_NO_ID, 1, NULL};
        if (q->graph->link(q->graph->self, &hit[n].id, 1, &l, err))
            return err->code;
        n += l.from >= q->graph->entity && l.to >= q->graph->entity;
    }
    q->vector = b->vector;
    q->walk.across = true;
    qp_set facts = {.edges = {hit, FACTS}}, entities = qp_ends(q, facts, "same", 0);
    qp_set tree = qp_join(q, qp_steiner_through(q, entities), facts);
    const qp_ppr_opt walk = {.top = 4096, .alpha = .5, .engine = "fast", .within = "graph"};
    qp_set influence = qp_balance(q, qp_run(q, &qp_op_ppr, &entities, 1, &walk), .05);
    qp_enrich(q, tree, &influence, 0);
    q->walk.across = false;
    return q->err.code ? qp_fail(err, q->err.code, "%s", q->err.message) : QP_OK;
}

/* LeSeGR with a Graph Transformer over the candidates of three words and a vector; its search is in it. */
static qp_code run_cgrag(bench *b, qp_err *err)
{
    static const qp_cgrag_opt o = {.lesegr = {.layers = 2,
                                              .n = 4,
                                              .sparse = "bm25",
                                              .edges = "*",
                                              .direction = "both",
                                              .graph = true,
                                              .delta = true,
                                              .alpha = true},
                                   .seeds = 50,
                                   .budget = 100};
    qp_query *q = &b->q;
    qp_context c;
    const float *score;
    if (!b->encoder) {
        const qp_lesegr_shape shape = {QP_LESEGR_GT, (uint32_t)o.lesegr.layers, q->graph->dim, 1024, 4, 128};
        qp_code code = qp_lesegr_new(shape, &b->random, &b->encoder, err);
        code = code ? code : qp_lesegr_ready(b->encoder, false, err);
        if (code)
            return code;
    }
    q->text = qp_buf_view(&b->words);
    q->vector = b->vector;
    qp_set near = qp_cgrag_candidates(q, (qp_set){0}, &o);
    if (qp_lesegr_context(q, near.nodes, &o.lesegr, &c))
        qp_lesegr_score(b->encoder, &c.candidates, q->threads, &score, q->mem, &q->err);
    return q->err.code ? qp_fail(err, q->err.code, "%s", q->err.message) : QP_OK;
}

const bench_kernel qp_bench_kernels[] = {
    {"open + bm25, cold", run_open_bm25, true, false, false}, {"open + bm25, warm", run_open_bm25, false, false, false},
    {"bm25, 3 words", run_bm25, false, false, false},         {"dense", run_dense, false, true, false},
    {"dense, exact", run_exact, false, true, false},          {"hop of 100 nodes", run_hop, false, false, false},
    {"stex of 100 nodes", run_stex, false, true, false},      {"cg-rag, search and gt", run_cgrag, false, true, false},
    {"agrag's graph step", run_agrag, false, true, true},     {0}};
