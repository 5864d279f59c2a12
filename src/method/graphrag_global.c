/* GraphRAG's global search: every report of the level is asked for the points that help (map), the best points are read
 * together (reduce). Without a writer a report's points are its relations, and a point helps as much as it is near the
 * question.
 */
#include <math.h>

#include <stdlib.h>

#include "base/vector.h"
#include "method/graphrag.h"
#include "op/budget.h"
#include "op/ops.h"
#include "op/prompt.h"

/* ---- communities by how near they are ---- */

/* Dot products of the relations' vectors with the question's, a block at a time; sum: the vectors' sum. */
static bool dots(qp_query *q, const qp_id *edge, uint32_t n, float *row, float *sum, float *dot)
{
    uint32_t dim = q->graph->dim;
    const float *v = qp_query_vector(q);
    if (!v || q->graph->vectors(q->graph->self, "triple.dense", edge, n, row, &q->err))
        return false;
    memset(sum, 0, dim * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        dot[i] = qp_dot(v, row + (size_t)i * dim, dim);
        for (uint32_t d = 0; d < dim; d++)
            sum[d] += row[(size_t)i * dim + d];
    }
    return true;
}

static bool report_may_be_read(const qp_query *q, const qp_communities *c, uint32_t community)
{
    return c->given ? qp_query_allows(q, c->given[community].from) : c->relations[community];
}

/* The report itself where it was given, else the relations that it would tell. */
static float nearness(qp_query *q, const qp_communities *c, uint32_t community, float *sum, float relations)
{
    uint32_t dim = q->graph->dim;
    if (c->given) {
        memset(sum, 0, dim * sizeof *sum);
        if (!qp_report_vector(q, &c->given[community], sum))
            return 0;
    }
    float length = sqrtf(qp_dot(sum, sum, dim));
    float dot = c->given ? qp_dot(qp_query_vector(q), sum, dim) : relations;
    return length > 0 ? dot / length : 0;
}

static bool may_be_read(qp_query *q, qp_id edge)
{
    qp_link link;
    return !q->allow || (!q->graph->link(q->graph->self, &edge, 1, &link, &q->err) && qp_query_allows(q, link.from) &&
                         qp_query_allows(q, link.to));
}

static int nearest_first(const void *a, const void *b)
{
    const graphrag_rated *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->community > y->community) - (x->community < y->community);
}

const graphrag_rated *graphrag_rate(qp_query *q, const graphrag_opt *o, const qp_communities *c, uint32_t *n)
{
    const uint64_t *read = qp_communities_at(q, c, (uint32_t)o->level);
    graphrag_rated *out = qp_new(q->mem, graphrag_rated, c->parts.n_at + 1u);
    size_t dim = q->graph->dim;
    float *row = qp_new(q->mem, float, QP_REPORT_RELATIONS *dim + 1), *sum = qp_new(q->mem, float, dim + 1);
    *n = 0;
    if (!read || !out || !row || !sum) {
        qp_oom(&q->err);
        return NULL;
    }
    for (uint32_t i = 0; i < c->parts.n_at && !qp_query_over(q, "communities"); i++) {
        float dot[QP_REPORT_RELATIONS], mean = 0;
        qp_hit hit[QP_REPORT_RELATIONS];
        uint32_t kept = 0;
        const qp_id *edge = c->relation + (size_t)i * QP_REPORT_RELATIONS;
        if (!(read[i / 64] >> (i % 64) & 1) || !report_may_be_read(q, c, i) ||
            !dots(q, edge, c->relations[i], row, sum, dot))
            continue;
        for (uint32_t j = 0; j < c->relations[i]; j++) {
            mean += dot[j];
            if (may_be_read(q, edge[j]))
                hit[kept++] = (qp_hit){edge[j], QP_NO_ID, dot[j], NULL};
        }
        if (kept || c->given)
            out[(*n)++] = (graphrag_rated){i, nearness(q, c, i, sum, mean), qp_list_sorted(q, hit, kept, kept)};
    }
    if (*n)
        qsort(out, *n, sizeof *out, nearest_first);
    return q->err.code == QP_OK ? out : NULL;
}

/* ---- map and reduce without a writer ---- */

static qp_list points_of(qp_query *q, const graphrag_opt *o, const graphrag_rated *rated, uint32_t n)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, (size_t)n * (size_t)o->points + 1);
    uint32_t kept = 0;
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < n; i++)
        for (uint32_t j = 0; j < rated[i].edges.n && j < o->points; j++)
            if (rated[i].edges.at[j].score > 0) /* what does not help at all is left out */
                hit[kept++] = rated[i].edges.at[j];
    return qp_list_sorted(q, hit, kept, kept);
}

/* ---- map and reduce by the writer ---- */

typedef struct point {
    qp_str text;
    uint32_t score, report; /* 0 to 100; place among the rated */
} point;

typedef struct points {
    point *at;
    uint32_t n, cap;
} points;

static const char *grammar_of(qp_query *q, uint32_t n, uint32_t most)
{
    qp_buf text = {0};
    qp_buf_fmt(&text, "root ::= \"none\" | point{1,%u}\npoint ::= score \" [\" number \"] \" [^\\n]{1,300} \"\\n\"\n",
               most);
    qp_buf_text(&text, "score ::= \"100\" | [1-9] [0-9] | [0-9]\nnumber ::= ");
    for (uint32_t i = n; i; i--) /* longer numbers first */
        qp_buf_fmt(&text, "%s\"%u\"", i < n ? " | " : "", i);
    qp_buf_char(&text, '\n');
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&text);
    return out.at;
}

static uint32_t number(qp_str *s)
{
    uint32_t n = 0;
    size_t i = 0;
    for (; i < s->n && s->at[i] >= '0' && s->at[i] <= '9'; i++)
        n = n < 100000 ? 10 * n + (uint32_t)(s->at[i] - '0') : n;
    *s = qp_str_slice(*s, i, s->n);
    return n;
}

/* "80 [3] what it says", of the reports from `first` on; another line is none. */
static void read_point(qp_query *q, points *p, qp_str line, uint32_t first, uint32_t n)
{
    uint32_t score = number(&line);
    if (!qp_str_starts(line, QP_STR(" [")))
        return;
    line = qp_str_slice(line, 2, line.n);
    uint32_t report = number(&line);
    if (!qp_str_starts(line, QP_STR("] ")) || !report || report > n || !score || score > 100)
        return;
    if (p->n == p->cap) {
        point *more = qp_new(q->mem, point, 2 * (size_t)p->cap + 16);
        if (!more) {
            qp_oom(&q->err);
            return;
        }
        if (p->n)
            memcpy(more, p->at, p->n * sizeof *more);
        p->at = more;
        p->cap = 2 * p->cap + 16;
    }
    p->at[p->n++] = (point){qp_str_trim(qp_str_slice(line, 2, line.n)), score, first + report - 1};
}

static void ask_batch(qp_query *q, const graphrag_opt *o, points *p, qp_str reports, uint32_t first, uint32_t n)
{
    qp_str k = qp_arena_fmt(q->mem, "%u", (unsigned)o->points);
    const qp_field fields[] = {{"question", q->text}, {"reports", reports}, {"k", k}};
    const char *grammar = grammar_of(q, n, (uint32_t)o->points);
    qp_str prompt = qp_prompt(q, o->map_prompt, "graphrag-map.txt", fields, 3);
    if (q->err.code != QP_OK)
        return;
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = 1000, .grammar = grammar});
    for (qp_str rest = said; rest.at && rest.n;)
        read_point(q, p, qp_str_trim(qp_str_split(rest, '\n', &rest)), first, n);
}

/* As many reports at a time as the writer is given to read. */
static points ask_all(qp_query *q, const graphrag_opt *o, const qp_communities *c, const graphrag_rated *rated,
                      uint32_t n)
{
    points p = {0};
    uint32_t first = 0, used = 0;
    qp_buf batch = {0};
    for (uint32_t i = 0; i <= n && q->err.code == QP_OK; i++) {
        qp_str report = i < n ? qp_community_report(q, c, rated[i].community, graphrag_writes(q, o)) : (qp_str){"", 0};
        uint32_t tokens = 0;
        if (q->err.code != QP_OK || qp_count_tokens(q->writer, &report, 1, &tokens, &q->err))
            break;
        if (i > first && (i == n || used + tokens > o->tokens)) {
            ask_batch(q, o, &p, qp_buf_view(&batch), first, i - first);
            qp_buf_clear(&batch);
            first = i;
            used = 0;
        }
        used += tokens;
        qp_buf_fmt(&batch, "[%u] %.*s\n", i - first + 1, (int)report.n, report.at);
    }
    if (batch.oom)
        qp_oom(&q->err);
    qp_buf_free(&batch);
    return p;
}

static int helps_most(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->report > y->report) - (x->report < y->report);
}

/* The points are reported, best first; what their communities' reports tell is what they rest on. */
static qp_list by_writer(qp_query *q, const graphrag_opt *o, const qp_communities *c, const graphrag_rated *rated,
                         uint32_t n)
{
    points p = ask_all(q, o, c, rated, n);
    qp_set out = {0};
    if (p.n)
        qsort(p.at, p.n, sizeof *p.at, helps_most);
    for (uint32_t i = 0; i < p.n && q->err.code == QP_OK; i++) {
        graphrag_report(q, p.at[i].text, (uint32_t)o->tokens);
        out = qp_join(q, out, (qp_set){.edges = rated[p.at[i].report].edges});
    }
    return out.edges;
}

/* Without a writer what was written before is what there is to read. */
static void report_nearest(qp_query *q, const graphrag_opt *o, const qp_communities *c, const graphrag_rated *rated,
                           uint32_t n)
{
    for (uint32_t i = 0; i < n && i < GRAPHRAG_FOLD && q->err.code == QP_OK; i++)
        graphrag_report(q, qp_str_trim(qp_community_report(q, c, rated[i].community, false)), (uint32_t)o->tokens);
}

qp_set graphrag_global(qp_query *q, const graphrag_opt *o, const qp_communities *c, const uint64_t *texts)
{
    uint32_t n;
    const graphrag_rated *rated = graphrag_rate(q, o, c, &n);
    if (!rated)
        return (qp_set){0};
    qp_set found = {.edges = q->writer ? by_writer(q, o, c, rated, n) : points_of(q, o, rated, n)};
    if (c->given && !q->writer)
        report_nearest(q, o, c, rated, n);
    found = qp_budget(q, found, "edges", (uint32_t)o->tokens);
    qp_set ends = found.edges.n ? qp_induce_set(q, found) : (qp_set){0};
    qp_set out = found.edges.n && q->graph->entity ? graphrag_units(q, found, "all", texts) : qp_set_of(ends.nodes);
    q->extracted = ends;
    out.edges = found.edges;
    return out;
}
