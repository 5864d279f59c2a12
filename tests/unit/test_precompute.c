/* What an index computes of its graph beforehand, against the shortest way to say it; and stopping before it is
 * published. */
#include <math.h>

#include "graph/leiden.h"
#include "op/chain.h"
#include "op/ops.h"
#include "store/graph.h"
#include "store/links.h"
#include "store/store.h"
#include "unit/made.h"

enum { N = 60, PART = 20 };

/* Three rings of twenty with chords, and an edge from each to the next. */
static uint32_t edges_of(uint32_t edge[][2])
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < N; v++) {
        uint32_t first = v / PART * PART;
        for (uint32_t step = 1; step <= 7; step += 3, n++) {
            uint32_t u = first + (v - first + step) % PART;
            edge[n][0] = v < u ? v : u;
            edge[n][1] = v < u ? u : v;
        }
        if (v % PART == 0) {
            edge[n][0] = v < (v + PART) % N ? v : (v + PART) % N;
            edge[n++][1] = v < (v + PART) % N ? (v + PART) % N : v;
        }
    }
    return n;
}

static int by_ends(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static qp_store *stored(const char *dir, const char *wanted)
{
    qp_store *s;
    qp_graph_put *p;
    uint32_t edge[4 * N][2], n = edges_of(edge);
    qsort(edge, n, sizeof *edge, by_ends);
    assert_int_equal(qp_store_open(dir, true, true, &s, NULL), QP_OK);
    assert_int_equal(qp_store_set(s, "partition", wanted, NULL), QP_OK);
    assert_int_equal(qp_store_set(s, "walks", wanted, NULL), QP_OK);
    assert_int_equal(qp_graph_begin(s, QP_STR("rings"), QP_STR("1"), &p, NULL, NULL), QP_OK);
    assert_int_equal(qp_graph_relation(p, QP_STR("near"), NULL), QP_OK);
    for (uint32_t v = 0; v < N; v++) {
        char name[8];
        snprintf(name, sizeof name, "n%02u", v);
        assert_int_equal(qp_graph_entity(p, QP_STR(""), qp_str_of(name), QP_STR(""), NULL), QP_OK);
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(qp_graph_triple(p, edge[i][0], 0, edge[i][1], 1, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_graph_end(p, QP_OK, NULL), QP_OK);
    return s;
}

static qp_snapshot *published(const char *dir, const char *wanted)
{
    qp_snapshot *out;
    qp_err err = {0};
    qp_store *s = stored(dir, wanted);
    if (qp_store_publish(s, NULL, &err) || qp_snapshot_open(dir, &out, &err) || qp_snapshot_check(out, &err))
        fail_msg("%s", err.message);
    qp_store_close(s);
    return out;
}

static void communities_are_kept(void **state)
{
    qp_snapshot *s = published(*state, "yes");
    qp_parts parts;
    assert_int_equal(s->view.parts(s, &parts, NULL), QP_OK);
    assert_int_equal(parts.n, N);
    assert_int_equal(parts.n_parts, 3);
    for (uint32_t v = 0; v < N; v++)
        assert_int_equal(parts.part[v] == parts.part[0], v < PART);
    qp_snapshot_close(s);
}

/* Two passages that cite, two entities that know each other, and mentions, which bind no community. */
static void mentions_bind_no_community(void **state)
{
    static const qp_id ends[][2] = {{0, 1}, {2, 3}, {2, 0}, {2, 1}, {3, 0}, {3, 1}};
    const qp_chunk chunk = {0, 4, 0, QP_STR("")};
    qp_maker *m;
    qp_snapshot *s;
    qp_parts parts;
    const qp_maker_options how = {.language = "en", .partition = true, .walks = true};
    assert_int_equal(qp_maker_open(in(*state, "s"), &how, &m, NULL), QP_OK);
    for (int i = 0; i < 2; i++) {
        qp_document d = {.key = (qp_str){"ab" + i, 1}, .text = QP_STR("text"), .chunks = &chunk, .n_chunks = 1};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(qp_maker_entity(m, QP_STR(""), (qp_str){"xy" + i, 1}, QP_STR(""), NULL), QP_OK);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_int_equal(qp_maker_edge(m, ends[i][0], ends[i][1], i < 2 ? QP_STR("cites") : QP_STR(QP_CONTAINS), 1,
                                       QP_STR(""), NULL),
                         QP_OK);
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    assert_int_equal(qp_snapshot_open_file(in(*state, "s"), 1, &s, NULL), QP_OK);
    assert_int_equal(s->view.parts(s, &parts, NULL), QP_OK);
    assert_int_equal(parts.n_parts, 2);
    for (uint32_t v = 0; v < 4; v++)
        assert_int_equal(parts.part[v] == parts.part[0], v < 2);
    for (uint64_t i = 0; i < s->info->walk_stops; i++)
        assert_true(s->walk_stop[i] < 4);
    for (uint32_t v = 0; v < 4; v++)
        for (uint64_t i = s->walk[v]; i < s->walk[v + 1]; i++)
            assert_int_equal(s->walk_stop[i] < 2, v < 2);
    qp_snapshot_close(s);
}

/* pi = alpha e + (1 - alpha) P' pi, on the first `n` nodes alone, a hundred times. */
static void twin(double alpha, uint32_t n, double pi[N])
{
    uint32_t edge[4 * N][2], m = edges_of(edge);
    double next[N], degree[N] = {0};
    for (uint32_t i = 0; i < m; i++)
        for (int end = 0; end < 2 && edge[i][0] < n && edge[i][1] < n; end++)
            degree[edge[i][end]]++;
    memset(pi, 0, N * sizeof *pi);
    for (int round = 0; round < 100; round++) {
        memset(next, 0, sizeof next);
        for (uint32_t i = 0; i < m; i++)
            for (int end = 0; end < 2 && edge[i][0] < n && edge[i][1] < n; end++)
                next[edge[i][end]] += (1 - alpha) * pi[edge[i][!end]] / degree[edge[i][!end]];
        next[5] += alpha;
        memcpy(pi, next, sizeof next);
    }
}

static qp_list ppr(qp_query *q, const char *engine, const char *within)
{
    qp_set from = qp_set_of((qp_list){&(qp_hit){5, QP_NO_ID, 1, NULL}, 1});
    return qp_run(q, &qp_op_ppr, &from, 1, &(qp_ppr_opt){.top = 10, .alpha = .15, .engine = engine, .within = within})
        .nodes;
}

static void ppr_stays_in_the_community(void **state)
{
    qp_snapshot *s = published(*state, "yes");
    qp_query q;
    double pi[N];
    assert_int_equal(qp_query_begin(&q, QP_STR("x"), NULL), QP_OK);
    q.graph = qp_snapshot_view(s);
    qp_list found = ppr(&q, "exact", "partition");
    twin(.15, PART, pi);
    assert_int_equal(found.n, 10);
    for (uint32_t i = 0; i < found.n; i++) {
        assert_true(found.at[i].id < PART);
        assert_true(fabs(found.at[i].score - pi[found.at[i].id]) < 1e-6);
    }
    q.walk.direction = QP_OUT;
    ppr(&q, "exact", "partition");
    assert_int_equal(q.err.code, QP_INPUT);
    qp_query_end(&q);
    qp_snapshot_close(s);
}

static void stored_walks_are_read(void **state)
{
    qp_snapshot *s = published(*state, "yes");
    qp_query q;
    double pi[N];
    assert_int_equal(qp_query_begin(&q, QP_STR("x"), NULL), QP_OK);
    q.graph = qp_snapshot_view(s);
    qp_stops stops;
    assert_int_equal(s->view.stops(s, &stops, NULL), QP_OK);
    assert_int_equal(stops.n, N);
    qp_list found = ppr(&q, "fora", "graph");
    twin(.15, N, pi);
    assert_int_equal(found.n, 10);
    for (uint32_t i = 0; i < found.n; i++) /* FORA's promise is half of it */
        assert_true(fabs(found.at[i].score - pi[found.at[i].id]) < .5 * pi[found.at[i].id]);
    qp_query_end(&q);
    qp_snapshot_close(s);
}

static void without_them_it_is_said(void **state)
{
    qp_snapshot *s = published(*state, "no");
    qp_query q;
    qp_stops stops;
    assert_int_equal(qp_query_begin(&q, QP_STR("x"), NULL), QP_OK);
    q.graph = qp_snapshot_view(s);
    assert_int_equal(s->view.stops(s, &stops, NULL), QP_OK);
    assert_int_equal(stops.n, 0);
    assert_true(ppr(&q, "fora", "graph").n > 0);
    ppr(&q, "exact", "partition");
    assert_int_equal(q.err.code, QP_INPUT);
    assert_non_null(strstr(q.err.message, "index -o partition=yes"));
    qp_query_end(&q);
    qp_snapshot_close(s);
}

/* ---- stopping ---- */

static void edges_stop(void **state)
{
    char path[300];
    int cancel = 1;
    qp_writer *w;
    qp_info info = {0};
    qp_links *l;
    assert_int_equal(qp_links_open(*state, 0, &l, NULL), QP_OK);
    snprintf(path, sizeof path, "%s/edges", (char *)*state);
    assert_int_equal(qp_writer_open(path, &w, NULL), QP_OK);
    for (uint32_t v = 0; v < 9; v++)
        assert_int_equal(qp_links_add(l, v, v + 1, QP_STR("t"), 1, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_links_write(l, &(qp_links_how){.nodes = 10, .cancel = &cancel}, w, &info, NULL), QP_STOPPED);
    qp_writer_drop(w);
    qp_links_free(l);
}

/* What was published stays, and the next run publishes what was stopped. */
static void a_publish_stops(void **state)
{
    qp_snapshot *s;
    int cancel = 1;
    const qp_watch watch = {.cancel = &cancel};
    qp_snapshot_close(published(*state, "no"));
    qp_store *store = stored(*state, "yes");
    assert_int_equal(qp_store_publish(store, &watch, NULL), QP_STOPPED);
    assert_int_equal(qp_snapshot_open(*state, &s, NULL), QP_OK);
    assert_int_equal(s->info->parts, 0);
    qp_snapshot_close(s);
    cancel = 0;
    assert_int_equal(qp_store_publish(store, &watch, NULL), QP_OK);
    assert_int_equal(qp_snapshot_open(*state, &s, NULL), QP_OK);
    assert_int_equal(s->info->parts, 3);
    qp_snapshot_close(s);
    qp_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(communities_are_kept),  HOLDS(mentions_bind_no_community), HOLDS(ppr_stays_in_the_community),
        HOLDS(stored_walks_are_read), HOLDS(without_them_it_is_said),    HOLDS(edges_stop),
        HOLDS(a_publish_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
