#include "eval/meter.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"

/* What is asked for; also the place in `kept`. A model is an embedder or a ranker, never both. */
typedef enum asked { QUERY_VECTOR, PASSAGE_VECTOR, LATENT = 0, RANK } asked;

typedef struct request {
    asked what;
    bool embedding;
    qp_str query;
    const qp_str *text;
    uint32_t n, width;
} request;

static void charge(qp_meter *m, double since)
{
    double spent = qp_now_ms() - since;

    m->spent_ms += spent;
    m->charged_ms += spent;
}

static qp_code ask_real(qp_meter *m, const request *r, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    if (r->embedding)
        return m->real->embed(m->real->self, r->what == QUERY_VECTOR ? QP_QUERY : QP_PASSAGE, text, n, out, err);
    if (r->what == LATENT)
        return m->real->latent(m->real->self, r->query, text, n, out, err);
    return m->real->rank(m->real->self, r->query, text, n, out, err);
}

static void forget(qp_kept *k)
{
    qp_map_free(k->number);
    free(k->value);
    free(k->ms);
    *k = (qp_kept){0};
}

/* Room for n more results of this width. */
static bool reserve(qp_kept *k, size_t n, uint32_t width)
{
    size_t cap = k->cap ? k->cap : 128;
    float *value;
    double *ms;

    if (!k->number && !(k->number = qp_map_new()))
        return false;
    while (cap < k->n + n)
        cap *= 2;
    if (cap == k->cap)
        return true;
    value = realloc(k->value, cap * width * sizeof *value);
    if (value)
        k->value = value;
    ms = realloc(k->ms, cap * sizeof *ms);
    if (ms)
        k->ms = ms;
    if (!value || !ms)
        return false;
    k->cap = cap;
    return true;
}

/* A text's part of its batch's time goes by its length, the question's and what the model cuts off considered. */
static double weight(const qp_meter *m, const request *r, qp_str text)
{
    size_t longest = m->real->max_tokens ? 4 * (size_t)m->real->max_tokens : SIZE_MAX;
    size_t n = text.n + r->query.n + 8;

    return (double)(n < longest ? n : longest);
}

/* Numbers of the results asked for; the texts that have none yet are listed in `fresh`, each once. */
static bool look_up(qp_kept *k, const request *r, uint64_t *number, uint32_t *fresh, uint32_t *n_fresh)
{
    *n_fresh = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const qp_str parts[2] = {r->query, r->text[i]};
        qp_digest key = qp_digest_parts(parts, 2);
        bool added;
        uint64_t *slot = qp_map_put(k->number, qp_str_of(key.hex), &added);

        if (!slot)
            return false;
        if (added) {
            *slot = k->n + *n_fresh;
            fresh[(*n_fresh)++] = i;
        }
        number[i] = *slot;
    }
    return true;
}

static qp_code compute(qp_meter *m, qp_kept *k, const request *r, const uint32_t *fresh, uint32_t n, qp_err *err)
{
    qp_str *text = calloc(n, sizeof *text);
    double start = qp_now_ms(), whole = 0, took;
    qp_code code;

    if (!text)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++) {
        text[i] = r->text[fresh[i]];
        whole += weight(m, r, text[i]);
    }
    code = ask_real(m, r, text, n, k->value + k->n * r->width, err);
    took = qp_now_ms() - start;
    charge(m, start);
    for (uint32_t i = 0; code == QP_OK && i < n; i++)
        k->ms[k->n++] = took * weight(m, r, text[i]) / whole;
    free(text);
    return code;
}

static qp_code serve_shared(qp_meter *m, const request *r, float *out, qp_err *err)
{
    qp_kept *k = &m->kept[r->what];
    uint64_t *number = calloc(r->n, sizeof *number);
    uint32_t *fresh = calloc(r->n, sizeof *fresh), n_fresh = 0;
    size_t before = k->n;
    qp_code code = QP_OK;

    if (!number || !fresh || !reserve(k, r->n, r->width) || !look_up(k, r, number, fresh, &n_fresh))
        code = qp_oom(err);
    if (code == QP_OK && n_fresh)
        code = compute(m, k, r, fresh, n_fresh, err);
    if (code != QP_OK)
        forget(k); /* it may name results that were never computed */
    for (uint32_t i = 0; code == QP_OK && i < r->n; i++) {
        memcpy(out + (size_t)i * r->width, k->value + number[i] * r->width, r->width * sizeof *out);
        if (number[i] < before)
            m->charged_ms += k->ms[number[i]];
    }
    free(number);
    free(fresh);
    return code;
}

static qp_code serve(qp_meter *m, const request *r, float *out, qp_err *err)
{
    double start = qp_now_ms();
    qp_code code;

    if (!r->n)
        return QP_OK;
    if (m->share)
        return serve_shared(m, r, out, err);
    code = ask_real(m, r, r->text, r->n, out, err);
    charge(m, start);
    return code;
}

/* ---- the model that queries see ---- */
static qp_code embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_meter *m = self;

    return serve(m, &(request){role == QP_QUERY ? QUERY_VECTOR : PASSAGE_VECTOR, true, {0}, text, n, m->real->dim}, out,
                 err);
}

static qp_code latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_meter *m = self;

    return serve(m, &(request){LATENT, false, query, text, n, m->real->width}, out, err);
}

static qp_code rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    return serve(self, &(request){RANK, false, query, text, n, 1}, score, err);
}

static qp_code head(void *self, const float *at, uint32_t n, float *score, qp_err *err)
{
    qp_meter *m = self;
    double start = qp_now_ms();
    qp_code code = m->real->head(m->real->self, at, n, score, err);

    charge(m, start);
    return code;
}

static qp_code generate(void *self, const qp_message *message, uint32_t n, const qp_sampling *how, qp_str *out,
                        qp_arena *mem, qp_err *err)
{
    qp_meter *m = self;
    double start = qp_now_ms();
    qp_code code = m->real->generate(m->real->self, message, n, how, out, mem, err);

    charge(m, start);
    return code;
}

static qp_code weigh(void *self, qp_role role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *mem,
                     qp_err *err)
{
    qp_meter *m = self;
    double start = qp_now_ms();
    qp_code code = m->real->weigh(m->real->self, role, text, n, out, mem, err);

    charge(m, start);
    return code;
}

static qp_code tokens(void *self, qp_role role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *mem,
                      qp_err *err)
{
    qp_meter *m = self;
    double start = qp_now_ms();
    qp_code code = m->real->tokens(m->real->self, role, text, n, out, mem, err);

    charge(m, start);
    return code;
}

static qp_code attend(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_meter *m = self;
    double start = qp_now_ms();
    qp_code code = m->real->attend(m->real->self, role, text, n, out, err);

    charge(m, start);
    return code;
}

static qp_code count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    qp_meter *m = self;

    return m->real->count(m->real->self, text, n, tokens, err);
}

void qp_meter_make(qp_meter *m, const qp_model *real, bool share)
{
    *m = (qp_meter){.real = real, .share = share};
    if (!real)
        return;
    m->model = *real;
    m->model.self = m;
    m->model.embed = real->embed ? embed : NULL;
    m->model.latent = real->latent ? latent : NULL;
    m->model.head = real->head ? head : NULL;
    m->model.rank = real->rank ? rank : NULL;
    m->model.generate = real->generate ? generate : NULL;
    m->model.weigh = real->weigh ? weigh : NULL;
    m->model.tokens = real->tokens ? tokens : NULL;
    m->model.attend = real->attend ? attend : NULL;
    m->model.count = real->count ? count : NULL;
    m->model.close = NULL;
}

void qp_meter_forget(qp_meter *m)
{
    for (int i = 0; i < QP_METER_RESULTS; i++)
        forget(&m->kept[i]);
}

void qp_meter_free(qp_meter *m)
{
    qp_meter_forget(m);
}

void qp_meter_open(qp_meter *m)
{
    m->spent_ms = m->charged_ms = 0;
}

const qp_model *qp_meter_model(qp_meter *m)
{
    return m->real ? &m->model : NULL;
}
