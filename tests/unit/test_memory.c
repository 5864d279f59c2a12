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
#include "graph/inside.h"
#include "graph/paths.h"
#include "graph/pcst.h"
#include "graph/rwr.h"
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

static qp_code simple(qp_arena *mem, qp_err *err)
{
    qp_trails out;
    return qp_paths_simple(&g.csr, &g.root, 1, 3, 1000, &out, mem, err);
}

static qp_code parts(qp_arena *mem, qp_err *err)
{
    qp_induced in;
    uint32_t *component, count;
    qp_code code = qp_induce(&g.csr, g.terminal, g.n_terminals, &in, mem, err);
    return code ? code : qp_components(&g.csr, &component, &count, mem, err);
}

static qp_code chain(qp_chain **c, qp_ppr_space **space, qp_err *err)
{
    *space = NULL;
    qp_code code = qp_chain_new(&g.csr, NULL, c, err);
    return code ? code : qp_ppr_space_new(*c, space, err);
}

static qp_code ppr(qp_arena *mem, qp_err *err)
{
    qp_chain *c;
    qp_ppr_space *space;
    qp_ppr_walks walks = {0};
    qp_ppr_result out;
    qp_code code = chain(&c, &space, err);
    if (!code)
        code = qp_ppr_walks_make(c, .5, .5, 1, 1, &walks, err);
    for (qp_ppr_engine e = QP_PPR_EXACT; !code && e < QP_PPR_ENGINES; e++) {
        qp_ppr_query q = {
            .seed = &g.root, .n_seeds = 1, .alpha = .5, .engine = e, .top = 2, .settle = true, .threads = 1};
        q.walks = e == QP_PPR_FORA ? &walks : NULL;
        code = qp_ppr(space, &q, mem, &out, err);
    }
    if (!code)
        code = qp_ppr_target(space, g.root, .5, 0, 0, NULL, mem, &out, err);
    qp_ppr_walks_free(&walks);
    qp_ppr_space_free(space);
    qp_chain_free(c);
    return code;
}

static qp_code walks(qp_arena *mem, qp_err *err)
{
    qp_chain *c;
    qp_ppr_space *space;
    qp_rwr_result walked;
    qp_code code = chain(&c, &space, err);
    if (!code)
        code = qp_rwr(c, &(qp_rwr_query){&g.root, .n_seeds = 1, .alpha = .5, .steps = 50}, mem, &walked, err);
    qp_ppr_space_free(space);
    qp_chain_free(c);
    return code;
}

static qp_code communities(qp_arena *mem, qp_err *err)
{
    qp_chain *c;
    qp_ppr_space *space;
    qp_partition p;
    qp_ppr_result out;
    double modularity;
    const qp_ppr_query q = {.seed = g.terminal, .n_seeds = g.n_terminals, .alpha = .5};
    qp_code code = chain(&c, &space, err);
    if (!code)
        code = qp_leiden(c, &(qp_leiden_options){.gamma = 1}, mem, &p, &modularity, err);
    if (!code)
        code = qp_ppr_inside(&g.csr, &p, &q, mem, &out, err);
    qp_ppr_space_free(space);
    qp_chain_free(c);
    return code;
}

static void every_allocation_may_fail(void **state)
{
    static qp_code (*const call[])(qp_arena *, qp_err *) = {steiner, pcst_gw, pcst_strong, shortest,   simple,
                                                            parts,   ppr,     walks,       communities};
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
