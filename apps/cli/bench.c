#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

int run_bench(cli *c)
{
    char *json = NULL;
    qp_err err = {0};
    qp_watch watch = session_watch(c);
    qp_code code = qp_benchmark(c->settings, c->n_settings, &watch, &json, &err);
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
    printf("%.0f passages, %.0f edges, vectors of %.0f, generated in %.1f s\n",
           yyjson_get_num(yyjson_obj_get(root, "passages")), yyjson_get_num(yyjson_obj_get(root, "edges")),
           yyjson_get_num(yyjson_obj_get(root, "dim")), yyjson_get_num(yyjson_obj_get(root, "seconds_generated")));
    printf("%-20s %10s %10s %6s %8s %8s\n", "kernel", "p50 ms", "p95 ms", "runs", "read in", "faults");
    yyjson_arr_foreach(yyjson_obj_get(root, "kernels"), i, n, row) {
        printf("%-20s %10.3f %10.3f %6.0f %8.0f %8.0f\n", member(row, "kernel"),
               yyjson_get_num(yyjson_obj_get(row, "p50_ms")), yyjson_get_num(yyjson_obj_get(row, "p95_ms")),
               yyjson_get_num(yyjson_obj_get(row, "runs")), yyjson_get_num(yyjson_obj_get(row, "faults_read")),
               yyjson_get_num(yyjson_obj_get(row, "faults")));
    }
    yyjson_doc_free(doc);
    qp_free(json);
    return 0;
}
