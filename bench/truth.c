/* PPR of eight sources at once by Gauss and Seidel, in no line the library's: what bench/large.py's engines are held against.
 *
 *     truth GRAPH OUT SEED [ALPHA]      GRAPH as bench_graph's `keep` writes it; OUT as its `truth` does
 *
 * With z(v) = pi(v) / degree(v), z(v) degree(v) = alpha s(v) + (1 - alpha) sum over v's neighbours of z: one line of memory
 * an arc serves all eight. Between two of the first sweeps every z is raised so that pi sums to 1, which is what they lack
 * most. Until a sweep moves less than 1e-6 of a source in l1 (10 sweeps at 100M nodes). 32 bytes a node beside the graph.
 */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SOURCES = 8, KEPT = 20000, AHEAD = 48, RAISED = 5, MOST_SWEEPS = 100 };
typedef float eight __attribute__((vector_size(4 * SOURCES)));
typedef double wide __attribute__((vector_size(8 * SOURCES)));

typedef struct graph {
    uint64_t n, arcs;
    const uint64_t *start;
    const uint32_t *target;
} graph;

typedef struct scored {
    double score;
    uint32_t node, empty;
} scored;

static void die(const char *why)
{
    fprintf(stderr, "truth: %s\n", why);
    exit(1);
}

static graph mapped(const char *path)
{
    struct stat s;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &s))
        die("cannot open the graph");
    const uint64_t *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED || (uint64_t)s.st_size != 16 + 8 * (at[0] + 1) + 4 * at[1])
        die("not a kept graph");
    return (graph){at[0], at[1], at + 2, (const uint32_t *)(at + 3 + at[0])};
}

/* SplitMix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double sweep(const graph *g, eight *z, const uint32_t *source, double alpha, wide *sum)
{
    double change = 0;
    *sum = (wide){0};
    for (uint64_t v = 0; v < g->n; v++) {
        uint64_t first = g->start[v], end = g->start[v + 1];
        if (first == end)
            continue;
        wide next = {0};
        for (uint64_t e = first; e < end; e++) {
            __builtin_prefetch(&z[g->target[e + AHEAD < g->arcs ? e + AHEAD : e]]);
            next += __builtin_convertvector(z[g->target[e]], wide);
        }
        next *= 1 - alpha;
        for (int i = 0; i < SOURCES; i++)
            next[i] += source[i] == v ? alpha : 0;
        *sum += next;
        eight z_next = __builtin_convertvector(next / (double)(end - first), eight);
        for (int i = 0; i < SOURCES; i++)
            change += fabs((double)z_next[i] - z[v][i]) * (double)(end - first);
        z[v] = z_next;
    }
    return change / SOURCES;
}

static void solve(const graph *g, eight *z, const uint32_t *source, double alpha)
{
    wide sum = {0};
    double change = 1;
    for (int i = 0; i < MOST_SWEEPS && change > 1e-6; i++) {
        eight lacking = __builtin_convertvector((1 - sum) / (double)g->arcs, eight);
        for (uint64_t v = 0; i < RAISED && v < g->n; v++)
            z[v] += lacking;
        change = sweep(g, z, source, alpha, &sum);
        fprintf(stderr, "truth: sweep %d moved %.1e\n", i + 1, change);
    }
}

static int best_first(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

static void write_best(const graph *g, const eight *z, int i, uint32_t source, FILE *out)
{
    static scored best[4 * KEPT];
    uint32_t n = 0;
    double least = 0;
    for (uint64_t v = 0; v < g->n; v++) {
        double score = (double)z[v][i] * (double)(g->start[v + 1] - g->start[v]);
        if (score > least)
            best[n++] = (scored){score, (uint32_t)v, 0};
        if (n == 4 * KEPT) {
            qsort(best, n, sizeof *best, best_first);
            n = KEPT;
            least = best[n - 1].score;
        }
    }
    qsort(best, n, sizeof *best, best_first);
    n = n < KEPT ? n : KEPT;
    if (fwrite(&source, 4, 1, out) != 1 || fwrite(&n, 4, 1, out) != 1 || fwrite(best, sizeof *best, n, out) != n)
        die("cannot write");
}

int main(int n_args, char **arg)
{
    if (n_args < 4)
        die("truth GRAPH OUT SEED [ALPHA]");
    graph g = mapped(arg[1]);
    FILE *out = fopen(arg[2], "wb");
    uint64_t random = strtoull(arg[3], NULL, 10);
    uint32_t source[SOURCES];
    size_t bytes = (g.n * sizeof(eight) / (2u << 20) + 1) * (2u << 20);
    eight *z = aligned_alloc(2u << 20, bytes);
    if (!out || !z)
        die("no room, or cannot write");
    madvise(z, bytes, MADV_HUGEPAGE);
    memset(z, 0, bytes);
    for (int i = 0; i < SOURCES; i++)
        do
            source[i] = (uint32_t)(draw(&random) % g.n);
        while (g.start[source[i]] == g.start[source[i] + 1]);
    solve(&g, z, source, n_args > 4 ? atof(arg[4]) : .15);
    for (int i = 0; i < SOURCES; i++)
        write_best(&g, z, i, source[i], out);
    if (fclose(out))
        die("cannot write");
    free(z);
    return 0;
}
