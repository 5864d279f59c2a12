/* The sixteenth instance: Microsoft's GraphRAG. Leiden communities of the graph, and the writer's report on the
 * smallest one that holds an entity the question starts from (methods.md, 4), added to what the paths say. */
#include "graph/leiden.h"

#include "method/lego.h"
#include "op/chain.h"
#include "op/ops.h"
#include "op/prompt.h"

enum { TRIPLES = 100 }; /* that the writer reads: of the nodes first in order, as many as there are room for */

/* The index's, or found now. */
static qp_partition communities(qp_query *q, uint64_t seed)
{
    const qp_walk walk = {q->walk.types, QP_BOTH, q->walk.across};
    const qp_leiden_options how = {.gamma = 1, .random = seed, .cancel = q->cancel};
    qp_partition parts = {0};
    qp_walked walked;
    double modularity;
    if (!qp_query_parts(q, walk, &parts) || parts.n)
        return parts;
    if (qp_query_chain(q, walk, &walked))
        qp_leiden(walked.chain, &how, q->mem, &parts, &modularity, &q->err);
    qp_walked_done(&walked);
    return parts;
}

/* The smallest community of a start; *n its size, 0 after an error or without starts. */
static const uint32_t *community(qp_query *q, qp_list starts, uint64_t seed, uint32_t *n)
{
    qp_partition parts = starts.n ? communities(q, seed) : (qp_partition){0};
    const uint32_t *best = NULL;
    *n = 0;
    for (uint32_t i = 0; q->err.code == QP_OK && parts.n && i < starts.n; i++) {
        uint32_t part = parts.part[starts.at[i].id], size = parts.start[part + 1] - parts.start[part];
        if (!best || size < *n) {
            best = parts.member + parts.start[part];
            *n = size;
        }
    }
    return best;
}

static qp_str triples_of(qp_query *q, const uint32_t *member, uint32_t n)
{
    qp_hit *node = qp_new(q->mem, qp_hit, n + 1u);
    if (!node)
        qp_oom(&q->err);
    for (uint32_t i = 0; node && i < n; i++)
        node[i] = (qp_hit){member[i], QP_NO_ID, 0, NULL};
    qp_list edges = qp_induce_set(q, qp_set_of((qp_list){node, node ? n : 0})).edges;
    edges.n = edges.n < TRIPLES ? edges.n : TRIPLES;
    const qp_id *ids = qp_list_ids(q, edges);
    qp_str *text = qp_new(q->mem, qp_str, edges.n + 1u);
    qp_buf lines = {0};
    if (!ids || !text || q->graph->text(q->graph->self, QP_TRIPLE, ids, edges.n, text, q->mem, &q->err))
        return (qp_str){"", 0};
    for (uint32_t i = 0; i < edges.n; i++) {
        qp_prompt_add(&lines, text[i]);
        qp_buf_char(&lines, '\n');
    }
    qp_str out = lines.oom ? (qp_str){0} : qp_arena_str(q->mem, lines.n ? qp_buf_view(&lines) : QP_STR(""));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&lines);
    return out;
}

qp_str lego_report(qp_query *q, const lego_opt *o, qp_set starts)
{
    uint32_t n;
    const uint32_t *member = community(q, starts.nodes, (uint64_t)o->seed, &n);
    if (!n || q->err.code != QP_OK)
        return (qp_str){"", 0};
    qp_str prompt = qp_prompt(q, NULL, "lego-report.txt", &(qp_field){"items", triples_of(q, member, n)}, 1);
    return q->err.code == QP_OK ? qp_write(q, prompt, (qp_sampling){.max_tokens = (uint32_t)o->report_tokens})
                                : (qp_str){"", 0};
}
