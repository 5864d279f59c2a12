/* The index that is generated: passages of words met as in text (the i-th about 1 / i times as often as the first),
 * edges between random passages, random unit vectors; made through the store's own maker. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/bench_parts.h"
#include "base/thread.h"
#include "store/maker.h"

void qp_bench_words(bench *b, int64_t n)
{
    qp_buf_clear(&b->words);
    for (int64_t i = 0; i < n; i++)
        qp_buf_fmt(&b->words, "%sq%u", i ? " " : "",
                   (unsigned)exp(qp_random_unit(&b->random) * log((double)b->o->vocabulary + 1)) - 1);
}

void qp_bench_vector(bench *b)
{
    double square = 0;
    for (int64_t i = 0; i < b->o->dim; i++) {
        b->vector[i] = (float)(qp_random_unit(&b->random) + qp_random_unit(&b->random) - 1);
        square += (double)b->vector[i] * b->vector[i];
    }
    for (int64_t i = 0; i < b->o->dim; i++)
        b->vector[i] = (float)(b->vector[i] / sqrt(square));
}

static qp_code tell(const bench *b, const char *stage, int64_t done, int64_t total, qp_err *err)
{
    const qp_watch *w = b->watch;
    if (w && qp_cancelled(w->cancel))
        return qp_fail(err, QP_STOPPED, "stopped while the index was generated");
    if (w && w->progress && (done == total || done % 20000 == 0))
        w->progress(w->user, &(qp_progress){stage, NULL, (uint64_t)done, (uint64_t)total, 0});
    return QP_OK;
}

static qp_code add_passage(bench *b, qp_maker *m, int64_t i, qp_err *err)
{
    char key[24];
    snprintf(key, sizeof key, "p%09lld", (long long)i);
    qp_bench_words(b, b->o->words);
    qp_chunk whole = {.to = b->words.n};
    qp_document d = {.key = qp_str_of(key),
                     .format = QP_STR("text"),
                     .language = QP_STR("en"),
                     .meta = QP_STR("{}"),
                     .text = qp_buf_view(&b->words),
                     .chunks = &whole,
                     .n_chunks = 1};
    qp_code code = qp_maker_document(m, &d, err);
    return code ? code : tell(b, "passages", i + 1, b->o->passages, err);
}

/* Some entities have very many edges, most few. */
static qp_id some_entity(bench *b)
{
    double u = qp_random_unit(&b->random);
    return (qp_id)(b->o->passages + (int64_t)(u * u * (double)b->o->entities));
}

static qp_code add_graph(bench *b, qp_maker *m, qp_err *err)
{
    const bench_opt *o = b->o;
    static const char *const relation[] = {"is", "has", "knows", "follows"};
    qp_code code = QP_OK;
    for (int64_t i = 0; !code && i < 3 * o->entities; i++)
        code = qp_maker_edge(m, (qp_id)(o->passages + i / 3), (qp_id)qp_random_below(&b->random, (uint64_t)o->passages),
                             QP_STR(QP_CONTAINS), 1, QP_STR(""), err);
    for (int64_t i = 0; !code && o->entities && i < o->triples; i++)
        code = qp_maker_edge(m, some_entity(b), some_entity(b), qp_str_of(relation[i % 4]), 1, QP_STR(""), err);
    return code;
}

static qp_code add_entities(bench *b, qp_maker *m, qp_err *err)
{
    qp_code code = QP_OK;
    for (int64_t i = 0; !code && i < b->o->entities; i++) {
        char name[24];
        snprintf(name, sizeof name, "e%09lld", (long long)i);
        code = qp_maker_entity(m, QP_STR(""), qp_str_of(name), QP_STR(""), err);
    }
    return code;
}

/* Of a relation or a triple. */
static qp_code made_vector(void *ctx, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    bench *b = ctx;
    (void)what, (void)text, (void)err;
    qp_bench_vector(b);
    memcpy(out, b->vector, (size_t)b->o->dim * sizeof *out);
    *found = true;
    return QP_OK;
}

static qp_code fill(bench *b, qp_maker *m, qp_err *err)
{
    const bench_opt *o = b->o;
    qp_code code = QP_OK;
    for (int64_t i = 0; !code && i < o->passages; i++)
        code = add_passage(b, m, i, err);
    code = code ? code : add_entities(b, m, err);
    for (int64_t i = 0; !code && i < o->edges; i++) {
        qp_id from = (qp_id)qp_random_below(&b->random, (uint64_t)o->passages);
        qp_id to = (qp_id)qp_random_below(&b->random, (uint64_t)o->passages);
        code = qp_maker_edge(m, from, to, QP_STR("link"), 1, QP_STR(""), err);
    }
    code = code ? code : add_graph(b, m, err);
    for (int64_t i = 0; !code && o->dim && i < o->passages + o->entities; i++) {
        qp_bench_vector(b);
        code = qp_maker_vector(m, b->vector, err);
    }
    return code;
}

qp_code qp_bench_generate(bench *b, qp_err *err)
{
    const char *folder = getenv("TMPDIR");
    qp_maker *m = NULL;
    snprintf(b->path, sizeof b->path, "%s/quipu-bench-%ld.qp", folder && *folder ? folder : P_tmpdir, (long)getpid());
    qp_maker_options how = {.language = "en",
                            .embedder = b->o->dim ? "random" : "",
                            .dim = (uint32_t)b->o->dim,
                            .triples = b->o->dim && b->o->triples,
                            .made = b->o->dim ? made_vector : NULL,
                            .ctx = b,
                            .cancel = b->watch->cancel};
    qp_code code = qp_maker_open(b->path, &how, &m, err);
    if (code)
        return code;
    code = fill(b, m, err);
    if (!code)
        return qp_maker_finish(m, err);
    qp_maker_drop(m);
    return code;
}
