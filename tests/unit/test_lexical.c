/* BM25 and tf-idf return what looking at every node returns, in the same order, for any k, k1, b and filter. */
#include "store/lexicon.h"
#include "unit/made.h"

static const struct made corpus = {.seed = 11, .documents = 4000, .words = 120, .vocabulary = 20000, .types = 1};

/* Counts of words by node, got by decoding every posting: check() proves them to be those of the texts. */
static uint32_t *counts_of(const qp_snapshot *s, const char *word)
{
    uint32_t *tf = calloc(s->nodes + 1, sizeof *tf), n = 0, before = UINT32_MAX, node[QP_BLOCK], in_node[QP_BLOCK];
    const qp_lexical *l = &s->texts;
    uint32_t term = qp_snapshot_find(s, &l->term->name, sizeof *l->term, l->terms, qp_str_of(word));
    const qp_block_entry *b =
        term == UINT32_MAX ? NULL : qp_postings_blocks(&l->of, l->term[term].block, l->term[term].df, &n);
    for (uint32_t i = 0; i < n; before = b[i++].last) {
        assert_true(qp_block_nodes(&l->of, &b[i], before, node) && qp_block_tfs(&l->of, &b[i], in_node));
        for (uint32_t j = 0; j <= b[i].n; j++)
            tf[node[j]] = in_node[j];
    }
    for (uint32_t v = 0; v < s->nodes; v++) /* the last place counts the nodes */
        tf[s->nodes] += tf[v] > 0;
    return tf;
}

/* The slow twins: the formula, node by node. */
static void slow(const qp_snapshot *s, const char *const *word, bool tfidf, double k1, double b, double *score)
{
    double average = (double)s->info->texts.words / s->nodes, square = 0;
    memset(score, 0, s->nodes * sizeof *score);
    for (; *word; word++) {
        uint32_t *tf = counts_of(s, *word);
        double df = tf[s->nodes], idf = log(1 + (s->nodes - df + .5) / (df + .5)),
               smooth = 1 + log((1. + s->nodes) / (1 + df));
        square += df ? smooth * smooth : 0;
        for (uint32_t v = 0; v < s->nodes; v++)
            if (tf[v] && tfidf)
                score[v] += smooth * (1 + log(tf[v])) * smooth / s->texts.norm[v];
            else if (tf[v])
                score[v] += idf * tf[v] / (tf[v] + k1 * (1 - b + b * s->texts.length[v] / average));
        free(tf);
    }
    for (uint32_t v = 0; tfidf && v < s->nodes; v++)
        score[v] /= square ? sqrt(square) : 1;
}

static void compare(qp_snapshot *s, const char *const *word, bool tfidf, float k1, float b, uint32_t k,
                    const uint64_t *allow, qp_arena *a)
{
    qp_buf text = {0};
    qp_list list;
    double *score = calloc(s->nodes, sizeof *score);
    qp_best best;
    for (int i = 0; word[i]; i++)
        qp_buf_fmt(&text, "%s ", word[i]);
    slow(s, word, tfidf, k1 == 0 && b == 0 ? 1.2 : k1, k1 == 0 && b == 0 ? .75 : b, score);
    assert_true(qp_best_begin(&best, k, a));
    for (uint32_t v = 0; v < s->nodes; v++)
        if (score[v] > 0 && (!allow || allow[v / 64] >> (v % 64) & 1))
            qp_best_add(&best, v, (float)score[v]);
    qp_list twin = qp_best_end(&best);
    qp_probe probe = {.text = qp_buf_view(&text), .allow = allow, .k1 = k1, .b = b};
    assert_int_equal(s->view.search(s, tfidf ? "node.tfidf" : "node.bm25", &probe, k, &list, a, NULL), QP_OK);
    assert_int_equal(list.n, twin.n);
    for (uint32_t i = 0; i < list.n; i++) {
        /* a unit in the last place of a float may part them, and then two neighbours may have changed places */
        assert_true(fabs(list.at[i].score - score[list.at[i].id]) <= 2e-7 * score[list.at[i].id] + 1e-9);
        assert_true(fabs(list.at[i].score - twin.at[i].score) <= 2e-7 * twin.at[i].score + 1e-9);
        assert_true(!i || qp_hit_before(&list.at[i - 1], &list.at[i]));
    }
    free(score);
    qp_buf_free(&text);
    qp_arena_reset(a);
}

static void fast_is_slow(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &corpus);
    qp_arena *a = qp_arena_new();
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    uint64_t *allow = calloc(s->nodes / 64 + 1, sizeof *allow);
    qp_random r = qp_random_seed(1);
    for (uint32_t v = 0; v < s->nodes; v += 1 + (uint32_t)qp_random_below(&r, 9))
        allow[v / 64] |= UINT64_C(1) << (v % 64);
    for (int i = 0; i < 120; i++) {
        static const uint32_t ks[] = {1, 3, 10, 100, 100000};
        char words[12][16];
        const char *word[13] = {0};
        int n = 1 + (int)qp_random_below(&r, 12);
        for (int j = 0; j < n; j++) {
            snprintf(words[j], sizeof *words, "q%u", (uint32_t)exp(qp_random_unit(&r) * log(20000)) - 1);
            word[j] = words[j];
            for (int other = 0; other < j;
                 other++) /* the twins count a word once: tf-idf's weight of a double is not double */
                if (!strcmp(words[other], words[j]))
                    snprintf(words[j], sizeof *words, "none%d", j);
        }
        compare(s, word, i % 3 == 2, i % 4 ? 0 : .9f,
                i % 4   ? 0
                : i % 8 ? 1.f
                        : .4f,
                ks[i % 5], i % 7 ? NULL : allow, a);
    }
    free(allow);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* The same scores whatever k is: skipping is invisible. */
static void skipping_changes_nothing(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &corpus);
    qp_arena *a = qp_arena_new();
    qp_random r = qp_random_seed(2);
    for (int i = 0; i < 200; i++) {
        qp_buf text = {0};
        qp_list all, few;
        random_words(&r, 1 + (uint32_t)qp_random_below(&r, 8), 20000, &text);
        qp_probe probe = {.text = qp_buf_view(&text)};
        const char *index = i % 2 ? "node.bm25" : "node.tfidf";
        assert_int_equal(s->view.search(s, index, &probe, s->nodes, &all, a, NULL), QP_OK);
        for (uint32_t k = 1; k < 40; k += 6) {
            assert_int_equal(s->view.search(s, index, &probe, k, &few, a, NULL), QP_OK);
            assert_int_equal(few.n, k < all.n ? k : all.n);
            for (uint32_t j = 0; j < few.n; j++)
                assert_true(few.at[j].id == all.at[j].id && few.at[j].score == all.at[j].score);
        }
        qp_buf_free(&text);
        qp_arena_reset(a);
    }
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* Three nodes, worked by hand. */
static void the_formula_by_hand(void **state)
{
    const char *const texts[] = {"cat sat mat", "cat cat dog", "bird"};
    qp_maker *m;
    qp_maker_options o = {.language = "none", .embedder = ""};
    assert_int_equal(qp_maker_open(in(*state, "made.qp"), &o, &m, NULL), QP_OK);
    for (int i = 0; i < 3; i++) {
        qp_chunk chunk = {0, strlen(texts[i]), 0, QP_STR("")};
        char key[2] = {(char)('a' + i), 0};
        qp_document d = {
            .key = qp_str_of(key), .meta = QP_STR("{}"), .text = qp_str_of(texts[i]), .chunks = &chunk, .n_chunks = 1};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    qp_snapshot *s;
    assert_int_equal(qp_snapshot_open_file(in(*state, "made.qp"), 1, &s, NULL), QP_OK);
    qp_arena *a = qp_arena_new();
    qp_list list;
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("cat")}, 10, &list, a, NULL), QP_OK);
    /* N 3, df 2: idf = ln(1 + 1.5 / 2.5) = .470004; avgdl 7/3, dl 3: norm = 1.2 (.25 + .75 * 9/7) = 1.457143 */
    assert_int_equal(list.n, 2);
    assert_int_equal(list.at[0].id, 1);
    assert_true(fabs(list.at[0].score - .470004 * 2 / (2 + 1.457143)) < 1e-6);
    assert_int_equal(list.at[1].id, 0);
    assert_true(fabs(list.at[1].score - .470004 * 1 / (1 + 1.457143)) < 1e-6);
    /* a word that stands twice counts twice */
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("cat Cat")}, 10, &list, a, NULL), QP_OK);
    assert_true(fabs(list.at[0].score - 2 * .470004 * 2 / (2 + 1.457143)) < 1e-6);
    /* k1 = 0 with b > 0: a term is there or not */
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("cat"), .b = .5f}, 10, &list, a, NULL),
                     QP_OK);
    assert_true(list.at[0].score == list.at[1].score && list.at[0].id == 0);
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("cat"), .k1 = 1, .b = 2}, 10, &list, a,
                                    NULL),
                     QP_INPUT);
    /* a question that is a text finds it with cosine 1 */
    assert_int_equal(s->view.search(s, "node.tfidf", &(qp_probe){.text = QP_STR("dog cat cat")}, 10, &list, a, NULL),
                     QP_OK);
    assert_int_equal(list.at[0].id, 1);
    assert_true(fabs(list.at[0].score - 1) < 1e-6);
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("unheard-of")}, 10, &list, a, NULL),
                     QP_OK);
    assert_int_equal(list.n, 0);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static qp_snapshot *made_of(const char *dir, const char *const *text, const qp_str *questions, int n)
{
    qp_maker *m;
    qp_snapshot *s;
    qp_maker_options o = {.language = "en", .embedder = "", .expander = questions ? "writer" : ""};
    char *path = strdup(in(dir, questions ? "expanded.qp" : "longer.qp"));
    assert_int_equal(qp_maker_open(path, &o, &m, NULL), QP_OK);
    for (int i = 0; i < n; i++) {
        qp_chunk chunk = {0, strlen(text[i]), 0, QP_STR("")};
        char key[2] = {(char)('a' + i), 0};
        qp_document d = {.key = qp_str_of(key),
                         .meta = QP_STR("{}"),
                         .text = qp_str_of(text[i]),
                         .chunks = &chunk,
                         .n_chunks = 1,
                         .questions = questions ? &questions[i] : NULL};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
    assert_int_equal(qp_maker_entity(m, QP_STR(""), QP_STR("accountant"), QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    assert_int_equal(qp_snapshot_open_file(path, 1, &s, NULL), QP_OK);
    free(path);
    return s;
}

/* Doc2Query appends: its search is BM25 on texts that end with the questions. */
static void questions_are_searched_as_if_the_texts_had_them(void **state)
{
    static const char *const text[] = {"The keeper of cords", "Cotton is dyed", "Nothing"};
    static const char *const longer[] = {"The keeper of cords\nwho was the accountant\nwhat are cords",
                                         "Cotton is dyed\nwhat is dyed", "Nothing"};
    const qp_str questions[] = {QP_STR("who was the accountant\nwhat are cords"), QP_STR("what is dyed"), QP_STR("")};
    static const char *const asked[] = {"accountant", "cords", "dyed cotton cords", "nothing", "unheard-of"};
    qp_arena *a = qp_arena_new();
    qp_snapshot *as_one = made_of(*state, longer, NULL, 3), *s = made_of(*state, text, questions, 3);
    qp_list one, two, plain;
    qp_err err = {0};
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    for (int i = 0; i < 5; i++) {
        const qp_probe probe = {.text = qp_str_of(asked[i]), .k1 = .9f, .b = .4f};
        assert_int_equal(as_one->view.search(as_one, "node.bm25", &probe, 10, &one, a, NULL), QP_OK);
        assert_int_equal(s->view.search(s, "node.doc2query", &probe, 10, &two, a, NULL), QP_OK);
        assert_int_equal(one.n, two.n);
        for (uint32_t j = 0; j < one.n; j++)
            assert_true(one.at[j].id == two.at[j].id && one.at[j].score == two.at[j].score);
    }
    const qp_probe probe = {.text = QP_STR("accountant")};
    assert_int_equal(s->view.search(s, "node.bm25", &probe, 10, &plain, a, NULL), QP_OK);
    assert_int_equal(plain.n, 0);
    assert_int_equal(as_one->view.search(as_one, "node.doc2query", &probe, 10, &plain, a, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "-o doc2query="));
    qp_arena_free(a);
    qp_snapshot_close(as_one);
    qp_snapshot_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(fast_is_slow), HOLDS(skipping_changes_nothing), HOLDS(the_formula_by_hand),
                                       HOLDS(questions_are_searched_as_if_the_texts_had_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
