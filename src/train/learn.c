/* Learning: what a question teaches, a step, an epoch, and when to stop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "train/training.h"

/* ---- a question ---- */

/* Cross-entropy of softmax(score / temperature) with the right candidates, each alike; its gradient of the scores. */
static double loss_of(const qp_training *t, const qp_example *e, const float *score, float *of_score)
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
    qp_training *t = ctx;
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
    qp_training *t = ctx;
    const qp_example *e = &t->x.held[i];
    qp_candidates c;
    const float *score;
    qp_arena_reset(t->scratch[worker]);
    qp_code code = qp_example_load(e, t->view, &c, t->scratch[worker], err);
    if (!code)
        code = qp_lesegr_score(t->model, &c, 1, &score, t->scratch[worker], err);
    if (!code)
        t->rank[i] = rank_of(e, score);
    return code;
}

static qp_code try_all(qp_training *t, qp_held_back *out, qp_err *err)
{
    *out = (qp_held_back){0};
    qp_code code = qp_parallel(t->threads, t->x.n_held, try_one, t, err);
    for (uint32_t i = 0; !code && i < t->x.n_held; i++) {
        out->hit += t->rank[i] == 1 ? 1. / t->x.n_held : 0;
        out->mrr += t->rank[i] ? 1. / t->rank[i] / t->x.n_held : 0;
    }
    return code;
}

/* ---- a step ---- */

static qp_code not_a_number(const qp_training *t, const qp_example *e, uint64_t step, const char *what, qp_err *err)
{
    return qp_fail(
        err, QP_MODEL,
        "the %s of question '%.*s' is not a number, in epoch %u, step %llu: the weights of epoch %u are kept "
        "(%s); try a smaller -o rate than %g",
        what, (int)e->id.n, e->id.at, t->done, (unsigned long long)step, t->best, t->path, t->o->rate);
}

/* The mean gradient of n questions in gradient[0], no longer than `clip`. */
static qp_code add_up(qp_training *t, uint32_t n, qp_err *err)
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

static qp_code learn_batch(qp_training *t, uint32_t n, double *loss, qp_err *err)
{
    if (qp_cancelled(t->watch->cancel))
        return qp_fail(err, QP_STOPPED, "stopped in epoch %u; the weights of epoch %u are kept (%s)", t->done, t->best,
                       t->path);
    qp_code code = qp_parallel(t->threads, n, learn_one, t, err);
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

static void tell(const qp_training *t)
{
    const qp_epoch *e = &t->epochs[t->done];
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
static bool is_better(const qp_training *t)
{
    const qp_held_back *now = &t->epochs[t->done].held, *best = &t->epochs[t->best].held;
    return now->mrr > best->mrr || (now->mrr == best->mrr && now->hit > best->hit);
}

static qp_code look(qp_training *t, qp_err *err)
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

static qp_code learn_epoch(qp_training *t, uint32_t *order, qp_random *random, qp_err *err)
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

qp_code qp_training_run(qp_training *t, qp_random *random, qp_err *err)
{
    uint32_t *order = qp_new(t->mem, uint32_t, t->x.n_fit);
    t->epochs = qp_new(t->mem, qp_epoch, (size_t)t->o->epochs + 1);
    t->rank = qp_new(t->mem, uint32_t, t->x.n_held);
    if (!order || !t->epochs || !t->rank)
        return qp_oom(err);
    for (uint32_t i = 0; i < t->x.n_fit; i++)
        order[i] = i;
    t->start = qp_now_ms();
    qp_code code = look(t, err);
    while (!code && t->done < t->o->epochs && t->done - t->best < t->o->patience)
        code = learn_epoch(t, order, random, err);
    return code;
}
