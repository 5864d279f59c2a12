#include "train/train.h"

#include "api/index.h"

qp_code qp_index_train(qp_index *index, const char *what, const char *dataset, const qp_train_options *options,
                       char **json, qp_err *err)
{
    static const qp_train_options standard = {0};
    const qp_train_options *o = options ? options : &standard;
    qp_held *held = NULL;
    qp_query models = {0}; /* only the models' places are used */
    if (strcmp(what, "lesegr") != 0)
        return qp_fail(err, QP_USAGE, "what can be trained is lesegr, the graph encoder of cg-rag, not '%s'", what);
    qp_code code = qp_index_hold(index, &held, err);
    if (!code && !*qp_snapshot_embedder(qp_held_snapshot(held)))
        code = qp_fail(err, QP_INPUT,
                       "training needs vectors, and the index was made without an embedder: index it again");
    if (!code)
        code = qp_index_equip(index, qp_held_snapshot(held), QP_NEEDS_EMBEDDER | QP_NEEDS_SPARSE, &models, err);
    if (!code && !models.embedder)
        code = qp_fail(err, QP_MODEL, "training needs the embedder that the index was made with, and none is there");
    if (!code) {
        const qp_lesson lesson = {.snapshot = qp_held_snapshot(held),
                                  .embedder = models.embedder,
                                  .sparse = models.sparse,
                                  .folder = qp_index_folder(index),
                                  .threads = qp_index_threads(index),
                                  .seed = qp_index_seed(index)};
        code = qp_train_lesegr(&lesson, dataset, o->settings, o->n_settings, &o->watch, json, err);
    }
    qp_held_release(held);
    return code;
}
