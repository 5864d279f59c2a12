/* Operators on a knowledge graph, each against the shortest way to say what it does: paths, beam, link, vote. */
#include <math.h>

#include "answer/answer.h"
#include "base/vector.h"
#include "method/method.h"
#include "method/methods.h"
#include "model/model.h"
#include "op/beam.h"
#include "op/describe.h"
#include "op/eem.h"
#include "op/ops.h"
#include "op/sub.h"
#include "op/vote.h"
#include "store/graph.h"
#include "store/store.h"
#include "unit/made.h"

/* A graph of ten entities, by hand: cycles, a parallel edge, an arm, an island. */
static const struct {
    const char *head, *relation, *tail;
} facts[] = {{"alpha", "knows", "beta"},   {"alpha", "likes", "beta"}, {"beta", "knows", "gamma"},
             {"gamma", "made", "alpha"},   {"gamma", "made", "delta"}, {"delta", "likes", "epsilon"},
             {"epsilon", "knows", "beta"}, {"eta", "made", "theta"},   {"zeta", "likes", "gamma"},
             {"iota", "knows", "zeta"}};
enum { FACTS = sizeof facts / sizeof *facts };
static const char *const names[] = {"alpha", "beta", "delta", "epsilon", "eta", "gamma", "iota", "theta", "zeta"};
enum { NAMES = sizeof names / sizeof *names };
static const char *const relations[] = {"knows", "likes", "made"};

static uint32_t place(const char *const *list, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return i;
    fail_msg("%s is none", name);
    return 0;
}

typedef struct world {
    qp_snapshot *s;
    qp_model *embedder, *attention;
    qp_query q;
} world;

static void embed_all(qp_store *store, qp_made what, const qp_model *m)
{
    qp_arena *a = qp_arena_new();
    uint32_t width = what == QP_MADE_HEADS ? m->heads * m->head_dim : m->dim, n = 1;
    while (n) {
        qp_pending p[8];
        qp_str text[8];
        float *v = qp_new(a, float, 8 * (size_t)width);
        assert_int_equal(qp_store_pending(store, what, m->digest, 8, p, &n, NULL, a, NULL), QP_OK);
        for (uint32_t i = 0; i < n; i++)
            text[i] = p[i].text;
        if (n && what == QP_MADE_HEADS)
            assert_int_equal(m->attend(m->self, QP_PASSAGE, text, n, v, NULL), QP_OK);
        else if (n)
            assert_int_equal(m->embed(m->self, QP_PASSAGE, text, n, v, NULL), QP_OK);
        if (n)
            assert_int_equal(qp_store_vectors(store, m->digest, width, p, n, v, NULL), QP_OK);
    }
    if (what == QP_MADE_HEADS)
        assert_int_equal(qp_store_heads(store, m->heads, m->head_dim, NULL), QP_OK);
    qp_arena_free(a);
}

static int by_place(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(uint32_t)); /* small numbers, little endian: bytes compare as they do */
}

static void make(world *w, const char *dir, const char *question)
{
    qp_store *store;
    qp_graph_put *p;
    uint32_t triple[FACTS][3];
    qp_err err = {0};
    assert_int_equal(qp_model_open(QP_EMBEDDER, "hash", 1, &w->embedder, NULL), QP_OK);
    assert_int_equal(qp_model_open(QP_ATTENTION, "hash", 1, &w->attention, NULL), QP_OK);
    assert_int_equal(qp_store_open(dir, true, true, &store, NULL), QP_OK);
    assert_int_equal(qp_graph_begin(store, QP_STR("facts"), QP_STR("1"), &p, NULL, NULL), QP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(qp_graph_relation(p, qp_str_of(relations[i]), NULL), QP_OK);
    for (uint32_t i = 0; i < NAMES; i++)
        assert_int_equal(qp_graph_entity(p, QP_STR(""), qp_str_of(names[i]), QP_STR(""), NULL), QP_OK);
    for (int i = 0; i < FACTS; i++) {
        triple[i][0] = place(names, NAMES, facts[i].head);
        triple[i][1] = place(names, NAMES, facts[i].tail);
        triple[i][2] = place(relations, 3, facts[i].relation);
    }
    qsort(triple, FACTS, sizeof *triple, by_place);
    for (int i = 0; i < FACTS; i++)
        assert_int_equal(qp_graph_triple(p, triple[i][0], triple[i][2], triple[i][1], 1, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_graph_end(p, QP_OK, NULL), QP_OK);
    embed_all(store, QP_MADE_VECTOR, w->embedder);
    embed_all(store, QP_MADE_HEADS, w->attention);
    if (qp_store_publish(store, NULL, &err) || qp_snapshot_open(dir, &w->s, &err))
        fail_msg("%s", err.message);
    qp_store_close(store);
    assert_int_equal(qp_query_begin(&w->q, qp_str_of(question), NULL), QP_OK);
    w->q.graph = qp_snapshot_view(w->s);
    w->q.embedder = w->embedder;
    w->q.attention = w->attention;
}

static void end(world *w)
{
    if (w->q.err.code)
        fail_msg("%s", w->q.err.message);
    qp_query_end(&w->q);
    qp_snapshot_close(w->s);
    qp_model_close(w->embedder);
    qp_model_close(w->attention);
}

static qp_id id_of(world *w, const char *name)
{
    qp_id id;
    qp_str text = qp_str_of(name);
    assert_int_equal(w->q.graph->find(w->s, QP_STR(""), &text, 1, &id, NULL), QP_OK);
    assert_true(id != QP_NO_ID);
    return id;
}

static qp_set all_nodes(world *w)
{
    qp_hit *hit = qp_new(w->q.mem, qp_hit, NAMES);
    for (uint32_t i = 0; i < NAMES; i++)
        hit[i] = (qp_hit){i, QP_NO_ID, 0, NULL};
    return qp_set_of((qp_list){hit, NAMES});
}

/* ---- all simple paths, told recursively ---- */

typedef struct told {
    char text[400];
    float score;
} told;

static uint32_t tell(world *w, char *so_far, bool *used, qp_id at, int hops, told *out, uint32_t n)
{
    for (qp_id e = 0; hops && e < w->s->edges; e++) {
        qp_link l;
        assert_int_equal(w->q.graph->link(w->s, &e, 1, &l, NULL), QP_OK);
        for (int back = 0; back < 2; back++) {
            qp_id from = back ? l.to : l.from, to = back ? l.from : l.to;
            if (from != at || used[to] || from == to)
                continue;
            char longer[400];
            qp_str text = {0};
            float v[256], dot;
            snprintf(longer, sizeof longer, "%.300s -> %s%.*s -> %s", so_far, back ? "~" : "", (int)l.type.n, l.type.at,
                     names[to]);
            assert_int_equal(w->q.graph->text(w->s, QP_TRIPLE, &e, 1, &text, w->q.mem, NULL), QP_OK);
            assert_int_equal(w->embedder->embed(w->embedder->self, QP_PASSAGE, &text, 1, v, NULL), QP_OK);
            dot = qp_dot(qp_query_vector(&w->q), v, w->embedder->dim);
            snprintf(out[n].text, sizeof out->text, "%s", longer);
            out[n++].score = dot;
            used[to] = true;
            n = tell(w, longer, used, to, hops - 1, out, n);
            used[to] = false;
        }
    }
    return n;
}

static void assert_same_paths(world *w, qp_list paths, const told *twin, uint32_t n, bool scored)
{
    assert_int_equal(paths.n, n);
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        qp_str text = qp_path_text(&w->q, &paths.at[i]);
        for (uint32_t j = 0; j < n; j++)
            if (qp_str_eq(text, qp_str_of(twin[j].text))) {
                found = true;
                if (scored)
                    assert_true(fabsf(paths.at[i].score - twin[j].score) < 1e-5f);
            }
        if (!found)
            fail_msg("'%.*s' is no path", (int)text.n, text.at);
        assert_true(!scored || !i || paths.at[i - 1].score >= paths.at[i].score);
    }
}

static void paths_are_all_simple_ones(void **state)
{
    for (int hops = 1; hops <= 4; hops++) {
        world w;
        char dir[300];
        bool used[NAMES] = {false};
        told *twin = calloc(400, sizeof *twin);
        snprintf(dir, sizeof dir, "%s/%d", (char *)*state, hops);
        make(&w, dir, "who made delta and knows gamma");
        qp_id start = id_of(&w, "alpha");
        used[start] = true;
        char begin[] = "alpha";
        uint32_t n = tell(&w, begin, used, start, hops, twin, 0);
        qp_set starts = qp_set_of((qp_list){&(qp_hit){start, QP_NO_ID, 1, NULL}, 1});
        assert_same_paths(&w, qp_paths_through(&w.q, starts, all_nodes(&w), "simple", (uint32_t)hops, 1000).paths, twin,
                          n, false);
        /* A beam that is wide enough drops nothing: Algorithm 1 then gives every path, scored by its last triple. */
        void *opt = qp_options_new(&qp_op_beam,
                                   (qp_setting[]){{"width", "1000"},
                                                  {"hops", (char[]){(char)('0' + hops), 0}},
                                                  {"score", "triple"}},
                                   3, w.q.mem, NULL);
        const qp_set in[] = {starts, all_nodes(&w)};
        assert_same_paths(&w, qp_run(&w.q, &qp_op_beam, in, 2, opt).paths, twin, n, true);
        free(twin);
        end(&w);
    }
}

static void a_narrow_beam_keeps_the_best(void **state)
{
    world w;
    make(&w, *state, "who made delta and knows gamma");
    qp_set starts = qp_set_of((qp_list){&(qp_hit){id_of(&w, "alpha"), QP_NO_ID, 1, NULL}, 1});
    const qp_set in[] = {starts, all_nodes(&w)};
    void *opt = qp_options_new(&qp_op_beam, (qp_setting[]){{"width", "1"}, {"hops", "3"}, {"score", "triple"}}, 3,
                               w.q.mem, NULL);
    qp_list one = qp_run(&w.q, &qp_op_beam, in, 2, opt).paths;
    assert_int_equal(one.n, 3); /* one a round, each a longer one of the last */
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t length = 0;
        for (const qp_hit *h = &one.at[i]; h->from; h = h->from)
            length++;
        assert_in_range(length, 1, 3);
    }
    end(&w);
}

static void shortest_paths_are_whole(void **state)
{
    world w;
    make(&w, *state, "x");
    qp_set starts = qp_set_of((qp_list){&(qp_hit){id_of(&w, "iota"), QP_NO_ID, 1, NULL}, 1});
    qp_list p = qp_paths_through(&w.q, starts, all_nodes(&w), "shortest", 4, 100).paths;
    /* iota - zeta - gamma - {alpha, beta, delta}, and on to epsilon: beginnings of longer ones are left out */
    bool ends[NAMES] = {false};
    for (uint32_t i = 0; i < p.n; i++)
        ends[p.at[i].id] = true;
    assert_false(ends[id_of(&w, "gamma")] || ends[id_of(&w, "zeta")] || ends[id_of(&w, "theta")]);
    assert_true(ends[id_of(&w, "alpha")] && ends[id_of(&w, "epsilon")]);
    end(&w);
}

static void names_are_found_in_the_question(void **state)
{
    world w;
    make(&w, *state, "does epsilon know who made delta?");
    qp_set found = qp_link_entities(&w.q);
    assert_int_equal(found.nodes.n, 2);
    const qp_str given[] = {QP_STR("Zeta")}; /* by its words, as the case is another */
    w.q.entities = given;
    w.q.n_entities = 1;
    found = qp_link_entities(&w.q);
    assert_int_equal(found.nodes.n, 1);
    assert_int_equal(found.nodes.at[0].id, id_of(&w, "zeta"));
    end(&w);
}

/* ---- the vote, node by node (GEAR, section 3) ---- */

static float cosine(const float *a, const float *b, uint32_t n)
{
    float length = sqrtf(qp_dot(a, a, n) * qp_dot(b, b, n));
    return length > 0 ? qp_dot(a, b, n) / length : 0;
}

static void votes_are_the_formula(void **state)
{
    enum { K = 4 };
    world w;
    make(&w, *state, "who made delta and knows gamma");
    const float *q = qp_query_heads(&w.q);
    uint32_t heads = w.s->heads, dim = w.s->head_dim;
    float node[NAMES][1024], edge[FACTS][1024], vote[NAMES] = {0}, of_type[3] = {0};
    for (qp_id v = 0; v < NAMES; v++)
        assert_int_equal(w.q.graph->vectors(w.s, "node.head", &v, 1, node[v], NULL), QP_OK);
    for (qp_id e = 0; e < FACTS; e++)
        assert_int_equal(w.q.graph->vectors(w.s, "edge.head", &e, 1, edge[e], NULL), QP_OK);
    for (uint32_t h = 0; h < heads; h++) {
        const float *named[2 * K], *asked = q + h * dim;
        uint32_t best[K], best_type[3], n = 0;
        double a = 0, b = 0;
        bool taken[NAMES] = {false}, taken_type[3] = {false};
        for (int i = 0; i < K; i++) { /* the best node that is left, of equals the first */
            uint32_t top = NAMES;
            for (uint32_t v = 0; v < NAMES; v++)
                if (!taken[v] && qp_dot(node[v] + h * dim, node[v] + h * dim, dim) > 0 &&
                    (top == NAMES ||
                     cosine(asked, node[v] + h * dim, dim) > cosine(asked, node[top] + h * dim, dim) + 1e-5f))
                    top = v;
            if (top == NAMES)
                break;
            taken[top] = true;
            best[i] = top;
            named[n++] = node[top] + h * dim;
        }
        uint32_t nodes = n;
        for (int i = 0; i < 3 && i < K; i++) { /* the best relation that is left: its first edge */
            uint32_t top = FACTS;
            for (uint32_t e = 0; e < FACTS; e++)
                if (!taken_type[w.s->edge_type[e]] &&
                    (top == FACTS || cosine(asked, edge[e] + h * dim, dim) > cosine(asked, edge[top] + h * dim, dim)))
                    top = e;
            taken_type[w.s->edge_type[top]] = true;
            best_type[i] = w.s->edge_type[top];
            named[n++] = edge[top] + h * dim;
        }
        for (uint32_t i = 0; i < n; i++) {
            a += sqrtf(qp_dot(named[i], named[i], dim)) / n;
            for (uint32_t j = 0; j < n; j++)
                b += j == i ? 0 : (1 - cosine(named[i], named[j], dim)) / (n * (n - 1.));
        }
        for (uint32_t i = 0; i < nodes; i++)
            vote[best[i]] += (float)(a * b * exp2(-(double)(i + 1)));
        for (uint32_t i = 0; i < 3; i++)
            of_type[best_type[i]] += (float)(a * b * exp2(-(double)(i + 1)));
    }
    qp_set found = qp_vote(&w.q, K);
    assert_int_equal(found.nodes.n, K);
    assert_int_equal(found.edges.n, K);
    float sum = 0, twin = 0;
    for (uint32_t i = 0; i < found.nodes.n; i++) {
        sum += found.nodes.at[i].score;
        twin += vote[found.nodes.at[i].id];
    }
    /* codes of 8 bits may change places of near equals, so the sum is held, not each place */
    assert_true(fabsf(sum - twin) <= .05f * twin);
    for (uint32_t i = 0; i < found.edges.n; i++) { /* at voted nodes, by what their relations got */
        qp_id e = found.edges.at[i].id;
        bool at_voted = false;
        for (uint32_t j = 0; j < found.nodes.n; j++)
            at_voted |= w.s->edge_from[e] == found.nodes.at[j].id || w.s->edge_to[e] == found.nodes.at[j].id;
        assert_true(at_voted);
        assert_true(fabsf(found.edges.at[i].score - of_type[w.s->edge_type[e]]) <= .05f * of_type[w.s->edge_type[e]]);
        assert_true(!i || found.edges.at[i - 1].score >= found.edges.at[i].score);
    }
    end(&w);
}

static void without_shares_heads_are_one_vector(void **state)
{
    world w;
    make(&w, *state, "who made delta and knows gamma");
    uint32_t width = w.s->heads * w.s->head_dim;
    for (qp_id v = 0; v < NAMES; v++) {
        float own[1024];
        assert_int_equal(w.q.graph->vectors(w.s, "node.head", &v, 1, own, NULL), QP_OK);
        const float *got = qp_head_cosines(&w.q, NULL, QP_NODE, &v, 1);
        assert_true(fabsf(*got - cosine(qp_query_heads(&w.q), own, width)) < 1e-5f);
    }
    end(&w);
}

static void a_subgraph_is_told_breadth_first(void **state)
{
    static const char *const facts_from_alpha =
        "alpha -> knows -> beta\nalpha -> likes -> beta\ngamma -> made -> alpha\nepsilon -> knows -> beta\n"
        "beta -> knows -> gamma\ngamma -> made -> delta\nzeta -> likes -> gamma\ndelta -> likes -> epsilon\n"
        "iota -> knows -> zeta\neta -> made -> theta";
    world w;
    make(&w, *state, "x");
    assert_true(qp_str_eq(qp_describe(&w.q, all_nodes(&w)), qp_str_of(facts_from_alpha)));
    qp_hit some[] = {{id_of(&w, "iota"), QP_NO_ID, 0, NULL},
                     {id_of(&w, "delta"), QP_NO_ID, 0, NULL},
                     {id_of(&w, "epsilon"), QP_NO_ID, 0, NULL}};
    assert_true(qp_str_eq(qp_describe(&w.q, qp_set_of((qp_list){some, 3})), QP_STR("iota\ndelta -> likes -> epsilon")));
    end(&w);
}

static void a_subgraph_has_every_edge_of_its_nodes(void **state)
{
    world w;
    qp_sub sub;
    make(&w, *state, "x");
    qp_hit some[] = {{id_of(&w, "beta"), QP_NO_ID, 0, NULL},
                     {id_of(&w, "alpha"), QP_NO_ID, 0, NULL},
                     {id_of(&w, "eta"), QP_NO_ID, 0, NULL}};
    assert_true(qp_sub_make(&w.q, qp_set_of((qp_list){some, 3}), (qp_walk){UINT64_MAX, QP_BOTH, true}, &sub));
    assert_int_equal(sub.n, 3);
    assert_int_equal(sub.graph.start[3], 4); /* two parallel edges, each in both rows */
    assert_int_equal(qp_sub_components(&w.q, &sub), 2);
    qp_set told_of = qp_sub_set(&w.q, &sub);
    assert_int_equal(told_of.edges.n, 2);
    qp_set by_edge = {.edges = {&told_of.edges.at[0], 1}};
    assert_true(qp_sub_make(&w.q, by_edge, (qp_walk){UINT64_MAX, QP_BOTH, true}, &sub));
    assert_int_equal(sub.n, 2);
    assert_int_equal(sub.graph.start[2], 2);
    end(&w);
}

/* ---- the writer alone ---- */

static qp_code say(void *self, const qp_message *m, uint32_t n, const qp_sampling *s, qp_str *out, qp_arena *mem,
                   qp_err *err)
{
    (void)n, (void)s, (void)err;
    assert_non_null(strstr(qp_arena_str(mem, m->text).at, "Who made delta?"));
    *out = qp_arena_str(mem, qp_str_of(self));
    return QP_OK;
}

/* Lines that name an entity are found, in their order; all of them are the answer. */
static void a_writer_answers_alone(void **state)
{
    static const struct {
        const qp_op *method;
        const char *says, *answer;
        const char *names[2];
    } cases[] = {
        {&qp_method_zero_shot, "- gamma\n- Nobody\n* BETA \n", "gamma, Nobody, BETA", {"gamma", "beta"}},
        {&qp_method_cot, "Delta is new. Answers: none\nSo:\nAnswers:\nbeta\ngamma", "beta, gamma", {"beta", "gamma"}},
        {&qp_method_cot, "Let us think.\ngamma", "gamma", {"gamma", NULL}},
        {&qp_method_zero_shot, "Nobody", "Nobody", {NULL, NULL}},
    };
    world w;
    make(&w, *state, "Who made delta?");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_model writer = {.self = (void *)(uintptr_t)cases[i].says, .name = "fake", .generate = say};
        qp_answer answer;
        w.q.writer = &writer;
        qp_set found = qp_run(&w.q, cases[i].method, NULL, 0, qp_options_new(cases[i].method, NULL, 0, w.q.mem, NULL));
        for (uint32_t j = 0; j < 2 && cases[i].names[j]; j++)
            assert_int_equal(found.nodes.at[j].id, id_of(&w, cases[i].names[j]));
        assert_int_equal(found.nodes.n, !!cases[i].names[0] + !!cases[i].names[1]);
        assert_int_equal(qp_answer_make(&w.q, found, &(qp_answer_options){.extract = true}, &answer, NULL), QP_OK);
        assert_string_equal(qp_arena_str(w.q.mem, answer.text).at, cases[i].answer);
        assert_false(answer.extracted);
        assert_int_equal(answer.n_citations, 0);
    }
    end(&w);
}

static qp_code choose(void *self, const qp_message *m, uint32_t n, const qp_sampling *s, qp_str *out, qp_arena *mem,
                      qp_err *err)
{
    (void)self, (void)n, (void)err;
    if (s->grammar) {
        assert_string_equal(s->grammar, "root ::= \"support\" | \"counter\"\n");
        assert_non_null(strstr(qp_arena_str(mem, m->text).at, "I think it is against that."));
    }
    *out = s->grammar ? QP_STR("counter") : QP_STR("I think it is against that.");
    return QP_OK;
}

/* What it thought stands before it then, and only the choice is the answer. */
static void a_writer_alone_chooses(void **state)
{
    const qp_op *methods[] = {&qp_method_zero_shot, &qp_method_cot};
    world w;
    make(&w, *state, "Who made delta?");
    for (int i = 0; i < 2; i++) {
        qp_model writer = {.name = "fake", .generate = choose};
        qp_answer answer;
        w.q.writer = &writer;
        qp_set found = qp_run(&w.q, methods[i], NULL, 0, qp_options_new(methods[i], NULL, 0, w.q.mem, NULL));
        assert_int_equal(qp_answer_make(&w.q, found, &(qp_answer_options){.choices = "support|counter"}, &answer, NULL),
                         QP_OK);
        assert_string_equal(qp_arena_str(w.q.mem, answer.text).at, "counter");
    }
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(paths_are_all_simple_ones),
                                       HOLDS(a_narrow_beam_keeps_the_best),
                                       HOLDS(shortest_paths_are_whole),
                                       HOLDS(names_are_found_in_the_question),
                                       HOLDS(votes_are_the_formula),
                                       HOLDS(a_subgraph_has_every_edge_of_its_nodes),
                                       HOLDS(without_shares_heads_are_one_vector),
                                       HOLDS(a_subgraph_is_told_breadth_first),
                                       HOLDS(a_writer_answers_alone),
                                       HOLDS(a_writer_alone_chooses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
