#include "op/counts.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/shelf.h"
#include "op/budget.h"

enum { BLOCK = 32 }; /* texts that are read at once */

/* Of each node, or edge, its tokens + 1; 0: not counted yet. Two questions that count the same write the same. */
static qp_code make(void *ctx, void **thing, qp_err *err)
{
    *thing = calloc(*(const size_t *)ctx + 1, sizeof(uint32_t));
    return *thing ? QP_OK : qp_oom(err);
}

static qp_code count(qp_query *q, const qp_model *counter, qp_kind kind, const qp_id *ids, uint32_t n, uint32_t *known)
{
    qp_str text[BLOCK];
    uint32_t tokens[BLOCK];
    if (q->graph->text(q->graph->self, kind, ids, n, text, q->mem, &q->err) ||
        qp_count_tokens(counter, text, n, tokens, &q->err))
        return q->err.code;
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(&known[ids[i]], tokens[i] + 1, __ATOMIC_RELAXED);
    return QP_OK;
}

static qp_code count_new(qp_query *q, const qp_model *counter, qp_kind kind, const qp_id *ids, uint32_t n,
                         uint32_t *known)
{
    qp_id fresh[BLOCK];
    uint32_t n_fresh = 0;
    qp_code code = QP_OK;
    for (uint32_t i = 0; i < n && !code; i++) {
        if (!__atomic_load_n(&known[ids[i]], __ATOMIC_RELAXED))
            fresh[n_fresh++] = ids[i];
        if (n_fresh == BLOCK || (i + 1 == n && n_fresh)) {
            code = count(q, counter, kind, fresh, n_fresh, known);
            n_fresh = 0;
        }
    }
    return code;
}

bool qp_query_counts(qp_query *q, qp_kind kind, const qp_id *ids, uint32_t n, uint32_t *tokens)
{
    static const qp_shelf_kind shelf = {make, free};
    const qp_model *counter = q->writer && q->writer->count ? q->writer : q->embedder;
    const char *digest = counter && counter->digest ? counter->digest : "";
    struct {
        uint64_t counter, kind;
    } key = {qp_hash64(qp_str_of(digest)), kind};
    size_t size = kind == QP_NODE ? q->graph->nodes : q->graph->edges;
    void *known = NULL;
    bool kept = false;
    if (q->err.code != QP_OK || qp_shelf_get(q->graph->shelf, &shelf, &key, sizeof key, &size, &known, &kept, &q->err))
        return false;
    bool counted = !count_new(q, counter, kind, ids, n, known);
    for (uint32_t i = 0; counted && i < n; i++)
        tokens[i] = __atomic_load_n(&((uint32_t *)known)[ids[i]], __ATOMIC_RELAXED) - 1;
    if (!kept)
        free(known);
    return counted;
}
