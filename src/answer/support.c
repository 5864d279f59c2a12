#include "answer/support.h"

#include "answer/words.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "op/op.h"

static const float COVERAGE = .6f, COSINE = .8f;

struct qp_support {
    qp_query *q;
    const qp_sources *sources;
    qp_terms *terms;
    qp_words *of;   /* per sentence of the sources */
    float *vectors; /* per sentence, dim floats; null until a claim needs them, or without an embedder */
};

qp_code qp_support_open(qp_query *q, const qp_sources *sources, qp_support **out, qp_err *err)
{
    qp_support *s = qp_arena_alloc(q->mem, sizeof *s);
    if (!s)
        return qp_oom(err);
    *s = (qp_support){.q = q, .sources = sources, .of = qp_new(q->mem, qp_words, sources->n_sentences)};
    qp_code code = s->of ? qp_terms_open("en", &s->terms, err) : qp_oom(err);
    if (code)
        return code;
    for (uint32_t i = 0; i < sources->n_sentences; i++)
        s->of[i] = qp_words_of(s->terms, sources->sentences[i].text, q->mem);
    *out = s;
    return QP_OK;
}

void qp_support_close(qp_support *s)
{
    if (s)
        qp_terms_close(s->terms);
}

static qp_code embed(qp_support *s, const qp_str *texts, uint32_t n, float *out, qp_err *err)
{
    double began = qp_now_ms();
    qp_code code = s->q->embedder->embed(s->q->embedder->self, QP_PASSAGE, texts, n, out, err);
    qp_trace_add_model_ms(s->q, "embed", qp_now_ms() - began);
    return code;
}

static qp_code embed_sources(qp_support *s, qp_err *err)
{
    uint32_t n = s->sources->n_sentences;
    qp_str *texts = qp_new(s->q->mem, qp_str, n);
    s->vectors = qp_new(s->q->mem, float, (size_t)n * s->q->embedder->dim);
    if (!texts || !s->vectors)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = s->sources->sentences[i].text;
    return embed(s, texts, n, s->vectors, err);
}

/* Word for word first; the embedder is asked only where that finds nothing. */
static qp_code find_paraphrase(qp_support *s, qp_str claim, const qp_words *w, uint32_t source, const qp_sentence **out,
                               qp_err *err)
{
    uint32_t dim = s->q->embedder->dim;
    float *v = qp_new(s->q->mem, float, dim), best = COSINE;
    qp_code code = v ? embed(s, &claim, 1, v, err) : qp_oom(err);
    if (!code && !s->vectors)
        code = embed_sources(s, err);
    for (uint32_t i = 0; i < s->sources->n_sentences && !code; i++) {
        const qp_sentence *sentence = &s->sources->sentences[i];
        if ((source != QP_NO_ID && sentence->source != source) || qp_words_lack_number(w, &s->of[i]))
            continue;
        float dot = 0;
        for (uint32_t d = 0; d < dim; d++)
            dot += v[d] * s->vectors[(size_t)i * dim + d];
        if (dot >= best) {
            best = dot;
            *out = sentence;
        }
    }
    return code;
}

qp_code qp_support_find(qp_support *s, qp_str claim, uint32_t source, const qp_sentence **out, qp_err *err)
{
    *out = NULL;
    qp_words w = qp_words_of(s->terms, claim, s->q->mem);
    float best = COVERAGE;
    for (uint32_t i = 0; i < s->sources->n_sentences; i++) {
        const qp_sentence *sentence = &s->sources->sentences[i];
        if ((source != QP_NO_ID && sentence->source != source) || qp_words_lack_number(&w, &s->of[i]))
            continue;
        float share = qp_words_share(&w, &s->of[i]);
        if (share >= best && (!*out || share > best)) {
            best = share;
            *out = sentence;
        }
    }
    return *out || !s->q->embedder ? QP_OK : find_paraphrase(s, claim, &w, source, out, err);
}
