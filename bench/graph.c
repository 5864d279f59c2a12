/* The graph kernels, asked line by line, so that bench/graph.py can take turns with other people's in one run.
 *
 *     graph NODES EDGES [directed] [weighted] [SEED]      an R-MAT graph, or one that was kept:
 *     graph FILE                                then on standard input, a line each:
 *     keep FILE                                 an undirected graph without weights: nodes and arcs, start, target (csr.h)
 *     edges FILE                                the graph: u, v as 32-bit numbers (an undirected edge once), then weights
 *     ENGINE ALPHA TOLERANCE TOP THREADS SINGLE NODE...     one query from the nodes, all alike
 *     leiden FILE RESOLUTION SEED               two iterations; each node's community, 32-bit numbers, into FILE
 *     truth FILE ALPHA SINGLE SOURCES SEED      exact answers from as many nodes, drawn among those with arcs, into FILE
 *     recall FILE ALPHA ENGINE TOLERANCE TIMES  an engine's first 1,000 from the nodes of FILE, each asked so often
 *
 * Every answer is a line: milliseconds of processor time, what was found. A query's: ms, arcs, error, then nodes and
 * scores, best first. Of recall: ms in the middle, at 95 of 100 and by the clock in the middle, arcs, then at 100 and at
 * 1,000 the share of the true best found, the share found whose true score is within 5 % of the last of them, and the true
 * score found over that of the best; then the share of ANSWERS nodes, where two random steps from the source end, that are
 * among the true 1,000, and among those found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "graph/leiden.h"
#include "graph/ppr.h"
#include "rmat.h"

static void die(const char *why)
{
    fprintf(stderr, "graph: %s\n", why);
    exit(1);
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void write_edges(const rmat *g, bool directed, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        die("cannot write the edges");
    for (int weights = 0; weights < 1 + (g->out.weight != NULL); weights++)
        for (uint32_t u = 0; u < g->out.n; u++)
            for (uint64_t e = g->out.start[u]; e < g->out.start[u + 1]; e++) {
                uint32_t pair[2] = {u, g->out.target[e]};
                if (directed || u <= pair[1])
                    fwrite(weights ? (const void *)&g->out.weight[e] : pair, 4, weights ? 1 : 2, file);
            }
    if (fclose(file))
        die("cannot write the edges");
    printf("0 %u %llu\n", g->out.n, (unsigned long long)g->out.start[g->out.n]);
}

static void keep_rows(const qp_csr *g, const char *path)
{
    FILE *file = path ? fopen(path, "wb") : NULL;
    uint64_t size[2] = {g->n, g->start[g->n]};
    if (!file || fwrite(size, sizeof size, 1, file) != 1 || fwrite(g->start, 8, size[0] + 1, file) != size[0] + 1 ||
        fwrite(g->target, 4, size[1], file) != size[1] || fclose(file))
        die("cannot keep the graph");
    printf("0 %llu %llu\n", (unsigned long long)size[0], (unsigned long long)size[1]);
}

static rmat kept_rows(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint64_t size[2];
    if (!file || fread(size, sizeof size, 1, file) != 1 || size[0] > UINT32_MAX - 2)
        die("cannot read the graph");
    uint64_t *start = rmat_room((size[0] + 2) * sizeof *start);
    uint32_t *target = rmat_room((size[1] + 1) * sizeof *target);
    if (fread(start, 8, size[0] + 1, file) != size[0] + 1 || fread(target, 4, size[1], file) != size[1])
        die("the graph is cut short");
    fclose(file);
    return (rmat){.out = {.n = (uint32_t)size[0], .start = start, .target = target}};
}

static qp_ppr_engine engine_of(const char *name)
{
    for (qp_ppr_engine e = 0; e < QP_PPR_ENGINES; e++)
        if (!strcmp(qp_ppr_engine_name(e), name))
            return e;
    die("no such engine");
    return QP_PPR_AUTO;
}

static void partition(const qp_chain *chain, qp_arena *mem)
{
    const char *path = strtok(NULL, " \n"), *gamma = strtok(NULL, " \n"), *seed = strtok(NULL, " \n");
    if (!path || !gamma || !seed)
        die("leiden FILE RESOLUTION SEED");
    qp_leiden_options o = {.gamma = atof(gamma), .iterations = 2, .random = strtoull(seed, NULL, 10)};
    qp_partition p;
    qp_err err = {0};
    double q, start = processor_ms();
    if (qp_leiden(chain, &o, mem, &p, &q, &err))
        die(err.message);
    printf("%.1f %u %.6f\n", processor_ms() - start, p.n_parts, q);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(p.part, 4, p.n, file) != p.n || fclose(file))
        die("cannot write the communities");
    qp_arena_reset(mem);
}

static void ask(qp_ppr_space *space, char *name, qp_arena *mem)
{
    enum { MOST = 1 << 16 };
    static uint32_t seed[MOST];
    const char *field[5];
    qp_err err = {0};
    qp_ppr_result r;
    qp_ppr_query q = {.seed = seed, .engine = engine_of(name), .random = 1};
    for (int i = 0; i < 5; i++)
        if (!(field[i] = strtok(NULL, " \n")))
            die("a query is ENGINE ALPHA TOLERANCE TOP THREADS SINGLE NODE...");
    q.alpha = atof(field[0]);
    q.tolerance = atof(field[1]);
    q.top = (uint32_t)atoi(field[2]);
    q.threads = atoi(field[3]);
    q.single = atoi(field[4]) != 0;
    for (char *node; q.n_seeds < MOST && (node = strtok(NULL, " \n"));)
        seed[q.n_seeds++] = (uint32_t)strtoul(node, NULL, 10);
    double start = processor_ms();
    if (qp_ppr(space, &q, mem, &r, &err))
        die(err.message);
    printf("%.4f %llu %.3g", processor_ms() - start, (unsigned long long)r.arcs, r.error);
    for (uint32_t i = 0; i < r.n; i++)
        printf(" %u %.9g", r.at[i].node, r.at[i].score);
    putchar('\n');
    qp_arena_reset(mem);
}

enum {
    KEPT = 20000, /* of a true answer: what an engine finds beyond them scores too little to matter, and counts as 0 */
    ANSWERS = 100
};

static uint32_t draw(const qp_chain *chain, qp_random *random)
{
    uint32_t v;
    do
        v = (uint32_t)qp_random_below(random, chain->out.n);
    while (chain->out.start[v] == chain->out.start[v + 1]);
    return v;
}

static void write_truth(qp_ppr_space *space, const qp_chain *chain, qp_arena *mem)
{
    const char *field[5];
    for (int i = 0; i < 5; i++)
        if (!(field[i] = strtok(NULL, " \n")))
            die("truth FILE ALPHA SINGLE SOURCES SEED");
    FILE *file = fopen(field[0], "wb");
    qp_random random = qp_random_seed(strtoull(field[4], NULL, 10));
    double start = processor_ms();
    for (int i = 0; file && i < atoi(field[3]); i++) {
        uint32_t seed = draw(chain, &random);
        qp_ppr_query q = {.seed = &seed,
                          .n_seeds = 1,
                          .alpha = atof(field[1]),
                          .engine = QP_PPR_EXACT,
                          .top = KEPT,
                          .single = atoi(field[2]) != 0,
                          .threads = 1};
        qp_ppr_result r;
        qp_err err = {0};
        if (qp_ppr(space, &q, mem, &r, &err))
            die(err.message);
        fprintf(stderr, "graph: node %u, %u sweeps, l1 error %.1e, %.0f ms\n", seed, r.sweeps, r.error,
                processor_ms() - start);
        fwrite(&seed, sizeof seed, 1, file);
        fwrite(&r.n, sizeof r.n, 1, file);
        fwrite(r.at, sizeof *r.at, r.n, file);
        qp_arena_reset(mem);
    }
    if (!file || fclose(file))
        die("cannot write the truth");
    printf("%.1f\n", processor_ms() - start);
}

static int by_node(const void *a, const void *b)
{
    const qp_scored *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

static int rising(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Adds recall, near and mass at k. `truth` is best first, `sorted` the same by node. */
static void judge(const qp_scored *truth, const qp_scored *sorted, uint32_t n, const qp_ppr_result *r, uint32_t k,
                  double *out)
{
    double mass = 0, all = 0;
    uint32_t hits = 0, near = 0;
    k = k < n ? k : n;
    for (uint32_t i = 0; i < k; i++) {
        qp_scored key = {0, i < r->n ? r->at[i].node : UINT32_MAX}, *is = bsearch(&key, sorted, n, sizeof key, by_node);
        hits += is && !qp_scored_before(truth[k - 1], *is);
        near += is && is->score >= .95 * truth[k - 1].score;
        mass += is ? is->score : 0;
        all += truth[i].score;
    }
    out[0] += (double)hits / k;
    out[1] += (double)near / k;
    out[2] += mass / all;
}

static uint32_t step(const qp_csr *g, uint32_t v, qp_random *random)
{
    uint64_t arcs = g->start[v + 1] - g->start[v];
    return arcs ? g->target[g->start[v] + qp_random_below(random, arcs)] : v;
}

static bool has(const qp_scored *at, uint32_t n, uint32_t node)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].node == node)
            return true;
    return false;
}

/* Adds the shares of the planted answers among the true best 1,000 and among the found. */
static void look_for_answers(const qp_csr *g, uint32_t seed, const qp_scored *truth, uint32_t n, const qp_ppr_result *r,
                             double *out)
{
    qp_random random = qp_random_seed(seed);
    for (int i = 0; i < ANSWERS; i++) {
        uint32_t answer = step(g, step(g, seed, &random), &random);
        out[0] += (double)has(truth, n < 1000 ? n : 1000, answer) / ANSWERS;
        out[1] += (double)has(r->at, r->n, answer) / ANSWERS;
    }
}

static void tell_recall(qp_ppr_space *space, const qp_csr *g, qp_arena *mem)
{
    enum { MOST = 1 << 12, TOLD = 8 };
    static qp_scored truth[KEPT], sorted[KEPT];
    static double ms[MOST], wall[MOST];
    const char *field[5];
    for (int i = 0; i < 5; i++)
        if (!(field[i] = strtok(NULL, " \n")))
            die("recall FILE ALPHA ENGINE TOLERANCE TIMES");
    FILE *file = fopen(field[0], "rb");
    uint32_t seed, n, sources = 0, asked = 0;
    double found[TOLD] = {0}, arcs = 0;
    while (file && fread(&seed, sizeof seed, 1, file) == 1) {
        if (fread(&n, sizeof n, 1, file) != 1 || n > KEPT || fread(truth, sizeof *truth, n, file) != n)
            die("the truth is cut short");
        memcpy(sorted, truth, n * sizeof *truth);
        qsort(sorted, n, sizeof *sorted, by_node);
        sources++;
        for (int i = -(sources == 1); i < atoi(field[4]) && asked < MOST; i++) { /* the first of all warms the space */
            qp_ppr_query q = {.seed = &seed,
                              .n_seeds = 1,
                              .alpha = atof(field[1]),
                              .engine = engine_of(field[2]),
                              .tolerance = atof(field[3]),
                              .top = 1000,
                              .random = 1,
                              .threads = 1};
            qp_ppr_result r;
            qp_err err = {0};
            double clock = qp_now_ms(), start = processor_ms();
            if (qp_ppr(space, &q, mem, &r, &err))
                die(err.message);
            ms[asked] = processor_ms() - start;
            wall[asked] = qp_now_ms() - clock;
            asked += i >= 0;
            if (!i) {
                judge(truth, sorted, n, &r, 100, found);
                judge(truth, sorted, n, &r, 1000, found + 3);
                look_for_answers(g, seed, truth, n, &r, found + 6);
                arcs += (double)r.arcs;
            }
            qp_arena_reset(mem);
        }
    }
    if (!file || !asked)
        die("no truth to compare with");
    fclose(file);
    qsort(ms, asked, sizeof *ms, rising);
    qsort(wall, asked, sizeof *wall, rising);
    printf("%.4f %.4f %.4f %.0f", ms[asked / 2], ms[asked * 95 / 100], wall[asked / 2], arcs / sources);
    for (int i = 0; i < TOLD; i++)
        printf(" %.4f", found[i] / sources);
    putchar('\n');
}

int main(int n_args, char **arg)
{
    bool directed = false, weighted = false;
    uint64_t seed = 1;
    if (n_args < 2)
        die("graph FILE, or graph NODES EDGES [directed] [weighted] [SEED]");
    for (int i = 3; i < n_args; i++) {
        directed |= !strcmp(arg[i], "directed");
        weighted |= !strcmp(arg[i], "weighted");
        seed = atoi(arg[i]) ? (uint64_t)atoi(arg[i]) : seed;
    }
    double start = processor_ms();
    rmat g = n_args == 2
                 ? kept_rows(arg[1])
                 : rmat_make((uint32_t)strtoul(arg[1], NULL, 10), strtoull(arg[2], NULL, 10), directed, weighted, seed);
    double made = processor_ms();
    qp_chain *chain;
    qp_ppr_space *space;
    qp_err err = {0};
    if (qp_chain_new(&g.out, directed ? &g.in : NULL, &chain, &err) || qp_ppr_space_new(chain, &space, &err))
        die(err.message);
    printf("%.1f %.1f %llu\n", made - start, processor_ms() - made, (unsigned long long)g.out.start[g.out.n]);
    qp_arena *mem = qp_arena_new();
    char *line = NULL;
    for (size_t size = 0; fflush(stdout), getline(&line, &size, stdin) > 0;) {
        char *name = strtok(line, " \n");
        if (name && !strcmp(name, "edges"))
            write_edges(&g, directed, strtok(NULL, " \n"));
        else if (name && !strcmp(name, "keep"))
            keep_rows(&g.out, strtok(NULL, " \n"));
        else if (name && !strcmp(name, "leiden"))
            partition(chain, mem);
        else if (name && !strcmp(name, "truth"))
            write_truth(space, chain, mem);
        else if (name && !strcmp(name, "recall"))
            tell_recall(space, &g.out, mem);
        else if (name)
            ask(space, name, mem);
    }
    free(line);
    qp_arena_free(mem);
    qp_ppr_space_free(space);
    qp_chain_free(chain);
    rmat_free(&g);
    return 0;
}
