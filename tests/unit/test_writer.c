/* The methods that ask a writer, and learned sparse search, with models whose answers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "fake_view.h"
#include "method/methods.h"
#include "op/prompt.h"

enum { CALLS = 8 };

typedef struct writer {
    const char *answer[CALLS]; /* to the first call, the second, ... */
    char prompt[CALLS][2000];
    uint64_t seed[CALLS];
    int calls;
    qp_model model;
} writer;

static qp_code generate(void *self, const qp_message *m, uint32_t n, const qp_sampling *s, qp_str *out, qp_arena *mem,
                        qp_err *err)
{
    writer *w = self;
    (void)err, (void)n;
    snprintf(w->prompt[w->calls], sizeof w->prompt[0], "%.*s", (int)m->text.n, m->text.at);
    w->seed[w->calls] = s->seed;
    *out = qp_arena_str(mem, qp_str_of(w->answer[w->calls++]));
    return QP_OK;
}

/* A text is the unit vector along its first letter: a, b, c, ... */
static qp_code embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self, (void)role, (void)err;
    for (uint32_t i = 0; i < n; i++)
        for (int d = 0; d < FAKE_DIM; d++)
            out[i * FAKE_DIM + (uint32_t)d] = text[i].at[0] == 'a' + d;
    return QP_OK;
}

typedef struct bench {
    fake_graph g;
    fake_model embedder, ranker;
    writer writer;
    qp_query q;
} bench;

/* Eight nodes; node i lies along letter i, so a text finds the node of its first letter first. */
static void begin(bench *b, const char *question)
{
    memset(b, 0, sizeof *b);
    b->g.n = 8;
    for (int i = 0; i < 8; i++)
        b->g.vector[i][i] = 1;
    fake_ready(&b->g);
    fake_models(&b->embedder, &b->ranker);
    b->embedder.model.embed = embed;
    b->writer.model = (qp_model){.self = &b->writer, .name = "fake", .generate = generate};
    b->q = fake_query(&b->g, &b->embedder, &b->ranker);
    b->q.text = qp_str_of(question);
    b->q.writer = &b->writer.model;
}

static qp_set ask(bench *b, const qp_op *method, const qp_setting *set, size_t n)
{
    void *opt = qp_options_new(method, set, n, b->q.mem, &b->q.err);
    assert_string_equal(b->q.err.message, "");
    return qp_run(&b->q, method, NULL, 0, opt);
}

/* Question along a, passages along c, c, b: the mean is (1, 1, 2) / sqrt 6. */
static void hyde_searches_with_the_mean(void **state)
{
    (void)state;
    bench b;
    begin(&b, "a?");
    b.writer.answer[0] = " c one ";
    b.writer.answer[1] = "c two";
    b.writer.answer[2] = "b";
    qp_set s = ask(&b, &qp_method_hyde, (qp_setting[]){{"n", "3"}, {"top", "3"}, {"seed", "7"}}, 3);
    assert_int_equal(s.nodes.n, 3);
    const qp_id ids[] = {2, 0, 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s.nodes.at[i].id, ids[i]);
        assert_float_equal(s.nodes.at[i].score, (i == 0 ? 2 : 1) / sqrt(6), 1e-6);
    }
    assert_int_equal(b.writer.calls, 3);
    assert_int_equal(b.writer.seed[2], 9);
    assert_string_equal(b.writer.prompt[0], "Please write a passage to answer the question.\n\nQuestion: a?\nPassage:");
    assert_float_equal(b.q.vector[0], 1, 0); /* the question's own again */
    qp_query_end(&b.q);
}

static void ircot_thinks_between_searches(void **state)
{
    (void)state;
    bench b;
    begin(&b, "a?");
    b.writer.answer[0] = "c is next. And more.";
    b.writer.answer[1] = "b then\nno";
    qp_set s = ask(&b, &qp_method_ircot, (qp_setting[]){{"steps", "3"}, {"k", "1"}}, 2);
    assert_int_equal(s.nodes.n, 3);
    const qp_id ids[] = {0, 2, 1};
    for (int i = 0; i < 3; i++)
        assert_int_equal(s.nodes.at[i].id, ids[i]);
    assert_int_equal(b.writer.calls, 2);
    assert_non_null(strstr(b.writer.prompt[0], "0\n\n\n\nQuestion: a?"));
    assert_non_null(strstr(b.writer.prompt[1], "0\n\n2\n\n\n\nQuestion: a?"));
    assert_non_null(strstr(b.writer.prompt[1], "only.\nc is next."));
    assert_string_equal(b.q.text.at, "a?");
    qp_query_end(&b.q);
}

static void ircot_stops_at_an_answer(void **state)
{
    (void)state;
    bench b;
    begin(&b, "a?");
    b.writer.answer[0] = "So the answer is: b.";
    qp_set s = ask(&b, &qp_method_ircot, (qp_setting[]){{"steps", "5"}, {"k", "2"}}, 2);
    assert_int_equal(s.nodes.n, 2);
    assert_int_equal(b.writer.calls, 1);
    qp_query_end(&b.q);
}

static void without_a_writer(void **state)
{
    (void)state;
    const qp_op *methods[] = {&qp_method_hyde, &qp_method_ircot, &qp_method_splade};
    for (int i = 0; i < 3; i++) {
        bench b;
        begin(&b, "a?");
        b.q.writer = NULL;
        assert_int_equal(ask(&b, methods[i], NULL, 0).nodes.n, 0);
        assert_int_equal(b.q.err.code, i == 2 ? QP_INPUT : QP_MODEL); /* splade: the index has no learned terms */
        qp_query_end(&b.q);
    }
}

/* A field's value is not searched for fields; other braces stay. */
static void prompts_are_filled_once(void **state)
{
    (void)state;
    char path[] = "/tmp/quipu-prompt-XXXXXX";
    int file = mkstemp(path);
    const char text[] = "{a}{b} {c} {\"x\": {a}";
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    bench b;
    begin(&b, "a?");
    qp_field fields[] = {{"a", QP_STR("{b}")}, {"b", QP_STR("B")}};
    qp_str got = qp_prompt(&b.q, path, "none.txt", fields, 2);
    assert_string_equal(got.at, "{b}B {c} {\"x\": {b}");
    unlink(path);
    assert_int_equal(qp_prompt(&b.q, NULL, "none.txt", fields, 2).n, 0);
    assert_int_equal(b.q.err.code, QP_INPUT);
    qp_query_end(&b.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hyde_searches_with_the_mean), cmocka_unit_test(ircot_thinks_between_searches),
        cmocka_unit_test(ircot_stops_at_an_answer),    cmocka_unit_test(without_a_writer),
        cmocka_unit_test(prompts_are_filled_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
