#include "op/chain.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/shelf.h"
#include "op/ops.h"

enum { SPACES = 8 }; /* kept, of as many threads as ask at once */

struct qp_walked_kept {
    qp_arena *mem; /* the arcs, where the view had to make them */
    qp_chain *chain;
    pthread_mutex_t lock;
    qp_ppr_space *space[SPACES];
    int n_spaces;
};

typedef struct asking {
    const qp_view *graph;
    qp_walk walk;
} asking;

static void drop(void *thing)
{
    struct qp_walked_kept *k = thing;
    for (int i = 0; i < k->n_spaces; i++)
        qp_ppr_space_free(k->space[i]);
    pthread_mutex_destroy(&k->lock);
    qp_chain_free(k->chain);
    qp_arena_free(k->mem);
    free(k);
}

/* The arcs of the walk and, where it has a direction, those of the walk turned round. */
static qp_code make_chain(const asking *a, struct qp_walked_kept *k, qp_err *err)
{
    const qp_view *g = a->graph;
    qp_arcs out = {0}, in = {0};
    bool directed = a->walk.direction != QP_BOTH;
    qp_code code = g->arcs(g->self, a->walk, &out, k->mem, err);
    if (!code && directed)
        code = g->arcs(g->self, qp_walk_reversed(a->walk), &in, k->mem, err);
    const qp_csr rows = {out.n, out.start, out.node, NULL}, columns = {in.n, in.start, in.node, NULL};
    return code ? code : qp_chain_new(&rows, directed ? &columns : NULL, &k->chain, err);
}

static qp_code make(void *ctx, void **thing, qp_err *err)
{
    struct qp_walked_kept *k = calloc(1, sizeof *k);
    if (!k)
        return qp_oom(err);
    pthread_mutex_init(&k->lock, NULL);
    k->mem = qp_arena_new();
    qp_code code = k->mem ? make_chain(ctx, k, err) : qp_oom(err);
    if (code)
        drop(k);
    else
        *thing = k;
    return code;
}

bool qp_query_chain(qp_query *q, qp_walk walk, qp_walked *out)
{
    static const qp_shelf_kind kind = {make, drop};
    void *thing;
    *out = (qp_walked){0};
    asking a = {q->graph, walk};
    struct { /* the walk without its padding */
        uint64_t types;
        uint32_t direction, across;
    } key = {walk.types, walk.direction, walk.across};
    if (q->err.code != QP_OK || qp_shelf_get(q->graph->shelf, &kind, &key, sizeof key, &a, &thing, &out->kept, &q->err))
        return false;
    out->in = thing;
    out->chain = out->in->chain;
    return true;
}

void qp_walked_done(qp_walked *w)
{
    if (w->in && !w->kept)
        drop(w->in);
    *w = (qp_walked){0};
}

qp_ppr_space *qp_walked_space(qp_query *q, const qp_walked *w)
{
    struct qp_walked_kept *k = w->in;
    qp_ppr_space *space = NULL;
    pthread_mutex_lock(&k->lock);
    if (k->n_spaces)
        space = k->space[--k->n_spaces];
    pthread_mutex_unlock(&k->lock);
    if (!space)
        qp_ppr_space_new(k->chain, &space, &q->err);
    return space;
}

void qp_walked_give(const qp_walked *w, qp_ppr_space *space)
{
    struct qp_walked_kept *k = w->in;
    if (!space)
        return;
    pthread_mutex_lock(&k->lock);
    bool room = k->n_spaces < SPACES;
    if (room)
        k->space[k->n_spaces++] = space;
    pthread_mutex_unlock(&k->lock);
    if (!room)
        qp_ppr_space_free(space);
}

bool qp_query_parts(qp_query *q, qp_walk walk, qp_partition *out)
{
    qp_parts p = {0};
    *out = (qp_partition){0};
    if (walk.types == UINT64_MAX && walk.direction == QP_BOTH && !walk.across && q->graph->parts &&
        q->graph->parts(q->graph->self, &p, &q->err))
        return false;
    *out = (qp_partition){p.n, p.n_parts, p.part, p.start, p.member};
    return q->err.code == QP_OK;
}

qp_list qp_query_scored(qp_query *q, const qp_scored *at, uint32_t n)
{
    qp_hit *hits = q->err.code == QP_OK ? qp_new(q->mem, qp_hit, n + 1u) : NULL;
    uint32_t kept = 0;
    if (!hits)
        qp_oom(&q->err);
    for (uint32_t i = 0; hits && i < n; i++)
        if (qp_query_allows(q, at[i].node))
            hits[kept++] = (qp_hit){at[i].node, QP_NO_ID, (float)at[i].score, NULL};
    return qp_list_sorted(q, hits, kept, kept);
}
