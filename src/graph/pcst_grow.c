/* Growth. Every cluster of nodes that still has prize left grows a moat around itself at rate 1, and pays for it with its
 * prize. An edge whose two ends have together grown its cost is tight: the clusters become one. A cluster whose prize
 * is spent sleeps until another one reaches it.
 *
 * An edge has two parts, one for each end; a part waits in the heap of its end's cluster for the time at which the edge may
 * be tight: while both ends grow, half of what is missing, else all of it. When the time of a part comes, the edge is
 * tight or what is missing is shared anew (Hegde, Indyk and Schmidt, section 3): the two parts together always ask for
 * the edge's cost, so one of them is due when it is tight. Heaps of sleeping clusters stand still: their times are
 * moved when the cluster wakes.
 *
 * A node without a prize sleeps from the start and has no heap before another cluster takes it in, so an instance with
 * few prizes costs what they reach, after one pass over the edges.
 */
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "graph/pairing.h"
#include "graph/pcst_parts.h"

#define EPS 1e-9                 /* of an edge's cost: what is missing less than that is rounding */
#define EDGE (UINT32_C(1) << 31) /* in the queue: a cluster's first edge; without it: the end of its prize */

typedef struct cluster {
    double prize;           /* of its nodes */
    double moats;           /* grown by the clusters inside it */
    double since;           /* it grows; asleep: it sleeps */
    double grown;           /* its own moat, when it has ended */
    double queued;          /* the time that its first edge has in the queue */
    uint32_t heap;          /* of the parts around it */
    bool grows, root, open; /* open: a node whose parts are in a heap */
} cluster;

typedef struct above { /* a cluster on the way to the one that it is now part of */
    double grown;      /* moats from it up to `to`, without that one's */
    uint32_t to;       /* 0: it is part of none */
} above;

typedef struct growth {
    const qp_pcst_graph *g;
    uint32_t *start, *part; /* the parts of node v: part[start[v]] .. ; part 2 e is edge e's from, 2 e + 1 its to */
    cluster *at;            /* 2 n */
    above *above;           /* 2 n */
    qp_pairing *pair;       /* 2 m + 1: part p is node p + 1 */
    qp_heap queue;
    double now;
    uint32_t growing;
    bool oom;
    qp_pcst_forest out;
} growth;

void qp_pcst_forest_free(qp_pcst_forest *f)
{
    free(f->merge);
    free(f->inside);
    free(f->good);
    *f = (qp_pcst_forest){0};
}

static uint32_t end_of(const qp_pcst_graph *g, uint32_t part)
{
    return part % 2 ? g->to[part / 2] : g->from[part / 2];
}

/* The cluster that node v is in, and how far the moats around v reach. Halves the way for the next one. */
static uint32_t cluster_of(growth *s, uint32_t v, double *reach)
{
    above *at = s->above;
    double sum = 0;
    for (uint32_t next; (next = at[v].to); v = next) {
        if (at[next].to) {
            at[v].grown += at[next].grown;
            at[v].to = next = at[next].to;
        }
        sum += at[v].grown;
    }
    const cluster *c = &s->at[v];
    *reach = sum + (c->grows ? s->now - c->since : c->grown);
    return v;
}

static void push(growth *s, double time, uint32_t what)
{
    if (!qp_heap_push(&s->queue, time, what))
        s->oom = true;
}

/* Has the cluster's first edge in the queue. An entry of a later time may stay behind; when it comes it is not `queued`. */
static void queue_edge(growth *s, uint32_t c)
{
    cluster *at = &s->at[c];
    if (at->heap && s->pair[at->heap].key < at->queued)
        push(s, at->queued = s->pair[at->heap].key, c | EDGE);
}

/* Puts part p of growing cluster c in its heap, for an edge that misses `rest` to another cluster w, and sets the time of
 * the other part, which until now was to wait for all of the rest. */
static void wait(growth *s, uint32_t p, uint32_t c, uint32_t w, double rest)
{
    cluster *mine = &s->at[c], *other = &s->at[w];
    double time = s->now + (other->grows ? rest / 2 : rest);
    mine->heap = qp_pairing_insert(s->pair, mine->heap, p + 1, time);
    p ^= 1;
    if (!s->pair[p + 1].in || other->root) /* the root's cluster never wakes */
        return;
    if (other->grows) {
        other->heap = qp_pairing_lower(s->pair, other->heap, p + 1, s->now + rest, time);
        queue_edge(s, w);
    } else { /* due as soon as that cluster wakes */
        other->heap = qp_pairing_lower(s->pair, other->heap, p + 1, other->since + rest, other->since);
    }
}

/* Node v, without a prize, was taken in by growing cluster c: its edges wait from now on. */
static void open_node(growth *s, uint32_t v, uint32_t c)
{
    s->at[v].open = true;
    for (uint32_t i = s->start[v]; i < s->start[v + 1]; i++) {
        double mine, theirs;
        uint32_t p = s->part[i], w = cluster_of(s, end_of(s->g, p ^ 1), &theirs);
        if (w == c)
            continue;
        cluster_of(s, v, &mine);
        wait(s, p, c, w, fmax(0, (double)s->g->cost[p / 2] - mine - theirs));
    }
}

/* The cluster grows no more: its prize is spent, or it becomes part of another. */
static void stop(growth *s, uint32_t c)
{
    cluster *at = &s->at[c];
    at->grows = false;
    at->grown = s->now - at->since;
    at->since = s->now;
    s->growing--;
}

static void merge(growth *s, uint32_t p, uint32_t c, uint32_t w)
{
    uint32_t i = s->out.n_merges++, made = s->g->n + i;
    cluster *a = &s->at[c], *b = &s->at[w], *both = &s->at[made];
    bool asleep = !b->grows, fresh = asleep && w < s->g->n && !b->open;
    s->out.merge[i] = (qp_pcst_merge){p / 2, asleep && !b->root ? w : NO_CLUSTER, end_of(s->g, p ^ 1)};
    stop(s, c);
    if (!asleep)
        stop(s, w);
    else if (!b->root)
        qp_pairing_move(s->pair, b->heap, s->now - b->since);
    s->above[c] = (above){a->grown, made};
    s->above[w] = (above){b->grown, made};
    s->out.inside[c] = s->out.inside[w] = made;
    *both = (cluster){.prize = a->prize + b->prize,
                      .moats = a->moats + a->grown + b->moats + b->grown,
                      .since = s->now,
                      .queued = INFINITY,
                      .grows = !b->root,
                      .root = b->root};
    if (both->root)
        return;
    both->heap = qp_pairing_meld(s->pair, a->heap, b->heap);
    s->growing++;
    push(s, s->now + fmax(0, both->prize - both->moats), made);
    if (fresh)
        open_node(s, w, made);
    queue_edge(s, made);
}

/* The time of the cluster's first edge has come. */
static void edge_is_due(growth *s, uint32_t c)
{
    cluster *at = &s->at[c];
    uint32_t p = at->heap - 1;
    double cost = (double)s->g->cost[p / 2], mine, theirs;
    at->heap = qp_pairing_pop(s->pair, at->heap);
    at->queued = INFINITY;
    uint32_t w = cluster_of(s, end_of(s->g, p ^ 1), &theirs);
    if (w != c) {
        cluster_of(s, end_of(s->g, p), &mine);
        double rest = cost - mine - theirs;
        if (rest <= EPS * cost || s->now + rest / 2 <= s->now) { /* too little to move the clock by is none */
            merge(s, p, c, w);
            return;
        }
        wait(s, p, c, w, rest);
    }
    queue_edge(s, c);
}

static void run(growth *s, uint32_t trees)
{
    while (s->growing > trees && s->queue.n && !s->oom) {
        qp_heap_item next = qp_heap_pop(&s->queue);
        uint32_t c = next.id & ~EDGE;
        if (!s->at[c].grows || (next.id & EDGE && next.key != s->at[c].queued))
            continue;
        s->now = fmax(s->now, next.key);
        if (next.id & EDGE)
            edge_is_due(s, c);
        else
            stop(s, c);
    }
}

/* The nodes with prizes begin. Between two that grow, each part waits for half of the cost. */
static void begin(growth *s, uint32_t root)
{
    const qp_pcst_graph *g = s->g;
    for (uint32_t v = 0; v < g->n; v++) {
        bool grows = g->prize[v] > 0 && v != root;
        if (grows || v == root)
            s->at[v] = (cluster){.prize = (double)g->prize[v], .grows = grows, .open = grows, .root = !grows};
        s->growing += grows;
    }
    for (uint32_t v = 0; v < g->n && !s->oom; v++) {
        cluster *c = &s->at[v];
        if (!c->grows)
            continue;
        for (uint32_t i = s->start[v]; i < s->start[v + 1]; i++) {
            uint32_t p = s->part[i], w = end_of(g, p ^ 1);
            double cost = (double)g->cost[p / 2];
            if (w != v)
                c->heap = qp_pairing_insert(s->pair, c->heap, p + 1, s->at[w].grows ? cost / 2 : cost);
        }
        c->queued = INFINITY;
        push(s, c->prize, v);
        queue_edge(s, v);
    }
}

/* The parts of each node, rising. */
static void sort_parts(growth *s)
{
    const qp_pcst_graph *g = s->g;
    for (uint32_t e = 0; e < g->m; e++) {
        s->start[g->from[e]]++;
        s->start[g->to[e]]++;
    }
    for (uint32_t v = 1; v <= g->n; v++)
        s->start[v] += s->start[v - 1];
    for (uint32_t e = g->m; e-- > 0;) {
        s->part[--s->start[g->to[e]]] = 2 * e + 1;
        s->part[--s->start[g->from[e]]] = 2 * e;
    }
}

static bool make_room(growth *s)
{
    size_t n = s->g->n, m = s->g->m;
    s->start = calloc(n + 1, sizeof *s->start);
    s->part = malloc((2 * m + 1) * sizeof *s->part);
    s->at = calloc(2 * n + 1, sizeof *s->at); /* calloc: pages that growth does not reach cost nothing */
    s->above = calloc(2 * n + 1, sizeof *s->above);
    s->pair = calloc(2 * m + 1, sizeof *s->pair);
    s->out.inside = calloc(2 * n + 1, sizeof *s->out.inside);
    s->out.merge = malloc((n + 1) * sizeof *s->out.merge);
    s->out.good = calloc(n + 1, 1);
    return s->start && s->part && s->at && s->above && s->pair && s->out.inside && s->out.merge && s->out.good;
}

qp_code qp_pcst_grow(const qp_pcst_graph *g, uint32_t root, uint32_t trees, qp_pcst_forest *out, qp_err *err)
{
    growth s = {.g = g};
    s.oom = !make_room(&s);
    if (!s.oom) {
        sort_parts(&s);
        begin(&s, root);
        run(&s, root == QP_NO_ROOT ? trees : 0);
    }
    for (uint32_t v = 0; !s.oom && v < g->n; v++) {
        double reach;
        const cluster *c = &s.at[cluster_of(&s, v, &reach)];
        s.out.good[v] = c->grows || c->root;
    }
    free(s.start);
    free(s.part);
    free(s.at);
    free(s.above);
    free(s.pair);
    qp_heap_free(&s.queue);
    if (s.oom) {
        qp_pcst_forest_free(&s.out);
        return qp_oom(err);
    }
    *out = s.out;
    return QP_OK;
}
