/* Communities within communities. By hand: eight cliques of five in two rings of four, one arc between the rings: Leiden parts a
 * ring again, into its cliques, if no more than five nodes are wanted together. Then random graphs: what must hold of any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/hierarchy.h"

enum { N = 40 };

typedef struct matrix {
    bool joined[N][N];
    uint64_t start[N + 1];
    uint32_t target[N * N];
    qp_csr g;
} matrix;

static void join(matrix *m, uint32_t a, uint32_t b)
{
    m->joined[a][b] = m->joined[b][a] = true;
}

static const qp_csr *csr_of(matrix *m, uint32_t n)
{
    uint64_t at = 0;
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t w = 0; w < n; w++)
            if (m->joined[v][w])
                m->target[at++] = w;
        m->start[v + 1] = at;
    }
    m->g = (qp_csr){n, m->start, m->target, NULL};
    return &m->g;
}

/* Are the nodes of a community joined by arcs among themselves? */
static bool hangs_together(const matrix *m, const qp_hierarchy *h, const qp_community *c)
{
    bool reached[N] = {false}, more = true;
    reached[h->member[c->from]] = true;
    while (more) {
        more = false;
        for (uint32_t i = c->from; i < c->to; i++)
            for (uint32_t j = c->from; j < c->to; j++)
                if (reached[h->member[i]] && !reached[h->member[j]] && m->joined[h->member[i]][h->member[j]])
                    more = reached[h->member[j]] = true;
    }
    for (uint32_t i = c->from; i < c->to; i++)
        if (!reached[h->member[i]])
            return false;
    return true;
}

/* Each level shares the nodes of the one above out, nobody is left or comes twice. */
static void look(const matrix *m, const qp_hierarchy *h)
{
    uint32_t seen[N] = {0}, shared[4 * N] = {0}, level0 = 0;
    for (uint32_t i = 0; i < h->n; i++)
        seen[h->member[i]]++;
    for (uint32_t v = 0; v < h->n; v++)
        assert_int_equal(seen[v], 1);
    for (uint32_t i = 0; i < h->n_at; i++) {
        const qp_community *c = &h->at[i], *above = c->parent == QP_NO_COMMUNITY ? NULL : &h->at[c->parent];
        assert_true(c->from < c->to && hangs_together(m, h, c));
        level0 += above ? 0 : c->to - c->from;
        if (above) {
            assert_true(c->parent < i && c->level == above->level + 1 && c->from >= above->from && c->to <= above->to);
            assert_true(c->to - c->from < above->to - above->from);
            shared[c->parent] += c->to - c->from;
        }
    }
    assert_int_equal(level0, h->n);
    for (uint32_t i = 0; i < h->n_at; i++)
        assert_true(!shared[i] || shared[i] == h->at[i].to - h->at[i].from);
    for (uint32_t v = 0; v < h->n; v++) {
        const qp_community *c = &h->at[h->leaf[v]];
        bool there = false;
        for (uint32_t i = c->from; i < c->to; i++)
            there |= h->member[i] == v;
        assert_true(there && !shared[h->leaf[v]]);
    }
}

static void rings(void **state)
{
    static matrix m;
    qp_arena *mem = qp_arena_new();
    qp_hierarchy h;
    qp_err err = {0};
    (void)state;
    for (uint32_t c = 0; c < 8; c++) {
        for (uint32_t a = 0; a < 5; a++)
            for (uint32_t b = 0; b < a; b++)
                join(&m, 5 * c + a, 5 * c + b);
        join(&m, 5 * c, 5 * (c / 4 * 4 + (c + 1) % 4) + 1);
    }
    join(&m, 2, 22);
    const qp_leiden_options how = {.gamma = .1};
    assert_int_equal(qp_hierarchy_make(csr_of(&m, N), 5, &how, mem, &h, &err), QP_OK);
    look(&m, &h);
    assert_int_equal(h.at[0].to - h.at[0].from + h.at[1].to - h.at[1].from, N);
    const qp_leiden_options fine = {.gamma = 1};
    assert_int_equal(qp_hierarchy_make(&m.g, 5, &fine, mem, &h, &err), QP_OK);
    look(&m, &h);
    for (uint32_t v = 0; v < N; v++)
        assert_int_equal(h.leaf[v], h.leaf[v / 5 * 5]);
    assert_int_equal(qp_hierarchy_make(&m.g, N, &fine, mem, &h, &err), QP_OK);
    for (uint32_t i = 0; i < h.n_at; i++)
        assert_int_equal(h.at[i].level, 0);
    qp_arena_free(mem);
}

static void any_graph(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 200; round++) {
        static matrix m;
        qp_random random = qp_random_seed(round);
        uint32_t n = (uint32_t)qp_random_below(&random, N + 1),
                 arcs = n ? (uint32_t)qp_random_below(&random, 4 * n) : 0;
        qp_arena *mem = qp_arena_new();
        qp_hierarchy h, again;
        qp_err err = {0};
        m = (matrix){0};
        for (uint32_t i = 0; i < arcs; i++) {
            uint32_t a = (uint32_t)qp_random_below(&random, n), b = (uint32_t)qp_random_below(&random, n);
            if (a != b)
                join(&m, a, b);
        }
        const qp_leiden_options how = {.gamma = 1, .random = round};
        uint32_t largest = 1 + (uint32_t)qp_random_below(&random, 10);
        assert_int_equal(qp_hierarchy_make(csr_of(&m, n), largest, &how, mem, &h, &err), QP_OK);
        look(&m, &h);
        assert_int_equal(qp_hierarchy_make(&m.g, largest, &how, mem, &again, &err), QP_OK);
        assert_int_equal(h.n_at, again.n_at);
        assert_memory_equal(h.member, again.member, n * sizeof *h.member);
        qp_arena_free(mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rings), cmocka_unit_test(any_graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
