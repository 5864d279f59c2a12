/* GraphRAG's DRIFT search: the reports nearest to the question say what to look for next, and each of that is searched
 * locally, round by round. Without a writer a report's own direction is what follows: the mean of the question's vector
 * and the community's.
 */
#include <math.h>

#include "base/vector.h"
#include "method/graphrag.h"
#include "op/ops.h"
#include "op/prompt.h"

enum { MOST = 64 };

typedef struct drift {
    qp_query *q;
    const graphrag_opt *o;
    const uint64_t *texts;
    qp_set found[MOST], seen; /* a ranking for each search */
    int n;
} drift;

/* A local search with another vector. */
static void search_by(drift *d, const float *vector)
{
    qp_query *q = d->q;
    const float *outer = q->vector;
    if (!vector || d->n == MOST || q->err.code != QP_OK)
        return;
    q->vector = vector;
    d->found[d->n++] = graphrag_local(q, d->o, d->texts);
    d->seen = qp_join(q, d->seen, q->extracted);
    q->vector = outer;
}

static bool add_relations(qp_query *q, qp_list edges, float *sum)
{
    uint32_t dim = q->graph->dim, n = edges.n;
    const qp_id *ids = qp_list_ids(q, edges);
    float *row = qp_new(q->mem, float, (size_t)n *dim + 1);
    if (!row)
        qp_oom(&q->err);
    if (!ids || !row || q->graph->vectors(q->graph->self, "triple.dense", ids, n, row, &q->err))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < dim; j++)
            sum[j] += row[(size_t)i * dim + j];
    return true;
}

/* The mean of the question's vector and that of a community's given report, or of its relations. */
static const float *towards(qp_query *q, const qp_communities *c, const graphrag_rated *r)
{
    uint32_t dim = q->graph->dim;
    const float *v = qp_query_vector(q);
    float *out = qp_new(q->mem, float, dim + 1);
    if (!out)
        qp_oom(&q->err);
    if (!v || !out || !(c->given ? qp_report_vector(q, &c->given[r->community], out) : add_relations(q, r->edges, out)))
        return NULL;
    float length = sqrtf(qp_dot(out, out, dim));
    for (uint32_t j = 0; j < dim; j++)
        out[j] = v[j] + (length > 0 ? out[j] / length : 0);
    length = sqrtf(qp_dot(out, out, dim));
    for (uint32_t j = 0; j < dim; j++)
        out[j] = length > 0 ? out[j] / length : v[j];
    return out;
}

/* ---- what a writer would look for ---- */

/* Lines that the writer asks after it has read `known`; at most `most`. */
static uint32_t ask_on(drift *d, qp_str question, qp_str known, uint32_t most, qp_str *out)
{
    qp_query *q = d->q;
    qp_str k = qp_arena_fmt(q->mem, "%u", most);
    qp_str grammar = qp_arena_fmt(q->mem, "root ::= line{1,%u}\nline ::= [^\\n]{3,200} \"\\n\"\n", most);
    const qp_field fields[] = {{"question", question}, {"known", known}, {"k", k}};
    qp_str prompt = qp_prompt(q, d->o->drift_prompt, "graphrag-drift.txt", fields, 3), said = {0};
    uint32_t n = 0;
    if (q->err.code == QP_OK && grammar.at)
        said = qp_write(q, prompt, (qp_sampling){.max_tokens = 64 * most, .grammar = grammar.at});
    for (qp_str rest = said; rest.at && rest.n && n < most;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        if (line.n)
            out[n++] = line;
    }
    return n;
}

static qp_str triples(qp_query *q, qp_list edges)
{
    qp_str all = {"", 0}, line;
    for (uint32_t i = 0; i < edges.n && i < QP_REPORT_RELATIONS && q->err.code == QP_OK; i++)
        if (!q->graph->text(q->graph->self, QP_TRIPLE, &edges.at[i].id, 1, &line, q->mem, &q->err))
            all = qp_arena_fmt(q->mem, "%.*s%.*s\n", (int)all.n, all.at, (int)line.n, line.at);
    return all.at ? all : (qp_str){"", 0};
}

/* Round by round: each question is searched, and what that found leads to new ones. */
static void by_writer(drift *d, qp_str known)
{
    qp_query *q = d->q;
    qp_str asked[MOST], next[MOST], text = q->text;
    uint32_t n = ask_on(d, text, known, (uint32_t)d->o->followups, asked);
    for (int64_t round = 0; round < d->o->depth && n; round++) {
        uint32_t n_next = 0;
        for (uint32_t i = 0; i < n && d->n < MOST && q->err.code == QP_OK; i++) {
            const float *vector = q->vector;
            q->text = asked[i];
            q->vector = NULL;
            const float *of = qp_query_vector(q);
            q->text = text;
            q->vector = vector;
            search_by(d, of);
            if (round + 1 < d->o->depth && n_next < d->o->followups && d->n < MOST && q->err.code == QP_OK)
                n_next += ask_on(d, asked[i], triples(q, q->extracted.edges), 1, next + n_next);
        }
        memcpy(asked, next, n_next * sizeof *asked);
        n = n_next;
    }
}

qp_set graphrag_drift(qp_query *q, const graphrag_opt *o, const qp_communities *c, const uint64_t *texts)
{
    drift *d = qp_new(q->mem, drift, 1);
    uint32_t n;
    const graphrag_rated *rated = d ? graphrag_rate(q, o, c, &n) : NULL;
    if (!d)
        qp_oom(&q->err);
    if (!rated)
        return (qp_set){0};
    d->q = q;
    d->o = o;
    d->texts = texts;
    search_by(d, qp_query_vector(q));
    for (uint32_t i = 0; i < n && i < GRAPHRAG_FOLD; i++)
        graphrag_report(q, qp_str_trim(qp_community_report(q, c, rated[i].community, graphrag_writes(q, o))),
                        (uint32_t)o->tokens);
    if (q->writer)
        by_writer(d, q->report);
    for (uint32_t i = 0; !q->writer && i < n && i < o->followups; i++)
        search_by(d, towards(q, c, &rated[i]));
    q->extracted = d->seen;
    return q->err.code == QP_OK ? qp_turns(q, d->found, d->n, 0) : (qp_set){0};
}
