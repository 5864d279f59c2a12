/* Models over HTTP against tests/servers/provider.py, which misbehaves on purpose: each fault ends in the right answer
 * after some tries, or in one line and QP_MODEL before the deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/model.h"
#include "servers/start.h"

#define DEADLINE 1.2 /* seconds, of all tries together */
#define SLACK .4     /* of a busy machine */

static server provider;

static void patience(double timeout, double deadline)
{
    char text[32];
    snprintf(text, sizeof text, "%g", timeout);
    setenv("QUIPU_HTTP_TIMEOUT", text, 1);
    snprintf(text, sizeof text, "%g", deadline);
    setenv("QUIPU_HTTP_DEADLINE", text, 1);
}

static int start(void **state)
{
    (void)state;
    static const char *const keys[] = {"OPENAI_API_KEY", "JINA_API_KEY",   "COHERE_API_KEY",
                                       "QUIPU_API_KEY",  "OLLAMA_API_KEY", "http_proxy",
                                       "HTTP_PROXY",     "all_proxy",      "ALL_PROXY"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        unsetenv(keys[i]);
    provider = server_start("tests/servers/provider.py", NULL);
    return provider.port ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    server_stop(&provider);
    return 0;
}

static int patient(void **state)
{
    (void)state;
    patience(.3, DEADLINE);
    return 0;
}

static qp_code open_at(const char *kind, const char *fault, const char *path, qp_purpose purpose, qp_model **m,
                       qp_err *err)
{
    char spec[200];
    snprintf(spec, sizeof spec, "%s:some-model@http://127.0.0.1:%d/%s%s", kind, provider.port, fault, path);
    return qp_model_open_http(spec, purpose, m, err);
}

static const qp_str texts[] = {{"alpha", 5}, {"beta gamma", 10}, {"", 0}, {"\xf0( not UTF-8", 12}};

static void check_vectors(const float *v, const double *lengths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double norm = sqrt(lengths[i] * lengths[i] + 1 + 4 + 9);
        assert_float_equal(v[4 * i], lengths[i] / norm, 1e-6);
        assert_float_equal(v[4 * i + 3], 3 / norm, 1e-6);
    }
}

static void embeds(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {{"openai", "/v1"}, {"jina", "/v1/"}, {"ollama", ""}};
    for (size_t k = 0; k < 3; k++) {
        qp_model *m;
        qp_err err = {0};
        float v[16];
        assert_int_equal(open_at(kinds[k][0], "good", kinds[k][1], QP_EMBEDDER, &m, &err), QP_OK);
        assert_int_equal(m->dim, 4);
        assert_non_null(m->count);
        assert_null(m->generate);
        assert_int_equal(m->embed(m->self, QP_QUERY, texts, 4, v, &err), QP_OK);
        check_vectors(v, (double[]){5, 10, 1, 12}, 4); /* an empty text is sent as a space, a bad byte as U+FFFD */
        m->close(m->self);
    }
}

/* What the server counted, as JSON. */
static void read_counts(char *out, size_t n)
{
    char command[100];
    snprintf(command, sizeof command, "curl -s http://127.0.0.1:%d/", provider.port);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t got = fread(out, 1, n - 1, f);
    assert_true(got > 0);
    out[got] = 0;
    pclose(f);
}

/* Many batches, several at a time, never more than allowed; every vector at its text. */
static void batches(void **state)
{
    (void)state;
    enum { N = 500 };
    static char bytes[N + 1];
    qp_str *text = calloc(N, sizeof *text);
    float *v = calloc(4 * N, sizeof *v);
    double *length = calloc(N, sizeof *length);
    qp_model *m;
    qp_err err = {0};
    memset(bytes, 'x', N);
    for (int i = 0; i < N; i++) {
        text[i] = (qp_str){bytes, (size_t)(i * 7 % N + 1)};
        length[i] = (double)text[i].n;
    }
    setenv("QUIPU_HTTP_CONCURRENCY", "2", 1);
    patience(5, 20);
    assert_int_equal(open_at("openai", "slow", "/v1", QP_EMBEDDER, &m, &err), QP_OK);
    unsetenv("QUIPU_HTTP_CONCURRENCY");
    assert_int_equal(m->embed(m->self, QP_PASSAGE, text, N, v, &err), QP_OK);
    check_vectors(v, length, N);
    m->close(m->self);
    char answer[4096];
    read_counts(answer, sizeof answer);
    assert_non_null(strstr(answer, "\"most\": 2"));
    assert_non_null(strstr(answer, "\"slow\": 9")); /* the probe, and 500 texts by 64 */
    free(text);
    free(v);
    free(length);
}

static void ranks(void **state)
{
    (void)state;
    static const char *const kinds[] = {"jina", "cohere"};
    for (size_t k = 0; k < 2; k++) {
        qp_model *m;
        qp_err err = {0};
        qp_str docs[] = {QP_STR("nothing"), QP_STR("red fish blue fish"), QP_STR("one fish")};
        float score[3];
        assert_int_equal(open_at(kinds[k], "good", "/v1", QP_RANKER, &m, &err), QP_OK);
        assert_int_equal(m->rank(m->self, QP_STR("fish red"), docs, 3, score, &err), QP_OK);
        assert_float_equal(score[0], 0, 0);
        assert_float_equal(score[1], 3, 0);
        assert_float_equal(score[2], 1, 0);
        assert_int_equal(m->rank(m->self, QP_STR("fish"), docs, 0, score, &err), QP_OK);
        m->close(m->self);
    }
}

/* ---- faults of an embedder ---- */

typedef struct result {
    qp_code code;
    qp_err err;
    double seconds;
    float v[16];
} result;

static result embed_with(const char *fault)
{
    result r = {0};
    qp_model *m;
    double began = qp_now_ms();
    r.code = open_at("openai", fault, "/v1", QP_EMBEDDER, &m, &r.err);
    if (!r.code) {
        began = qp_now_ms();
        r.code = m->embed(m->self, QP_PASSAGE, texts, 2, r.v, &r.err);
        m->close(m->self);
    }
    r.seconds = (qp_now_ms() - began) / 1000;
    return r;
}

static void check_line(const result *r, const char *fault)
{
    if (r->code != QP_MODEL || !*r->err.message || strchr(r->err.message, '\n') || r->seconds > DEADLINE * 1.1 + SLACK)
        fail_msg("%s: code %d after %.2f s: %s", fault, r->code, r->seconds, r->err.message);
}

static void passing_faults_are_tried_again(void **state)
{
    (void)state;
    static const char *const faults[] = {"reset-twice", "storm-twice", "truncated-once", "short-once"};
    patience(1, 10);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        result r = embed_with(faults[i]);
        if (r.code)
            fail_msg("%s: %s", faults[i], r.err.message);
        check_vectors(r.v, (double[]){5, 10}, 2);
    }
}

static void lasting_faults_end_in_a_line(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        {"hang", "no answer"},      {"drip", "no answer"},
        {"reset", "no answer"},     {"storm", "HTTP 50"},
        {"truncated", "not JSON"},  {"short", "no answer"},
        {"huge", "more than"},      {"probe-huge", "more than"},
        {"nested", "number of"},    {"e404", "HTTP 404"},
        {"e400", "HTTP 400"},       {"nan", "no finite number"},
        {"text", "no finite"},      {"null", "no finite"},
        {"overflow", "no finite"},  {"zero", "without length"},
        {"dimension", "dimension"}, {"count", "number of vectors"},
        {"twice", "index"},         {"range", "index"},
        {"other", "no list"},       {"e429-long", "longer than the deadline"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        result r = embed_with(faults[i][0]);
        check_line(&r, faults[i][0]);
        if (!strstr(r.err.message, faults[i][1]))
            fail_msg("%s: '%s' is not in: %s", faults[i][0], faults[i][1], r.err.message);
    }
}

/* What cannot become better is not asked again. */
static void refusals_come_at_once(void **state)
{
    (void)state;
    static const char *const faults[] = {"e404", "nan", "dimension", "count", "e429-long"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        result r = embed_with(faults[i]);
        check_line(&r, faults[i]);
        assert_true(r.seconds < .8);
    }
}

static void retry_after_is_kept(void **state)
{
    (void)state;
    patience(1, 10);
    result r = embed_with("e429");
    assert_int_equal(r.code, QP_OK);
    assert_true(r.seconds >= 2); /* twice one second */
    check_vectors(r.v, (double[]){5, 10}, 2);
}

static void one_told_to_wait_is_all(void **state)
{
    (void)state;
    enum { N = 500 };
    static float v[4 * N];
    qp_str text[N];
    double length[N];
    qp_model *m;
    qp_err err = {0};
    char answer[4096];
    for (int i = 0; i < N; i++) {
        text[i] = texts[i % 2];
        length[i] = (double)text[i].n;
    }
    patience(1, 20);
    assert_int_equal(open_at("openai", "limited", "/v1", QP_EMBEDDER, &m, &err), QP_OK);
    assert_int_equal(m->embed(m->self, QP_PASSAGE, text, N, v, &err), QP_OK);
    check_vectors(v, length, N);
    m->close(m->self);
    read_counts(answer, sizeof answer);
    assert_non_null(strstr(answer, "\"early\": 0"));
}

static void keys_stay_secret(void **state)
{
    (void)state;
    setenv("OPENAI_API_KEY", "sk-very-secret", 1);
    static const char *const faults[] = {"e401", "e403", "e400"}; /* whose messages quote the key */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        result r = embed_with(faults[i]);
        check_line(&r, faults[i]);
        assert_null(strstr(r.err.message, "very-secret"));
    }
    qp_model *m;
    qp_err err = {0};
    assert_int_equal(qp_model_open_http("openai:m@http://example.org/v1", QP_EMBEDDER, &m, &err), QP_MODEL);
    assert_non_null(strstr(err.message, "unencrypted"));
    assert_null(strstr(err.message, "very-secret"));
    err = (qp_err){0};
    assert_int_equal(qp_model_open_http("openai:m@https://me:pass@example.org/v1", QP_EMBEDDER, &m, &err), QP_INPUT);
    assert_null(strstr(err.message, "me:pass"));
    unsetenv("OPENAI_API_KEY");
}

static void bad_specs(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        qp_purpose purpose;
        qp_code code;
    } bad[] = {
        {"acme:m@http://127.0.0.1", QP_WRITER, QP_INPUT},
        {"openai:", QP_WRITER, QP_INPUT},
        {"openai:@http://127.0.0.1", QP_WRITER, QP_INPUT},
        {"openai:m@http://", QP_WRITER, QP_INPUT},
        {"openai:m@http://h/v1?key=1", QP_WRITER, QP_INPUT},
        {"openai:m", QP_RANKER, QP_MODEL},
        {"cohere:m", QP_EMBEDDER, QP_MODEL},
        {"jina:m", QP_WRITER, QP_MODEL},
        {"ollama:m", QP_ATTENTION, QP_MODEL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_model *m;
        qp_err err = {0};
        assert_int_equal(qp_model_open(bad[i].purpose, bad[i].spec, 1, &m, &err), bad[i].code);
        assert_true(*err.message);
    }
}

/* Any ':' that is no part of a file's name means a provider, also without a URL. */
static void specs_are_told_from_files(void **state)
{
    (void)state;
    qp_model *m;
    qp_err err = {0};
    if (qp_model_open(QP_WRITER, "openai:gpt-something", 1, &m, &err))
        fail_msg("%s", err.message);
    qp_model_close(m);
    assert_int_equal(qp_model_open(QP_WRITER, "no:such/file.gguf", 1, &m, &err), QP_MODEL);
    assert_non_null(strstr(err.message, "no:such/file.gguf"));
}

/* ---- chat ---- */

static const char *const chats[][2] = {{"openai", "/v1"}, {"ollama", ""}};

typedef struct talk {
    char text[4096];
    int pieces, stop_after;
} talk;

static bool hear(void *user, const char *text, size_t n)
{
    talk *t = user;
    strncat(t->text, text, n);
    return ++t->pieces != t->stop_after;
}

static qp_code say(size_t kind, const char *fault, qp_sampling *s, char *out, size_t room, qp_err *err)
{
    qp_model *m;
    qp_arena *mem = qp_arena_new();
    qp_message messages[] = {{"system", QP_STR("be brief")}, {"user", QP_STR("one two three four five")}};
    qp_str answer = {"", 0};
    qp_code code = open_at(chats[kind][0], fault, chats[kind][1], QP_WRITER, &m, err);
    if (!code) {
        code = m->generate(m->self, messages, 2, s, &answer, mem, err);
        snprintf(out, room, "%.*s", (int)answer.n, answer.at);
        m->close(m->self);
    }
    qp_arena_free(mem);
    return code;
}

static void chats_stream(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char out[4096] = "";
        qp_err err = {0};
        talk t = {.stop_after = 0};
        qp_sampling s = {.max_tokens = 50, .token = hear, .user = &t};
        assert_int_equal(say(k, "good", &s, out, sizeof out, &err), QP_OK);
        assert_string_equal(out, "one two three four five");
        assert_string_equal(t.text, out);
        assert_int_equal(t.pieces, 5);
        t = (talk){.stop_after = 2}; /* the caller has had enough */
        assert_int_equal(say(k, "slow", &s, out, sizeof out, &err), QP_OK);
        assert_string_equal(out, "one two");
    }
}

static void chats_send_what_is_asked(void **state)
{
    (void)state;
    const char *stop[] = {"\n\n", "END"};
    qp_sampling s = {.max_tokens = 7,
                     .temperature = .5f,
                     .top_p = .9f,
                     .seed = 42,
                     .stop = stop,
                     .n_stop = 2,
                     .json_schema = "{\"type\":\"object\"}",
                     .grammar = "root ::= \"x\""};
    for (size_t k = 0; k < 2; k++) {
        char out[4096] = "";
        qp_err err = {0};
        assert_int_equal(say(k, "echo", &s, out, sizeof out, &err), QP_OK);
        static const char *const wanted[2][8] = {
            {"\"max_tokens\": 7", "\"temperature\": 0.5", "\"seed\": 42", "\"stop\": [\"\\n\\n\", \"END\"]",
             "\"response_format\": {\"type\": \"json_schema\"", "\"schema\": {\"type\": \"object\"}",
             "\"grammar\": ", "\"role\": \"system\""},
            {"\"num_predict\": 7", "\"temperature\": 0.5", "\"seed\": 42", "\"stop\": [\"\\n\\n\", \"END\"]",
             "\"format\": {\"type\": \"object\"}", "\"model\": \"some-model\"", "\"stream\": true",
             "\"role\": \"system\""}};
        for (size_t i = 0; i < 8; i++)
            if (!strstr(out, wanted[k][i]))
                fail_msg("%s is not in %s", wanted[k][i], out);
    }
    qp_err err = {0};
    char out[10];
    s.json_schema = "{";
    assert_int_equal(say(0, "echo", &s, out, sizeof out, &err), QP_INPUT);
}

static void broken_chats(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *says;
    } bad[] = {{"cut", "broke off after"},
               {"endless", "beyond the 5 tokens"},
               {"stream-error", "out of memory"},
               {"comments", "no answer"},
               {"hang", "no answer"},
               {"storm", "HTTP 50"},
               {"huge", "more than the"},
               {"prose", "'Sure! The answer is below.' was found"},
               {"nested", "was wanted, '{\"data\":[[["}};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            char out[100] = "";
            qp_sampling s = {.max_tokens = 5};
            result r = {0};
            double began = qp_now_ms();
            if (k == 1 && (!strcmp(bad[i].fault, "comments") || !strcmp(bad[i].fault, "prose") ||
                           !strcmp(bad[i].fault, "nested")))
                continue; /* such lines are no JSON lines at all; see stream-junk */
            r.code = say(k, bad[i].fault, &s, out, sizeof out, &r.err);
            r.seconds = (qp_now_ms() - began) / 1000;
            check_line(&r, bad[i].fault);
            if (!strstr(r.err.message, bad[i].says))
                fail_msg("%s: '%s' is not in: %s", bad[i].fault, bad[i].says, r.err.message);
        }
}

/* A stream that broke is begun again, unless the caller was shown a part of it. */
static void broken_streams(void **state)
{
    (void)state;
    char out[100] = "";
    qp_err err = {0};
    talk t = {.stop_after = 0};
    qp_sampling quiet = {.max_tokens = 50}, loud = {.max_tokens = 50, .token = hear, .user = &t};
    patience(1, 10);
    assert_int_equal(say(0, "cut-once", &quiet, out, sizeof out, &err), QP_OK);
    assert_string_equal(out, "one two three four five");
    double began = qp_now_ms();
    assert_int_equal(say(0, "cut", &loud, out, sizeof out, &err), QP_MODEL);
    assert_true(qp_now_ms() - began < 1000);
    assert_string_equal(t.text, "one two");
    err = (qp_err){0};
    assert_int_equal(say(0, "stream-junk", &loud, out, sizeof out, &err), QP_MODEL);
    assert_non_null(strstr(err.message, "not JSON"));
}

/* Tried four times and no more, however long the deadline: each answer may be paid for. */
static void broken_answers_are_counted(void **state)
{
    (void)state;
    char out[100] = "", counts[4096];
    qp_err err = {0};
    qp_sampling s = {.max_tokens = 50};
    patience(5, 60);
    read_counts(counts, sizeof counts);
    const char *before = strstr(counts, "\"stream-junk\": ");
    int asked = before ? atoi(before + 15) : 0;
    assert_int_equal(say(0, "stream-junk", &s, out, sizeof out, &err), QP_MODEL);
    assert_non_null(strstr(err.message, "gave up after 4 tries"));
    read_counts(counts, sizeof counts);
    assert_int_equal(atoi(strstr(counts, "\"stream-junk\": ") + 15), asked + 4);
}

/* Some servers do not stream. */
static void whole_answers_are_read(void **state)
{
    (void)state;
    char out[100] = "";
    qp_err err = {0};
    qp_sampling s = {.max_tokens = 50};
    assert_int_equal(say(0, "whole", &s, out, sizeof out, &err), QP_OK);
    assert_string_equal(out, "one two");
}

static volatile int cancel;

static void *cancel_soon(void *unused)
{
    usleep(200000);
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    return unused;
}

static void chats_are_cancelled(void **state)
{
    (void)state;
    static const char *const faults[] = {"hang", "slow", "storm"};
    patience(20, 30);
    for (size_t i = 0; i < 3; i++) {
        pthread_t other;
        char out[100] = "";
        qp_err err = {0};
        qp_sampling s = {.max_tokens = 50, .cancel = &cancel};
        cancel = 0;
        assert_int_equal(pthread_create(&other, NULL, cancel_soon, NULL), 0);
        double began = qp_now_ms();
        assert_int_equal(say(0, faults[i], &s, out, sizeof out, &err), QP_STOPPED);
        assert_true(qp_now_ms() - began < 1600); /* libcurl looks once a second where nothing comes */
        pthread_join(other, NULL);
    }
}

static void nobody_there(void **state)
{
    (void)state;
    qp_model *m;
    qp_err err = {0};
    double began = qp_now_ms();
    assert_int_equal(qp_model_open_http("openai:m@http://127.0.0.1:1/v1", QP_EMBEDDER, &m, &err), QP_MODEL);
    assert_true(qp_now_ms() - began < 1000 * (DEADLINE * 1.1 + SLACK));
    assert_non_null(strstr(err.message, "127.0.0.1:1"));
}

static void counts_bound_tokens(void **state)
{
    (void)state;
    qp_model *m;
    qp_err err = {0};
    qp_str some[] = {QP_STR(""), QP_STR("a cat"), QP_STR("internationalization"), QP_STR("\xe4\xbd\xa0\xe5\xa5\xbd!")};
    uint32_t n[4];
    assert_int_equal(open_at("openai", "good", "/v1", QP_EMBEDDER, &m, &err), QP_OK);
    assert_int_equal(m->count(m->self, some, 4, n, &err), QP_OK);
    assert_int_equal(n[0], 0);
    assert_int_equal(n[1], 2);
    assert_int_equal(n[2], 5);
    assert_int_equal(n[3], 3);
    m->close(m->self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(embeds, patient),
        cmocka_unit_test_setup(batches, patient),
        cmocka_unit_test_setup(ranks, patient),
        cmocka_unit_test_setup(passing_faults_are_tried_again, patient),
        cmocka_unit_test_setup(lasting_faults_end_in_a_line, patient),
        cmocka_unit_test_setup(refusals_come_at_once, patient),
        cmocka_unit_test_setup(retry_after_is_kept, patient),
        cmocka_unit_test_setup(one_told_to_wait_is_all, patient),
        cmocka_unit_test_setup(keys_stay_secret, patient),
        cmocka_unit_test_setup(bad_specs, patient),
        cmocka_unit_test_setup(specs_are_told_from_files, patient),
        cmocka_unit_test_setup(chats_stream, patient),
        cmocka_unit_test_setup(chats_send_what_is_asked, patient),
        cmocka_unit_test_setup(broken_chats, patient),
        cmocka_unit_test_setup(broken_streams, patient),
        cmocka_unit_test_setup(broken_answers_are_counted, patient),
        cmocka_unit_test_setup(whole_answers_are_read, patient),
        cmocka_unit_test_setup(chats_are_cancelled, patient),
        cmocka_unit_test_setup(nobody_there, patient),
        cmocka_unit_test_setup(counts_bound_tokens, patient),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
