/* quipu model pull against tests/servers/hub.py and packages made here: resumed, verified, atomic, or one clear line. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "model/import.h"
#include "servers/start.h"

static server hub;
static qp_arena *mem;
static char *top, *models, *target;
static char digest[65];
static size_t size;

static void set_hub(const char *fault)
{
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", hub.port, fault);
    setenv("QUIPU_HUB", url, 1);
}

/* A GGUF file of some 400 KB, small enough to be quick, large enough to be cut. */
static void make_model(const char *path)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){.mem_size = 1 << 20});
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 100000);
    struct gguf_context *g = gguf_init_empty();
    for (int i = 0; i < 100000; i++)
        ((float *)t->data)[i] = (float)i;
    ggml_set_name(t, "weights");
    gguf_set_val_str(g, "general.architecture", "test");
    gguf_add_tensor(g, t);
    assert_true(gguf_write_to_file(g, path, false));
    gguf_free(g);
    ggml_free(ctx);
}

static void make_registry(const char *path)
{
    qp_buf json = {0};
    const char *wrong = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    qp_buf_text(&json, "{\"hub\": \"https://hub.invalid\", \"models\": [");
    const struct {
        const char *name, *kind, *more, *source, *sha;
    } m[] = {
        {"pinned", "writer", "", "\"hub\": \"o/m\", \"revision\": \"main\"", digest},
        {"unpinned", "writer", "", "\"hub\": \"o/m\", \"revision\": \"main\"", NULL},
        {"wrong", "writer", "", "\"hub\": \"o/m\", \"revision\": \"main\"", wrong},
        {"prefixed", "embedder", "\"query_prefix\": \"query: \", \"max_tokens\": 77,",
         "\"hub\": \"o/m\", \"revision\": \"main\"", digest},
        {"packed", "writer", "", "\"package\": \"quipu-test-model\", \"version\": \"1.0\", \"folder\": \"inside\"",
         digest},
        {"packed-wrong", "writer", "",
         "\"package\": \"quipu-test-model\", \"version\": \"1.0\", \"folder\": \"inside\"", wrong},
        {"packed-missing", "writer", "", "\"package\": \"quipu-test-model\", \"version\": \"2.0\"", digest},
        {"packed-other", "writer", "", "\"package\": \"quipu-test-model\", \"version\": \"1.0\", \"folder\": \"other\"",
         digest},
    };
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        qp_buf_fmt(&json,
                   "{\"name\": \"%s\", \"kind\": \"%s\", %s \"license\": \"none\", \"sources\": [{%s, \"files\": "
                   "[{\"path\": \"m.gguf\", \"sha256\": %s%s%s}]}]},",
                   m[i].name, m[i].kind, m[i].more, m[i].source, m[i].sha ? "\"" : "", m[i].sha ? m[i].sha : "null",
                   m[i].sha ? "\"" : "");
    qp_buf_fmt(&json,
               "{\"name\": \"second\", \"kind\": \"writer\", \"license\": \"none\", \"sources\": [{\"hub\": \"o/m\", "
               "\"revision\": \"main\", \"files\": [{\"path\": \"not-there.gguf\", \"sha256\": null}]}, {\"path\": "
               "\"%s/served/m.gguf\"}]}, {\"name\": \"shipped\", \"kind\": \"reranker\", \"license\": \"none\", "
               "\"sources\": [{\"ships\": \"nowhere.gguf\"}]}]}",
               top);
    qp_err err = {0};
    assert_int_equal(qp_file_write(path, qp_buf_view(&json), &err), QP_OK);
    qp_buf_free(&json);
}

static int start(void **state)
{
    (void)state;
    char template[] = "/tmp/quipu-pull-XXXXXX";
    qp_mapped map;
    mem = qp_arena_new();
    top = qp_arena_cstr(mem, mkdtemp(template));
    models = qp_path_join(mem, top, "models-here");
    qp_dir_make(qp_path_join(mem, top, "served"), NULL);
    qp_dir_make(qp_path_join(mem, top, "models"), NULL);
    char *served = qp_path_join(mem, top, "served/m.gguf");
    make_model(served);
    qp_sha256_file(served, digest, NULL);
    qp_file_map(served, &map, NULL);
    size = map.n;
    qp_file_unmap(&map);
    make_registry(qp_path_join(mem, top, "models/registry.json"));
    setenv("QUIPU_SHARE", top, 1);
    setenv("QUIPU_MODELS", models, 1);
    unsetenv("HF_TOKEN");
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    hub = server_start("tests/servers/hub.py", qp_path_join(mem, top, "served"));
    return hub.port ? 0 : -1;
}

static int run(const char *format, const char *a)
{
    char command[500];
    snprintf(command, sizeof command, format, a);
    return system(command);
}

static int stop(void **state)
{
    (void)state;
    server_stop(&hub);
    run("rm -rf %s", top);
    qp_arena_free(mem);
    return 0;
}

static char log_text[65536];

static const char *read_log(const char *path)
{
    char command[100];
    snprintf(command, sizeof command, "curl -s --noproxy '*' http://127.0.0.1:%d/%s", hub.port, path);
    FILE *f = popen(command, "r");
    log_text[fread(log_text, 1, sizeof log_text - 1, f)] = 0;
    pclose(f);
    return log_text;
}

static int fresh(void **state)
{
    (void)state;
    read_log("clear");
    return run("rm -rf %s", models);
}

static char said[2000];

static void hear(void *user, const char *line)
{
    (void)user;
    strncat(said, line, sizeof said - strlen(said) - 1);
}

static qp_code pull(const char *name, qp_err *err)
{
    qp_watch watch = {.warn = hear};
    *said = 0;
    *err = (qp_err){0};
    target = qp_path_join(mem, models, name);
    target = (char *)qp_arena_fmt(mem, "%s.gguf", target).at;
    return qp_model_pull(name, &watch, err);
}

static void is_whole(void)
{
    char hex[65];
    assert_int_equal(qp_sha256_file(target, hex, NULL), QP_OK);
    assert_string_equal(hex, digest);
}

static void is_absent(void)
{
    assert_false(qp_path_exists(target));
}

static void fetches(void **state)
{
    (void)state;
    qp_err err;
    set_hub("good");
    if (pull("pinned", &err))
        fail_msg("%s", err.message);
    is_whole();
    assert_string_equal(said, "");
    char *partial = qp_path_join(mem, models, ".partial/pinned");
    assert_false(qp_path_exists(partial)); /* nothing is left but the lock */
    set_hub("missing");
    assert_int_equal(pull("pinned", &err), QP_OK); /* it is here: nothing is asked */
}

static void unpinned_takes_the_hubs_digest(void **state)
{
    (void)state;
    qp_err err;
    set_hub("good");
    assert_int_equal(pull("unpinned", &err), QP_OK);
    is_whole();
    assert_non_null(strstr(said, digest));
    assert_non_null(strstr(said, "as the hub says"));
    fresh(NULL);
    set_hub("silent");
    assert_int_equal(pull("unpinned", &err), QP_OK);
    assert_non_null(strstr(said, "neither the registry nor the hub"));
    fresh(NULL);
    set_hub("liar");
    assert_int_equal(pull("unpinned", &err), QP_MODEL);
    assert_non_null(strstr(err.message, "the hub says"));
    is_absent();
}

static void cut_downloads_go_on(void **state)
{
    (void)state;
    qp_err err;
    set_hub("cut");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
    const char *log = read_log("");
    char range[60];
    snprintf(range, sizeof range, "bytes=%zu-", size / 3);
    assert_non_null(strstr(log, range));
}

/* Killed half way by SIGKILL: the next pull asks for the rest only. */
static void killed_downloads_go_on(void **state)
{
    (void)state;
    qp_err err;
    set_hub("slow");
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)qp_model_pull("pinned", NULL, NULL));
    usleep(900000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    target = (char *)qp_arena_fmt(mem, "%s/pinned.gguf", models).at;
    is_absent();
    char *part = (char *)qp_arena_fmt(mem, "%s/.partial/pinned/0-hub-main/m.gguf.part", models).at;
    qp_mapped map;
    assert_int_equal(qp_file_map(part, &map, NULL), QP_OK);
    size_t had = map.n;
    qp_file_unmap(&map);
    assert_true(had > 0 && had < size);
    set_hub("good");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
    char range[60];
    snprintf(range, sizeof range, "[\"m.gguf\", \"bytes=%zu-\", %zu]", had, size - had);
    assert_non_null(strstr(read_log(""), range));
}

/* Killed after the last byte, before the file had its name: the server has nothing more to send (416). */
static void complete_parts_are_taken(void **state)
{
    (void)state;
    qp_err err;
    qp_buf bytes = {0};
    char *folder = (char *)qp_arena_fmt(mem, "%s/.partial/pinned/0-hub-main", models).at;
    qp_dir_make(folder, NULL);
    assert_int_equal(qp_file_read(qp_path_join(mem, top, "served/m.gguf"), 0, &bytes, NULL), QP_OK);
    assert_int_equal(qp_file_write(qp_path_join(mem, folder, "m.gguf.part"), qp_buf_view(&bytes), NULL), QP_OK);
    set_hub("good");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
    qp_buf_free(&bytes);
}

static void stale_parts_are_dropped(void **state)
{
    (void)state;
    qp_err err;
    char *folder = (char *)qp_arena_fmt(mem, "%s/.partial/pinned/0-hub-main", models).at;
    qp_dir_make(folder, NULL);
    assert_int_equal(qp_file_write(qp_path_join(mem, folder, "m.gguf.part"), QP_STR("half of another file"), NULL),
                     QP_OK);
    set_hub("good");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
    fresh(NULL);
    qp_dir_make(folder, NULL);
    assert_int_equal(qp_file_write(qp_path_join(mem, folder, "m.gguf.part"), QP_STR("half"), NULL), QP_OK);
    set_hub("norange"); /* sends from the beginning only */
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *hub, *model, *says;
    } bad[] = {
        {"good", "wrong", "the registry says 0123"},
        {"flip", "pinned", "not taken"},
        {"missing", "pinned", "404"},
        {"gated", "pinned", "HF_TOKEN"},
        {"loop", "pinned", "redirect"},
        {"file", "pinned", "unsupported protocol"},
        {"storm", "pinned", "503"},
        {"good", "shipped", "ships with Quipu"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_err err;
        double began = qp_now_ms();
        set_hub(bad[i].hub);
        assert_int_equal(pull(bad[i].model, &err), QP_MODEL);
        if (!strcasestr(err.message, bad[i].says) || strchr(err.message, '\n'))
            fail_msg("%s: '%s' is not in: %s", bad[i].hub, bad[i].says, err.message);
        is_absent();
        assert_true(qp_now_ms() - began < 20000);
    }
    qp_err err;
    assert_int_equal(pull("pined", &err), QP_INPUT);
    assert_non_null(strstr(err.message, "pinned?"));
    set_hub("storm-once");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
}

static void sources_in_order(void **state)
{
    (void)state;
    qp_err err;
    set_hub("good");
    assert_int_equal(pull("second", &err), QP_OK);
    is_whole();
    assert_non_null(strstr(said, "404"));
    assert_non_null(strstr(said, "trying the next source"));
}

static void two_at_once(void **state)
{
    (void)state;
    qp_err err;
    set_hub("slow");
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)qp_model_pull("pinned", NULL, NULL));
    usleep(500000);
    assert_int_equal(pull("pinned", &err), QP_STORE);
    assert_non_null(strstr(err.message, "another process"));
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    is_whole();
}

static volatile int cancel;

static void stop_soon(void *user, const qp_progress *p)
{
    (void)user;
    cancel = p->done > 0;
}

static void cancelled(void **state)
{
    (void)state;
    qp_err err = {0};
    qp_watch watch = {.progress = stop_soon, .cancel = &cancel};
    set_hub("slow");
    assert_int_equal(qp_model_pull("pinned", &watch, &err), QP_STOPPED);
    set_hub("good");
    assert_int_equal(pull("pinned", &err), QP_OK);
    is_whole();
    assert_non_null(strstr(read_log(""), "bytes=")); /* what was there was not fetched again */
}

/* The registry's prefixes and longest input become keys of the file; the weights stay what they were. */
static void keys_are_added(void **state)
{
    (void)state;
    qp_err err;
    struct ggml_context *ctx = NULL;
    set_hub("good");
    assert_int_equal(pull("prefixed", &err), QP_OK);
    struct gguf_context *g = gguf_init_from_file(target, (struct gguf_init_params){.ctx = &ctx});
    assert_non_null(g);
    assert_string_equal(gguf_get_val_str(g, gguf_find_key(g, "quipu.query_prefix")), "query: ");
    assert_int_equal(gguf_get_val_u32(g, gguf_find_key(g, "quipu.max_tokens")), 77);
    assert_string_equal(gguf_get_val_str(g, gguf_find_key(g, "general.architecture")), "test");
    const float *weights = ggml_get_tensor(ctx, "weights")->data;
    for (int i = 0; i < 100000; i++)
        assert_true(weights[i] == (float)i);
    gguf_free(g);
    ggml_free(ctx);
}

/* Packages come through pip itself, here from a folder instead of an index. */
static void packages(void **state)
{
    (void)state;
    qp_err err;
    if (system("python3 -m pip --version >/dev/null 2>&1"))
        skip();
    const char *make =
        "cd %s && python3 - <<'EOF'\n"
        "import zipfile\n"
        "z = zipfile.ZipFile('quipu_test_model-1.0-py3-none-any.whl', 'w', zipfile.ZIP_DEFLATED)\n"
        "z.write('served/m.gguf', 'inside/m.gguf')\n"
        "d = 'quipu_test_model-1.0.dist-info/'\n"
        "z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: quipu-test-model\\nVersion: 1.0\\n')\n"
        "z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
        "z.writestr(d + 'RECORD', '')\n"
        "z.close()\n"
        "EOF\n";
    assert_int_equal(run(make, top), 0);
    setenv("PIP_NO_INDEX", "1", 1);
    setenv("PIP_FIND_LINKS", top, 1);
    if (pull("packed", &err))
        fail_msg("%s", err.message);
    is_whole();
    assert_int_equal(pull("packed-wrong", &err), QP_MODEL);
    assert_non_null(strstr(err.message, "not taken"));
    is_absent();
    assert_int_equal(pull("packed-other", &err), QP_MODEL);
    assert_non_null(strstr(err.message, "0 of the 1 files"));
    assert_int_equal(pull("packed-missing", &err), QP_MODEL);
    assert_non_null(strstr(err.message, "quipu-test-model==2.0"));
    is_absent();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fetches, fresh),
        cmocka_unit_test_setup(unpinned_takes_the_hubs_digest, fresh),
        cmocka_unit_test_setup(cut_downloads_go_on, fresh),
        cmocka_unit_test_setup(killed_downloads_go_on, fresh),
        cmocka_unit_test_setup(complete_parts_are_taken, fresh),
        cmocka_unit_test_setup(stale_parts_are_dropped, fresh),
        cmocka_unit_test_setup(refusals, fresh),
        cmocka_unit_test_setup(sources_in_order, fresh),
        cmocka_unit_test_setup(two_at_once, fresh),
        cmocka_unit_test_setup(cancelled, fresh),
        cmocka_unit_test_setup(keys_are_added, fresh),
        cmocka_unit_test_setup(packages, fresh),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
