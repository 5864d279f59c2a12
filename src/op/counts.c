#include "op/counts.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/shelf.h"
#include "op/budget.h"

enum { BLOCK = 32 }; /* texts that are read at once */

/* Of each node its tokens + 1; 0: not counted yet. Two questions that count the same write the same. */
static qp_code make(void *ctx, void **thing, qp_err *err)
{
    *thing = calloc(*(const uint32_t *)ctx + (size_t)1, sizeof(uint32_t));
    return *thing ? QP_OK : qp_oom(err);
}

/* Of at most BLOCK texts. */
static bool count(qp_query *q, const qp_model *counter, qp_kind kind, const qp_id *ids, uint32_t n, uint32_t *tokens)
{
    qp_str text[BLOCK];
    return !q->graph->text(q->graph->self, kind, ids, n, text, q->mem, &q->err) &&
           !qp_count_tokens(counter, text, n, tokens, &q->err);
}

/* The same of nodes; those that are known are not read. */
static bool count_nodes(qp_query *q, const qp_model *counter, uint32_t *known, const qp_id *ids, uint32_t n,
                        uint32_t *tokens)
{
    qp_id fresh[BLOCK];
    uint32_t counted[BLOCK], m = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!__atomic_load_n(&known[ids[i]], __ATOMIC_RELAXED))
            fresh[m++] = ids[i];
    if (m && !count(q, counter, QP_NODE, fresh, m, counted))
        return false;
    for (uint32_t i = 0; i < m; i++)
        __atomic_store_n(&known[fresh[i]], counted[i] + 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++)
        tokens[i] = __atomic_load_n(&known[ids[i]], __ATOMIC_RELAXED) - 1;
    return true;
}

bool qp_query_counts(qp_query *q, qp_kind kind, const qp_id *ids, uint32_t n, uint32_t *tokens)
{
    static const qp_shelf_kind shelf = {make, free};
    const qp_model *counter = q->writer && q->writer->count ? q->writer : q->embedder;
    const uint64_t key = qp_hash64(qp_str_of(counter && counter->digest ? counter->digest : ""));
    uint32_t nodes = q->graph->nodes;
    void *known = NULL;
    bool kept = true, counted = q->err.code == QP_OK;
    if (kind == QP_NODE && counted) /* edges may be a question's own, and are short */
        counted = !qp_shelf_get(q->graph->shelf, &shelf, &key, sizeof key, &nodes, &known, &kept, &q->err);
    for (uint32_t at = 0; at < n && counted; at += BLOCK) {
        uint32_t m = n - at < BLOCK ? n - at : BLOCK;
        counted = known ? count_nodes(q, counter, known, ids + at, m, tokens + at)
                        : count(q, counter, kind, ids + at, m, tokens + at);
    }
    if (!kept)
        free(known);
    return counted;
}
