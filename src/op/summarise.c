/* Contextual summaries: what each hit and its neighbours say of the question, by a writer, or by their nearest
 * sentences (CG-RAG, 4.4, equation 19). The set goes through as it is; the summaries are kept with the query, for the
 * answer. */
#include <stdlib.h>

#include "base/vector.h"
#include "op/ops.h"
#include "op/prompt.h"
#include "text/sentence.h"

enum { MOST_SENTENCES = 64, QUOTED = 3 };

static const qp_opt opts[] = {QP_SUMMARISE_OPTIONS(qp_summarise_opt, ), {0}};

typedef struct context { /* a hit and those around it: texts, the hit's own first */
    const qp_str *text;
    uint32_t n;
} context;

/* The ends of the set's edges that begin or end in the node. */
static context context_of(qp_query *q, qp_id node, const qp_link *links, uint32_t n_links)
{
    qp_id *ids = qp_new(q->mem, qp_id, n_links + 1u);
    qp_str *text = qp_new(q->mem, qp_str, n_links + 1u);
    uint32_t n = 1;
    if (!ids || !text)
        return qp_oom(&q->err), (context){0};
    ids[0] = node;
    for (uint32_t i = 0; i < n_links; i++) {
        qp_id other = links[i].from == node ? links[i].to : links[i].to == node ? links[i].from : node;
        bool there = false;
        for (uint32_t k = 0; k < n && !there; k++)
            there = ids[k] == other;
        if (!there)
            ids[n++] = other;
    }
    if (q->graph->text(q->graph->self, QP_NODE, ids, n, text, q->mem, &q->err))
        n = 0;
    return (context){text, n};
}

static qp_str written(qp_query *q, const context *c, const qp_summarise_opt *o)
{
    qp_buf around = {0};
    for (uint32_t i = 1; i < c->n; i++) {
        qp_buf_text(&around, i > 1 ? "\n\n- " : "- ");
        qp_prompt_add(&around, c->text[i]);
    }
    const qp_field fields[] = {{"question", q->text}, {"passage", c->text[0]}, {"around", qp_buf_view(&around)}};
    qp_str prompt = qp_prompt(q, o->prompt, "summary.txt", fields, 3);
    if (around.oom)
        qp_oom(&q->err);
    qp_buf_free(&around);
    return q->err.code ? prompt : qp_write(q, prompt, (qp_sampling){.max_tokens = (uint32_t)o->tokens});
}

typedef struct scored {
    qp_str text;
    float score;
} scored;

static int best_first(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->text.at > y->text.at) - (x->text.at < y->text.at);
}

/* The sentences nearest to the question. */
static qp_str quoted(qp_query *q, const context *c)
{
    scored *s = qp_new(q->mem, scored, MOST_SENTENCES);
    qp_str *text = qp_new(q->mem, qp_str, MOST_SENTENCES);
    const float *v = qp_query_vector(q);
    float *vectors = v ? qp_new(q->mem, float, (size_t)MOST_SENTENCES * q->graph->dim) : NULL;
    uint32_t n = 0;
    qp_span span;
    qp_buf out = {0};
    if (!s || !text || !vectors)
        return v ? qp_oom(&q->err) : 0, (qp_str){"", 0};
    for (uint32_t i = 0; i < c->n; i++)
        for (size_t at = 0; n < MOST_SENTENCES && qp_sentence_next(c->text[i], &at, &span);)
            text[n++] = qp_str_slice(c->text[i], span.from, span.to);
    if (n && q->embedder->embed(q->embedder->self, QP_PASSAGE, text, n, vectors, &q->err))
        n = 0;
    for (uint32_t i = 0; i < n; i++)
        s[i] = (scored){text[i], qp_dot(v, vectors + (size_t)i * q->graph->dim, q->graph->dim)};
    qsort(s, n, sizeof *s, best_first);
    for (uint32_t i = 0; i < n && i < QUOTED; i++) {
        qp_buf_text(&out, i ? " " : "");
        qp_buf_str(&out, s[i].text);
    }
    qp_str kept = qp_arena_str(q->mem, qp_buf_view(&out));
    if (out.oom || !kept.at)
        qp_oom(&q->err);
    qp_buf_free(&out);
    return kept;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_summarise_opt *o = opt;
    uint32_t most = in[0].nodes.n < o->summed ? in[0].nodes.n : (uint32_t)o->summed;
    (void)n_in;
    if (*o->by == 'n')
        return in[0];
    const qp_link *links = qp_list_links(q, in[0].edges);
    qp_summary *made = qp_new(q->mem, qp_summary, most + 1u);
    if (!links || !made)
        return links ? qp_oom(&q->err) : 0, (qp_set){0};
    q->n_summary = 0;
    for (uint32_t i = 0; i < most && !qp_query_over(q, "summarise"); i++) {
        context c = context_of(q, in[0].nodes.at[i].id, links, in[0].edges.n);
        if (c.n)
            made[q->n_summary++] =
                (qp_summary){in[0].nodes.at[i].id, *o->by == 'w' ? written(q, &c, o) : quoted(q, &c)};
    }
    q->summary = made;
    q->summaries_alone = !o->chunks;
    return in[0];
}

unsigned qp_summarise_asks(const void *opt)
{
    const qp_summarise_opt *o = opt;
    return *o->by == 'w' ? QP_NEEDS_WRITER : *o->by == 'e' ? QP_NEEDS_EMBEDDER : 0;
}

const qp_op qp_op_summarise = {
    .name = "summarise",
    .help = "sums up for the question what each of a set's nodes and its neighbours by the set's edges say",
    .source = "CG-RAG, 4.4, equations 19 and 20",
    .opts = opts,
    .opt_size = sizeof(qp_summarise_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .asks = qp_summarise_asks,
};
