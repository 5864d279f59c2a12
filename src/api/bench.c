/* quipu bench: the kernels on a generated index, timed one by one.
 *
 * "cold" is the first question to a file whose pages were given back to the system; its page faults are counted, so
 * that what the disk costs can be told from what we do.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "api/bench.h"
#include "api/bench_parts.h"
#include "base/clock.h"
#include "base/sorted.h"
#include "base/thread.h"

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
    {0},
};
const qp_op qp_benchmark_options = {.name = "bench",
                                    .help = "times the kernels",
                                    .opts = opts,
                                    .opt_size = sizeof(bench_opt)};

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

/* ---- timing ---- */

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

static qp_code measure(bench *b, const bench_kernel *k, qp_err *err)
{
    int64_t n = k->cold ? (b->o->runs + 9) / 10 : b->o->runs;
    double *ms = calloc(2 * (size_t)n, sizeof *ms), *cpu = ms ? ms + n : NULL;
    struct rusage before;
    qp_code code = ms ? QP_OK : qp_oom(err);
    getrusage(RUSAGE_SELF, &before);
    for (int64_t i = 0; !code && i < n; i++) {
        if (qp_cancelled(b->watch->cancel))
            code = qp_fail(err, QP_STOPPED, "stopped while '%s' was timed", k->name);
        qp_bench_words(b, 3);
        qp_bench_vector(b);
        if (k->cold) {
            qp_snapshot_close(b->snapshot);
            b->snapshot = NULL;
            give_pages_back(b);
        }
        double began = qp_now_ms(), worked = cpu_ms();
        code = code ? code : k->run(b, err);
        ms[i] = qp_now_ms() - began;
        cpu[i] = cpu_ms() - worked;
        qp_arena_reset(b->q.mem);
        qp_memo_clear(b->q.memo);
    }
    if (!code) {
        qsort(ms, (size_t)n, sizeof *ms, qp_by_double);
        qsort(cpu, (size_t)n, sizeof *cpu, qp_by_double);
        add_row(b, k->name, ms, cpu, n, &before);
    }
    free(ms);
    return code;
}

static qp_code measure_all(bench *b, qp_err *err)
{
    qp_code code = QP_OK;
    for (const bench_kernel *k = qp_bench_kernels; !code && k->name; k++)
        if ((b->o->dim || !k->dense) && ((b->o->entities && b->o->triples) || !k->triples))
            code = measure(b, k, err);
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
    b->vector = calloc((size_t)o->dim + 1, sizeof *b->vector);
    b->q.memo = qp_memo_new();
    b->doc = yyjson_mut_doc_new(NULL);
    b->rows = yyjson_mut_arr(b->doc);
    return b->vector && b->q.memo && b->rows ? QP_OK : qp_oom(err);
}

static void end(bench *b)
{
    qp_lesegr_free(b->encoder);
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

qp_code qp_benchmark(const qp_setting *settings, size_t n, int threads, uint64_t seed, const qp_watch *watch,
                     char **json, qp_err *err)
{
    static const qp_watch unwatched;
    bench b = {.watch = watch ? watch : &unwatched, .random = qp_random_seed(seed)};
    double began = qp_now_ms();
    qp_code code = begin(&b, settings, n, err);
    b.q.threads = threads > 0 ? threads : qp_cores();
    if (!code)
        code = qp_bench_generate(&b, err);
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
