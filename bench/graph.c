/* The graph kernels, asked line by line, so that bench/graph.py can take turns with other people's in one run.
 *
 *     graph NODES EDGES [directed] [weighted] [SEED]      then on standard input, a line each:
 *     edges FILE                                the graph: u, v as 32-bit numbers (an undirected edge once), then weights
 *     ENGINE ALPHA TOLERANCE TOP THREADS SINGLE NODE...     one query from the nodes, all alike
 *     leiden FILE RESOLUTION SEED               two iterations; each node's community, 32-bit numbers, into FILE
 *
 * Every answer is a line: milliseconds of processor time, what was found. A query's: ms, arcs, error, then nodes and scores, best first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int main(int n_args, char **arg)
{
    bool directed = false, weighted = false;
    uint64_t seed = 1;
    if (n_args < 3)
        die("graph NODES EDGES [directed] [weighted] [SEED]");
    for (int i = 3; i < n_args; i++) {
        directed |= !strcmp(arg[i], "directed");
        weighted |= !strcmp(arg[i], "weighted");
        seed = atoi(arg[i]) ? (uint64_t)atoi(arg[i]) : seed;
    }
    double start = processor_ms();
    rmat g = rmat_make((uint32_t)strtoul(arg[1], NULL, 10), strtoull(arg[2], NULL, 10), directed, weighted, seed);
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
        else if (name && !strcmp(name, "leiden"))
            partition(chain, mem);
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
