/* PathRAG's flow: paths between nodes, by the resource that reaches the nodes on them.
 *
 * From each node of the set, S = 1 of it flows outward, a hop at a time. A node hands alpha of what it holds to its
 * neighbours, to all alike, and is given its own once, by the hop before it; one that would hand less than theta to
 * each hands nothing. So a start reaches at most 1 / ((1 - alpha) theta) nodes, whatever the size of the graph. A path
 * goes where the flow goes, and is worth the sum of S over its nodes, by its edges. All paths to a node are of one
 * length, so the best k of them are the best k of those that came before, and one step more.
 */
#include "op/idmap.h"
#include "op/ops.h"

typedef struct flow_opt {
    double alpha, theta;
    int64_t k, hops;
    const char *edges;
} flow_opt;

static const qp_opt opts[] = {{"alpha", "share of its resource that a node hands on", QP_FLOAT,
                               offsetof(flow_opt, alpha), "0.7", 0, 1, NULL},
                              {"theta", "what a neighbour is handed at least, or none is", QP_FLOAT,
                               offsetof(flow_opt, theta), "0.05", 1e-6, 1, NULL},
                              {"k", "how many paths stay", QP_INT, offsetof(flow_opt, k), "15", 1, 10000, NULL},
                              {"hops", "longest path", QP_INT, offsetof(flow_opt, hops), "8", 1, 32, NULL},
                              QP_EDGES_HERE(flow_opt),
                              {0}};

typedef struct reached { /* a node that the flow came to */
    qp_id id;
    double resource;
    qp_hit *path; /* at most k, best first; the score of each is the sum so far */
    uint32_t n, hop;
} reached;

typedef struct flow {
    qp_query *q;
    const flow_opt *o;
    qp_idmap goal; /* the set's nodes */
    qp_idmap at;   /* node -> place in node */
    reached *node;
    uint32_t n, cap;
    qp_hit *pool; /* paths between two of the set */
    uint32_t n_pool, pool_cap;
} flow;

/* Room for one more, in the query's arena; null without memory. */
static void *room(qp_query *q, void *at, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return at;
    char *more = qp_new(q->mem, char, (2 * (size_t)*cap + 64) * size);
    if (more && n)
        memcpy(more, at, n * size);
    if (!more)
        qp_oom(&q->err);
    *cap = 2 * *cap + 64;
    return more;
}

static reached *reach(flow *f, qp_id id, uint32_t hop)
{
    bool added;
    const uint32_t *place = qp_idmap_put(&f->at, id, f->n, &added);
    if (place && added)
        f->node = room(f->q, f->node, f->n, &f->cap, sizeof *f->node);
    if (!place || !f->node) {
        qp_oom(&f->q->err);
        return NULL;
    }
    if (added)
        f->node[f->n++] = (reached){.id = id, .hop = hop};
    return &f->node[*place];
}

/* Keeps the best k, the earlier of equals. */
static bool keep(flow *f, reached *to, qp_hit path)
{
    uint32_t k = (uint32_t)f->o->k, i;
    if (!to->path && !(to->path = qp_new(f->q->mem, qp_hit, k)))
        return !qp_oom(&f->q->err);
    if (to->n == k && to->path[k - 1].score >= path.score)
        return true;
    to->n += to->n < k;
    for (i = to->n - 1; i && to->path[i - 1].score < path.score; i--)
        to->path[i] = to->path[i - 1];
    to->path[i] = path;
    return true;
}

/* One node's paths, one step longer, to its neighbours in the next hop. */
static bool go_on(flow *f, uint32_t from, const qp_row *row)
{
    uint32_t hop = f->node[from].hop + 1;
    for (uint32_t j = 0; j < row->n; j++) {
        const uint32_t *place = qp_idmap_get(&f->at, row->node[j]);
        reached *to = place ? &f->node[*place] : NULL;
        for (uint32_t i = 0; to && to->hop == hop && i < f->node[from].n; i++) {
            const qp_hit *before = &f->node[from].path[i];
            if (!keep(f, to, (qp_hit){to->id, row->edge[j], before->score + (float)to->resource, before}))
                return false;
        }
    }
    return true;
}

/* The nodes from..to-1 of one hop hand on: first all they have, so that each of the next has its own, then their
 * paths. */
static bool hand_on(flow *f, uint32_t from, uint32_t to)
{
    qp_query *q = f->q;
    qp_id *ids = qp_new(q->mem, qp_id, to - from + 1u);
    uint32_t *place = qp_new(q->mem, uint32_t, to - from + 1u), n = 0;
    for (uint32_t i = from; ids && place && i < to; i++)
        ids[i - from] = f->node[i].id;
    if (!ids || !place)
        return !qp_oom(&q->err);
    const qp_row *rows = qp_query_rows(q, q->walk, ids, to - from);
    for (uint32_t i = from; rows && i < to; i++) {
        const qp_row *row = &rows[i - from];
        double share = row->n ? f->node[i].resource / row->n : 0;
        if (share < f->o->theta)
            continue;
        place[n++] = i;
        for (uint32_t j = 0; j < row->n; j++) {
            reached *next = qp_query_allows(q, row->node[j]) ? reach(f, row->node[j], f->node[i].hop + 1) : NULL;
            if (next && next->hop == f->node[i].hop + 1)
                next->resource += f->o->alpha * share;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (!go_on(f, place[i], &rows[place[i] - from]))
            return false;
    return q->err.code == QP_OK;
}

static bool flow_from(flow *f, qp_id start)
{
    f->at = qp_idmap_in(f->q->mem);
    f->node = NULL;
    f->n = f->cap = 0;
    reached *first = reach(f, start, 0);
    if (!first || !keep(f, first, (qp_hit){start, QP_NO_ID, 1, NULL}))
        return false;
    first->resource = 1;
    for (uint32_t from = 0, to = 1, hop = 0; from < to && hop < f->o->hops; from = to, to = f->n, hop++)
        if (!hand_on(f, from, to))
            return false;
    for (uint32_t i = 1; i < f->n; i++)
        for (uint32_t j = 0; qp_idmap_get(&f->goal, f->node[i].id) && j < f->node[i].n; j++) {
            f->pool = room(f->q, f->pool, f->n_pool, &f->pool_cap, sizeof *f->pool);
            if (!f->pool)
                return false;
            f->pool[f->n_pool] = f->node[i].path[j];
            f->pool[f->n_pool++].score /= (float)f->node[i].hop;
        }
    return true;
}

static bool same_way_back(const qp_hit *a, const qp_hit *b)
{
    const qp_hit *back[33];
    uint32_t n = 0;
    for (; a; a = a->from)
        back[n++] = a;
    for (; b && n; b = b->from)
        if (back[--n]->id != b->id)
            return false;
    return !b && !n;
}

/* A path and its way back are one: the better stays. */
static qp_list best_of(flow *f)
{
    qp_list all = qp_list_sorted(f->q, f->pool, f->n_pool, f->n_pool);
    qp_hit *out = qp_new(f->q->mem, qp_hit, (size_t)f->o->k + 1);
    uint32_t n = 0;
    if (!out)
        qp_oom(&f->q->err);
    for (uint32_t i = 0; out && i < all.n && n < f->o->k; i++) {
        bool known = false;
        for (uint32_t j = 0; j < n && !known; j++)
            known = same_way_back(&out[j], &all.at[i]);
        if (!known)
            out[n++] = all.at[i];
    }
    return (qp_list){out, n};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    flow f = {.q = q, .o = opt, .goal = qp_idmap_in(q->mem)};
    qp_walk outer = q->walk;
    qp_set out = in[0];
    (void)n_in;
    q->walk = qp_query_walk(q, f.o->edges, NULL);
    for (uint32_t i = 0; i < out.nodes.n; i++)
        if (!qp_idmap_put(&f.goal, out.nodes.at[i].id, 0, NULL))
            qp_oom(&q->err);
    for (uint32_t i = 0; i < out.nodes.n && !qp_query_over(q, "flow"); i++)
        if (!flow_from(&f, out.nodes.at[i].id))
            break;
    out.paths = best_of(&f);
    q->walk = outer;
    return out;
}

const qp_op qp_op_flow = {
    .name = "flow",
    .help = "the best paths between a set's nodes, by the resource that flows along them from one to the other",
    .source = "PathRAG, path retrieval (flow-based pruning)",
    .opts = opts,
    .opt_size = sizeof(flow_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_flow(qp_query *q, qp_set nodes, double alpha, double theta, uint32_t k)
{
    return qp_run(q, &qp_op_flow, &nodes, 1, &(flow_opt){.alpha = alpha, .theta = theta, .k = k, .hops = 8});
}
