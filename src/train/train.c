#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/file.h"
#include "base/thread.h"
#include "train/training.h"

static const qp_opt opts[] = {
    {"encoder", "Graph Transformer, graph attention or graph convolution", QP_ENUM, offsetof(qp_train_opt, kind), "gt",
     0, 0, "gt|gat|gcn"},
    {"share", "of the questions that are used; a fifth of those is held back", QP_FLOAT, offsetof(qp_train_opt, share),
     "1", 1e-6, 1, NULL},
    {"epochs", "at most", QP_INT, offsetof(qp_train_opt, epochs), "30", 1, 10000, NULL},
    {"patience", "epochs without a better result on what is held back", QP_INT, offsetof(qp_train_opt, patience), "4",
     1, 10000, NULL},
    {"rate", "of learning", QP_FLOAT, offsetof(qp_train_opt, rate), "0.0001", 1e-9, 1e9, NULL},
    {"decay", "of the weights", QP_FLOAT, offsetof(qp_train_opt, decay), "0.01", 0, 1, NULL},
    {"batch", "questions a step", QP_INT, offsetof(qp_train_opt, batch), "8", 1, QP_TRAIN_BATCH, NULL},
    {"temperature", "scores are divided by it before the softmax", QP_FLOAT, offsetof(qp_train_opt, temperature),
     "0.05", 1e-6, 1e6, NULL},
    {"clip", "longest step's gradient", QP_FLOAT, offsetof(qp_train_opt, clip), "1", 1e-6, 1e9, NULL},
    {"hidden", "width of all heads together", QP_INT, offsetof(qp_train_opt, hidden), "1024", 1, 65536, NULL},
    {"heads", "of attention", QP_INT, offsetof(qp_train_opt, heads), "4", 1, 1024, NULL},
    {"mlp", "hidden units of alpha", QP_INT, offsetof(qp_train_opt, mlp), "128", 1, 65536, NULL},
    {"layers", "K", QP_INT, offsetof(qp_train_opt, candidates.lesegr.layers), "2", 1, 8, NULL},
    {"sparse", "delta: the sparse signal", QP_ENUM, offsetof(qp_train_opt, candidates.lesegr.sparse), "bm25", 0, 0,
     "bm25|tfidf|doc2query|splade"},
    {"n", "chunks of a cited document that a citing chunk is joined with", QP_INT,
     offsetof(qp_train_opt, candidates.lesegr.n), "4", 1, 1000, NULL},
    {"graph", "ablation: messages between neighbours", QP_BOOL, offsetof(qp_train_opt, candidates.lesegr.graph), "true",
     0, 0, NULL},
    {"delta", "ablation: the sparse signal in the messages", QP_BOOL, offsetof(qp_train_opt, candidates.lesegr.delta),
     "true", 0, 0, NULL},
    {"alpha", "ablation: the likeness of neighbours in the messages", QP_BOOL,
     offsetof(qp_train_opt, candidates.lesegr.alpha), "true", 0, 0, NULL},
    {"edges", "edge types walked, as cites,ref; * = all", QP_TEXT, offsetof(qp_train_opt, candidates.lesegr.edges), "*",
     0, 0, NULL},
    QP_CANDIDATE_OPTIONS(qp_train_opt, candidates.),
    {"file", "where the weights go; not set: the index's folder", QP_TEXT, offsetof(qp_train_opt, file), NULL, 0, 0,
     NULL},
    {0}};

const qp_op qp_lesson_options = {
    .name = "train lesegr",
    .help = "fits LeSeGR's graph encoder to labelled questions",
    .source = "CG-RAG, 5.1",
    .opts = opts,
    .opt_size = sizeof(qp_train_opt),
};

static qp_code make_room(qp_training *t, qp_err *err)
{
    bool all = true;
    t->threads = t->lesson->threads ? t->lesson->threads : qp_cores();
    t->threads = t->threads < QP_TRAIN_THREADS ? t->threads : QP_TRAIN_THREADS;
    for (int i = 0; i < t->o->batch; i++)
        all &= (t->gradient[i] = malloc(t->n * sizeof(float))) != NULL;
    for (int i = 0; i < t->threads; i++)
        all &= (t->scratch[i] = qp_arena_new()) != NULL;
    qp_code code = qp_adamw_open(&t->adamw, t->n, t->o->rate, t->o->decay, err);
    return code || all ? code : qp_oom(err);
}

static qp_code make_model(qp_training *t, qp_random *random, qp_err *err)
{
    qp_lesegr_shape shape = {.layers = (uint32_t)t->o->candidates.lesegr.layers,
                             .dim = t->view->dim,
                             .hidden = (uint32_t)t->o->hidden,
                             .heads = (uint32_t)t->o->heads,
                             .mlp = (uint32_t)t->o->mlp};
    while (strcmp(qp_lesegr_kinds[shape.kind], t->o->kind))
        shape.kind++;
    qp_code code = qp_lesegr_new(shape, random, &t->model, err);
    if (!code)
        code = qp_lesegr_ready(t->model, true, err);
    if (!code)
        t->weights = qp_lesegr_weights(t->model, &t->n);
    return code;
}

static char *json_of(const qp_training *t)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (!root)
        return NULL;
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "encoder", t->o->kind);
    yyjson_mut_obj_add_str(doc, root, "file", t->path);
    yyjson_mut_obj_add_uint(doc, root, "weights", t->n);
    yyjson_mut_obj_add_uint(doc, root, "fitted", t->x.n_fit);
    yyjson_mut_obj_add_uint(doc, root, "held_back", t->x.n_held);
    yyjson_mut_obj_add_uint(doc, root, "without_labels", t->x.strangers);
    yyjson_mut_obj_add_uint(doc, root, "best", t->best);
    yyjson_mut_val *epochs = yyjson_mut_obj_add_arr(doc, root, "epochs");
    for (uint32_t i = 0; i <= t->done; i++) {
        yyjson_mut_val *e = yyjson_mut_arr_add_obj(doc, epochs);
        if (i)
            yyjson_mut_obj_add_real(doc, e, "loss", t->epochs[i].loss);
        else
            yyjson_mut_obj_add_null(doc, e, "loss");
        yyjson_mut_obj_add_real(doc, e, "hit@1", t->epochs[i].held.hit);
        yyjson_mut_obj_add_real(doc, e, "mrr", t->epochs[i].held.mrr);
        yyjson_mut_obj_add_real(doc, e, "seconds", t->epochs[i].seconds);
    }
    char *json = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return json;
}

static void end(qp_training *t)
{
    for (size_t i = 0; i < sizeof t->gradient / sizeof *t->gradient; i++)
        free(t->gradient[i]);
    for (size_t i = 0; i < sizeof t->scratch / sizeof *t->scratch; i++)
        qp_arena_free(t->scratch[i]);
    qp_adamw_close(&t->adamw);
    qp_lesegr_free(t->model);
    qp_arena_free(t->mem);
    free(t);
}

static qp_code run(qp_training *t, const char *dataset, qp_err *err)
{
    qp_random random = qp_random_seed(t->lesson->seed);
    qp_teacher teacher = {t->lesson->snapshot, t->lesson->embedder, t->lesson->sparse, &t->o->candidates,
                          t->o->share,         t->lesson->seed,     t->watch};
    t->path = t->o->file ? t->o->file : qp_trained_path(t->mem, t->lesson->folder, t->o->kind);
    if (!t->path)
        return qp_oom(err);
    qp_code code = t->o->file ? qp_file_writable(t->path, err) : QP_OK;
    if (!code)
        code = make_model(t, &random, err);
    if (!code)
        code = qp_examples_read(dataset, &teacher, &t->x, t->mem, err);
    if (!code && t->x.strangers && t->watch->warn) {
        char line[200];
        snprintf(line, sizeof line, "%u questions have no label that is in this index: left out", t->x.strangers);
        t->watch->warn(t->watch->user, line);
    }
    if (!code)
        code = make_room(t, err);
    return code ? code : qp_training_run(t, &random, err);
}

qp_code qp_train_lesegr(const qp_lesson *lesson, const char *dataset, const qp_setting *settings, size_t n,
                        const qp_watch *watch, char **json, qp_err *err)
{
    static const qp_watch nobody = {0};
    qp_training *t = calloc(1, sizeof *t);
    if (!t || !(t->mem = qp_arena_new())) {
        free(t);
        return qp_oom(err);
    }
    t->lesson = lesson;
    t->watch = watch ? watch : &nobody;
    t->view = qp_snapshot_view(lesson->snapshot);
    qp_train_opt *o = qp_options_new(&qp_lesson_options, settings, n, t->mem, err);
    t->o = o;
    qp_code code = o ? QP_OK : QP_INPUT;
    if (!code) {
        o->candidates.lesegr.encoder = "none";
        o->candidates.lesegr.direction = "both";
        code = run(t, dataset, err);
    }
    if (!code && !(*json = json_of(t)))
        code = qp_oom(err);
    end(t);
    return code;
}
