/* What happens without memory: each algorithm of src/graph/ that allocates is called with the first, the second, the n-th
 * allocation failing, until it succeeds. Each time it says so, and gives back what it took (the sanitizers look).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/components.h"
#include "graph/paths.h"
#include "graph/pcst.h"
#include "graph/steiner.h"
#include "random_graph.h"

/* The linker sends the library's calls here (--wrap). */
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);

static long left = -1; /* allocations before the one that fails; below 0: all succeed */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t n)
{
    return fails() ? NULL : __real_realloc(at, n);
}

static made_graph g;

static qp_code steiner(qp_arena *mem, qp_err *err)
{
    qp_steiner out;
    return qp_steiner_tree(&g.csr, g.arc_cost, g.terminal, g.n_terminals, &out, mem, err);
}

static qp_code pcst(qp_arena *mem, qp_err *err, qp_pruning pruning)
{
    qp_pcst_graph in = {g.n, g.m, g.prize, g.from, g.to, g.cost};
    qp_pcst_split split;
    qp_pcst out, whole;
    qp_code code = qp_pcst_split_edges(&in, .5f, &split, mem, err);
    if (!code)
        code = qp_pcst_solve(&split.graph, QP_NO_ROOT, 1, pruning, &out, mem, err);
    return code ? code : qp_pcst_map_back(&split, &out, &whole, mem, err);
}

static qp_code pcst_gw(qp_arena *mem, qp_err *err)
{
    return pcst(mem, err, QP_PRUNE_GW);
}

static qp_code pcst_strong(qp_arena *mem, qp_err *err)
{
    return pcst(mem, err, QP_PRUNE_STRONG);
}

static qp_code shortest(qp_arena *mem, qp_err *err)
{
    qp_trails out;
    return qp_paths_shortest(&g.csr, g.arc_cost, g.terminal, g.n_terminals, INFINITY, &out, mem, err);
}

static qp_code between(qp_arena *mem, qp_err *err)
{
    qp_trails out;
    return qp_paths_between(&g.csr, NULL, g.terminal, 2, g.terminal + 2, g.n_terminals - 2, &out, mem, err);
}

static qp_code simple(qp_arena *mem, qp_err *err)
{
    qp_trails out;
    return qp_paths_simple(&g.csr, &g.root, 1, 3, 1000, &out, mem, err);
}

static qp_code parts(qp_arena *mem, qp_err *err)
{
    qp_induced in;
    uint32_t *component, count, *ego, n;
    qp_code code = qp_induce(&g.csr, g.terminal, g.n_terminals, &in, mem, err);
    if (!code)
        code = qp_components(&g.csr, &component, &count, mem, err);
    return code ? code : qp_ego(&g.csr, g.root, &ego, &n, mem, err);
}

static void every_allocation_may_fail(void **state)
{
    static qp_code (*const call[])(qp_arena *, qp_err *) = {steiner, pcst_gw, pcst_strong, shortest,
                                                            between, simple,  parts};
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        made_random(&g, seed, 30, true);
        if (g.n_terminals < 3)
            continue;
        for (size_t i = 0; i < sizeof call / sizeof *call; i++) {
            for (long n = 0, done = false; !done; n++) {
                qp_arena *mem = qp_arena_new();
                qp_err err = {0};
                left = n;
                qp_code code = call[i](mem, &err);
                done = left >= 0; /* it needed fewer */
                left = -1;
                assert_int_equal(code == QP_OK, done);
                assert_true(done || strstr(err.message, "memory"));
                assert_true(n < 10000);
                qp_arena_free(mem);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
