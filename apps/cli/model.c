#include "cli.h"
#include "json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "46 MB" where it is on this machine, "-" where it is not. */
static void size_text(yyjson_val *model, char text[20])
{
    double bytes = yyjson_get_num(yyjson_obj_get(model, "bytes"));
    if (!yyjson_get_bool(yyjson_obj_get(model, "here")))
        snprintf(text, 20, "-");
    else
        snprintf(text, 20, bytes < 1e9 ? "%.0f MB" : "%.1f GB", bytes < 1e9 ? bytes / 1e6 : bytes / 1e9);
}

static void print_model(yyjson_val *model)
{
    char size[20];
    size_text(model, size);
    bool standard = yyjson_get_bool(yyjson_obj_get(model, "default"));
    printf("%s%-24s%s %-14s %7s  %-11s %s%s\n", standard ? bold() : "", member(model, "name"), standard ? plain() : "",
           member(model, "kind"), size, member(model, "license"), member(model, "about"), standard ? "; default" : "");
}

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
    yyjson_val *model;
    size_t i, n;
    print_colors(c);
    printf("%s%-24s %-14s %7s  %-11s about%s\n", dim(), "name", "kind", "here", "license", plain());
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, model)
        print_model(model);
    yyjson_doc_free(doc);
    qp_free(json);
    return 0;
}

/* Where a model lies now. */
static void print_place(const cli *c, const char *name)
{
    char *json = NULL, size[20];
    qp_err err = {0};
    if (qp_model_list(&json, &err))
        return;
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    yyjson_val *model;
    size_t i, n;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, model) {
        size_text(model, size);
        if (strcmp(member(model, "name"), name) != 0)
            continue;
        char *text = c->json ? yyjson_val_write(model, 0, NULL) : NULL;
        if (c->json)
            puts(text ? text : "{}");
        else
            printf("%s: %s, %s\n", name, member(model, "path"), size);
        qp_free(text);
    }
    yyjson_doc_free(doc);
    qp_free(json);
}

static int pull(cli *c)
{
    for (int i = 1; i < c->n_args; i++) {
        qp_err err = {0};
        qp_watch watch = session_watch(c);
        qp_code code = qp_model_pull(c->args[i], &watch, &err);
        if (code)
            return session_fail(code, &err);
        print_place(c, c->args[i]);
    }
    return 0;
}

/* The name of the file or folder, without ending; "." and ".." have one too. */
static void name_of(const char *path, char name[PATH_MAX])
{
    char *whole = realpath(path, NULL);
    const char *slash = strrchr(whole ? whole : path, '/');
    snprintf(name, PATH_MAX, "%s", slash ? slash + 1 : whole ? whole : path);
    char *dot = strrchr(name, '.');
    if (dot && (!strcmp(dot, ".gguf") || !strcmp(dot, ".safetensors")))
        *dot = 0;
    free(whole);
}

static int import(cli *c)
{
    char name[PATH_MAX];
    qp_err err = {0};
    qp_watch watch = session_watch(c);
    if (c->n_args > 2)
        snprintf(name, sizeof name, "%s", c->args[2]);
    else
        name_of(c->args[1], name);
    qp_code code = qp_model_import(c->args[1], name, c->settings, c->n_settings, &watch, &err);
    if (code)
        return session_fail(code, &err);
    print_place(c, name);
    return 0;
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
    fprintf(stderr, "quipu model: 'list', 'pull NAME...' or 'import PATH [NAME]' was wanted, '%s'%s was found\n", what,
            c->n_args > 1 ? " and more" : " alone");
    return QP_USAGE;
}
