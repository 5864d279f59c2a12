/* CG-RAG: the contextual citation graph and LeSeGR's operator against the formulas taken over a whole small graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/vector.h"
#include "fake_view.h"
#include "method/cgrag.h"
#include "method/method.h"
#include "op/lesegr.h"
#include "op/ops.h"

static const qp_lesegr_opt standard = {.layers = 2,
                                       .n = 4,
                                       .sparse = "bm25",
                                       .encoder = "none",
                                       .edges = "*",
                                       .direction = "both",
                                       .graph = true,
                                       .delta = true,
                                       .alpha = true};

/* The proposition's scores over all nodes, by the formulas. joined: N. */
static void slow(const fake_graph *g, const qp_lesegr_opt *o, bool joined[FAKE_NODES][FAKE_NODES], double *score)
{
    static double h[FAKE_NODES][FAKE_DIM], next[FAKE_NODES][FAKE_DIM];
    float most = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        most = g->lexical[i] > most ? g->lexical[i] : most;
        for (int d = 0; d < FAKE_DIM; d++)
            h[i][d] = g->vector[i][d];
    }
    for (int64_t k = 0; k < o->layers; k++) {
        for (uint32_t i = 0; i < g->n; i++) {
            uint32_t members = 0;
            memset(next[i], 0, sizeof next[i]);
            for (uint32_t j = 0; j < g->n; j++) {
                if (j != i && !(o->graph && joined[i][j]))
                    continue;
                double delta = o->delta && most > 0 ? g->lexical[j] / most : 1;
                double alpha = i == j || !o->alpha ? 1 : fake_dot(g->vector[i], g->vector[j]);
                members++;
                for (int d = 0; d < FAKE_DIM; d++)
                    next[i][d] += delta * (alpha > 0 ? alpha : 0) * h[j][d];
            }
            for (int d = 0; d < FAKE_DIM; d++)
                next[i][d] /= members;
        }
        memcpy(h, next, sizeof h);
    }
    for (uint32_t i = 0; i < g->n; i++)
        score[i] = .75 * h[i][0] + .5 * h[i][1]; /* the fake embedder's question */
}

static void compare(qp_query *q, const fake_graph *g, const qp_lesegr_opt *o, qp_set in,
                    bool joined[FAKE_NODES][FAKE_NODES])
{
    double wanted[FAKE_NODES];
    qp_set found = qp_run(q, &qp_op_lesegr, &in, 1, o);
    assert_int_equal(q->err.code, QP_OK);
    assert_int_equal(found.nodes.n, g->n);
    slow(g, o, joined, wanted);
    for (uint32_t i = 0; i < found.nodes.n; i++)
        if (!(fabs(found.nodes.at[i].score - wanted[found.nodes.at[i].id]) < 1e-5))
            fail_msg("node %u: %g, wanted %g", found.nodes.at[i].id, found.nodes.at[i].score,
                     wanted[found.nodes.at[i].id]);
}

static qp_set all_nodes(qp_query *q, const fake_graph *g)
{
    qp_hit *hits = qp_new(q->mem, qp_hit, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        hits[i] = (qp_hit){g->n - 1 - i, QP_NO_ID, 0, NULL};
    return qp_set_of((qp_list){hits, g->n});
}

static void it_computes_the_formulas(void **state)
{
    (void)state;
    qp_random r = qp_random_seed(1);
    for (int trial = 0; trial < 100; trial++) {
        fake_graph g;
        fake_model embedder, ranker;
        bool both[FAKE_NODES][FAKE_NODES] = {{false}}, in[FAKE_NODES][FAKE_NODES] = {{false}};
        fake_random(&g, &r);
        fake_models(&embedder, &ranker);
        for (uint32_t e = 0; e < g.m; e++) {
            qp_id u = g.edge[e].from, v = g.edge[e].to;
            both[u][v] = both[v][u] = in[u][v] = true;
        }
        qp_query q = fake_query(&g, &embedder, &ranker);
        qp_lesegr_opt o = standard;
        compare(&q, &g, &o, all_nodes(&q, &g), both);
        o.layers = 1 + trial % 4;
        o.alpha = trial % 3;
        o.delta = trial % 5;
        compare(&q, &g, &o, all_nodes(&q, &g), both);
        o.full = true; /* whatever is given */
        compare(&q, &g, &o, (qp_set){0}, both);
        o.graph = false;
        compare(&q, &g, &o, all_nodes(&q, &g), both);
        o.graph = true;
        o.direction = "in";
        compare(&q, &g, &o, all_nodes(&q, &g), in);
        qp_query_end(&q);
    }
}

/* Document 0 is node 0, which cites document 1: nodes 1 to 6. */
static void a_citation_joins_the_best_chunks(void **state)
{
    (void)state;
    fake_graph g = {.n = 7};
    fake_model embedder, ranker;
    qp_context c;
    fake_models(&embedder, &ranker);
    for (uint32_t i = 1; i < 7; i++)
        g.document[i] = 1;
    g.vector[0][0] = 1;
    const float likeness[] = {0, .1f, .9f, .3f, .8f, .2f, .7f}, lexical[] = {1, 4, 0, 4, 2, 0, 1};
    for (uint32_t i = 1; i < 7; i++) {
        g.vector[i][0] = likeness[i];
        g.lexical[i] = lexical[i]; /* r: .00 + 1, 1 + 0, .25 + 1, .875 + .5, .125 + 0, .75 + .25 */
    }
    fake_link(&g, 0, 1, 0);
    fake_ready(&g);
    const qp_id wanted[] = {4, 3, 1, 2, 6, 5}; /* by r, ties by id */
    for (int64_t n = 1; n <= 6; n++) {
        for (int without = 0; without < 2; without++) { /* the best of all is a candidate, or it is not */
            qp_query q = fake_query(&g, &embedder, &ranker);
            qp_lesegr_opt o = standard;
            qp_list all = all_nodes(&q, &g).nodes;
            qp_hit *given = qp_list_copy(&q, all);
            o.n = n;
            given[all.n - 1 - wanted[0]].id = without ? 0 : wanted[0];
            assert_true(qp_lesegr_context(&q, (qp_list){given, all.n}, &o, &c));
            assert_int_equal(c.candidates.graph.n, 7 - without); /* what is cited joins no one */
            assert_int_equal(c.n_edges, n - without);
            assert_int_equal(c.candidates.graph.start[1], n - without);
            for (int64_t i = without; i < n; i++) {
                uint32_t place = qp_context_place(&c, wanted[i]), k = 0;
                while (k < n && c.candidates.graph.target[k] != place)
                    k++;
                assert_true(k < n - without);
            }
            qp_query_end(&q);
        }
    }
}

static void an_edge_to_a_later_chunk_names_it(void **state)
{
    (void)state;
    fake_graph g = {.n = 4};
    fake_model embedder, ranker;
    qp_context c;
    fake_models(&embedder, &ranker);
    for (uint32_t i = 1; i < 4; i++)
        g.document[i] = 1;
    fake_link(&g, 0, 3, 0);
    fake_link(&g, 0, 0, 0); /* a citation to itself */
    fake_ready(&g);
    qp_query q = fake_query(&g, &embedder, &ranker);
    qp_set all = all_nodes(&q, &g);
    assert_true(qp_lesegr_context(&q, all.nodes, &standard, &c));
    assert_int_equal(c.candidates.graph.start[4], 2); /* 0 and 3, both ways */
    assert_int_equal(c.candidates.graph.target[0], 3);
    qp_query_end(&q);
}

/* "Section 1" in chunk 3: chunk 0 of the same document, which it begins with, is its context, and no other. */
static void a_cross_reference_joins_one_chunk(void **state)
{
    (void)state;
    fake_graph g = {.n = 6};
    fake_model embedder, ranker;
    qp_context c;
    fake_models(&embedder, &ranker);
    fake_link(&g, 3, 0, 0);
    fake_ready(&g);
    qp_query q = fake_query(&g, &embedder, &ranker);
    qp_lesegr_opt o = standard;
    o.direction = "in";
    assert_true(qp_lesegr_context(&q, all_nodes(&q, &g).nodes, &o, &c));
    assert_int_equal(c.candidates.graph.start[3], 0);
    assert_int_equal(c.candidates.graph.start[6], 1);
    assert_int_equal(c.candidates.graph.target[0], 0);
    qp_query_end(&q);
}

static void it_says_that_it_is_untrained(void **state)
{
    (void)state;
    fake_graph g;
    fake_model embedder, ranker;
    qp_random r = qp_random_seed(2);
    fake_random(&g, &r);
    fake_models(&embedder, &ranker);
    const qp_op *method;
    bool owned;
    assert_int_equal(qp_method_find("cg-rag", &method, &owned, NULL), QP_OK);
    for (int named = 0; named < 3; named++) {
        qp_query q = fake_query(&g, &embedder, &ranker);
        const qp_setting set = {"encoder", named == 0 ? "auto" : named == 1 ? "none" : "gt"};
        void *opt = qp_options_new(method, &set, 1, q.mem, &q.err);
        qp_set found = qp_run(&q, method, NULL, 0, opt);
        assert_int_equal(q.err.code, named == 2 ? QP_MODEL : QP_OK);
        assert_true(!found.nodes.n == (named == 2));
        assert_true(!q.note == (named > 0));
        qp_query_end(&q);
    }
}

static bool joined(qp_query *q, qp_list edges, qp_id from, qp_id to)
{
    const qp_link *link = qp_list_links(q, edges);
    assert_non_null(link);
    for (uint32_t i = 0; i < edges.n; i++)
        if (link[i].from == from && link[i].to == to)
            return true;
    return false;
}

/* Node 0 cites document 1, nodes 1 to 8; with n = 1 it has to do with node 3 alone. */
static void a_subgraph_is_of_the_contextual_graph(void **state)
{
    (void)state;
    fake_graph g = {.n = 9};
    fake_model embedder, ranker;
    const qp_op *method;
    bool owned;
    fake_models(&embedder, &ranker);
    g.vector[0][0] = 1;
    g.lexical[0] = 1;
    for (uint32_t i = 1; i < 9; i++) {
        g.document[i] = 1;
        g.vector[i][0] = i == 3 ? .9f : .1f;
        g.lexical[i] = i == 3 ? 4 : 1;
    }
    fake_link(&g, 0, 1, 0);
    fake_link(&g, 3, 1, 0); /* a reference within the document names its chunk */
    fake_ready(&g);
    assert_int_equal(qp_method_find("cg-rag", &method, &owned, NULL), QP_OK);
    for (int messages = 0; messages < 2; messages++) {
        qp_query q = fake_query(&g, &embedder, &ranker);
        const qp_setting set[] = {{"encoder", "none"}, {"n", "1"}, {"graph", messages ? "true" : "false"}};
        void *opt = qp_options_new(method, set, 3, q.mem, &q.err);
        qp_set found = qp_run(&q, method, NULL, 0, opt);
        assert_int_equal(q.err.code, QP_OK);
        assert_int_equal(found.edges.n, 2);
        assert_true(joined(&q, found.edges, 0, 3));
        assert_true(joined(&q, found.edges, 3, 1));
        assert_int_equal(q.graph->edges, 3); /* the index's two, and one of this question */
        qp_query_end(&q);
    }
}

/* Node 0, the seed, cites document 1, nodes 1 to 8, of which 3 and 5 are nearest to it. */
static void a_hop_reaches_the_best_chunks(void **state)
{
    (void)state;
    fake_graph g = {.n = 9};
    fake_model embedder, ranker;
    fake_models(&embedder, &ranker);
    g.vector[0][0] = 1;
    g.lexical[0] = 1;
    for (uint32_t i = 1; i < 9; i++) {
        g.document[i] = 1;
        g.vector[i][0] = i == 3 ? .9f : i == 5 ? .8f : .1f;
    }
    fake_link(&g, 0, 1, 0);
    fake_ready(&g);
    qp_cgrag_opt o = {.lesegr = standard, .seeds = 1, .budget = 3};
    o.lesegr.n = 2;
    qp_query q = fake_query(&g, &embedder, &ranker);
    const qp_hit seed = {0, QP_NO_ID, 1, NULL};
    qp_set found = qp_cgrag_candidates(&q, qp_set_of((qp_list){&seed, 1}), &o);
    assert_int_equal(q.err.code, QP_OK);
    assert_int_equal(found.nodes.n, 3);
    assert_int_equal(found.nodes.at[1].id, 3);
    assert_int_equal(found.nodes.at[2].id, 5);
    assert_int_equal(found.nodes.at[2].from->id, 0);
    qp_query_end(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_computes_the_formulas),
                                       cmocka_unit_test(a_citation_joins_the_best_chunks),
                                       cmocka_unit_test(an_edge_to_a_later_chunk_names_it),
                                       cmocka_unit_test(a_cross_reference_joins_one_chunk),
                                       cmocka_unit_test(a_subgraph_is_of_the_contextual_graph),
                                       cmocka_unit_test(a_hop_reaches_the_best_chunks),
                                       cmocka_unit_test(it_says_that_it_is_untrained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
