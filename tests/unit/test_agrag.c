/* AGRAG's operators on small indexes with passages, relations, mentions and synonyms: what edges cost, and each set, against the
 * formula worked out anew from the view; the method with a writer that keeps some facts, all, none.
 */
#include "unit/made.h"

#include "graph/mcmi.h"
#include "method/method.h"
#include "method/methods.h"
#include "op/fare.h"
#include "op/ops.h"

enum { PASSAGES = 12, ENTITIES = 24, NODES = PASSAGES + ENTITIES, RELATIONS = 30, EDGES = 70, DIM = 16, ROUNDS = 40 };

typedef struct bench {
    qp_snapshot *s;
    const qp_view *g;
    qp_query q;
    qp_model embedder, writer;
    const char *says;
    float vector[NODES][DIM], asked[DIM];
} bench;

/* ---- an index ---- */

static void vector_of(qp_str text, float *out)
{
    qp_random r = qp_random_seed(qp_hash64(text));
    random_unit(&r, DIM, out);
}

static qp_code made(void *ctx, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    (void)ctx, (void)what, (void)err;
    vector_of(text, out);
    *found = true;
    return QP_OK;
}

static qp_code embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self, (void)role, (void)err;
    for (uint32_t i = 0; i < n; i++)
        vector_of(text[i], out + (size_t)i * DIM);
    return QP_OK;
}

static qp_code written(void *self, const qp_message *m, uint32_t n, const qp_sampling *how, qp_str *out, qp_arena *mem,
                       qp_err *err)
{
    (void)m, (void)n, (void)mem, (void)err;
    assert_non_null(how->grammar);
    *out = qp_str_of(((bench *)self)->says);
    return QP_OK;
}

static void add_edge(qp_maker *m, qp_id from, qp_id to, const char *type)
{
    assert_int_equal(qp_maker_edge(m, from, to, qp_str_of(type), 1, QP_STR(""), NULL), QP_OK);
}

static void add_edges(qp_maker *m, qp_random *r)
{
    for (int e = 0; e < EDGES; e++) {
        qp_id a = PASSAGES + (qp_id)qp_random_below(r, ENTITIES), b = PASSAGES + (qp_id)qp_random_below(r, ENTITIES),
              passage = (qp_id)qp_random_below(r, PASSAGES);
        static const char *const relation[] = {"r0", "r1", "r2", "r3"};
        if (e < RELATIONS)
            add_edge(m, a, b, relation[e % 4]);
        else if (e % 3)
            add_edge(m, a, passage, QP_CONTAINS);
        else if (e % 2)
            add_edge(m, a, b, QP_SYNONYM);
        else
            add_edge(m, passage, (passage + 1) % PASSAGES, "cites");
    }
}

static void begin_with(bench *b, const char *dir, uint64_t seed, bool triples)
{
    qp_random r = qp_random_seed(seed);
    qp_maker *m;
    qp_err err = {0};
    const qp_maker_options o = {.language = "en", .embedder = "e", .dim = DIM, .triples = triples, .made = made};
    assert_int_equal(qp_maker_open(in(dir, "s"), &o, &m, &err), QP_OK);
    for (uint32_t i = 0; i < PASSAGES; i++) {
        char key[8];
        qp_buf words = {0};
        snprintf(key, sizeof key, "d%02u", i);
        random_words(&r, 3 + (uint32_t)qp_random_below(&r, 9), 20, &words);
        qp_chunk chunk = {0, words.n, 0, QP_STR("")};
        qp_document d = {.key = qp_str_of(key), .text = qp_buf_view(&words), .chunks = &chunk, .n_chunks = 1};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
        qp_buf_free(&words);
    }
    for (uint32_t i = 0; i < ENTITIES; i++) {
        char name[8];
        snprintf(name, sizeof name, "e%02u", i);
        assert_int_equal(qp_maker_entity(m, QP_STR(""), qp_str_of(name), QP_STR(""), NULL), QP_OK);
    }
    add_edges(m, &r);
    for (uint32_t v = 0; v < NODES; v++) {
        random_unit(&r, DIM, b->vector[v]);
        assert_int_equal(qp_maker_vector(m, b->vector[v], NULL), QP_OK);
    }
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(dir, "s"), 1, &b->s, &err) ||
        qp_snapshot_check(b->s, &err))
        fail_msg("%s", err.message);
    qp_buf words = {0};
    random_words(&r, 3, 20, &words);
    assert_int_equal(qp_query_begin(&b->q, QP_STR(""), NULL), QP_OK);
    b->q.text = qp_arena_str(b->q.mem, qp_buf_view(&words));
    qp_buf_free(&words);
    vector_of(b->q.text, b->asked);
    b->embedder = (qp_model){.name = "e", .digest = "e", .dim = DIM, .embed = embed};
    b->writer = (qp_model){.self = b, .name = "w", .digest = "w", .generate = written};
    b->g = b->q.graph = qp_snapshot_view(b->s);
    b->q.embedder = &b->embedder;
    b->q.walk.across = true;
}

static void begin(bench *b, const char *dir, uint64_t seed)
{
    begin_with(b, dir, seed, true);
}

static void end(bench *b)
{
    assert_string_equal(b->q.err.message, "");
    qp_query_end(&b->q);
    qp_snapshot_close(b->s);
}

static qp_link link_of(const bench *b, qp_id edge)
{
    qp_link l;
    assert_int_equal(b->g->link(b->g->self, &edge, 1, &l, NULL), QP_OK);
    return l;
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (int d = 0; d < DIM; d++)
        sum += (double)a[d] * (double)b[d];
    return sum;
}

/* ---- what edges cost ---- */

static double cosine_of(bench *b, qp_id edge, bool as_text)
{
    qp_link l = link_of(b, edge);
    bool from = l.from < PASSAGES, to = l.to < PASSAGES;
    qp_str text;
    float own[DIM], mean[DIM];
    b->g->text(b->g->self, QP_TRIPLE, &edge, 1, &text, b->q.mem, NULL);
    vector_of(text, own);
    if (as_text || (!from && !to && !qp_str_eq(l.type, QP_STR(QP_SYNONYM))))
        return dot(b->asked, own);
    if (from != to)
        return dot(b->asked, b->vector[from ? l.from : l.to]);
    for (int d = 0; d < DIM; d++)
        mean[d] = b->vector[l.from][d] + b->vector[l.to][d];
    return dot(b->asked, mean) / sqrt(dot(mean, mean));
}

static double cost_of(bench *b, qp_id edge)
{
    return fmax(.001, (1 - cosine_of(b, edge, false)) / 2);
}

static void edges_cost_what_they_are_far(void **state)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        static bench b;
        begin(&b, *state, seed);
        for (int as_text = 0; as_text < 2; as_text++) {
            float cost[EDGES];
            qp_id edge[EDGES];
            for (qp_id e = 0; e < b.g->edges; e++)
                edge[e] = e;
            double least = seed % 2 ? .001 : .45;
            qp_fares *f = qp_fares_new(&b.q, &(qp_fare_opt){NULL, as_text ? "text" : "vector", least, 10});
            assert_true(f && qp_fares_of(f, edge, b.g->edges, cost));
            for (qp_id e = 0; e < b.g->edges; e++)
                assert_float_equal(cost[e], fmax(least, (1 - cosine_of(&b, e, as_text)) / 2), 1e-5);
        }
        end(&b);
    }
}

/* ---- the subgraph ---- */

typedef struct table { /* all rows of the graph, at the formula's costs */
    bench *b;
    uint64_t start[NODES + 1];
    uint32_t target[2 * EDGES], row[NODES + 1], node[2 * EDGES], edge[2 * EDGES];
    float cost[2 * EDGES];
    qp_mcmi_graph graph;
} table;

static qp_code row_of(void *ctx, uint32_t v, qp_mcmi_row *out, qp_err *err)
{
    table *t = ctx;
    uint32_t from = t->row[v];
    (void)err;
    *out = (qp_mcmi_row){t->node + from, t->edge + from, t->cost + from, t->row[v + 1] - from};
    return QP_OK;
}

static bool allows(const bench *b, qp_id v)
{
    return !b->q.allow || (b->q.allow[v / 64] >> (v % 64) & 1);
}

static void tabulate(bench *b, table *t)
{
    uint32_t n = 0, arcs = 0;
    t->b = b;
    for (qp_id v = 0; v < NODES; v++) {
        for (qp_id w = 0; w < NODES; w++) {
            uint32_t before = n;
            for (qp_id e = 0; e < b->g->edges; e++) {
                qp_link l = link_of(b, e);
                if (v == w || !allows(b, v) || !allows(b, w) ||
                    !((l.from == v && l.to == w) || (l.from == w && l.to == v)))
                    continue;
                t->node[n] = w;
                t->edge[n] = e;
                t->cost[n++] = (float)cost_of(b, e);
            }
            if (n > before)
                t->target[arcs++] = w;
        }
        t->start[v + 1] = arcs;
        t->row[v + 1] = n;
    }
    t->graph = (qp_mcmi_graph){{NODES, t->start, t->target, NULL}, PASSAGES, 10, row_of, t};
}

static bool has(qp_list l, qp_id id)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (l.at[i].id == id)
            return true;
    return false;
}

static void same(bench *b, qp_set set, const qp_mcmi *m, const float *score)
{
    assert_string_equal(b->q.err.message, "");
    assert_int_equal(set.nodes.n, m->n_nodes);
    assert_int_equal(set.edges.n, m->n_edges);
    for (uint32_t i = 0; i < m->n_nodes; i++)
        assert_true(has(set.nodes, m->node[i]));
    for (uint32_t i = 0; i < m->n_edges; i++)
        assert_true(has(set.edges, m->edge[i].edge));
    for (uint32_t i = 0; score && i < set.nodes.n; i++)
        assert_true(set.nodes.at[i].score == score[set.nodes.at[i].id]);
    for (uint32_t i = 0; i < set.edges.n; i++)
        assert_float_equal(set.edges.at[i].score, fmin(1 - .002, cosine_of(b, set.edges.at[i].id, false)), 1e-5);
}

static qp_set facts_of(bench *b, uint32_t k)
{
    return qp_search(&b->q, "triple.dense", k);
}

/* The mean of head, relation and tail, unit length, by the question. */
static double part_cosine(const bench *b, qp_id edge)
{
    qp_link l = link_of(b, edge);
    float relation[DIM];
    double dot = 0, square = 0;
    vector_of(l.type, relation);
    for (int j = 0; j < DIM; j++) {
        double x = (double)b->vector[l.from][j] + (double)b->vector[l.to][j] + (double)relation[j];
        dot += x * (double)b->asked[j];
        square += x * x;
    }
    return dot / sqrt(square);
}

/* Every fact is at one of the 50 nearest of so few entities. */
static void without_vectors_of_triples_their_parts_are_searched(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        static bench b;
        begin_with(&b, *state, seed, false);
        qp_random r = qp_random_seed(seed);
        uint64_t allow = qp_random_next(&r) | qp_random_next(&r);
        b.q.allow = seed % 2 ? &allow : NULL;
        qp_list facts = qp_near_facts(&b.q, 6).edges;
        assert_true(facts.n > 0 && facts.n <= 6);
        uint32_t better = 0;
        for (qp_id e = 0; e < b.g->edges; e++) {
            qp_link l = link_of(&b, e);
            bool fact = l.from != l.to && l.from >= PASSAGES && l.to >= PASSAGES &&
                        !qp_str_eq(l.type, QP_STR(QP_SYNONYM)) && (!b.q.allow || (allow >> l.from & allow >> l.to & 1));
            better += fact && part_cosine(&b, e) > facts.at[facts.n - 1].score + 1e-5;
        }
        assert_true(better < facts.n);
        for (uint32_t i = 0; i < facts.n; i++)
            assert_float_equal(facts.at[i].score, part_cosine(&b, facts.at[i].id), 1e-5);
        assert_true(qp_steiner_through(&b.q, qp_ends(&b.q, (qp_set){.edges = facts}, "same", 0)).nodes.n > 1);
        end(&b);
    }
}

/* Whatever the index keeps of them, here their parts' vectors alone. */
static void facts_are_scored_again_by_their_texts(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        static bench b;
        begin_with(&b, *state, seed, false);
        qp_setting all[] = {{"k", "5"}, {"entities", "1000"}, {"rescore", "1000"}};
        const void *opt = qp_options_new(&qp_op_facts, all, 3, b.q.mem, NULL);
        qp_list facts = qp_run(&b.q, &qp_op_facts, NULL, 0, opt).edges;
        assert_int_equal(facts.n, 5);
        uint32_t better = 0;
        for (qp_id e = 0; e < b.g->edges; e++) {
            qp_link l = link_of(&b, e);
            qp_str text;
            float own[DIM];
            if (l.from == l.to || l.from < PASSAGES || l.to < PASSAGES || qp_str_eq(l.type, QP_STR(QP_SYNONYM)))
                continue;
            assert_int_equal(b.g->text(b.g->self, QP_TRIPLE, &e, 1, &text, b.q.mem, NULL), QP_OK);
            vector_of(text, own);
            better += dot(b.asked, own) > facts.at[4].score + 1e-5;
            for (uint32_t i = 0; i < facts.n; i++)
                if (facts.at[i].id == e)
                    assert_float_equal(facts.at[i].score, dot(b.asked, own), 1e-5);
        }
        assert_true(better < 5);
        end(&b);
    }
}

static void subgraphs_are_algorithm_3_s(void **state)
{
    uint32_t grown = 0;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        static bench b;
        static table t;
        begin(&b, *state, seed);
        qp_random r = qp_random_seed(seed + 1000);
        uint64_t allow = qp_random_next(&r) | qp_random_next(&r) | qp_random_next(&r);
        if (seed % 4 == 0)
            b.q.allow = &allow;
        tabulate(&b, &t);
        qp_set facts = facts_of(&b, 3), ends = qp_ends(&b.q, facts, "same", 0);
        qp_mcmi tree, sub, out;
        const qp_id *terminal = qp_list_ids(&b.q, ends.nodes);
        assert_int_equal(qp_mcmi_tree(&t.graph, terminal, ends.nodes.n, &tree, b.q.mem, NULL), QP_OK);
        qp_set steiner = qp_steiner_through(&b.q, ends),
               through = qp_steiner_through(&b.q, (qp_set){.edges = facts.edges});
        same(&b, steiner, &tree, NULL);
        same(&b, through, &tree, NULL);

        float s[NODES], none[NODES];
        qp_hit hit[NODES];
        for (qp_id v = 0; v < NODES; v++) {
            none[v] = 1;
            s[v] = (float)qp_random_below(&r, 8) / 16;
            hit[v] = (qp_hit){v, QP_NO_ID, s[v], NULL};
        }
        qp_set joined = qp_join(&b.q, steiner, facts), influence = qp_set_of((qp_list){hit, NODES});
        qp_mcmi_edge edge[EDGES];
        for (uint32_t i = 0; i < joined.edges.n; i++) {
            qp_link l = link_of(&b, joined.edges.at[i].id);
            edge[i] = (qp_mcmi_edge){joined.edges.at[i].id, l.from, l.to, (float)cost_of(&b, joined.edges.at[i].id)};
        }
        sub = (qp_mcmi){.node = tree.node, .n_nodes = tree.n_nodes, .edge = edge, .n_edges = joined.edges.n};
        assert_int_equal(qp_mcmi_grow(&t.graph, &sub, &(qp_mcmi_growth){s, false, 0}, &out, b.q.mem, NULL), QP_OK);
        same(&b, qp_enrich(&b.q, joined, &influence, 0), &out, s);
        grown += out.n_nodes > tree.n_nodes;
        assert_int_equal(qp_mcmi_grow(&t.graph, &sub, &(qp_mcmi_growth){none, false, 0}, &out, b.q.mem, NULL), QP_OK);
        same(&b, qp_enrich(&b.q, joined, NULL, 0), &out, none);
        end(&b);
    }
    assert_true(grown > ROUNDS / 4);
}

/* ---- from facts to entities, from entities to passages ---- */

static uint32_t passages_of(bench *b, qp_id entity, bool *of)
{
    uint32_t n = 0;
    memset(of, 0, PASSAGES * sizeof *of);
    for (qp_id e = 0; e < b->g->edges; e++) {
        qp_link l = link_of(b, e);
        if (l.from == entity && l.to < PASSAGES && !of[l.to])
            of[l.to] = ++n;
    }
    return n;
}

static void ends_and_their_passages(void **state)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        static bench b;
        static const char *const how[] = {"same", "mean", "rare"};
        bool of[PASSAGES];
        begin(&b, *state, seed);
        qp_set facts = facts_of(&b, 6);
        for (int w = 0; w < 3; w++) {
            qp_set ends = qp_ends(&b.q, facts, how[w], 0);
            uint32_t n = 0;
            double sum[PASSAGES] = {0};
            for (qp_id v = PASSAGES; v < NODES; v++) {
                double score = 0, times = 0;
                for (uint32_t i = 0; i < facts.edges.n; i++) {
                    qp_link l = link_of(&b, facts.edges.at[i].id);
                    if (l.from == v || l.to == v) {
                        score += (double)facts.edges.at[i].score;
                        times++;
                    }
                }
                if (!times)
                    continue;
                uint32_t in = passages_of(&b, v, of);
                score = w ? score / times / (w == 2 && in ? in : 1) : 1;
                for (uint32_t i = 0; i < ends.nodes.n; i++)
                    if (ends.nodes.at[i].id == v) {
                        assert_float_equal(ends.nodes.at[i].score, score, 1e-5);
                        n++;
                    }
                for (uint32_t p = 0; p < PASSAGES; p++)
                    sum[p] += of[p] ? score : 0;
            }
            assert_int_equal(n, ends.nodes.n);
            qp_set passages = qp_gather(&b.q, ends, 0);
            uint32_t expected = 0;
            for (uint32_t p = 0; p < PASSAGES; p++)
                expected += sum[p] != 0;
            assert_int_equal(passages.nodes.n, expected);
            for (uint32_t i = 0; i < passages.nodes.n; i++)
                assert_float_equal(passages.nodes.at[i].score, sum[passages.nodes.at[i].id], 1e-5);
            qp_set balanced = qp_balance(&b.q, qp_join(&b.q, ends, passages), .25);
            for (uint32_t i = 0; i < balanced.nodes.n; i++)
                if (balanced.nodes.at[i].id < PASSAGES)
                    assert_float_equal(balanced.nodes.at[i].score, sum[balanced.nodes.at[i].id] / 4, 1e-5);
        }
        end(&b);
    }
}

/* ---- hybrid retrieval ---- */

static void words_and_vectors_blend(void **state)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        static bench b;
        begin(&b, *state, seed);
        qp_list lexical = qp_search(&b.q, "node.bm25", PASSAGES).nodes;
        double score[PASSAGES];
        for (qp_id v = 0; v < PASSAGES; v++)
            score[v] = dot(b.asked, b.vector[v]) / 2;
        for (uint32_t i = 0; i < lexical.n; i++)
            score[lexical.at[i].id] += (double)lexical.at[i].score / (double)lexical.at[0].score / 2;
        qp_list all = qp_blend(&b.q, PASSAGES).nodes;
        assert_int_equal(all.n, PASSAGES);
        for (uint32_t i = 0; i < all.n; i++)
            assert_float_equal(all.at[i].score, score[all.at[i].id], 1e-5);
        qp_setting few[] = {{"k", "3"}, {"depth", "3"}};
        qp_list best = qp_run(&b.q, &qp_op_blend, NULL, 0, qp_options_new(&qp_op_blend, few, 2, b.q.mem, NULL)).nodes;
        assert_int_equal(best.n, 3);
        for (uint32_t i = 0; i < best.n; i++) /* what is in one ranking alone has its score in the other, too */
            assert_float_equal(best.at[i].score, score[best.at[i].id], 1e-5);
        end(&b);
    }
}

/* ---- the method ---- */

static qp_set ask(bench *b, const qp_op *method, const char *option, const char *value)
{
    qp_setting set[] = {{"top", "100"}, {option, value}};
    void *opt = qp_options_new(method, set, option ? 2 : 1, b->q.mem, &b->q.err);
    qp_set out = opt ? qp_run(&b->q, method, NULL, 0, opt) : (qp_set){0};
    assert_string_equal(b->q.err.message, "");
    return out;
}

static void same_lists(qp_list a, qp_list b)
{
    assert_int_equal(a.n, b.n);
    for (uint32_t i = 0; i < a.n; i++)
        assert_int_equal(a.at[i].id, b.at[i].id);
}

static void the_writer_s_facts_count(void **state)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        static bench b;
        begin(&b, *state, seed);
        qp_set facts = facts_of(&b, 5), blend = qp_blend(&b.q, 5);
        qp_set plain = ask(&b, &qp_method_agrag, NULL, NULL);
        for (uint32_t i = 0; i < 5; i++) {
            assert_true(has(plain.edges, facts.edges.at[i].id));
            assert_int_equal(plain.nodes.at[i].id, blend.nodes.at[i].id);
        }
        assert_true(ask(&b, &qp_method_agrag, "mcmi", "false").edges.n <= plain.edges.n);
        qp_set own = ask(&b, &qp_method_agrag, "hybrid", "false");
        same_lists(own.nodes, qp_gather(&b.q, b.q.extracted, 0).nodes);

        b.q.writer = &b.writer;
        b.says = "4, 2";
        qp_list kept = qp_judge(&b.q, facts).edges;
        assert_int_equal(kept.n, 2);
        assert_int_equal(kept.at[0].id, facts.edges.at[1].id);
        assert_int_equal(kept.at[1].id, facts.edges.at[3].id);
        same_lists(ask(&b, &qp_method_agrag, "filter", "false").edges, plain.edges);
        qp_set starts = qp_ends(&b.q, (qp_set){.edges = kept}, "same", 0);
        ask(&b, &qp_method_agrag, NULL, NULL);
        same_lists(b.q.started, starts.nodes);

        b.says = "none";
        qp_set found = ask(&b, &qp_method_agrag, "hybrid", "false"); /* falls back to it nevertheless */
        same_lists(found.nodes, blend.nodes);
        assert_int_equal(found.edges.n, 0);
        found = ask(&b, &qp_method_hipporag2, NULL, NULL);
        same_lists(found.nodes, qp_search(&b.q, "node.dense", PASSAGES).nodes);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(edges_cost_what_they_are_far),
                                       HOLDS(subgraphs_are_algorithm_3_s),
                                       HOLDS(ends_and_their_passages),
                                       HOLDS(words_and_vectors_blend),
                                       HOLDS(the_writer_s_facts_count),
                                       HOLDS(without_vectors_of_triples_their_parts_are_searched),
                                       HOLDS(facts_are_scored_again_by_their_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
