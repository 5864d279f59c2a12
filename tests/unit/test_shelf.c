/* src/base/shelf, and that PPR on what stands there says what PPR on what was made anew says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/shelf.h"
#include "base/thread.h"
#include "op/ops.h"

static int n_made, n_dropped; /* n_made: under the shelf's lock */

static qp_code make(void *ctx, void **thing, qp_err *err)
{
    if (!ctx)
        return qp_fail(err, QP_INPUT, "nothing to make it of");
    n_made++;
    *thing = ctx;
    return QP_OK;
}

static void drop(void *thing)
{
    assert_non_null(thing);
    n_dropped++;
}

static const qp_shelf_kind kind = {make, drop}, other = {make, drop};
static int things[QP_SHELF_PLACES + 1];

static qp_code get(void *ctx, int worker, size_t i, qp_err *err)
{
    size_t key = i % QP_SHELF_PLACES;
    void *thing = NULL;
    bool kept = false;
    (void)worker;
    qp_code code = qp_shelf_get(ctx, &kind, &key, sizeof key, &things[key], &thing, &kept, err);
    return code ? code : thing == &things[key] && kept ? QP_OK : qp_fail(err, QP_INPUT, "not what was made");
}

static void is_made_once(void **state)
{
    (void)state;
    qp_shelf *s = qp_shelf_new();
    n_made = n_dropped = 0;
    assert_int_equal(qp_parallel(4, 1000, get, s, NULL), QP_OK);
    assert_int_equal(n_made, QP_SHELF_PLACES);
    qp_shelf_free(s);
    assert_int_equal(n_dropped, QP_SHELF_PLACES);
}

static void is_the_askers_own_without_a_place(void **state)
{
    (void)state;
    void *thing;
    bool kept;
    qp_err err = {0};
    qp_shelf *s = qp_shelf_new();
    assert_int_equal(qp_shelf_get(NULL, &kind, "k", 1, things, &thing, &kept, NULL), QP_OK);
    assert_false(kept);
    assert_int_equal(qp_shelf_get(s, &kind, "k", 1, NULL, &thing, &kept, &err), QP_INPUT);
    assert_null(thing);
    n_made = n_dropped = 0;
    for (size_t i = 0; i < QP_SHELF_PLACES; i++)
        assert_int_equal(get(s, 0, i, NULL), QP_OK);
    assert_int_equal(qp_shelf_get(s, &other, &(size_t){0}, sizeof(size_t), things, &thing, &kept, NULL), QP_OK);
    assert_false(kept);
    assert_int_equal(n_made, QP_SHELF_PLACES + 1);
    qp_shelf_free(s);
    assert_int_equal(n_dropped, QP_SHELF_PLACES);
    qp_shelf_free(NULL);
}

/* ---- a ring of nodes, with arcs 3 ahead, too ---- */

enum { RING = 50 };
static int n_arcs_asked;

static qp_code ring_arcs(void *self, qp_walk walk, qp_arcs *out, qp_arena *mem, qp_err *err)
{
    uint64_t *start = qp_new(mem, uint64_t, RING + 1);
    qp_id *node = qp_new(mem, qp_id, 2 * RING);
    (void)self, (void)err;
    n_arcs_asked++;
    for (uint32_t v = 0; v < RING; v++) {
        qp_id a = walk.direction == QP_IN ? (v + RING - 1) % RING : (v + 1) % RING,
              b = walk.direction == QP_IN ? (v + RING - 3) % RING : (v + 3) % RING;
        node[2 * v] = a < b ? a : b;
        node[2 * v + 1] = a < b ? b : a;
        start[v + 1] = 2 * v + 2;
    }
    *out = (qp_arcs){RING, start, node};
    return QP_OK;
}

static void ask(const qp_view *view, const char *direction, qp_hit *hits)
{
    qp_query q;
    qp_err err = {0};
    const qp_setting set[] = {{"direction", direction}};
    qp_hit seed = {.id = 7, .score = 1};
    assert_int_equal(qp_query_begin(&q, QP_STR("question"), NULL), QP_OK);
    q.graph = view;
    const void *opt = qp_options_new(&qp_op_ppr, set, 1, q.mem, &err);
    const qp_set in = {.nodes = {&seed, 1}};
    assert_non_null(opt);
    qp_set found = qp_run(&q, &qp_op_ppr, &in, 1, opt);
    assert_int_equal(q.err.code, QP_OK);
    assert_int_equal(found.nodes.n, RING);
    memcpy(hits, found.nodes.at, RING * sizeof *hits);
    qp_query_end(&q);
}

static void a_walk_is_made_once_for_all_questions(void **state)
{
    (void)state;
    static qp_hit fresh[RING], kept[RING];
    qp_view without = {.nodes = RING, .arcs = ring_arcs}, with = without;
    with.shelf = qp_shelf_new();
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < 2; d++) {
            const char *direction = d ? "in" : "out";
            n_arcs_asked = 0;
            ask(&without, direction, fresh);
            assert_int_equal(n_arcs_asked, 2);
            ask(&with, direction, kept);
            assert_int_equal(n_arcs_asked, round ? 2 : 4);
            for (int i = 0; i < RING; i++) {
                assert_int_equal(fresh[i].id, kept[i].id);
                assert_true(fresh[i].score == kept[i].score);
            }
        }
    qp_shelf_free(with.shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_made_once),
                                       cmocka_unit_test(is_the_askers_own_without_a_place),
                                       cmocka_unit_test(a_walk_is_made_once_for_all_questions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
