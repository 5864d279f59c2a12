/* src/graph/rwr: a long walk is near PPR; the same seed is the same walk. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/ppr.h"
#include "graph/rwr.h"
#include "small_graph.h"

static void a_long_walk_is_near_ppr(void **state)
{
    (void)state;
    enum { STEPS = 400000 };
    qp_random random = qp_random_seed(1);
    for (uint32_t i = 0; i < 40; i++) {
        small_graph g;
        qp_chain *chain;
        qp_ppr_space *space;
        qp_ppr_result pi;
        qp_rwr_result walked, again;
        qp_arena *mem = qp_arena_new();
        small_graph_draw(&g, i & 1, i & 2, &random);
        uint32_t seed[2] = {0, g.n - 1};
        float weight[2] = {1, 2};
        assert_int_equal(qp_chain_new(&g.out, g.directed ? &g.in : NULL, &chain, NULL), QP_OK);
        assert_int_equal(qp_ppr_space_new(chain, &space, NULL), QP_OK);
        qp_ppr_query q = {.seed = seed, .weight = weight, .n_seeds = 2, .alpha = .3, .engine = QP_PPR_EXACT};
        assert_int_equal(qp_ppr(space, &q, mem, &pi, NULL), QP_OK);
        qp_rwr_query w = {.seed = seed, .weight = weight, .n_seeds = 2, .alpha = .3, .steps = STEPS, .random = i};
        assert_int_equal(qp_rwr(chain, &w, mem, &walked, NULL), QP_OK);
        assert_int_equal(qp_rwr(chain, &w, mem, &again, NULL), QP_OK);
        double off[SMALL_MOST] = {0}, sum = 0;
        for (uint32_t j = 0; j < pi.n; j++)
            off[pi.at[j].node] = pi.at[j].score;
        for (uint32_t j = 0; j < walked.n; j++) {
            off[walked.at[j].node] -= walked.at[j].score;
            sum += walked.at[j].score;
            assert_true(walked.at[j].node == again.at[j].node && walked.at[j].score == again.at[j].score);
        }
        assert_true(fabs(sum - 1) < 1e-9);
        for (uint32_t v = 0; v < g.n; v++) /* visits of a stay are not independent: twice the binomial's deviation */
            assert_true(fabs(off[v]) < 5 * 2 * .5 / sqrt(STEPS));
        qp_ppr_space_free(space);
        qp_chain_free(chain);
        qp_arena_free(mem);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    small_graph g = {.n = 2};
    qp_chain *chain;
    qp_rwr_result r;
    qp_arena *mem = qp_arena_new();
    uint32_t seed = 0, gone = 2;
    int stop = 1;
    small_graph_pack(&g);
    assert_int_equal(qp_chain_new(&g.out, NULL, &chain, NULL), QP_OK);
    assert_int_equal(qp_rwr(chain, &(qp_rwr_query){.seed = &seed, .n_seeds = 1, .alpha = 1, .steps = 9}, mem, &r, NULL),
                     QP_USAGE);
    assert_int_equal(qp_rwr(chain, &(qp_rwr_query){.seed = &seed, .n_seeds = 1, .alpha = .5}, mem, &r, NULL), QP_USAGE);
    assert_int_equal(qp_rwr(chain, &(qp_rwr_query){.seed = &gone, .n_seeds = 1, .alpha = .5, .steps = 9}, mem, &r,
                            NULL),
                     QP_INPUT);
    assert_int_equal(qp_rwr(chain, &(qp_rwr_query){.alpha = .5, .steps = 9}, mem, &r, NULL), QP_INPUT);
    qp_rwr_query q = {.seed = &seed, .n_seeds = 1, .alpha = .5, .steps = 9, .cancel = &stop};
    assert_int_equal(qp_rwr(chain, &q, mem, &r, NULL), QP_STOPPED);
    q.cancel = NULL; /* a seed without arcs keeps the walk */
    assert_int_equal(qp_rwr(chain, &q, mem, &r, NULL), QP_OK);
    assert_true(r.n == 1 && r.at[0].node == 0 && r.at[0].score == 1);
    qp_chain_free(chain);
    qp_arena_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_walk_is_near_ppr),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
