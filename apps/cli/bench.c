#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static double number(yyjson_val *row, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(row, key));
}

int run_bench(cli *c)
{
    char *json = NULL;
    qp_err err = {0};
    qp_watch watch = session_watch(c);
    qp_code code = qp_benchmark(c->settings, c->n_settings, (int)c->threads, (uint64_t)c->seed, &watch, &json, &err);
    if (code)
        return session_fail(code, &err);
    if (c->json) {
        puts(json);
        qp_free(json);
        return 0;
    }
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    yyjson_val *root = yyjson_doc_get_root(doc), *row;
    size_t i, n;
    printf("%.0f passages, %.0f edges, vectors of %.0f, generated in %.1f s\n", number(root, "passages"),
           number(root, "edges"), number(root, "dim"), number(root, "seconds_generated"));
    printf("%-20s %10s %10s %10s %10s %6s %8s %8s\n", "kernel", "p50 ms", "p95 ms", "cpu p50", "cpu p95", "runs",
           "read in", "faults");
    yyjson_arr_foreach(yyjson_obj_get(root, "kernels"), i, n, row) {
        printf("%-20s %10.3f %10.3f %10.3f %10.3f %6.0f %8.0f %8.0f\n", member(row, "kernel"), number(row, "p50_ms"),
               number(row, "p95_ms"), number(row, "cpu_p50_ms"), number(row, "cpu_p95_ms"), number(row, "runs"),
               number(row, "faults_read"), number(row, "faults"));
    }
    yyjson_doc_free(doc);
    qp_free(json);
    return 0;
}
