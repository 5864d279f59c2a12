#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

/* An epoch a line; what comes before is drawn as everywhere. */
static void on_epoch(void *user, const qp_progress *p)
{
    const qp_watch *usual = user;
    if (!p->item)
        usual->progress(usual->user, p);
    else
        fprintf(stderr, "%s  (%.1f s)\n", p->item, p->seconds);
}

static void tell(const char *json)
{
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *best = yyjson_arr_get(yyjson_obj_get(root, "epochs"), yyjson_get_uint(yyjson_obj_get(root, "best")));
    printf("%s: %llu weights, from %llu questions; on the %llu held back hit@1 %.4f, mrr %.4f, in epoch %llu\n%s\n",
           member(root, "encoder"), (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "weights")),
           (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "fitted")),
           (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "held_back")),
           yyjson_get_num(yyjson_obj_get(best, "hit@1")), yyjson_get_num(yyjson_obj_get(best, "mrr")),
           (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "best")), member(root, "file"));
    yyjson_doc_free(doc);
}

int run_train(cli *c)
{
    qp_index *index = NULL;
    qp_err err = {0};
    char *json = NULL;
    if (!c->dataset) {
        fprintf(stderr, "quipu: train: a folder of labelled questions was wanted: --dataset DIR\n");
        return QP_USAGE;
    }
    int refused = session_open(c, false, &index);
    if (refused)
        return refused;
    qp_watch usual = session_watch(c);
    qp_train_options o = {.settings = c->settings, .n_settings = c->n_settings, .watch = usual};
    if (usual.progress) {
        o.watch.progress = on_epoch;
        o.watch.user = &usual;
    }
    qp_code code = qp_index_train(index, c->args[0], c->dataset, &o, &json, &err);
    qp_index_close(index);
    if (code)
        return session_fail(code, &err);
    if (c->json)
        puts(json);
    else
        tell(json);
    qp_free(json);
    return 0;
}
