#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static double mean_of(yyjson_val *method, const char *metric, double *low, double *high)
{
    yyjson_val *m = yyjson_obj_get(yyjson_obj_get(method, "metrics"), metric);
    *low = yyjson_get_num(yyjson_obj_get(m, "low"));
    *high = yyjson_get_num(yyjson_obj_get(m, "high"));
    return yyjson_get_num(yyjson_obj_get(m, "mean"));
}

/* What was measured, by the first method: all have the same. */
static yyjson_val *metrics_of(yyjson_val *root)
{
    return yyjson_obj_get(yyjson_arr_get_first(yyjson_obj_get(root, "methods")), "metrics");
}

/* The first metric of the report: intervals and differences are shown for it. */
static const char *first_metric(yyjson_val *root)
{
    yyjson_obj_iter each = yyjson_obj_iter_with(metrics_of(root));
    const char *name = yyjson_get_str(yyjson_obj_iter_next(&each));
    return name ? name : "";
}

static double latency(yyjson_val *method, const char *stage, const char *quantile)
{
    return yyjson_get_num(yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(method, "latency_ms"), stage), quantile));
}

static int column_width(yyjson_val *name)
{
    return yyjson_get_len(name) > 7 ? (int)yyjson_get_len(name) : 7;
}

/* How many of the metrics fit beside name and times in the terminal's width; at least one. */
static size_t columns_that_fit(yyjson_val *root)
{
    int room = print_width() - 28 - 27;
    yyjson_val *key, *value;
    size_t k, all, n = 0;
    yyjson_obj_foreach(metrics_of(root), k, all, key, value)
        if ((room -= 1 + column_width(key)) >= 0)
            n = k + 1;
    return n ? n : 1;
}

static void intervals(yyjson_val *methods, const char *metric)
{
    yyjson_val *m;
    size_t i, n;
    yyjson_arr_foreach(methods, i, n, m) {
        double low, high, mean = mean_of(m, metric, &low, &high);
        printf("  %-28.28s %.4f [%.4f, %.4f]\n", member(m, "name"), mean, low, high);
    }
}

static void groups(yyjson_val *root)
{
    yyjson_val *g;
    size_t i, n;
    yyjson_arr_foreach(yyjson_obj_get(root, "groups"), i, n, g) {
        printf("\n%s%s = %s, %.0f questions: %s%s\n", bold(), member(g, "by"),
               *member(g, "value") ? member(g, "value") : "(none)", yyjson_get_num(yyjson_obj_get(g, "questions")),
               first_metric(root), plain());
        intervals(yyjson_obj_get(g, "methods"), first_metric(root));
    }
}

static void table(yyjson_val *root)
{
    yyjson_val *methods = yyjson_obj_get(root, "methods"), *m, *key, *value;
    size_t i, n, k, all, shown = columns_that_fit(root);
    printf("%s%-28s", bold(), "method");
    yyjson_obj_foreach(metrics_of(root), k, all, key, value)
        if (k < shown)
            printf(" %*s", column_width(key), yyjson_get_str(key));
    printf(" %8s %8s %7s%s\n", "p50 ms", "p95 ms", "passes", plain());
    yyjson_arr_foreach(methods, i, n, m) {
        printf("%-28.28s", member(m, "name"));
        yyjson_obj_foreach(yyjson_obj_get(m, "metrics"), k, all, key, value)
            if (k < shown)
                printf(" %*.4f", column_width(key), yyjson_get_num(yyjson_obj_get(value, "mean")));
        printf(" %8.1f %8.1f %7.1f\n", latency(m, "total", "p50"), latency(m, "total", "p95"),
               yyjson_get_num(yyjson_obj_get(m, "model_passes")));
    }
    if (shown < yyjson_obj_size(metrics_of(root)))
        printf("%s%zu more metrics: --json, --html FILE, or choose with -o metrics=...%s\n", dim(),
               yyjson_obj_size(metrics_of(root)) - shown, plain());
    printf("\n%s%s with 95%% intervals%s\n", bold(), first_metric(root), plain());
    intervals(methods, first_metric(root));
    yyjson_arr_foreach(methods, i, n, m)
        if (yyjson_get_uint(yyjson_obj_get(m, "failures")))
            printf("%s: %.0f questions failed and count as empty; the first: %s\n", member(m, "name"),
                   yyjson_get_num(yyjson_obj_get(m, "failures")), member(m, "first_failure"));
}

static void differences(yyjson_val *root)
{
    yyjson_val *all = yyjson_obj_get(root, "differences"), *d;
    size_t i, n;
    if (!yyjson_arr_size(all))
        return;
    printf("\n%sdifferences (paired randomisation test)%s\n", bold(), plain());
    yyjson_arr_foreach(all, i, n, d) {
        if (strcmp(member(d, "metric"), first_metric(root)) != 0)
            continue;
        printf("  %-9s %s - %s: %+.4f [%+.4f, %+.4f], p = %.4f\n", member(d, "metric"), member(d, "a"), member(d, "b"),
               yyjson_get_num(yyjson_obj_get(d, "difference")), yyjson_get_num(yyjson_obj_get(d, "low")),
               yyjson_get_num(yyjson_obj_get(d, "high")), yyjson_get_num(yyjson_obj_get(d, "p")));
    }
}

int run_eval(cli *c)
{
    qp_index *index = NULL;
    int refused = session_open(c, false, &index);
    if (refused)
        return refused;
    qp_err err = {0};
    char *json = NULL;
    qp_eval_options o = {.methods = c->method, /* null: the library knows what suits */
                         .settings = c->settings,
                         .n_settings = c->n_settings,
                         .top = (uint32_t)c->top,
                         .sample = (uint32_t)c->sample,
                         .bootstrap = (uint32_t)c->bootstrap,
                         .seed = (uint64_t)c->seed,
                         .run_file = c->run,
                         .html = c->html,
                         .runs = c->runs,
                         .n_runs = c->n_runs,
                         .watch = session_watch(c)};
    qp_code code = qp_index_eval(index, c->args[0], &o, &json, &err);
    qp_index_close(index);
    if (code)
        return session_fail(code, &err);
    if (c->json) {
        puts(json);
    } else {
        yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
        table(yyjson_doc_get_root(doc));
        groups(yyjson_doc_get_root(doc));
        differences(yyjson_doc_get_root(doc));
        yyjson_doc_free(doc);
    }
    qp_free(json);
    return 0;
}
