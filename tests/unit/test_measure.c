/* src/eval: measures, judgements, rankings and graph distances against values that trec_eval, networkx and SQuAD's script
 * gave (tests/reference/metrics.py), and distances against a slow twin on random graphs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/random.h"
#include "eval/judgements.h"
#include "eval/measure.h"
#include "eval/ranking.h"
#include "eval/topology.h"

#define FOLDER "tests/reference/metrics"

typedef struct fixture {
    qp_arena *mem;
    qp_map *documents;
    qp_judgements judgements;
    qp_ranking *run;
    qp_topology topology;
    qp_reach reach;
    uint32_t (*edges)[2];
    uint32_t n_edges;
} fixture;

/* ---- a view that knows edges only; every document is a node ---- */
static qp_code fake_adjacent(void *self, const qp_id *ids, uint32_t n, qp_walk walk, qp_adj *out, qp_arena *mem,
                             qp_err *err)
{
    fixture *f = self;
    uint32_t *start = qp_new(mem, uint32_t, n + 1), total = 0;
    qp_id *node = qp_new(mem, qp_id, 2 * (size_t)f->n_edges * 2 + 1);

    (void)walk;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t e = 0; e < f->n_edges; e++)
            for (int side = 0; side < 2; side++)
                if (f->edges[e][side] == ids[i] && f->edges[e][!side] != ids[i])
                    node[total++] = f->edges[e][!side];
        start[i + 1] = total;
    }
    *out = (qp_adj){n, start, node, NULL};
    return QP_OK;
}

static void read_edges(fixture *f, const char *path)
{
    qp_buf bytes = {0};

    assert_int_equal(qp_file_read(path, 0, &bytes, NULL), QP_OK);
    f->edges = calloc(bytes.n, sizeof *f->edges);
    for (qp_str rest = qp_buf_view(&bytes); rest.at && rest.n;) {
        qp_str to, from = qp_str_split(qp_str_split(rest, '\n', &rest), '\t', &to);

        if (!qp_str_eq(from, QP_STR("src"))) {
            f->edges[f->n_edges][0] = qp_document_number(f->documents, from);
            f->edges[f->n_edges++][1] = qp_document_number(f->documents, to);
        }
    }
    qp_buf_free(&bytes);
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    uint64_t strangers;
    uint32_t vertices, *same;

    f->mem = qp_arena_new();
    f->documents = qp_map_new();
    assert_int_equal(qp_judgements_read(FOLDER, NULL, false, f->documents, f->mem, &f->judgements, NULL), QP_OK);
    f->run = qp_new(f->mem, qp_ranking, f->judgements.n);
    assert_int_equal(qp_rankings_read(FOLDER "/run.txt", &f->judgements, f->documents, 1000, f->run, &strangers, f->mem,
                                      NULL),
                     QP_OK);
    assert_int_equal(strangers, 0);
    read_edges(f, FOLDER "/edges.tsv");
    vertices = (uint32_t)qp_map_size(f->documents);
    same = qp_new(f->mem, uint32_t, vertices);
    for (uint32_t v = 0; v < vertices; v++)
        same[v] = v;
    qp_view view = {.self = f, .nodes = vertices, .adjacent = fake_adjacent};
    assert_int_equal(qp_topology_make(&view, (qp_walk){~0ull, QP_OUT, true}, same, vertices, &f->topology, NULL),
                     QP_OK);
    assert_int_equal(qp_reach_make(vertices, &f->reach, NULL), QP_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    qp_reach_free(&f->reach);
    qp_topology_free(&f->topology);
    qp_judgements_free(&f->judgements);
    qp_map_free(f->documents);
    qp_arena_free(f->mem);
    free(f->edges);
    free(f);
    return 0;
}

/* What the run gave for one question, as measures see it. */
static qp_outcome outcome_of(fixture *f, uint32_t question)
{
    const qp_question *q = &f->judgements.at[question];
    qp_ranking ranking = f->run[question];
    double *grade = qp_new(f->mem, double, ranking.n), *distance = qp_new(f->mem, double, ranking.n * q->relevant);

    for (uint32_t i = 0; i < ranking.n; i++)
        grade[i] = qp_question_grade(q, ranking.at[i].document);
    for (uint32_t r = 0; r < q->relevant; r++) {
        qp_reach_to(&f->topology.graph, q->gold[r], &f->reach);
        for (uint32_t i = 0; i < ranking.n; i++)
            distance[r * ranking.n + i] = f->reach.u[ranking.at[i].document];
    }
    return (
        qp_outcome){.grade = grade, .n = ranking.n, .ideal = q->ideal, .relevant = q->relevant, .distance = distance};
}

static void equal_to_trec_eval_and_networkx(void **state)
{
    fixture *f = *state;
    qp_buf bytes = {0};
    uint32_t compared = 0;

    assert_int_equal(qp_file_read(FOLDER "/expected.tsv", 0, &bytes, NULL), QP_OK);
    for (qp_str rest = qp_buf_view(&bytes); rest.at && rest.n;) {
        qp_str value, name, id = qp_str_split(qp_str_split(rest, '\n', &rest), '\t', &name);
        const qp_metric *metric;
        uint64_t *number = qp_map_get(f->judgements.number, id);
        uint32_t n;

        name = qp_str_split(name, '\t', &value);
        if (!number)
            continue; /* the header */
        assert_int_equal(qp_metrics_parse(qp_arena_str(f->mem, name).at, 100, &metric, &n, f->mem, NULL), QP_OK);
        qp_outcome o = outcome_of(f, (uint32_t)*number);
        double want = strtod(qp_arena_str(f->mem, value).at, NULL), got = metric->measure->of(&o, metric->k);
        double within = metric->measure->wants == QP_WANTS_GRAPH ? 1e-9 : 1e-6;

        if (fabs(want - got) > within)
            fail_msg("%.*s %s: wanted %.9f, got %.9f", (int)id.n, id.at, metric->name, want, got);
        compared++;
    }
    qp_buf_free(&bytes);
    assert_true(compared >= 300);
}

static void equal_to_squad_and_rouge(void **state)
{
    fixture *f = *state;
    qp_buf bytes = {0};
    uint32_t line = 0;

    assert_int_equal(qp_file_read(FOLDER "/answers.tsv", 0, &bytes, NULL), QP_OK);
    for (qp_str rest = qp_buf_view(&bytes); rest.at && rest.n; line++) {
        qp_str gold, em, f1, rouge, rouge_f, text = qp_str_split(qp_str_split(rest, '\n', &rest), '\t', &gold);

        gold = qp_str_split(gold, '\t', &em);
        em = qp_str_split(em, '\t', &f1);
        f1 = qp_str_split(f1, '\t', &rouge);
        rouge = qp_str_split(rouge, '\t', &rouge_f);
        if (line == 0)
            continue;
        qp_answered answer = {.text = text, .gold = &gold, .n_gold = 1};
        qp_outcome o = {.answer = &answer};
        assert_true(qp_measure_em.of(&o, UINT32_MAX) == strtod(qp_arena_str(f->mem, em).at, NULL));
        assert_true(fabs(qp_measure_f1.of(&o, UINT32_MAX) - strtod(qp_arena_str(f->mem, f1).at, NULL)) < 1e-9);
        assert_true(fabs(qp_measure_rouge_l.of(&o, UINT32_MAX) - strtod(qp_arena_str(f->mem, rouge).at, NULL)) < 1e-9);
        assert_true(fabs(qp_measure_rouge_l_f.of(&o, UINT32_MAX) - strtod(qp_arena_str(f->mem, rouge_f).at, NULL)) <
                    1e-9);
    }
    qp_buf_free(&bytes);
    assert_int_equal(line, 12);
}

static void named_answers_are_counted(void **state)
{
    static const struct {
        const char *text;
        double hit, f1;
    } of[] = {{"Jamaican English [1], Patois", 1, .5},
              {"the jamaican english\nJamaican Creole", 1, 1},
              {"They speak Jamaican English there", 1, 0},
              {"English", 0, 0},
              {"", 0, 0},
              {"Jamaican English, Jamaican English", 1, .5}};
    const qp_str gold[] = {QP_STR("Jamaican English"), QP_STR("Jamaican Creole")};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        qp_answered answer = {.text = qp_str_of(of[i].text), .gold = gold, .n_gold = 2};
        qp_outcome o = {.answer = &answer};
        assert_true(qp_measure_answer_hit.of(&o, UINT32_MAX) == of[i].hit);
        assert_true(fabs(qp_measure_entity_f1.of(&o, UINT32_MAX) - of[i].f1) < 1e-9);
    }
}

static void a_name_may_hold_commas(void **state)
{
    static const struct {
        const char *text;
        double f1;
    } of[] = {{"Washington, D.C.", 2. / 3},
              {"Washington, D.C.\nParis", 1},
              {"Paris, Washington, D.C.", 1},
              {"Washington, D.C., Paris", 1},
              {"Washington, D.C., the capital", .5},
              {"Washington, Paris", .5},
              {"Washington, D.C., Washington, D.C.", .5}, /* named twice, right once */
              {",, Paris,", 2. / 3}};
    const qp_str gold[] = {QP_STR("Washington, D.C."), QP_STR("Paris")};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        qp_answered answer = {.text = qp_str_of(of[i].text), .gold = gold, .n_gold = 2};
        qp_outcome o = {.answer = &answer};
        if (fabs(qp_measure_entity_f1.of(&o, UINT32_MAX) - of[i].f1) > 1e-9)
            fail_msg("'%s': %g", of[i].text, qp_measure_entity_f1.of(&o, UINT32_MAX));
    }
}

/* Definition 7 by relaxing (hops, sum) pairs over all edges until nothing changes. */
static void slow_reach(const qp_csr *g, uint32_t gold, uint32_t *hops, double *u)
{
    for (uint32_t v = 0; v < g->n; v++)
        hops[v] = v == gold ? 0 : 1000, u[v] = v == gold ? 0 : INFINITY;
    for (uint32_t round = 0; round < g->n; round++)
        for (uint32_t v = 0; v < g->n; v++)
            for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
                uint32_t w = g->target[a];
                double sum = u[w] + log(1.0 + (double)(g->start[v + 1] - g->start[v]));

                if (hops[w] + 1 < hops[v] || (hops[w] + 1 == hops[v] && sum < u[v]))
                    hops[v] = hops[w] + 1, u[v] = sum;
            }
}

static void distances_equal_a_slow_twin(void **state)
{
    (void)state;
    qp_random random = qp_random_seed(7);

    for (int round = 0; round < 200; round++) {
        fixture f = {.n_edges = 30};
        uint32_t edges[30][2], same[20], hops[20];
        double u[20];
        qp_topology t;
        qp_reach reach;

        for (int e = 0; e < 30; e++)
            for (int side = 0; side < 2; side++)
                edges[e][side] = (uint32_t)qp_random_below(&random, 20);
        for (uint32_t v = 0; v < 20; v++)
            same[v] = v;
        f.edges = edges;
        qp_view view = {.self = &f, .nodes = 20, .adjacent = fake_adjacent};
        assert_int_equal(qp_topology_make(&view, (qp_walk){~0ull, QP_BOTH, true}, same, 20, &t, NULL), QP_OK);
        assert_int_equal(qp_reach_make(20, &reach, NULL), QP_OK);
        for (uint32_t gold = 0; gold < 20; gold++) {
            slow_reach(&t.graph, gold, hops, u);
            qp_reach_to(&t.graph, gold, &reach);
            for (uint32_t v = 0; v < 20; v++)
                assert_true(u[v] == reach.u[v] || fabs(u[v] - reach.u[v]) < 1e-12);
        }
        qp_reach_free(&reach);
        qp_topology_free(&t);
    }
}

/* A near hub is worse than a far document on a quiet path: the minimum is over documents, not over hops. */
static void a_far_quiet_path_beats_a_near_hub(void **state)
{
    (void)state;
    /* 0 is relevant; 1 a hub beside it with 30 more neighbours; 0 - 2 - 3 a quiet path */
    uint32_t edges[33][2] = {{0, 1}, {0, 2}, {2, 3}}, same[40];
    fixture f = {.edges = edges, .n_edges = 33};
    qp_topology t;
    qp_reach reach;

    for (uint32_t e = 3; e < 33; e++)
        edges[e][0] = 1, edges[e][1] = e + 1;
    for (uint32_t v = 0; v < 40; v++)
        same[v] = v;
    qp_view view = {.self = &f, .nodes = 40, .adjacent = fake_adjacent};
    assert_int_equal(qp_topology_make(&view, (qp_walk){~0ull, QP_BOTH, true}, same, 40, &t, NULL), QP_OK);
    assert_int_equal(qp_reach_make(40, &reach, NULL), QP_OK);
    qp_reach_to(&t.graph, 0, &reach);
    double distance[2] = {reach.u[1], reach.u[3]}, ideal = 1, grade[2] = {0, 0};
    qp_outcome o = {.grade = grade, .n = 2, .ideal = &ideal, .relevant = 1, .distance = distance};

    assert_true(fabs(reach.u[1] - log(32)) < 1e-12);
    assert_true(fabs(reach.u[3] - (log(2) + log(3))) < 1e-12);
    assert_true(fabs(qp_measure_tr.of(&o, 2) - 1 / (1 + log(6))) < 1e-12);
    assert_true(isinf(reach.u[39]));
    qp_reach_free(&reach);
    qp_topology_free(&t);
}

static void metric_names_are_checked(void **state)
{
    fixture *f = *state;
    const qp_metric *metrics;
    uint32_t n;
    qp_err err = {0};
    const char *bad[] = {"ndgc@10",      "ndcg@0",     "ndcg@",
                         "ndcg@ten",     "em@1",       "",
                         "ndcg@10,,map", "recall@101", "ndcg@99999999999999999999999999"};

    assert_int_equal(qp_metrics_parse("ndcg@10, map,recall_cap@100", 100, &metrics, &n, f->mem, &err), QP_OK);
    assert_int_equal(n, 3);
    assert_string_equal(metrics[2].name, "recall_cap@100");
    assert_int_equal(metrics[1].k, UINT32_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (qp_err){0};
        assert_int_equal(qp_metrics_parse(bad[i], 100, &metrics, &n, f->mem, &err), QP_INPUT);
        assert_true(err.message[0]);
    }
    err = (qp_err){0};
    qp_metrics_parse("recal@10", 100, &metrics, &n, f->mem, &err);
    assert_non_null(strstr(err.message, "'recall'"));
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(qp_file_write(path, qp_str_of(text), NULL), QP_OK);
}

static void bad_lines_are_named(void **state)
{
    fixture *f = *state;
    char folder[] = "/tmp/quipu-eval-XXXXXX", queries[64], qrels[64];
    static const struct {
        const char *queries, *qrels, *want;
    } cases[] = {
        {"{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\n", "", "queries.jsonl:2"},
        {"{\"text\":\"x\"}\n", "", "queries.jsonl:1"},
        {"{\"_id\":\"a\"}\n", "", "has no \"text\""},
        {"{\"_id\":\"a\",\"text\":\"x\"}\n\n{\"_id\":\"a\",\"text\":\"x\"}\n", "", "queries.jsonl:3"},
        {"{\"_id\":\"a\",\"text\":\"x\"}\n", "query-id\tcorpus-id\tscore\na\td\t1\na\te\tone\n", "qrels.tsv:3"},
        {"{\"_id\":\"a\",\"text\":\"x\"}\n", "a\td\t1\na\td\t2\n", "twice"},
        {"[]\n", "", "queries.jsonl:1"},
    };

    assert_non_null(mkdtemp(folder));
    snprintf(queries, sizeof queries, "%s/queries.jsonl", folder);
    snprintf(qrels, sizeof qrels, "%s/qrels.tsv", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_judgements j;
        qp_err err = {0};

        write_text(queries, cases[i].queries);
        write_text(qrels, cases[i].qrels);
        assert_int_equal(qp_judgements_read(folder, NULL, false, f->documents, f->mem, &j, &err), QP_INPUT);
        assert_non_null(strstr(err.message, cases[i].want));
    }
    unlink(queries);
    unlink(qrels);
    rmdir(folder);
}

static void runs_survive_writing_and_reading(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/quipu-run-XXXXXX";
    uint32_t odd = qp_document_number(f->documents, QP_STR("two words 100%\t"));
    qp_ranked tied[3] = {{odd, .5f}, {f->run[0].at[0].document, .5f}, {f->run[0].at[1].document, .5f}};
    qp_ranking *back = qp_new(f->mem, qp_ranking, f->judgements.n), kept = f->run[0];
    uint64_t strangers;
    qp_buf text = {0};
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    f->run[0] = (qp_ranking){tied, 3};
    assert_int_equal(qp_rankings_write(path, "a tag", &f->judgements, f->documents, f->run, NULL), QP_OK);
    assert_int_equal(qp_file_read(path, 0, &text, NULL), QP_OK);
    assert_non_null(strstr(text.at, " Q0 two%20words%20100%25%20 1 "));
    assert_non_null(strstr(text.at, " a%20tag\n"));
    assert_int_equal(qp_rankings_read(path, &f->judgements, f->documents, 1000, back, &strangers, f->mem, NULL), QP_OK);
    for (uint32_t q = 0; q < f->judgements.n; q++) {
        assert_int_equal(back[q].n, f->run[q].n);
        for (uint32_t i = 0; i < back[q].n; i++)
            assert_int_equal(back[q].at[i].document, f->run[q].at[i].document);
    }
    f->run[0] = kept;
    qp_buf_free(&text);
    unlink(path);
}

static void broken_runs_are_refused(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/quipu-run-XXXXXX";
    const char *bad[] = {"q Q0 d 1\n", "q Q0 d 1 abc tag\n", "q Q0 d 1 1.0 tag more\n", "q Q0 d 1 nan tag\n"};
    qp_ranking *of = qp_new(f->mem, qp_ranking, f->judgements.n);
    uint64_t strangers;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_err err = {0};

        write_text(path, bad[i]);
        assert_int_equal(qp_rankings_read(path, &f->judgements, f->documents, 10, of, &strangers, f->mem, &err),
                         QP_INPUT);
        assert_non_null(strstr(err.message, ":1:"));
    }
    write_text(path, "nobody Q0 d 1 1.0 tag\n\n");
    assert_int_equal(qp_rankings_read(path, &f->judgements, f->documents, 10, of, &strangers, f->mem, NULL), QP_OK);
    assert_int_equal(strangers, 1);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_trec_eval_and_networkx),  cmocka_unit_test(equal_to_squad_and_rouge),
        cmocka_unit_test(named_answers_are_counted),        cmocka_unit_test(a_name_may_hold_commas),
        cmocka_unit_test(distances_equal_a_slow_twin),      cmocka_unit_test(a_far_quiet_path_beats_a_near_hub),
        cmocka_unit_test(metric_names_are_checked),         cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(runs_survive_writing_and_reading), cmocka_unit_test(broken_runs_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
