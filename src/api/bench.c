/* quipu bench: the kernels on a generated index, timed one by one.
 *
 * The index is made through the store's own maker: passages of words met as in text (the i-th about 1 / i times as often
 * as the first), edges between random passages, random unit vectors. "cold" is the first question to a file whose pages
 * were given back to the system; its page faults are counted, so that what the disk costs can be told from what we do.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <yyjson.h>

#include "api/bench.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"
#include "op/ops.h"
#include "store/maker.h"
#include "store/snapshot.h"

typedef struct bench_opt {
    int64_t passages, edges, entities, triples, words, vocabulary, dim, runs, seed;
} bench_opt;

#define OPTION(member) offsetof(bench_opt, member)
static const qp_opt opts[] = {
    {"passages", "how many passages are generated", QP_INT, OPTION(passages), "20000", 1, 1e8, NULL},
    {"edges", "how many edges between them", QP_INT, OPTION(edges), "200000", 0, 2e9, NULL},
    {"entities", "entities of a graph beside the passages, each in three of them; 0: none", QP_INT, OPTION(entities),
     "0", 0, 1e8, NULL},
    {"triples", "relations between them, with vectors", QP_INT, OPTION(triples), "0", 0, 2e9, NULL},
    {"words", "words a passage", QP_INT, OPTION(words), "60", 1, 1e4, NULL},
    {"vocabulary", "different words", QP_INT, OPTION(vocabulary), "100000", 1, 1e8, NULL},
    {"dim", "numbers a vector; 0: no vectors", QP_INT, OPTION(dim), "384", 0, 4096, NULL},
    {"runs", "times each kernel runs", QP_INT, OPTION(runs), "50", 1, 1e6, NULL},
    {"seed", "of all that is random", QP_INT, OPTION(seed), "1", 0, 1e15, NULL},
    {0},
};
const qp_op qp_benchmark_options = {.name = "bench",
                                    .help = "times the kernels",
                                    .opts = opts,
                                    .opt_size = sizeof(bench_opt)};

typedef struct bench {
    const bench_opt *o;
    const qp_watch *watch;
    char path[300];
    qp_snapshot *snapshot;
    qp_query q;
    qp_random random;
    qp_buf words; /* of one passage or question */
    float *vector;
    yyjson_mut_doc *doc;
    yyjson_mut_val *rows;
} bench;

/* ---- the index ---- */

static void make_words(bench *b, int64_t n)
{
    qp_buf_clear(&b->words);
    for (int64_t i = 0; i < n; i++)
        qp_buf_fmt(&b->words, "%sq%u", i ? " " : "",
                   (unsigned)exp(qp_random_unit(&b->random) * log((double)b->o->vocabulary + 1)) - 1);
}

static void make_vector(bench *b)
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
    make_words(b, b->o->words);
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
    make_vector(b);
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
        make_vector(b);
        code = qp_maker_vector(m, b->vector, err);
    }
    return code;
}

static qp_code generate(bench *b, qp_err *err)
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

/* The file's pages out of memory: what is asked next is read from the disk. */
static void give_pages_back(const bench *b)
{
    int fd = open(b->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* ---- the kernels: one run each ---- */

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

/* ---- timing ---- */

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of this process; waiting for the disk is not in it. */
static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void add_row(bench *b, const char *name, const double *ms, const double *cpu, int64_t n,
                    const struct rusage *before)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    yyjson_mut_val *row = yyjson_mut_arr_add_obj(b->doc, b->rows);
    yyjson_mut_obj_add_strcpy(b->doc, row, "kernel", name);
    yyjson_mut_obj_add_int(b->doc, row, "runs", n);
    yyjson_mut_obj_add_real(b->doc, row, "p50_ms", ms[n / 2]);
    yyjson_mut_obj_add_real(b->doc, row, "p95_ms", ms[n * 95 / 100]);
    yyjson_mut_obj_add_real(b->doc, row, "cpu_p50_ms", cpu[n / 2]);
    yyjson_mut_obj_add_real(b->doc, row, "cpu_p95_ms", cpu[n * 95 / 100]);
    yyjson_mut_obj_add_int(b->doc, row, "faults_read", now.ru_majflt - before->ru_majflt);
    yyjson_mut_obj_add_int(b->doc, row, "faults", now.ru_minflt - before->ru_minflt);
}

static qp_code measure(bench *b, const char *name, qp_code (*run)(bench *, qp_err *), int64_t n, bool cold, qp_err *err)
{
    double *ms = calloc(2 * (size_t)n, sizeof *ms), *cpu = ms ? ms + n : NULL;
    struct rusage before;
    qp_code code = ms ? QP_OK : qp_oom(err);
    getrusage(RUSAGE_SELF, &before);
    for (int64_t i = 0; !code && i < n; i++) {
        if (qp_cancelled(b->watch->cancel))
            code = qp_fail(err, QP_STOPPED, "stopped while '%s' was timed", name);
        make_words(b, 3);
        make_vector(b);
        if (cold) {
            qp_snapshot_close(b->snapshot);
            b->snapshot = NULL;
            give_pages_back(b);
        }
        double began = qp_now_ms(), worked = cpu_ms();
        code = code ? code : run(b, err);
        ms[i] = qp_now_ms() - began;
        cpu[i] = cpu_ms() - worked;
        qp_arena_reset(b->q.mem);
        qp_memo_clear(b->q.memo);
    }
    if (!code) {
        qsort(ms, (size_t)n, sizeof *ms, rising);
        qsort(cpu, (size_t)n, sizeof *cpu, rising);
        add_row(b, name, ms, cpu, n, &before);
    }
    free(ms);
    return code;
}

static qp_code measure_all(bench *b, qp_err *err)
{
    static const struct {
        const char *name;
        qp_code (*run)(bench *, qp_err *);
        bool cold, dense, triples;
    } kernels[] = {
        {"open + bm25, cold", run_open_bm25, true, false, false},
        {"open + bm25, warm", run_open_bm25, false, false, false},
        {"bm25, 3 words", run_bm25, false, false, false},
        {"dense", run_dense, false, true, false},
        {"dense, exact", run_exact, false, true, false},
        {"hop of 100 nodes", run_hop, false, false, false},
        {"stex of 100 nodes", run_stex, false, true, false},
        {"agrag's graph step", run_agrag, false, true, true},
    };
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < sizeof kernels / sizeof *kernels; i++)
        if ((b->o->dim || !kernels[i].dense) && ((b->o->entities && b->o->triples) || !kernels[i].triples))
            code = measure(b, kernels[i].name, kernels[i].run, kernels[i].cold ? (b->o->runs + 9) / 10 : b->o->runs,
                           kernels[i].cold, err);
    return code;
}

static qp_code begin(bench *b, const qp_setting *settings, size_t n, qp_err *err)
{
    qp_code code = qp_query_begin(&b->q, QP_STR("bench"), err);
    if (code)
        return code;
    bench_opt *o = malloc(sizeof *o);
    b->o = o;
    code = o ? qp_options_fill(&qp_benchmark_options, settings, n, o, b->q.mem, err) : qp_oom(err);
    if (code)
        return code;
    b->random = qp_random_seed((uint64_t)o->seed);
    b->vector = calloc((size_t)o->dim + 1, sizeof *b->vector);
    b->q.memo = qp_memo_new();
    b->doc = yyjson_mut_doc_new(NULL);
    b->rows = yyjson_mut_arr(b->doc);
    return b->vector && b->q.memo && b->rows ? QP_OK : qp_oom(err);
}

static void end(bench *b)
{
    qp_snapshot_close(b->snapshot);
    if (*b->path)
        unlink(b->path);
    qp_memo_free(b->q.memo);
    qp_query_end(&b->q);
    qp_buf_free(&b->words);
    yyjson_mut_doc_free(b->doc);
    free(b->vector);
    free((void *)b->o);
}

qp_code qp_benchmark(const qp_setting *settings, size_t n, const qp_watch *watch, char **json, qp_err *err)
{
    static const qp_watch unwatched;
    bench b = {.watch = watch ? watch : &unwatched};
    double began = qp_now_ms();
    qp_code code = begin(&b, settings, n, err);
    if (!code)
        code = generate(&b, err);
    if (!code) {
        yyjson_mut_val *root = yyjson_mut_obj(b.doc);
        yyjson_mut_doc_set_root(b.doc, root);
        yyjson_mut_obj_add_int(b.doc, root, "passages", b.o->passages);
        yyjson_mut_obj_add_int(b.doc, root, "edges", b.o->edges);
        yyjson_mut_obj_add_int(b.doc, root, "dim", b.o->dim);
        yyjson_mut_obj_add_real(b.doc, root, "seconds_generated", (qp_now_ms() - began) / 1000);
        yyjson_mut_obj_add_val(b.doc, root, "kernels", b.rows);
        code = measure_all(&b, err);
    }
    if (!code && !(*json = yyjson_mut_write(b.doc, 0, NULL)))
        code = qp_oom(err);
    end(&b);
    return code;
}
