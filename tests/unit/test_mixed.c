/* Documents and a graph in one index: a search of passages, and one of entities, finds what an index of that half alone finds. */
#include "unit/made.h"

enum { PASSAGES = 600, ENTITIES = 500, DIM = 24, K = 20 };

struct half {
    char *text[PASSAGES];
    float vector[PASSAGES][DIM];
    uint32_t n;
};

static void draw(struct half *h, uint32_t n, uint64_t seed)
{
    qp_random r = qp_random_seed(seed);
    h->n = n;
    for (uint32_t i = 0; i < n; i++) {
        qp_buf words = {0};
        random_words(&r, 1 + (uint32_t)qp_random_below(&r, 12), 60, &words);
        h->text[i] = strndup(words.at, words.n);
        qp_buf_free(&words);
        random_unit(&r, DIM, h->vector[i]);
    }
}

static void let_go(struct half *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        free(h->text[i]);
}

static void add_passages(qp_maker *m, const struct half *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        char key[16];
        snprintf(key, sizeof key, "d%05u", i);
        qp_chunk chunk = {0, strlen(h->text[i]), 0, QP_STR("")};
        qp_document d = {.key = qp_str_of(key), .text = qp_str_of(h->text[i]), .chunks = &chunk, .n_chunks = 1};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
}

static void add_entities(qp_maker *m, const struct half *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%05u", i);
        assert_int_equal(qp_maker_entity(m, QP_STR(""), qp_str_of(name), qp_str_of(h->text[i]), NULL), QP_OK);
    }
}

static qp_snapshot *make(const char *path, const struct half *passages, const struct half *entities, uint32_t ann_from)
{
    qp_maker *m;
    qp_snapshot *s;
    qp_err err = {0};
    const struct half *halves[] = {passages, entities};
    assert_int_equal(
        qp_maker_open(
            path,
            &(qp_maker_options){.language = "en", .embedder = "e", .dim = DIM, .coded_from = 50, .ann_from = ann_from},
            &m, &err),
        QP_OK);
    if (passages)
        add_passages(m, passages);
    if (entities)
        add_entities(m, entities);
    for (int i = 0; i < 2; i++)
        for (uint32_t v = 0; halves[i] && v < halves[i]->n; v++)
            assert_int_equal(qp_maker_vector(m, halves[i]->vector[v], NULL), QP_OK);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(path, 1, &s, &err) || qp_snapshot_check(s, &err))
        fail_msg("%s", err.message);
    return s;
}

static void same(const qp_snapshot *whole, const char *index, uint32_t from, const qp_snapshot *half,
                 const char *of_half, const qp_probe *probe)
{
    qp_arena *a = qp_arena_new();
    qp_list x, y;
    assert_int_equal(whole->view.search(whole->view.self, index, probe, K, &x, a, NULL), QP_OK);
    assert_int_equal(half->view.search(half->view.self, of_half, probe, K, &y, a, NULL), QP_OK);
    assert_int_equal(x.n, y.n);
    for (uint32_t i = 0; i < x.n; i++) {
        assert_int_equal(x.at[i].id, from + y.at[i].id);
        assert_true(x.at[i].score == y.at[i].score);
    }
    qp_arena_free(a);
}

static void halves_agree(const char *dir, uint32_t ann_from)
{
    static struct half passages, entities;
    draw(&passages, PASSAGES, 1);
    draw(&entities, ENTITIES, 2);
    qp_snapshot *whole = make(in(dir, "whole"), &passages, &entities, ann_from),
                *documents = make(in(dir, "documents"), &passages, NULL, ann_from),
                *graph = make(in(dir, "graph"), NULL, &entities, ann_from);
    qp_random r = qp_random_seed(3);
    for (int round = 0; round < 200; round++) {
        qp_buf words = {0};
        float query[DIM];
        random_words(&r, 3, 60, &words);
        random_unit(&r, DIM, query);
        qp_probe probe = {.text = qp_buf_view(&words), .vector = query, .dim = DIM, .exact = round % 2};
        static const char *const kinds[][2] = {{"node.bm25", "entity.bm25"},
                                               {"node.tfidf", "entity.tfidf"},
                                               {"node.dense", "entity.dense"}};
        for (int i = 0; i < 3; i++) {
            same(whole, kinds[i][0], 0, documents, kinds[i][0], &probe);
            same(whole, kinds[i][1], PASSAGES, graph, kinds[i][1], &probe);
            same(whole, kinds[i][1], PASSAGES, graph, kinds[i][0], &probe);
        }
        qp_buf_free(&words);
    }
    qp_snapshot_close(whole);
    qp_snapshot_close(documents);
    qp_snapshot_close(graph);
    let_go(&passages);
    let_go(&entities);
}

static void halves_agree_scanned(void **state)
{
    halves_agree(*state, UINT32_MAX);
}

static void halves_agree_by_links(void **state)
{
    halves_agree(*state, 100);
}

/* Every triple has a vector but one, "x -> synonym -> y". */
static qp_code made(void *ctx, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    qp_random r = qp_random_seed(qp_hash64(text));
    (void)ctx, (void)what, (void)err;
    random_unit(&r, DIM, out);
    *found = !qp_str_eq(text, QP_STR("x -> synonym -> y"));
    return QP_OK;
}

/* Mentions are no triples, and a triple without a vector is not found, however few there are. */
static void triples_are_facts(void **state)
{
    qp_maker *m;
    qp_snapshot *s;
    qp_err err = {0};
    qp_chunk chunk = {0, 4, 0, QP_STR("")};
    const qp_maker_options o = {.language = "en", .embedder = "e", .dim = DIM, .triples = true, .made = made};
    assert_int_equal(qp_maker_open(in(*state, "s"), &o, &m, &err), QP_OK);
    qp_document d = {.key = QP_STR("a"), .text = QP_STR("text"), .chunks = &chunk, .n_chunks = 1};
    assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(qp_maker_entity(m, QP_STR(""), i ? QP_STR("y") : QP_STR("x"), QP_STR(""), NULL), QP_OK);
    static const struct {
        qp_id from, to;
        const char *type;
    } edges[] = {{1, 2, QP_SYNONYM}, {1, 2, "knows"}, {1, 0, QP_CONTAINS}, {2, 1, "likes"}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(qp_maker_edge(m, edges[i].from, edges[i].to, qp_str_of(edges[i].type), 1, QP_STR(""), NULL),
                         QP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(qp_maker_vector(m, NULL, NULL), QP_OK);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(*state, "s"), 1, &s, &err) || qp_snapshot_check(s, &err))
        fail_msg("%s", err.message);
    float query[DIM] = {-1};
    qp_arena *a = qp_arena_new();
    qp_list found;
    assert_int_equal(s->view.search(s, "triple.dense", &(qp_probe){.vector = query, .dim = DIM}, 10, &found, a, NULL),
                     QP_OK);
    assert_int_equal(found.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        qp_link l;
        assert_int_equal(s->view.link(s, &found.at[i].id, 1, &l, NULL), QP_OK);
        assert_true(qp_str_eq(l.type, QP_STR("knows")) || qp_str_eq(l.type, QP_STR("likes")));
    }
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* A walk keeps to its half unless it says `across`. */
static void halves_meet_across(void **state)
{
    qp_maker *m;
    qp_snapshot *s;
    qp_err err = {0};
    qp_chunk chunk = {0, 4, 0, QP_STR("")};
    assert_int_equal(qp_maker_open(in(*state, "s"), &(qp_maker_options){.language = "en"}, &m, &err), QP_OK);
    for (int i = 0; i < 2; i++) {
        qp_document d = {.key = i ? QP_STR("b") : QP_STR("a"), .text = QP_STR("text"), .chunks = &chunk, .n_chunks = 1};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(qp_maker_entity(m, QP_STR(""), i ? QP_STR("y") : QP_STR("x"), QP_STR(""), NULL), QP_OK);
    static const struct {
        qp_id from, to;
        const char *type;
    } edges[] = {{0, 1, "cites"}, {2, 3, "knows"}, {2, 0, QP_CONTAINS}, {2, 1, QP_CONTAINS}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(qp_maker_edge(m, edges[i].from, edges[i].to, qp_str_of(edges[i].type), 1, QP_STR(""), NULL),
                         QP_OK);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(*state, "s"), 1, &s, &err) || qp_snapshot_check(s, &err))
        fail_msg("%s", err.message);
    static const char *const neighbours[][4] = {{"1", "0", "3", "2"}, {"12", "02", "013", "2"}};
    qp_arena *a = qp_arena_new();
    for (int across = 0; across < 2; across++)
        for (qp_id v = 0; v < 4; v++) {
            const char *wanted = neighbours[across][v];
            const qp_walk walk = {~0ull, QP_BOTH, across};
            qp_adj adj, edge;
            qp_arcs arcs;
            uint32_t degree;
            assert_int_equal(s->view.adjacent(s, &v, 1, walk, &adj, a, NULL), QP_OK);
            assert_int_equal(s->view.incident(s, &v, 1, walk, &edge, a, NULL), QP_OK);
            assert_int_equal(s->view.degree(s, &v, 1, walk, &degree, NULL), QP_OK);
            assert_int_equal(s->view.arcs(s, walk, &arcs, a, NULL), QP_OK);
            assert_int_equal(adj.start[1], strlen(wanted));
            assert_int_equal(edge.start[1], strlen(wanted));
            assert_int_equal(degree, strlen(wanted));
            assert_int_equal(arcs.start[v + 1] - arcs.start[v], strlen(wanted));
            for (uint32_t i = 0; wanted[i]; i++) {
                assert_int_equal(adj.node[i], wanted[i] - '0');
                assert_int_equal(edge.node[i], wanted[i] - '0');
                assert_int_equal(arcs.node[arcs.start[v] + i], wanted[i] - '0');
            }
        }
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static double cosine(const float *a, const float *b)
{
    double dot = 0;
    for (int i = 0; i < DIM; i++)
        dot += (double)a[i] * b[i];
    return dot;
}

/* Of pairs above phi (by int8 vectors) each that is among the nearest 16 of one end, and no other. Links miss a few. */
static void likenesses_are_synonyms(const char *dir, uint32_t pairs_to, double least)
{
    static struct half entities, passages;
    enum { PHI10 = 4 };
    qp_maker *m;
    qp_snapshot *s;
    qp_err err = {0};
    draw(&entities, ENTITIES, 5);
    draw(&passages, 3, 6);
    const qp_maker_options o = {
        .language = "en", .embedder = "e", .dim = DIM, .phi = PHI10 / 10.f, .pairs_to = pairs_to};
    assert_int_equal(qp_maker_open(in(dir, "s"), &o, &m, &err), QP_OK);
    add_passages(m, &passages);
    add_entities(m, &entities);
    for (uint32_t v = 0; v < 3 + ENTITIES; v++)
        assert_int_equal(qp_maker_vector(m, v < 3 ? passages.vector[v] : entities.vector[v - 3], NULL), QP_OK);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(dir, "s"), 1, &s, &err) || qp_snapshot_check(s, &err))
        fail_msg("%s", err.message);
    uint32_t wanted = 0, there = 0, edges = s->view.edges;
    for (uint32_t e = 0; e < edges; e++) {
        qp_link l;
        assert_int_equal(s->view.link(s, &e, 1, &l, NULL), QP_OK);
        double cos = cosine(entities.vector[l.from - 3], entities.vector[l.to - 3]);
        assert_true(l.from < l.to && qp_str_eq(l.type, QP_STR(QP_SYNONYM)));
        assert_true(fabs(cos - (double)l.weight) < .02 && cos > PHI10 / 10. - .02);
    }
    for (uint32_t a = 0; a < ENTITIES; a++)
        for (uint32_t b = a + 1; b < ENTITIES; b++) {
            double cos = cosine(entities.vector[a], entities.vector[b]);
            int closer_a = 0, closer_b = 0;
            for (uint32_t c = 0; cos > PHI10 / 10. + .02 && c < ENTITIES; c++) {
                closer_a += c != a && cosine(entities.vector[a], entities.vector[c]) > cos - .02;
                closer_b += c != b && cosine(entities.vector[b], entities.vector[c]) > cos - .02;
            }
            if (cos <= PHI10 / 10. + .02 || (closer_a > 16 && closer_b > 16))
                continue;
            wanted++;
            for (uint32_t e = 0; e < edges; e++)
                there += s->edge_from[e] == a + 3 && s->edge_to[e] == b + 3;
        }
    assert_true(wanted > 200 && there >= least * wanted);
    const qp_id first = 3;
    qp_adj rows;
    qp_arena *mem = qp_arena_new();
    assert_int_equal(s->view.adjacent(s, &first, 1, (qp_walk){~0ull, QP_BOTH, false}, &rows, mem, NULL), QP_OK);
    assert_int_equal(rows.start[1], 0); /* only a walk across takes them */
    qp_arena_free(mem);
    qp_snapshot_close(s);
    let_go(&passages);
    let_go(&entities);
}

static void synonyms_by_pairs(void **state)
{
    likenesses_are_synonyms(*state, 0, 1);
}

static void synonyms_by_links(void **state)
{
    likenesses_are_synonyms(*state, 1, .98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(halves_agree_scanned), HOLDS(halves_agree_by_links),
                                       HOLDS(halves_meet_across),   HOLDS(triples_are_facts),
                                       HOLDS(synonyms_by_pairs),    HOLDS(synonyms_by_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
