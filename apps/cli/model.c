#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static int list(cli *c)
{
    char *json = NULL;
    qp_err err = {0};
    qp_code code = qp_model_list(&json, &err);
    if (code)
        return session_fail(code, &err);
    if (c->json) {
        puts(json);
        qp_free(json);
        return 0;
    }
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    yyjson_val *m;
    size_t i, n;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, m)
        printf("%-28s %-9s %-18s %s%s\n", member(m, "name"), member(m, "kind"), member(m, "licence"),
               yyjson_get_bool(yyjson_obj_get(m, "here")) ? "here" : "-",
               yyjson_get_bool(yyjson_obj_get(m, "default")) ? ", default" : "");
    yyjson_doc_free(doc);
    qp_free(json);
    return 0;
}

static int pull(cli *c)
{
    for (int i = 1; i < c->n_args; i++) {
        qp_err err = {0};
        qp_watch watch = session_watch(c);
        qp_code code = qp_model_pull(c->args[i], &watch, &err);
        if (code)
            return session_fail(code, &err);
    }
    return 0;
}

static int import(cli *c)
{
    qp_err err = {0};
    qp_watch watch = session_watch(c);
    qp_code code =
        qp_model_import(c->args[1], c->n_args > 2 ? c->args[2] : NULL, c->settings, c->n_settings, &watch, &err);
    return code ? session_fail(code, &err) : 0;
}

int run_model(cli *c)
{
    const char *what = c->args[0];
    if (strcmp(what, "list") == 0 && c->n_args == 1)
        return list(c);
    if (strcmp(what, "pull") == 0 && c->n_args > 1)
        return pull(c);
    if (strcmp(what, "import") == 0 && (c->n_args == 2 || c->n_args == 3))
        return import(c);
    fprintf(stderr, "quipu model: 'list', 'pull NAME...' or 'import PATH [NAME]' was wanted, '%s' was found\n", what);
    return QP_USAGE;
}
