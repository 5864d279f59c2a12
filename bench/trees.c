/* Trees in a graph, timed one at a time on request: bench/trees.py holds them against other people's.
 *
 * Standard input: `steiner N M K` or `pcst N M K`; M lines FROM TO COST; K lines, each a terminal, or NODE PRIZE. Then for each
 * line that comes it does the work once and answers: milliseconds, those of the processor, the objective, nodes, edges.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "graph/pcst.h"
#include "graph/steiner.h"

typedef struct input {
    bool steiner;
    uint32_t n, m, k;
    uint32_t *from, *to, *terminal;
    float *cost, *prize;
    uint64_t *start; /* rows, for Steiner */
    uint32_t *target;
    float *arc_cost;
} input;

static void die(const char *why)
{
    fprintf(stderr, "trees: %s\n", why);
    exit(1);
}

static void *room(size_t n, size_t size)
{
    void *at = calloc(n + 1, size);
    if (!at)
        die("no memory");
    return at;
}

static void read_input(input *in)
{
    char kind[16];
    if (scanf("%15s %u %u %u", kind, &in->n, &in->m, &in->k) != 4 || (strcmp(kind, "steiner") && strcmp(kind, "pcst")))
        die("`steiner N M K` or `pcst N M K` is wanted on the first line");
    in->steiner = !strcmp(kind, "steiner");
    in->from = room(in->m, sizeof *in->from);
    in->to = room(in->m, sizeof *in->to);
    in->cost = room(in->m, sizeof *in->cost);
    in->terminal = room(in->k, sizeof *in->terminal);
    in->prize = room(in->n, sizeof *in->prize);
    for (uint32_t e = 0; e < in->m; e++)
        if (scanf("%u %u %f", &in->from[e], &in->to[e], &in->cost[e]) != 3 || in->from[e] >= in->n ||
            in->to[e] >= in->n)
            die("an edge is FROM TO COST, of nodes below N");
    for (uint32_t i = 0; i < in->k; i++)
        if (scanf("%u", &in->terminal[i]) != 1 || in->terminal[i] >= in->n ||
            (!in->steiner && scanf("%f", &in->prize[in->terminal[i]]) != 1))
            die("a terminal, or NODE PRIZE, is wanted, of a node below N");
}

typedef struct arc {
    uint32_t from, to;
    float cost;
} arc;

static int rising(const void *x, const void *y)
{
    const arc *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void make_rows(input *in)
{
    arc *arcs = room(2 * (size_t)in->m, sizeof *arcs);
    in->start = room(in->n, sizeof *in->start);
    in->target = room(2 * (size_t)in->m, sizeof *in->target);
    in->arc_cost = room(2 * (size_t)in->m, sizeof *in->arc_cost);
    for (uint32_t e = 0; e < in->m; e++) {
        arcs[2 * e] = (arc){in->from[e], in->to[e], in->cost[e]};
        arcs[2 * e + 1] = (arc){in->to[e], in->from[e], in->cost[e]};
    }
    qsort(arcs, 2 * (size_t)in->m, sizeof *arcs, rising);
    for (size_t i = 0; i < 2 * (size_t)in->m; i++) {
        in->start[arcs[i].from + 1]++;
        in->target[i] = arcs[i].to;
        in->arc_cost[i] = arcs[i].cost;
    }
    for (uint32_t v = 0; v < in->n; v++)
        in->start[v + 1] += in->start[v];
    free(arcs);
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void work(const input *in, qp_arena *mem)
{
    qp_err err = {0};
    qp_csr rows = {in->n, in->start, in->target, NULL};
    qp_pcst_graph graph = {in->n, in->m, in->prize, in->from, in->to, in->cost};
    qp_steiner s = {0};
    qp_pcst p = {0};
    double begin = qp_now_ms(), busy = processor_ms();
    qp_code code = in->steiner ? qp_steiner_tree(&rows, in->arc_cost, in->terminal, in->k, &s, mem, &err)
                               : qp_pcst_solve(&graph, QP_NO_ROOT, 1, QP_PRUNE_STRONG, &p, mem, &err);
    double ms = qp_now_ms() - begin, missed = 0;
    busy = processor_ms() - busy;
    if (code)
        die(err.message);
    for (uint32_t v = 0; v < in->n; v++)
        missed += (double)in->prize[v];
    if (in->steiner)
        printf("%.4f %.4f %.9g %u %u\n", ms, busy, s.cost, s.n_nodes, s.n_arcs);
    else
        printf("%.4f %.4f %.9g %u %u\n", ms, busy, p.cost + missed - p.prize, p.n_nodes, p.n_edges);
    fflush(stdout);
    qp_arena_reset(mem);
}

int main(void)
{
    input in = {0};
    qp_arena *mem = qp_arena_new();
    char line[64];
    if (!mem)
        die("no memory");
    read_input(&in);
    make_rows(&in);
    if (!fgets(line, sizeof line, stdin)) /* what is left of the last line */
        return 0;
    while (fgets(line, sizeof line, stdin))
        work(&in, mem);
    qp_arena_free(mem);
    free(in.from);
    free(in.to);
    free(in.cost);
    free(in.terminal);
    free(in.prize);
    free(in.start);
    free(in.target);
    free(in.arc_cost);
    return 0;
}
