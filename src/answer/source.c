#include "answer/source.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "op/budget.h"
#include "text/sentence.h"

enum { MOST_SOURCES = 32 };

/* The chunk's own text, which is the end of what it is found by. */
static qp_code read_source(qp_query *q, qp_id node, qp_source *s, qp_err *err)
{
    const qp_view *graph = q->graph;
    qp_str text;
    s->node = node;
    qp_code code = graph->about(graph->self, &node, 1, &s->about, q->mem, err);
    if (!code)
        code = graph->text(graph->self, QP_NODE, &node, 1, &text, q->mem, err);
    if (code)
        return code;
    uint64_t own = s->about.to - s->about.from;
    s->text = own && own <= text.n ? qp_str_slice(text, text.n - own, text.n) : text;
    return QP_OK;
}

typedef struct taker {
    qp_query *q;
    qp_sources *out;
    const qp_model *counter;
    uint32_t budget, cap; /* cap: room for sentences */
} taker;

static qp_code add_sentence(taker *t, qp_sentence s, qp_err *err)
{
    qp_sources *out = t->out;
    if (out->n_sentences == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 64;
        qp_sentence *grown = qp_new(t->q->mem, qp_sentence, cap);
        if (!grown)
            return qp_oom(err);
        if (out->n_sentences)
            memcpy(grown, out->sentences, out->n_sentences * sizeof *grown);
        out->sentences = grown;
        t->cap = cap;
    }
    out->sentences[out->n_sentences++] = s;
    return QP_OK;
}

/* Takes sentences while the budget lasts; the source's text ends with the last one taken. The very first sentence is
 * always taken, or there would be nothing to answer from. */
static qp_code take_sentences(taker *t, qp_source *s, bool *full, qp_err *err)
{
    qp_code code = QP_OK;
    qp_span span;
    size_t end = 0;
    for (size_t at = 0; !code && qp_sentence_next(s->text, &at, &span);) {
        qp_str text = qp_str_slice(s->text, span.from, span.to);
        uint32_t tokens = 0;
        code = qp_count_tokens(t->counter, &text, 1, &tokens, err);
        if (!code && t->out->tokens + tokens > t->budget && t->out->n_sentences) {
            *full = true;
            break;
        }
        if (!code)
            code = add_sentence(t,
                                (qp_sentence){.text = text,
                                              .source = t->out->n,
                                              .at = s->about.from + (uint64_t)(text.at - s->text.at)},
                                err);
        t->out->tokens += tokens;
        end = span.to;
    }
    s->text = qp_str_trim(qp_str_slice(s->text, 0, end));
    return code;
}

qp_code qp_sources_take(qp_query *q, qp_set evidence, uint32_t budget, const qp_model *counter, qp_sources *out,
                        qp_err *err)
{
    uint32_t most = evidence.nodes.n < MOST_SOURCES ? evidence.nodes.n : MOST_SOURCES;
    taker t = {.q = q, .out = out, .counter = counter, .budget = budget};
    *out = (qp_sources){.at = qp_new(q->mem, qp_source, most)};
    if (!out->at)
        return qp_oom(err);
    bool full = false;
    for (uint32_t i = 0; i < most && !full; i++) {
        qp_source *s = &out->at[out->n];
        qp_code code = read_source(q, evidence.nodes.at[i].id, s, err);
        if (!code)
            code = take_sentences(&t, s, &full, err);
        if (code)
            return code;
        if (s->text.n)
            out->n++;
    }
    return QP_OK;
}
