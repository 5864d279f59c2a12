/* Random snapshots for tests: a folder to write in, and a snapshot made of random documents, edges and vectors. */
#ifndef TESTS_UNIT_MADE_H
#define TESTS_UNIT_MADE_H

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

#include "base/file.h"
#include "base/random.h"
#include "store/best.h"
#include "store/maker.h"
#include "base/hash.h"
#include "store/mapped.h"

static inline int in_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(256);
    assert_non_null(dir);
    snprintf(dir, 256, "%s/quipu-test-XXXXXX", base ? base : P_tmpdir);
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static inline int out_of_folder(void **state)
{
    char command[600];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", (char *)*state, (char *)*state);
    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

#define HOLDS(f) cmocka_unit_test_setup_teardown(f, in_folder, out_of_folder)

static inline const char *in(const char *dir, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Words as in text: the i-th is met about 1 / i times as often as the first. */
static inline void random_words(qp_random *r, uint32_t n, uint32_t vocabulary, qp_buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)exp(qp_random_unit(r) * log(vocabulary + 1.0)) - 1;
        qp_buf_fmt(out, "%sq%u", i ? " " : "", word);
    }
}

static inline void random_unit(qp_random *r, uint32_t dim, float *v)
{
    double square = 0;
    for (uint32_t i = 0; i < dim; i++) {
        v[i] = (float)(qp_random_unit(r) + qp_random_unit(r) + qp_random_unit(r) - 1.5);
        square += (double)v[i] * v[i];
    }
    for (uint32_t i = 0; i < dim; i++)
        v[i] = (float)(v[i] / sqrt(square));
}

struct made {
    uint64_t seed;
    uint32_t documents, words, vocabulary; /* a document has up to 3 chunks of up to `words` words */
    uint32_t edges, types, dim, coded_from, ann_from;
    uint32_t clusters; /* vectors lie about so many directions; 0: anywhere */
    uint32_t learned;  /* terms of a sparse encoder */
};

static inline void add_documents(qp_maker *m, const struct made *how, qp_random *r)
{
    qp_buf text = {0};
    for (uint32_t d = 0; d < how->documents; d++) {
        qp_chunk chunks[3];
        char key[32], title[32];
        uint32_t n = (uint32_t)qp_random_below(r, 4);
        qp_buf_clear(&text);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t from = text.n;
            random_words(r, (uint32_t)qp_random_below(r, how->words + 1), how->vocabulary, &text);
            qp_buf_char(&text, '\n');
            chunks[i] = (qp_chunk){from, text.n, i, i == 1 ? QP_STR("Part > Second") : QP_STR("")};
        }
        snprintf(key, sizeof key, "d%06u.md", d);
        snprintf(title, sizeof title, "q%u", d % 7);
        qp_document doc = {.key = qp_str_of(key),
                           .path = qp_str_of(key),
                           .format = QP_STR("md"),
                           .title = qp_str_of(title),
                           .language = QP_STR("en"),
                           .meta = QP_STR("{\"year\": 2001}"),
                           .text = qp_buf_view(&text),
                           .chunks = chunks,
                           .n_chunks = n};
        assert_int_equal(qp_maker_document(m, &doc, NULL), QP_OK);
    }
    qp_buf_free(&text);
}

static inline void add_vectors(qp_maker *m, const struct made *how, qp_random *r)
{
    float *centre = calloc((size_t)(how->clusters + 1) * how->dim, sizeof *centre), *v = calloc(how->dim, sizeof *v);
    for (uint32_t i = 0; i < how->clusters; i++)
        random_unit(r, how->dim, centre + (size_t)i * how->dim);
    for (uint32_t i = 0; i < qp_maker_nodes(m); i++) {
        random_unit(r, how->dim, v);
        double square = 0;
        for (uint32_t j = 0; how->clusters && j < how->dim; j++)
            v[j] += 2 * centre[(i % how->clusters) * (size_t)how->dim + j];
        for (uint32_t j = 0; j < how->dim; j++)
            square += (double)v[j] * v[j];
        for (uint32_t j = 0; j < how->dim; j++)
            v[j] = (float)(v[j] / sqrt(square));
        assert_int_equal(qp_maker_vector(m, i % 50 == 49 ? NULL : v, NULL), QP_OK);
    }
    free(centre);
    free(v);
}

/* About 20 learned terms of so many, with weights as SPLADE's are; some nodes have none. */
static inline void random_learned(qp_random *r, uint32_t terms, uint32_t *term, float *weight, qp_sparse *out)
{
    uint32_t n = 0;
    for (double at = 0; (at += 1 + qp_random_unit(r) * terms / 10) < terms && n < 40;) {
        term[n] = (uint32_t)at;
        weight[n++] = (float)(.0001 + 3 * qp_random_unit(r) * qp_random_unit(r));
    }
    *out = (qp_sparse){term, weight, n};
}

static inline void add_learned(qp_maker *m, const struct made *how, qp_random *r)
{
    uint32_t term[40];
    float weight[40];
    for (uint32_t i = 0; i < qp_maker_nodes(m); i++) {
        qp_sparse s;
        random_learned(r, how->learned, term, weight, &s);
        assert_int_equal(qp_maker_terms(m, i % 30 == 29 ? NULL : &s, NULL), QP_OK);
    }
}

static inline void make_file(const char *path, const struct made *how)
{
    qp_random r = qp_random_seed(how->seed);
    qp_maker *m;
    qp_err err = {0};
    qp_maker_options o = {.language = "none",
                          .embedder = how->dim ? "digest-of-a-model" : "",
                          .dim = how->dim,
                          .coded_from = how->coded_from,
                          .ann_from = how->ann_from,
                          .sparse = how->learned ? "digest-of-another" : "",
                          .terms = how->learned};
    if (qp_maker_open(path, &o, &m, &err))
        fail_msg("%s", err.message);
    add_documents(m, how, &r);
    uint32_t n = qp_maker_nodes(m);
    for (uint32_t i = 0; n && i < how->edges; i++) {
        char type[16];
        snprintf(type, sizeof type, "type%02u", (uint32_t)qp_random_below(&r, how->types));
        assert_int_equal(qp_maker_edge(m, (qp_id)qp_random_below(&r, n), (qp_id)qp_random_below(&r, n), qp_str_of(type),
                                       (float)qp_random_below(&r, 4), QP_STR(""), NULL),
                         QP_OK);
    }
    if (how->dim)
        add_vectors(m, how, &r);
    if (how->learned)
        add_learned(m, how, &r);
    if (qp_maker_finish(m, &err))
        fail_msg("%s", err.message);
}

static inline qp_snapshot *make_snapshot(const char *dir, const struct made *how)
{
    qp_snapshot *s;
    qp_err err = {0};
    make_file(in(dir, "made.qp"), how);
    if (qp_snapshot_open_file(in(dir, "made.qp"), 1, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

#endif
