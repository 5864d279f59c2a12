/* Late interaction: the codec against numpy, k-means and search against slow twins, what the stages of PLAID may lose. */
#include <yyjson.h>

#include "store/codec.h"
#include "store/kmeans.h"
#include "store/tokens.h"
#include "base/vector.h"
#include "store/dot.h"
#include "unit/floats.h"
#include "unit/made.h"

/* ---- the codec, against tests/reference/colbert.py ---- */

static void all_close(const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(fabsf(x[i] - y[i]) < 1e-6f);
}

static void codec_is_numpys(void **state)
{
    enum { MOST = 1000 };
    float rows[MOST], centroids[MOST], query[MOST], packed[MOST], unpacked[MOST], nearest[MOST], passages[MOST],
        score[MOST], residual[MOST], value[QP_BUCKETS], cut[QP_BUCKETS], own[MOST];
    yyjson_doc *doc = yyjson_read_file("tests/reference/colbert/expected.json", 0, NULL, NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_non_null(doc);
    (void)state;
#define READ(name) read_floats(yyjson_obj_get(root, #name), name)
    uint32_t dim = (uint32_t)yyjson_get_uint(yyjson_obj_get(root, "dim"));
    size_t n = READ(rows) / dim, bytes = qp_codec_bytes(dim), n_passages = READ(passages);
    READ(centroids), READ(packed), READ(unpacked), READ(nearest), READ(score), READ(cut), READ(value);
    uint32_t asked = (uint32_t)(READ(query) / dim);
#undef READ
    for (size_t i = 0; i < n * dim; i++)
        residual[i] = rows[i] - centroids[(size_t)nearest[i / dim] * dim + i % dim];
    qp_codec c = {.dim = dim, .centroid = centroids};
    qp_codec_fit(&c, residual, n * dim);
    all_close(c.cut, cut, QP_BUCKETS - 1);
    all_close(c.value, value, QP_BUCKETS);
    for (size_t i = 0; i < n; i++) {
        uint8_t code[16];
        qp_codec_pack(&c, (uint32_t)nearest[i], rows + i * dim, code);
        for (size_t j = 0; j < bytes; j++)
            assert_int_equal(code[j], (int)packed[i * bytes + j]);
        qp_codec_unpack(&c, (uint32_t)nearest[i], code, own + i * dim);
    }
    all_close(own, unpacked, n * dim);
    for (size_t p = 0, at = 0; p < n_passages; at += (size_t)passages[p++])
        assert_true(fabsf(qp_maxsim(query, asked, own + at * dim, (uint32_t)passages[p], dim) - score[p]) < 1e-5f);
    yyjson_doc_free(doc);
}

/* ---- k-means ---- */

enum { DIM = 12 };

static void random_codes(qp_random *r, uint32_t n, int8_t *code, float *scale)
{
    float v[DIM];
    for (uint32_t i = 0; i < n; i++) {
        random_unit(r, DIM, v);
        scale[i] = qp_quantise(v, DIM, code + i * (size_t)DIM);
    }
}

static uint32_t slow_nearest(const qp_centroids *c, const int8_t *code)
{
    uint32_t best = 0;
    double most = -1e30;
    for (uint32_t i = 0; i < c->n; i++) {
        int sum = 0;
        for (int j = 0; j < DIM; j++)
            sum += code[j] * c->code[i * DIM + (uint32_t)j];
        float dot = c->scale[i] * (float)sum;
        if (dot > most) {
            most = dot;
            best = i;
        }
    }
    return best;
}

/* Each centroid is where the mean of its vectors lies, but for the last round's moves: the twin does the rounds. */
static void centroids_are_means(void **state)
{
    enum { N = 702, K = 9 };
    qp_random r = qp_random_seed(1);
    int8_t code[N * DIM];
    float scale[N];
    uint32_t nearest[N];
    qp_centroids c, twin;
    (void)state;
    random_codes(&r, N, code, scale);
    assert_int_equal(qp_kmeans(code, scale, N, DIM, K, 2, NULL, &c, NULL), QP_OK);
    float row[K * DIM], twin_scale[K];
    int8_t twin_code[K * DIM];
    twin = (qp_centroids){K, DIM, row, twin_code, twin_scale};
    for (int round = 0; round <= QP_KMEANS_ROUNDS; round++) {
        double sum[K][DIM] = {{0}};
        for (uint32_t i = 0; i < N; i++) {
            uint32_t to = round ? slow_nearest(&twin, code + i * DIM) : i * K / N;
            bool first = !round && (i == 0 || (i - 1) * K / N != to); /* each starts at the first vector of its step */
            for (int j = 0; j < DIM && (round || first); j++)
                sum[to][j] += (double)scale[i] * code[i * DIM + (uint32_t)j];
        }
        for (int i = 0; i < K; i++) {
            for (int j = 0; j < DIM; j++)
                row[i * DIM + j] = (float)sum[i][j];
            qp_make_unit(row + i * DIM, DIM);
            twin_scale[i] = qp_quantise(row + i * DIM, DIM, twin_code + i * DIM);
        }
    }
    assert_memory_equal(c.row, row, sizeof row);
    assert_int_equal(qp_centroids_nearest(&c, code, N, 2, NULL, nearest, NULL), QP_OK);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(nearest[i], slow_nearest(&c, code + i * DIM));
    qp_centroids_free(&c);
}

static void centroids_grow_with_the_root_of_tokens(void **state)
{
    (void)state;
    assert_int_equal(qp_centroids_for(1), 1);
    assert_int_equal(qp_centroids_for(3), 3);
    assert_int_equal(qp_centroids_for(1 << 20), 4096);
    assert_int_equal(qp_centroids_for((1 << 20) - 1), 2048);
    assert_int_equal(qp_centroids_for(UINT64_C(1) << 39), QP_MOST_CENTROIDS);
}

/* ---- search ---- */

static const struct made corpus = {.seed = 8, .documents = 300, .words = 20, .vocabulary = 50, .types = 1};

/* A token lies about one of 60 directions. */
static void random_token(qp_random *r, const float *direction, float *out)
{
    float noise[DIM];
    const float *about = direction + qp_random_below(r, 60) * DIM;
    random_unit(r, DIM, noise);
    for (int j = 0; j < DIM; j++)
        out[j] = about[j] + .3f * noise[j];
    qp_make_unit(out, DIM);
}

static void add_tokens(qp_maker *m, qp_random *r, const float *direction)
{
    char bytes[30 * (sizeof(float) + DIM)];
    for (uint32_t v = 0; v < qp_maker_nodes(m); v++) {
        uint32_t n = (uint32_t)qp_random_below(r, 30);
        for (uint32_t i = 0; i < n; i++) {
            float row[DIM], scale;
            random_token(r, direction, row);
            char *to = bytes + i * qp_token_bytes(DIM);
            scale = qp_quantise(row, DIM, (int8_t *)to + sizeof scale);
            memcpy(to, &scale, sizeof scale);
        }
        assert_int_equal(qp_maker_tokens(m, bytes, n, NULL), QP_OK);
    }
}

static qp_snapshot *make(const char *dir, float *direction)
{
    qp_random r = qp_random_seed(corpus.seed);
    qp_maker *m;
    qp_snapshot *s = NULL;
    qp_err err = {0};
    for (int i = 0; i < 60; i++)
        random_unit(&r, DIM, direction + i * DIM);
    if (qp_maker_open(in(dir, "made.qp"), &(qp_maker_options){.language = "none", .embedder = "", .token_dim = DIM}, &m,
                      &err))
        fail_msg("%s", err.message);
    add_documents(m, &corpus, &r);
    add_tokens(m, &r, direction);
    if (qp_maker_finish(m, &err) || qp_snapshot_open_file(in(dir, "made.qp"), 1, &s, &err))
        fail_msg("%s", err.message);
    if (qp_snapshot_check(s, &err))
        fail_msg("%s", err.message);
    return s;
}

/* Every passage's vectors unpacked by the definition, every pair multiplied. */
static void slow(const qp_snapshot *s, const qp_token_rows *q, float *score)
{
    for (uint32_t v = 0; v < s->entity; v++) {
        double sum = 0;
        for (uint32_t i = 0; i < q->n; i++) {
            double best = -1e30;
            for (uint64_t t = s->token_start[v]; t < s->token_start[v + 1]; t++) {
                double row[DIM], square = 0, dot = 0;
                for (uint32_t j = 0; j < DIM; j++) {
                    unsigned bits = s->token_residual[t * 3 + j / 4] >> (j % 4 * 2) & 3;
                    row[j] = s->centroid[s->token_centroid[t] * DIM + j] + s->info->token_value[bits];
                    square += row[j] * row[j];
                }
                for (uint32_t j = 0; j < DIM; j++)
                    dot += row[j] / sqrt(square) * q->at[i * DIM + j];
                best = dot > best ? dot : best;
            }
            sum += best;
        }
        score[v] = (float)sum;
    }
}

static void stages_find_what_a_scan_finds(void **state)
{
    float direction[60 * DIM], row[16 * DIM];
    qp_snapshot *s = make(*state, direction);
    qp_random r = qp_random_seed(4);
    qp_arena *a = qp_arena_new();
    float *score = calloc(s->nodes, sizeof *score);
    uint64_t *allow = calloc(s->nodes / 64 + 1, sizeof *allow);
    uint32_t found_too = 0, wanted = 0;
    for (uint32_t v = 0; v < s->nodes; v += 1 + (uint32_t)qp_random_below(&r, 3))
        allow[v / 64] |= UINT64_C(1) << (v % 64);
    for (int round = 0; round < 50; round++) {
        qp_token_rows asked = {row, 8 + (uint32_t)qp_random_below(&r, 9)};
        for (uint32_t i = 0; i < asked.n; i++)
            random_token(&r, direction, row + i * DIM);
        slow(s, &asked, score);
        qp_list exact, all, staged;
        qp_probe probe = {.tokens = &asked, .exact = true, .allow = round % 2 ? allow : NULL};
        assert_int_equal(s->view.search(s, "node.colbert", &probe, 10, &exact, a, NULL), QP_OK);
        assert_int_equal(exact.n, 10);
        for (uint32_t i = 0; i < exact.n; i++) {
            uint32_t better = 0;
            assert_true(fabsf(exact.at[i].score - score[exact.at[i].id]) < 1e-5f);
            for (uint32_t v = 0; v < s->entity; v++)
                better += (!probe.allow || allow[v / 64] >> (v % 64) & 1) &&
                          s->token_start[v] < s->token_start[v + 1] && score[v] > exact.at[i].score + 1e-5f;
            assert_true(better <= i);
        }
        /* with every centroid looked at, nothing left out and everything unpacked, the stages lose nothing */
        probe.exact = false;
        probe.probes = s->centroids;
        probe.threshold = -1;
        probe.candidates = 4 * s->nodes;
        assert_int_equal(s->view.search(s, "node.colbert", &probe, 10, &all, a, NULL), QP_OK);
        assert_int_equal(all.n, exact.n);
        for (uint32_t i = 0; i < all.n; i++)
            assert_true(all.at[i].id == exact.at[i].id && all.at[i].score == exact.at[i].score);
        probe.probes = probe.candidates = 0;
        probe.threshold = 0;
        assert_int_equal(s->view.search(s, "node.colbert", &probe, 10, &staged, a, NULL), QP_OK);
        for (uint32_t i = 0; i < exact.n; i++, wanted++)
            for (uint32_t j = 0; j < staged.n; j++)
                found_too += staged.at[j].id == exact.at[i].id;
        qp_arena_reset(a);
    }
    print_message("PLAID's stages find %u of %u\n", found_too, wanted);
    assert_true(found_too > wanted * 9 / 10);
    free(allow);
    free(score);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(codec_is_numpys), HOLDS(centroids_are_means),
                                       HOLDS(centroids_grow_with_the_root_of_tokens),
                                       HOLDS(stages_find_what_a_scan_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
