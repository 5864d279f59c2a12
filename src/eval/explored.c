#include "eval/explored.h"

#include "op/describe.h"
#include "op/sub.h"

/* ---- the subgraph, and where in the paths what is right stands ---- */

static uint32_t gold_number(const uint32_t *gold, uint32_t n, uint32_t document)
{
    for (uint32_t i = 0; i < n; i++)
        if (gold[i] == document)
            return i;
    return UINT32_MAX;
}

static void look_at_subgraph(qp_query *q, qp_set found, const uint32_t *gold, uint32_t n_gold,
                             const uint32_t *document_of, qp_explored *out)
{
    qp_sub sub;
    qp_set looked = q->extracted.nodes.n ? q->extracted : found; /* a pipeline's is what it returns */
    if (!looked.nodes.n || !qp_sub_make(q, looked, q->walk, &sub))
        return;
    if (!q->context_tokens)
        out->tokens = qp_tokens(q, qp_describe(q, looked));
    bool *met = qp_new(q->mem, bool, n_gold + 1u);
    out->nodes = sub.n;
    out->edges = (uint32_t)(sub.graph.start[sub.n] / 2);
    out->components = qp_sub_components(q, &sub);
    for (uint32_t v = 0; met && v < sub.n; v++) {
        uint32_t g = gold_number(gold, n_gold, document_of[sub.node[v]]);
        if (g != UINT32_MAX && !met[g]) {
            met[g] = true;
            out->found++;
        }
    }
}

qp_explored *qp_explored_make(qp_query *q, qp_set found, const uint32_t *gold, uint32_t n_gold,
                              const uint32_t *document_of, qp_arena *mem, qp_err *err)
{
    qp_explored *out = qp_new(mem, qp_explored, 1);
    uint32_t *first = qp_new(mem, uint32_t, n_gold + 1u);
    if (!out || !first) {
        qp_oom(err);
        return NULL;
    }
    for (uint32_t g = 0; g < n_gold; g++)
        first[g] = UINT32_MAX;
    for (uint32_t i = 0; i < found.paths.n; i++)
        for (const qp_hit *h = &found.paths.at[i]; h; h = h->from) {
            uint32_t g = gold_number(gold, n_gold, document_of[h->id]);
            if (g != UINT32_MAX && first[g] == UINT32_MAX)
                first[g] = i;
        }
    out->first_path = first;
    out->tokens = q->context_tokens;
    look_at_subgraph(q, found, gold, n_gold, document_of, out);
    if (q->err.code != QP_OK) {
        qp_fail(err, q->err.code, "%s", q->err.message);
        return NULL;
    }
    return out;
}
