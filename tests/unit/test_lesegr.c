/* LeSeGR's graph encoders: against PyTorch's stored values (tests/reference/lesegr.py), finite differences, the slow way
 * over vectors, and Proposition 4.1; weights files, and those that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yyjson.h>

#include "base/file.h"
#include "base/vector.h"
#include "model/lesegr.h"
#include "unit/floats.h"

#define FOLDER "tests/reference/lesegr/"
enum { MOST = 64, MOST_ARCS = 512, DIM = 20 };

typedef struct scene { /* candidates, with room for them */
    uint64_t start[MOST + 1];
    uint32_t target[MOST_ARCS];
    float vector[MOST * DIM], delta[MOST], query[DIM];
    qp_candidates c;
} scene;

static scene *random_scene(uint32_t n, double density, uint64_t seed)
{
    scene *s = calloc(1, sizeof *s);
    qp_random r = qp_random_seed(seed);
    bool joined[MOST][MOST] = {{false}};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            joined[i][j] = joined[j][i] = qp_random_unit(&r) < density;
    for (uint32_t i = 0; i < n; i++) {
        s->start[i + 1] = s->start[i];
        for (uint32_t j = 0; j < n; j++)
            if (joined[i][j])
                s->target[s->start[i + 1]++] = j;
        float length = 0;
        for (int d = 0; d < DIM; d++)
            s->vector[i * DIM + (uint32_t)d] = (float)(2 * qp_random_unit(&r) - 1);
        length = sqrtf(qp_dot(s->vector + i * DIM, s->vector + i * DIM, DIM));
        for (int d = 0; d < DIM; d++)
            s->vector[i * DIM + (uint32_t)d] /= length;
        s->delta[i] = (float)qp_random_below(&r, 5) / 4;
    }
    for (int d = 0; d < DIM; d++)
        s->query[d] = (float)(qp_random_unit(&r) - .5);
    s->c = (qp_candidates){{n, s->start, s->target, NULL}, s->vector, s->delta, s->query, false};
    return s;
}

static void near(double found, double wanted, double tolerance, const char *what, size_t i)
{
    if (!(fabs(found - wanted) <= tolerance * (1 + fabs(wanted))))
        fail_msg("%s, place %zu: %.8g, wanted %.8g", what, i, found, wanted);
}

/* ---- PyTorch ---- */

static scene *read_scene(yyjson_val *root)
{
    scene *s = calloc(1, sizeof *s);
    size_t i, n, k, m;
    yyjson_val *row, *end;
    yyjson_arr_foreach(yyjson_obj_get(root, "neighbours"), i, n, row) {
        s->start[i + 1] = s->start[i];
        yyjson_arr_foreach(row, k, m, end)
            s->target[s->start[i + 1]++] = (uint32_t)yyjson_get_uint(end);
    }
    assert_int_equal(read_floats(yyjson_obj_get(root, "vector"), s->vector), n * DIM);
    read_floats(yyjson_obj_get(root, "delta"), s->delta);
    read_floats(yyjson_obj_get(root, "query"), s->query);
    s->c = (qp_candidates){{(uint32_t)n, s->start, s->target, NULL}, s->vector, s->delta, s->query, false};
    return s;
}

static void compare_gradient(qp_lesegr *m, yyjson_val *wanted, const float *found)
{
    uint32_t parts;
    const qp_lesegr_part *part = qp_lesegr_parts(m, &parts);
    float values[4096];
    assert_int_equal(parts, yyjson_obj_size(wanted));
    for (uint32_t p = 0; p < parts; p++) {
        size_t n = read_floats(yyjson_obj_get(wanted, part[p].name), values);
        assert_int_equal(n, (size_t)part[p].rows * part[p].cols);
        for (size_t i = 0; i < n; i++)
            near(found[part[p].at + i], values[i], 1e-4, part[p].name, i);
    }
}

static void is_pytorchs(const char *kind)
{
    char path[80];
    qp_buf text = {0};
    qp_lesegr *m = NULL;
    qp_lesegr_about about = {.embedder = "0123456789abcdef"};
    qp_err err = {0};
    qp_arena *mem = qp_arena_new();
    snprintf(path, sizeof path, FOLDER "%s.json", kind);
    assert_int_equal(qp_file_read(path, 0, &text, NULL), QP_OK);
    yyjson_doc *doc = yyjson_read(text.at, text.n, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    snprintf(path, sizeof path, FOLDER "%s.gguf", kind);
    if (qp_lesegr_load(path, DIM, &m, &about, mem, &err))
        fail_msg("%s", err.message);
    assert_string_equal(about.sparse, "bm25");
    scene *s = read_scene(root);
    qp_lesegr_pass *pass;
    const float *score;
    float wanted[MOST], of_score[MOST];
    size_t n;
    float *gradient = calloc((qp_lesegr_weights(m, &n), n), sizeof *gradient);
    assert_int_equal(qp_lesegr_ready(m, true, NULL), QP_OK);
    assert_int_equal(qp_lesegr_forward(m, &s->c, 1, &pass, &score, mem, NULL), QP_OK);
    n = read_floats(yyjson_obj_get(root, "score"), wanted);
    const float *alone, *together;
    assert_int_equal(qp_lesegr_score(m, &s->c, 1, &alone, mem, NULL), QP_OK);
    assert_int_equal(qp_lesegr_score(m, &s->c, 3, &together, mem, NULL), QP_OK);
    assert_memory_equal(alone, together, s->c.graph.n * sizeof *alone);
    for (size_t i = 0; i < n; i++) {
        near(score[i], wanted[i], 1e-4, kind, i);
        near(alone[i], wanted[i], 1e-4, kind, i);
    }
    read_floats(yyjson_obj_get(root, "of_score"), of_score);
    assert_int_equal(qp_lesegr_backward(m, &s->c, pass, of_score, gradient, mem, NULL), QP_OK);
    compare_gradient(m, yyjson_obj_get(root, "gradient"), gradient);
    free(gradient);
    free(s);
    qp_lesegr_free(m);
    yyjson_doc_free(doc);
    qp_buf_free(&text);
    qp_arena_free(mem);
}

static void scores_and_gradients_are_pytorchs(void **state)
{
    (void)state;
    for (const char *const *kind = qp_lesegr_kinds; *kind; kind++)
        is_pytorchs(*kind);
}

/* ---- finite differences ---- */

static qp_lesegr *new_model(qp_lesegr_kind kind, uint32_t layers, uint64_t seed)
{
    qp_random r = qp_random_seed(seed);
    qp_lesegr *m = NULL;
    qp_lesegr_shape shape = {kind, layers, DIM, 24, 3, 6};
    assert_int_equal(qp_lesegr_new(shape, &r, &m, NULL), QP_OK);
    assert_int_equal(qp_lesegr_ready(m, true, NULL), QP_OK);
    return m;
}

/* Weights that are all drawn, those that begin at zero too. */
static void stir(qp_lesegr *m, uint64_t seed)
{
    qp_random r = qp_random_seed(seed);
    size_t n;
    float *w = qp_lesegr_weights(m, &n);
    for (size_t i = 0; i < n; i++)
        w[i] = (float)(qp_random_unit(&r) - .5);
    assert_int_equal(qp_lesegr_ready(m, true, NULL), QP_OK);
}

/* Sum of r_i score_i, a loss whose gradient of the scores is r. */
static double weighed(const qp_lesegr *m, const scene *s, const float *r, qp_lesegr_pass **pass, qp_arena *mem)
{
    const float *score;
    double sum = 0;
    assert_int_equal(qp_lesegr_forward(m, &s->c, 1, pass, &score, mem, NULL), QP_OK);
    for (uint32_t i = 0; i < s->c.graph.n; i++)
        sum += (double)r[i] * score[i];
    return sum;
}

static void differ(qp_lesegr_kind kind, bool flat, uint64_t seed)
{
    const double step = 2e-3;
    scene *s = random_scene(12, .3, seed);
    qp_lesegr *m = new_model(kind, 2, seed);
    qp_arena *mem = qp_arena_new();
    qp_random random = qp_random_seed(seed + 1);
    qp_lesegr_pass *pass;
    size_t n;
    float *w = qp_lesegr_weights(m, &n), *gradient = calloc(n, sizeof *gradient), r[MOST];
    s->c.flat = flat;
    stir(m, seed);
    for (int i = 0; i < MOST; i++)
        r[i] = (float)(qp_random_unit(&random) - .5);
    weighed(m, s, r, &pass, mem);
    assert_int_equal(qp_lesegr_backward(m, &s->c, pass, r, gradient, mem, NULL), QP_OK);
    for (int trial = 0; trial < 200; trial++) {
        size_t i = (size_t)qp_random_below(&random, n);
        float kept = w[i];
        double at[2];
        for (int side = 0; side < 2; side++) {
            w[i] = kept + (float)(side ? step : -step);
            assert_int_equal(qp_lesegr_ready(m, false, NULL), QP_OK);
            at[side] = weighed(m, s, r, &pass, mem);
        }
        near((at[1] - at[0]) / (2 * step), gradient[i], 1e-4, qp_lesegr_kinds[kind], i);
        w[i] = kept;
        qp_arena_reset(mem);
    }
    free(gradient);
    free(s);
    qp_lesegr_free(m);
    qp_arena_free(mem);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    for (qp_lesegr_kind kind = QP_LESEGR_GCN; kind <= QP_LESEGR_GT; kind++) {
        differ(kind, false, 3);
        differ(kind, true, 4);
    }
}

/* ---- Proposition 4.1 ---- */

static void without_neighbours_it_is_post_retrieval_fusion(void **state)
{
    (void)state;
    scene *s = random_scene(20, 0, 5);
    qp_arena *mem = qp_arena_new();
    for (uint32_t layers = 1; layers <= 4; layers++) {
        float score[MOST];
        assert_int_equal(qp_lesegr_untrained(&s->c, layers, DIM, score, mem, NULL), QP_OK);
        for (uint32_t i = 0; i < s->c.graph.n; i++)
            near(score[i], pow(s->delta[i], layers) * qp_dot(s->query, s->vector + (size_t)i * DIM, DIM), 1e-6,
                 "untrained", i);
    }
    qp_arena_free(mem);
    free(s);
}

/* The formulas as they stand, over vectors. */
static void slow(const scene *s, uint32_t layers, bool flat, float *score)
{
    uint32_t n = s->c.graph.n;
    double h[MOST][DIM], next[MOST][DIM];
    for (uint32_t i = 0; i < n * DIM; i++)
        h[i / DIM][i % DIM] = s->vector[i];
    for (uint32_t k = 0; k < layers; k++) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t d = 0; d < DIM; d++) {
                double sum = s->delta[i] * h[i][d];
                for (uint64_t a = s->start[i]; a < s->start[i + 1]; a++) {
                    uint32_t j = s->target[a];
                    double cosine = flat ? 1 : qp_dot(s->vector + i * DIM, s->vector + j * DIM, DIM);
                    sum += s->delta[j] * (cosine > 0 ? cosine : 0) * h[j][d];
                }
                next[i][d] = sum / (double)(s->start[i + 1] - s->start[i] + 1);
            }
        memcpy(h, next, sizeof h);
    }
    for (uint32_t i = 0; i < n; i++) {
        double dot = 0;
        for (int d = 0; d < DIM; d++)
            dot += s->query[d] * h[i][d];
        score[i] = (float)dot;
    }
}

static void numbers_are_passed_as_vectors_would_be(void **state)
{
    (void)state;
    qp_arena *mem = qp_arena_new();
    for (uint64_t seed = 10; seed < 40; seed++) {
        scene *s = random_scene(1 + (uint32_t)seed, .15, seed);
        float found[MOST], wanted[MOST];
        s->c.flat = seed % 2;
        assert_int_equal(qp_lesegr_untrained(&s->c, 2, DIM, found, mem, NULL), QP_OK);
        slow(s, 2, s->c.flat, wanted);
        for (uint32_t i = 0; i < s->c.graph.n; i++)
            near(found[i], wanted[i], 1e-6, "untrained", i);
        free(s);
    }
    qp_arena_free(mem);
}

/* An encoder that has learned nothing scores every candidate as if it had no neighbour. */
static void training_begins_at_the_proposition(void **state)
{
    (void)state;
    qp_arena *mem = qp_arena_new();
    scene *s = random_scene(30, .2, 7);
    for (qp_lesegr_kind kind = QP_LESEGR_GCN; kind <= QP_LESEGR_GT; kind++) {
        qp_lesegr *m = new_model(kind, 2, 8);
        qp_lesegr_pass *pass;
        const float *score;
        assert_int_equal(qp_lesegr_forward(m, &s->c, 1, &pass, &score, mem, NULL), QP_OK);
        for (uint32_t i = 0; i < s->c.graph.n; i++)
            near(score[i], pow(s->delta[i], 2) * qp_dot(s->query, s->vector + (size_t)i * DIM, DIM), 1e-6,
                 qp_lesegr_kinds[kind], i);
        qp_lesegr_free(m);
    }
    free(s);
    qp_arena_free(mem);
}

/* ---- files ---- */

static void a_file_gives_the_scores_of_what_was_saved(void **state)
{
    (void)state;
    char path[] = "/tmp/quipu-lesegr-XXXXXX";
    close(mkstemp(path));
    qp_arena *mem = qp_arena_new();
    scene *s = random_scene(15, .3, 9);
    qp_lesegr *m = new_model(QP_LESEGR_GAT, 3, 10), *again = NULL;
    qp_lesegr_about about = {"abc", "tfidf", "seed=1", .5};
    stir(m, 12);
    assert_int_equal(qp_lesegr_save(m, path, about, NULL), QP_OK);
    about = (qp_lesegr_about){.embedder = "abc"};
    assert_int_equal(qp_lesegr_load(path, DIM, &again, &about, mem, NULL), QP_OK);
    assert_string_equal(about.sparse, "tfidf");
    assert_string_equal(about.settings, "seed=1");
    assert_true(about.hit == .5);
    qp_lesegr_pass *pass;
    const float *x, *y;
    assert_int_equal(qp_lesegr_forward(m, &s->c, 1, &pass, &x, mem, NULL), QP_OK);
    assert_int_equal(qp_lesegr_forward(again, &s->c, 1, &pass, &y, mem, NULL), QP_OK);
    assert_memory_equal(x, y, s->c.graph.n * sizeof *x);
    qp_lesegr_free(again);
    qp_lesegr_free(m);
    free(s);
    qp_arena_free(mem);
    unlink(path);
}

static void refused(uint32_t dim, const char *embedder, const char *path, const char *word)
{
    qp_lesegr *m = NULL;
    qp_lesegr_about about = {.embedder = embedder};
    qp_arena *mem = qp_arena_new();
    qp_err err = {0};
    assert_int_equal(qp_lesegr_load(path, dim, &m, &about, mem, &err), QP_MODEL);
    if (!strstr(err.message, word) || strchr(err.message, '\n'))
        fail_msg("'%s' was wanted in: %s", word, err.message);
    qp_arena_free(mem);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    refused(DIM, "fedcba", FOLDER "gt.gguf", "another embedder");
    refused(384, "0123456789abcdef", FOLDER "gt.gguf", "vectors of 20 numbers, the index has 384");
    refused(DIM, "0123456789abcdef", "tests/reference/bert/tiny.gguf", "another model");
    refused(DIM, "0123456789abcdef", FOLDER "gt.json", "not a GGUF");
    qp_random r = qp_random_seed(1);
    qp_lesegr *m = NULL;
    assert_int_equal(qp_lesegr_new((qp_lesegr_shape){QP_LESEGR_GT, 2, 20, 30, 4, 8}, &r, &m, NULL), QP_INPUT);
    assert_int_equal(qp_lesegr_new((qp_lesegr_shape){QP_LESEGR_GT, 9, 20, 32, 4, 8}, &r, &m, NULL), QP_INPUT);
}

static void threads_share_the_work_and_change_nothing(void **state)
{
    (void)state;
    scene *s = random_scene(MOST - 3, .1, 5);
    for (int kind = QP_LESEGR_GCN; kind <= QP_LESEGR_GT; kind++) {
        qp_lesegr *m = new_model((qp_lesegr_kind)kind, 2, 11);
        qp_arena *mem = qp_arena_new();
        qp_lesegr_pass *pass;
        const float *alone, *together;
        stir(m, 3);
        assert_int_equal(qp_lesegr_forward(m, &s->c, 1, &pass, &alone, mem, NULL), QP_OK);
        for (int threads = 2; threads < 6; threads++) {
            assert_int_equal(qp_lesegr_forward(m, &s->c, threads, &pass, &together, mem, NULL), QP_OK);
            assert_memory_equal(alone, together, s->c.graph.n * sizeof *alone);
        }
        qp_lesegr_free(m);
        qp_arena_free(mem);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_and_gradients_are_pytorchs),
                                       cmocka_unit_test(gradients_are_finite_differences),
                                       cmocka_unit_test(without_neighbours_it_is_post_retrieval_fusion),
                                       cmocka_unit_test(numbers_are_passed_as_vectors_would_be),
                                       cmocka_unit_test(training_begins_at_the_proposition),
                                       cmocka_unit_test(a_file_gives_the_scores_of_what_was_saved),
                                       cmocka_unit_test(threads_share_the_work_and_change_nothing),
                                       cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
