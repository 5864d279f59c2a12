#include "answer/extract.h"

#include <stdlib.h>

#include "answer/words.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "op/op.h"

enum { MOST_QUOTES = 3, MOST_SENTENCES = 64 };

/* Bytes. What is shorter is a label ("Reliable.", "- Download"), near to any question that its title is near to. */
enum { LABEL = 20 };

/* A sentence worth quoting beside a better one scores at least this share of it. */
static const float NEAR = .8f;

/* Of equally near sentences the one in the better hit: a whole list's length down costs this much. */
static const float RANK_WEIGHT = .2f;

static uint32_t considered(const qp_sources *s)
{
    return s->n_sentences < MOST_SENTENCES ? s->n_sentences : MOST_SENTENCES;
}

/* What a sentence's place and shape add to its likeness; a label is quoted only where labels are all there is. */
static float bonus(const qp_sources *s, const qp_sentence *sentence)
{
    float place = RANK_WEIGHT * (1 - (float)sentence->source / (float)s->n);
    return sentence->text.n < LABEL ? place - 1 : place;
}

/* "Title: sentence", since a sentence alone often names its subject by a pronoun. */
static qp_str in_context(qp_query *q, const qp_sources *s, const qp_sentence *sentence)
{
    qp_str title = s->at[sentence->source].about.title;
    return title.n
               ? qp_arena_fmt(q->mem, "%.*s: %.*s", (int)title.n, title.at, (int)sentence->text.n, sentence->text.at)
               : sentence->text;
}

/* Nearness by meaning, -1 to 1. */
static qp_code add_dense(qp_query *q, const qp_sources *s, qp_err *err)
{
    uint32_t n = considered(s), dim = q->embedder->dim;
    const float *v = qp_query_vector(q);
    qp_str *texts = qp_new(q->mem, qp_str, n);
    float *vectors = qp_new(q->mem, float, (size_t)n *dim);
    if (!v)
        return qp_fail(err, q->err.code, "%s", q->err.message);
    if (!texts || !vectors)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = in_context(q, s, &s->sentences[i]);
    double began = qp_now_ms();
    qp_code code = q->embedder->embed(q->embedder->self, QP_PASSAGE, texts, n, vectors, err);
    qp_trace_add_model_ms(q, "embed", qp_now_ms() - began);
    for (uint32_t i = 0; i < n && !code; i++) {
        float dot = 0;
        for (uint32_t d = 0; d < dim; d++)
            dot += v[d] * vectors[(size_t)i * dim + d];
        s->sentences[i].score += dot;
    }
    return code;
}

/* The share of the question's content words that a sentence holds, 0 to 1. */
static qp_code add_lexical(qp_query *q, const qp_sources *s, qp_err *err)
{
    qp_terms *terms = NULL;
    qp_code code = qp_terms_open("en", &terms, err);
    if (code)
        return code;
    qp_words question = qp_words_of(terms, q->text, q->mem);
    for (uint32_t i = 0; i < considered(s); i++) {
        qp_words held = qp_words_of(terms, in_context(q, s, &s->sentences[i]), q->mem);
        s->sentences[i].score += qp_words_share(&question, &held);
    }
    qp_terms_close(terms);
    return QP_OK;
}

static int by_score(const void *a, const void *b)
{
    const qp_sentence *x = *(const qp_sentence *const *)a, *y = *(const qp_sentence *const *)b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const qp_sentence *x = *(const qp_sentence *const *)a, *y = *(const qp_sentence *const *)b;
    return (x > y) - (x < y);
}

/* The quotes, in reading order. */
static uint32_t choose(const qp_sources *s, const qp_sentence **order)
{
    uint32_t n = considered(s), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        order[i] = &s->sentences[i];
    qsort(order, n, sizeof *order, by_score);
    while (kept < n && kept < MOST_QUOTES && order[kept]->score >= NEAR * order[0]->score)
        kept++;
    if (!kept && n)
        kept = 1;
    qsort(order, kept, sizeof *order, by_place);
    return kept;
}

qp_code qp_answer_extract(qp_query *q, const qp_sources *s, qp_answer *answer, qp_err *err)
{
    for (uint32_t i = 0; i < considered(s); i++)
        s->sentences[i].score = bonus(s, &s->sentences[i]);
    qp_code code = add_lexical(q, s, err);
    if (!code && q->embedder)
        code = add_dense(q, s, err);
    if (code)
        return code;
    const qp_sentence **order = qp_new(q->mem, const qp_sentence *, considered(s) + 1);
    qp_citation *citations = qp_new(q->mem, qp_citation, MOST_QUOTES);
    if (!order || !citations)
        return qp_oom(err);
    uint32_t n = choose(s, order);
    qp_buf text = {0};
    for (uint32_t i = 0; i < n; i++) {
        const qp_source *source = &s->at[order[i]->source];
        citations[i] = (qp_citation){.n = order[i]->source + 1,
                                     .node = source->node,
                                     .from = order[i]->at,
                                     .to = order[i]->at + order[i]->text.n,
                                     .quote = order[i]->text,
                                     .supported = true};
        qp_buf_fmt(&text, "%s%.*s [%u]", i ? " " : "", (int)order[i]->text.n, order[i]->text.at, citations[i].n);
    }
    *answer = (qp_answer){.text = qp_arena_str(q->mem, qp_buf_view(&text)),
                          .citations = citations,
                          .n_citations = n,
                          .extracted = true,
                          .prompt_tokens = s->tokens};
    code = text.oom ? qp_oom(err) : QP_OK;
    qp_buf_free(&text);
    return code;
}
