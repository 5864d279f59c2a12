/* User pipelines: what is refused, with its line; parts of other files; repeat; options taken from what they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/file.h"
#include "fake_view.h"
#include "method/method.h"
#include "op/op.h"

static char folder[] = "/tmp/quipu-pipeline-XXXXXX";

static const char *put(const char *name, const char *text)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    qp_err err = {0};
    qp_file_write(path, qp_str_of(text), &err);
    assert_string_equal(err.message, "");
    return path;
}

static void refused(const char *text, const char *message)
{
    char want[600];
    const qp_op *op = NULL;
    qp_err err = {0};
    const char *path = put("my.yaml", text);
    snprintf(want, sizeof want, "%s:%s", path, message);
    assert_int_equal(qp_pipeline_load(path, qp_methods(), &op, &err), QP_INPUT);
    assert_string_equal(err.message, want);
    assert_null(op);
    assert_int_equal(qp_pipeline_load(path, qp_methods(), &op, NULL), QP_INPUT); /* nobody listens */
}

static void mistakes_are_told_with_their_line(void **state)
{
    (void)state;
    refused("", "1: empty: a pipeline has steps");
    refused("- 1", "1: a pipeline is a table with steps: (docs/methods.md shows one)");
    refused("help: x\nstps: []", "2: a pipeline has no 'stps' (steps?)");
    refused("help: x", "1: no steps: a pipeline has at least one");
    refused("steps: [", "2: not YAML: did not find expected node content");
    refused("steps: []", "1: steps are a list: one or more lines that begin with -");
    refused("steps:\n - 7", "2: a step is a table, {op: search, k: 10}");
    refused("steps:\n - {k: 7}", "2: a step has one of op: and repeat:");
    refused("steps:\n - {op: serch}", "2: no operator 'serch' (search?)");
    refused("steps:\n - {op: search}\n - {op: stex,\n    bta: 2}", "4: 'stex' has no option 'bta' (beta?)");
    refused("steps:\n - {op: search, k: ten}", "2: 'search': k wants a whole number, found 'ten'");
    refused("steps:\n - {op: search, k: [1, 2]}", "2: 'search': k wants a whole number, found '1,2'");
    refused("steps:\n - {op: search, k: 0}", "2: 'search': k goes from 1 to 1e+09, found '0'");
    refused("steps:\n - {op: top}", "2: 'top' reads 1 sets, 0 given");
    refused("steps:\n - {op: search}\n - {op: minus}", "3: 'minus' reads 2 sets, 1 given");
    refused("steps:\n - {op: search, as: found}\n - {op: top, in: fund}",
            "3: no set 'fund' yet (found?): a step above makes it with as: fund");
    refused("steps:\n - {op: search, as: 'a b'}", "2: a set's name is letters, digits and _, found 'a b'");
    refused("steps:\n - {op: search, as: a}\n - {op: top, when: a}",
            "3: a condition reads 'set < 10' or 'set == $name', found 'a'");
    refused("steps:\n - {op: search, as: a}\n - {op: top, when: a =< 1}",
            "3: '=<' in a condition is one of < <= > >= == !=");
    refused("steps:\n - {op: search, k: $n}",
            "2: '$n' is no option of this pipeline: declare it under options, with a default");
    refused("options:\n  n: 1\nsteps:\n - {op: search}", "2: option 'n' is used by no step: write $n where it belongs");
    refused("options:\n  n: 0\nsteps:\n - {op: search, k: $n}", "2: 'my': n goes from 1 to 1e+09, found '0'");
    refused("options: {n: 1}\nsteps:\n - {op: search, k: $n}\n - {op: granker,\n    alpha: $n}",
            "5: '$n' stands for 'alpha' here and for another kind of value elsewhere");
    refused("steps:\n - repeat: {do: [{op: search}]}", "2: repeat without end: give it while:, until: or times:");
    refused("steps:\n - repeat: {times: 2}", "2: repeat has nothing to do:");
    refused("steps:\n - repeat: {tims: 2}", "2: 'repeat' has no option 'tims' (times?)");
    refused("steps:\n - {op: my.yaml}", "2: pipelines nested more than 8 deep: does my.yaml name itself?");
}

/* Aliases that would unfold to 9^7 steps, and a list that holds itself. */
static void foreign_files_are_bounded(void **state)
{
    (void)state;
    char text[4000] = "steps:\n - repeat: &a0 {times: 1, do: [{op: search}]}\n";
    for (int i = 1; i < 8; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, " - repeat: &a%d {times: 1, do: [", i);
        for (int j = 0; j < 9; j++) {
            n = strlen(text);
            snprintf(text + n, sizeof text - n, "%s{repeat: *a%d}", j ? ", " : "", i - 1);
        }
        n = strlen(text);
        snprintf(text + n, sizeof text - n, "]}\n");
    }
    const qp_op *op = NULL;
    qp_err err = {0};
    assert_int_equal(qp_pipeline_load(put("bomb.yaml", text), NULL, &op, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "more than 1000 steps"));
    refused("steps: &a\n - repeat: {times: 1, do: *a}", "2: repeats nested more than 8 deep");
    char *large = calloc(1, 70000);
    memset(large, '#', 69999);
    assert_int_equal(qp_pipeline_load(put("large.yaml", large), NULL, &op, NULL), QP_INPUT);
    free(large);
}

typedef struct bench {
    fake_graph g;
    fake_model embedder, ranker;
    qp_query q;
} bench;

/* A path of ten nodes, 0-1-...-9; lexical search finds node 0. */
static void begin(bench *b)
{
    memset(b, 0, sizeof *b);
    b->g.n = 10;
    for (qp_id i = 0; i < 9; i++)
        fake_link(&b->g, i, i + 1, (int)(i % 2));
    b->g.lexical[0] = 1;
    fake_ready(&b->g);
    fake_models(&b->embedder, &b->ranker);
    b->q = fake_query(&b->g, &b->embedder, &b->ranker);
}

static uint32_t size(const char *text, const qp_setting *set, size_t n)
{
    bench b;
    const qp_op *op = NULL;
    begin(&b);
    qp_pipeline_load(put("my.yaml", text), qp_methods(), &op, &b.q.err);
    void *opt = op ? qp_options_new(op, set, n, b.q.mem, &b.q.err) : NULL;
    uint32_t found = opt ? qp_run(&b.q, op, NULL, 0, opt).nodes.n : 0;
    assert_string_equal(b.q.err.message, "");
    qp_pipeline_free(op);
    qp_query_end(&b.q);
    return found;
}

/* From node 0 along the path, until `end`. */
static uint32_t walk(const char *end)
{
    char text[400];
    snprintf(text, sizeof text,
             "steps:\n - {op: search, index: node.bm25, as: a}\n - repeat:\n     %s\n"
             "     do: [{op: hop, in: a, as: b}, {op: join, in: [a, b], as: a}]\n",
             end);
    return size(text, NULL, 0);
}

static void repeat_ends(void **state)
{
    (void)state;
    assert_int_equal(walk("while: a < 4"), 4);
    assert_int_equal(walk("until: a >= 4"), 4);
    assert_int_equal(walk("times: 2"), 3);
    assert_int_equal(walk("while: a < 100"), 10); /* no more to find: the round that changes nothing is the last */
    assert_int_equal(size("steps:\n - {op: search, index: node.bm25, as: a}\n - {op: hop, when: a > 1}\n", NULL, 0), 1);
}

static void options_reach_the_steps(void **state)
{
    (void)state;
    const char *text = "options: {n: 3, far: 2, direction: out}\nsteps:\n - {op: search, index: node.dense, k: $n}\n"
                       " - {op: hop, hops: $far, edges: [a, b]}\n";
    assert_int_equal(size(text, NULL, 0), 2); /* from 0, 1, 2 two hops out */
    assert_int_equal(size(text, (qp_setting[]){{"far", "3"}, {"n", "1"}}, 2), 3);
    assert_int_equal(size(text, (qp_setting[]){{"direction", "in"}}, 1), 0);
    const qp_op *op = NULL;
    qp_err err = {0};
    assert_int_equal(qp_pipeline_load(put("my.yaml", text), NULL, &op, &err), QP_OK);
    assert_string_equal(op->name, "my");
    qp_arena *mem = qp_arena_new();
    assert_null(qp_options_new(op, &(qp_setting){"far", "99"}, 1, mem, &err)); /* hop's own range */
    assert_string_equal(err.message, "'my': far goes from 1 to 16, found '99'");
    qp_arena_free(mem);
    qp_pipeline_free(op);
}

/* Edges 0-1, 2-3, ... are of type a, the others of type b. */
static void a_pipeline_is_a_step_of_another(void **state)
{
    (void)state;
    put("part.yaml", "inputs: [from]\noptions: {far: 1}\nsteps:\n - {op: hop, in: from, hops: $far, as: new}\n"
                     " - {op: join, in: [from, new]}\n");
    assert_int_equal(
        size("options: {far: 2}\nsteps:\n - {op: search, index: node.bm25}\n - {op: part.yaml, far: $far}\n", NULL, 0),
        3);
    assert_int_equal(size("steps:\n - {op: search, index: node.bm25}\n - {op: part.yaml, far: 5, edges: a}\n", NULL, 0),
                     2);
    refused("steps:\n - {op: part.yaml}", "2: 'part' reads 1 sets, 0 given");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    const char *names[] = {"my.yaml", "bomb.yaml", "large.yaml", "part.yaml"};
    for (int i = 0; i < 4; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(foreign_files_are_bounded),
        cmocka_unit_test(repeat_ends),
        cmocka_unit_test(options_reach_the_steps),
        cmocka_unit_test(a_pipeline_is_a_step_of_another),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
