#include "train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/clock.h"
#include "base/thread.h"
#include "model/trained.h"
#include "train/adamw.h"
#include "train/example.h"

typedef struct train_opt {
    qp_cgrag_opt candidates;
    const char *kind, *file;
    int64_t hidden, heads, mlp, batch, epochs, patience;
    double share, rate, decay, temperature, clip;
} train_opt;

static const qp_opt opts[] = {
    {"encoder", "Graph Transformer, graph attention or graph convolution", QP_ENUM, offsetof(train_opt, kind), "gt", 0,
     0, "gt|gat|gcn"},
    {"share", "of the questions that are used; a fifth of those is held back", QP_FLOAT, offsetof(train_opt, share),
     "1", 1e-6, 1, NULL},
    {"epochs", "at most", QP_INT, offsetof(train_opt, epochs), "30", 1, 10000, NULL},
    {"patience", "epochs without a better result on what is held back", QP_INT, offsetof(train_opt, patience), "4", 1,
     10000, NULL},
    {"rate", "of learning", QP_FLOAT, offsetof(train_opt, rate), "0.0001", 1e-9, 1e9, NULL},
    {"decay", "of the weights", QP_FLOAT, offsetof(train_opt, decay), "0.01", 0, 1, NULL},
    {"batch", "questions a step", QP_INT, offsetof(train_opt, batch), "8", 1, 64, NULL},
    {"temperature", "scores are divided by it before the softmax", QP_FLOAT, offsetof(train_opt, temperature), "0.05",
     1e-6, 1e6, NULL},
    {"clip", "longest step's gradient", QP_FLOAT, offsetof(train_opt, clip), "1", 1e-6, 1e9, NULL},
    {"hidden", "width of all heads together", QP_INT, offsetof(train_opt, hidden), "1024", 1, 65536, NULL},
    {"heads", "of attention", QP_INT, offsetof(train_opt, heads), "4", 1, 1024, NULL},
    {"mlp", "hidden units of alpha", QP_INT, offsetof(train_opt, mlp), "128", 1, 65536, NULL},
    {"layers", "K", QP_INT, offsetof(train_opt, candidates.lesegr.layers), "2", 1, 8, NULL},
    {"sparse", "delta: the sparse signal", QP_ENUM, offsetof(train_opt, candidates.lesegr.sparse), "bm25", 0, 0,
     "bm25|tfidf|doc2query|splade"},
    {"n", "chunks of a cited document that a citing chunk is joined with", QP_INT,
     offsetof(train_opt, candidates.lesegr.n), "4", 1, 1000, NULL},
    {"graph", "ablation: messages between neighbours", QP_BOOL, offsetof(train_opt, candidates.lesegr.graph), "true", 0,
     0, NULL},
    {"delta", "ablation: the sparse signal in the messages", QP_BOOL, offsetof(train_opt, candidates.lesegr.delta),
     "true", 0, 0, NULL},
    {"alpha", "ablation: the likeness of neighbours in the messages", QP_BOOL,
     offsetof(train_opt, candidates.lesegr.alpha), "true", 0, 0, NULL},
    {"edges", "edge types walked, as cites,ref; * = all", QP_TEXT, offsetof(train_opt, candidates.lesegr.edges), "*", 0,
     0, NULL},
    QP_CANDIDATE_OPTIONS(train_opt, candidates.),
    {"file", "where the weights go; not set: the index's folder", QP_TEXT, offsetof(train_opt, file), NULL, 0, 0, NULL},
    {0}};

const qp_op qp_lesson_options = {
    .name = "train lesegr",
    .help = "fits LeSeGR's graph encoder to labelled questions",
    .source = "CG-RAG, 5.1",
    .opts = opts,
    .opt_size = sizeof(train_opt),
};

typedef struct result { /* on the questions held back */
    double hit, mrr;
} result;

typedef struct epoch {
    double loss; /* mean of a question; of epoch 0, before any step: none */
    result held;
    double seconds;
} epoch;

typedef struct training {
    const qp_lesson *lesson;
    const train_opt *o;
    const qp_watch *watch;
    const qp_view *view;
    qp_examples x;
    qp_lesegr *model;
    qp_adamw adamw;
    float *weights,
        *gradient[64]; /* a gradient for each question of a batch: their sum does not depend on the threads */
    size_t n;
    double loss[64];
    const uint32_t *order; /* of the batch at hand */
    qp_arena *mem, *scratch[256];
    const char *path;
    epoch *epochs; /* from 0 on */
    uint32_t done, best;
    double start;
} training;

/* ---- a question ---- */

/* Cross-entropy of softmax(score / temperature) with the right candidates, each alike; its gradient of the scores. */
static double loss_of(const training *t, const qp_example *e, const float *score, float *of_score)
{
    double top = -INFINITY, total = 0, loss = 0, heat = t->o->temperature;
    for (uint32_t i = 0; i < e->n; i++)
        top = score[i] > top ? score[i] : top;
    for (uint32_t i = 0; i < e->n; i++)
        total += exp((score[i] - top) / heat);
    for (uint32_t i = 0; i < e->n; i++) {
        double log_p = (score[i] - top) / heat - log(total), wanted = e->gold[i] ? 1. / e->n_gold : 0;
        loss -= wanted * log_p;
        of_score[i] = (float)((exp(log_p) - wanted) / heat);
    }
    return loss;
}

static qp_code learn_one(void *ctx, int worker, size_t i, qp_err *err)
{
    training *t = ctx;
    qp_arena *mem = t->scratch[worker];
    const qp_example *e = &t->x.fit[t->order[i]];
    qp_candidates c;
    qp_lesegr_pass *pass;
    const float *score;
    qp_arena_reset(mem);
    memset(t->gradient[i], 0, t->n * sizeof(float));
    float *of_score = qp_new(mem, float, e->n + 1u);
    qp_code code = of_score ? qp_example_load(e, t->view, &c, mem, err) : qp_oom(err);
    if (!code)
        code = qp_lesegr_forward(t->model, &c, 1, &pass, &score, mem, err);
    if (code)
        return code;
    t->loss[i] = loss_of(t, e, score, of_score);
    return qp_lesegr_backward(t->model, &c, pass, of_score, t->gradient[i], mem, err);
}

/* The rank of the first right candidate among those held back; 0: it is not there. */
static uint32_t rank_of(const qp_example *e, const float *score)
{
    float best = -INFINITY;
    uint32_t rank = 1;
    for (uint32_t i = 0; i < e->n; i++)
        best = e->gold[i] && score[i] > best ? score[i] : best;
    for (uint32_t i = 0; i < e->n; i++)
        rank += !e->gold[i] && score[i] >= best;
    return e->n_gold ? rank : 0;
}

static qp_code try_one(void *ctx, int worker, size_t i, qp_err *err)
{
    training *t = ctx;
    const qp_example *e = &t->x.held[i];
    qp_candidates c;
    const float *score;
    qp_arena_reset(t->scratch[worker]);
    qp_code code = qp_example_load(e, t->view, &c, t->scratch[worker], err);
    if (!code)
        code = qp_lesegr_score(t->model, &c, 1, &score, t->scratch[worker], err);
    if (!code)
        ((uint32_t *)(uintptr_t)t->order)[i] = rank_of(e, score);
    return code;
}

static qp_code try_all(training *t, result *out, qp_err *err)
{
    uint32_t *rank = qp_new(t->mem, uint32_t, t->x.n_held);
    *out = (result){0};
    if (!rank)
        return qp_oom(err);
    t->order = rank;
    qp_code code = qp_parallel(t->lesson->threads, t->x.n_held, try_one, t, err);
    for (uint32_t i = 0; i < t->x.n_held; i++) {
        out->hit += rank[i] == 1 ? 1. / t->x.n_held : 0;
        out->mrr += rank[i] ? 1. / rank[i] / t->x.n_held : 0;
    }
    return code;
}

/* ---- a step ---- */

static qp_code not_a_number(const training *t, const qp_example *e, uint64_t step, const char *what, qp_err *err)
{
    return qp_fail(
        err, QP_MODEL,
        "the %s of question '%.*s' is not a number, in epoch %u, step %llu: the weights of epoch %u are kept "
        "(%s); try a smaller -o rate than %g",
        what, (int)e->id.n, e->id.at, t->done, (unsigned long long)step, t->best, t->path, t->o->rate);
}

/* The mean gradient of n questions in gradient[0], no longer than `clip`. */
static qp_code add_up(training *t, uint32_t n, qp_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const qp_example *e = &t->x.fit[t->order[i]];
        double square = 0;
        for (size_t w = 0; w < t->n; w++)
            square += (double)t->gradient[i][w] * t->gradient[i][w];
        if (!isfinite(t->loss[i]) || !isfinite(square))
            return not_a_number(t, e, t->adamw.steps + 1, isfinite(t->loss[i]) ? "gradient" : "loss", err);
    }
    double square = 0;
    for (size_t w = 0; w < t->n; w++) {
        float sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += t->gradient[i][w];
        t->gradient[0][w] = sum / (float)n;
        square += (double)t->gradient[0][w] * t->gradient[0][w];
    }
    float by = sqrt(square) > t->o->clip ? (float)(t->o->clip / sqrt(square)) : 1;
    for (size_t w = 0; w < t->n && by < 1; w++)
        t->gradient[0][w] *= by;
    return QP_OK;
}

static qp_code learn_batch(training *t, uint32_t n, double *loss, qp_err *err)
{
    if (qp_cancelled(t->watch->cancel))
        return qp_fail(err, QP_STOPPED, "stopped in epoch %u; the weights of epoch %u are kept (%s)", t->done, t->best,
                       t->path);
    qp_code code = qp_parallel(t->lesson->threads, n, learn_one, t, err);
    if (!code)
        code = add_up(t, n, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < n; i++)
        *loss += t->loss[i];
    qp_adamw_step(&t->adamw, t->weights, t->gradient[0]);
    return qp_lesegr_ready(t->model, true, err);
}

/* ---- epochs ---- */

static void tell(const training *t)
{
    const epoch *e = &t->epochs[t->done];
    char line[160];
    if (!t->watch->progress)
        return;
    if (t->done)
        snprintf(line, sizeof line, "epoch %u: loss %.4f, held back: hit@1 %.4f, mrr %.4f%s", t->done, e->loss,
                 e->held.hit, e->held.mrr, t->best == t->done ? " (best)" : "");
    else
        snprintf(line, sizeof line, "before: held back: hit@1 %.4f, mrr %.4f", e->held.hit, e->held.mrr);
    t->watch->progress(t->watch->user, &(qp_progress){.stage = "train",
                                                      .item = line,
                                                      .done = t->done,
                                                      .total = (uint64_t)t->o->epochs,
                                                      .seconds = (qp_now_ms() - t->start) / 1000});
}

/* Better is a higher MRR: on few questions Hit@1 alone ties. */
static bool is_better(const training *t)
{
    const result *now = &t->epochs[t->done].held, *best = &t->epochs[t->best].held;
    return now->mrr > best->mrr || (now->mrr == best->mrr && now->hit > best->hit);
}

static qp_code look(training *t, qp_err *err)
{
    char settings[1024];
    qp_code code = try_all(t, &t->epochs[t->done].held, err);
    if (code)
        return code;
    t->epochs[t->done].seconds = (qp_now_ms() - t->start) / 1000;
    if (t->done && !is_better(t)) {
        tell(t);
        return QP_OK;
    }
    t->best = t->done;
    tell(t);
    qp_options_print(&qp_lesson_options, t->o, settings, sizeof settings);
    qp_str line = qp_arena_fmt(t->mem, "seed=%llu epoch=%u %s", (unsigned long long)t->lesson->seed, t->done, settings);
    if (!line.at)
        return qp_oom(err);
    return qp_lesegr_save(t->model, t->path,
                          (qp_lesegr_about){t->lesson->embedder->digest, t->o->candidates.lesegr.sparse, line.at,
                                            t->epochs[t->done].held.hit},
                          err);
}

static qp_code learn_epoch(training *t, uint32_t *order, qp_random *random, qp_err *err)
{
    uint32_t batch = (uint32_t)t->o->batch;
    double loss = 0;
    qp_code code = QP_OK;
    t->done++;
    qp_random_shuffle(random, order, t->x.n_fit);
    for (uint32_t i = 0; i < t->x.n_fit && !code; i += batch) {
        t->order = order + i;
        code = learn_batch(t, t->x.n_fit - i < batch ? t->x.n_fit - i : batch, &loss, err);
    }
    t->epochs[t->done].loss = loss / t->x.n_fit;
    return code ? code : look(t, err);
}

static qp_code learn(training *t, qp_random *random, qp_err *err)
{
    uint32_t *order = qp_new(t->mem, uint32_t, t->x.n_fit);
    t->epochs = qp_new(t->mem, epoch, (size_t)t->o->epochs + 1);
    if (!order || !t->epochs)
        return qp_oom(err);
    for (uint32_t i = 0; i < t->x.n_fit; i++)
        order[i] = i;
    t->start = qp_now_ms();
    qp_code code = look(t, err);
    while (!code && t->done < t->o->epochs && t->done - t->best < t->o->patience)
        code = learn_epoch(t, order, random, err);
    return code;
}

/* ---- the whole ---- */

static qp_code make_room(training *t, qp_err *err)
{
    int threads = t->lesson->threads ? t->lesson->threads : qp_cores();
    bool all = true;
    for (int i = 0; i < t->o->batch; i++)
        all &= (t->gradient[i] = malloc(t->n * sizeof(float))) != NULL;
    for (int i = 0; i < threads && i < 256; i++)
        all &= (t->scratch[i] = qp_arena_new()) != NULL;
    qp_code code = qp_adamw_open(&t->adamw, t->n, t->o->rate, t->o->decay, err);
    return code || all ? code : qp_oom(err);
}

static qp_code make_model(training *t, qp_random *random, qp_err *err)
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

static char *json_of(const training *t)
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

static void end(training *t)
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

static qp_code run(training *t, const char *dataset, qp_err *err)
{
    qp_random random = qp_random_seed(t->lesson->seed);
    qp_teacher teacher = {t->lesson->snapshot, t->lesson->embedder, t->lesson->sparse, &t->o->candidates,
                          t->o->share,         t->lesson->seed,     t->watch};
    t->path = t->o->file ? t->o->file : qp_trained_path(t->mem, t->lesson->folder, t->o->kind);
    if (!t->path)
        return qp_oom(err);
    qp_code code = make_model(t, &random, err);
    if (!code)
        code = qp_examples_read(dataset, &teacher, &t->x, t->mem, err);
    if (!code && t->x.strangers && t->watch->warn) {
        char line[200];
        snprintf(line, sizeof line, "%u questions have no label that is in this index: left out", t->x.strangers);
        t->watch->warn(t->watch->user, line);
    }
    if (!code)
        code = make_room(t, err);
    return code ? code : learn(t, &random, err);
}

qp_code qp_train_lesegr(const qp_lesson *lesson, const char *dataset, const qp_setting *settings, size_t n,
                        const qp_watch *watch, char **json, qp_err *err)
{
    static const qp_watch nobody = {0};
    training *t = calloc(1, sizeof *t);
    if (!t || !(t->mem = qp_arena_new())) {
        free(t);
        return qp_oom(err);
    }
    t->lesson = lesson;
    t->watch = watch ? watch : &nobody;
    t->view = qp_snapshot_view(lesson->snapshot);
    train_opt *o = qp_options_new(&qp_lesson_options, settings, n, t->mem, err);
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
