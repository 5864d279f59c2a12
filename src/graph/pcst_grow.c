/* Growth. Every cluster of nodes that still has prize left grows a moat around itself at rate 1, and pays for it with
 * its prize. An edge whose two ends have together grown its cost is tight: the clusters become one. A cluster whose
 * prize is spent sleeps until another one reaches it.
 *
 * An edge has two parts, one for each end; a part waits in the heap of its end's cluster for the time at which the edge
 * may be tight: while both ends grow, half of what is missing, else all of it. When the time of a part comes, the edge
 * is tight or what is missing is shared anew (Hegde, Indyk and Schmidt, section 3): the two parts together always ask
 * for the edge's cost, so one of them is due when it is tight. Heaps of sleeping clusters stand still: their times are
 * moved, by one number, when the cluster wakes. When clusters merge, the smaller heap goes into the larger. That moves
 * a part some few times in all, but arrays are so much nearer to the processor than linked heaps which meld at once
 * that it was three times as fast and more.
 *
 * A node without a prize sleeps from the start and has no heap before another cluster takes it in, so an instance with
 * few prizes costs what they reach, after one pass over the edges.
 */
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "graph/pcst_parts.h"

#define EPS 1e-9                 /* of an edge's cost: what is missing less than that is rounding */
#define EDGE (UINT32_C(1) << 31) /* in the queue: a cluster's first edge; without it: the end of its prize */

enum { AHEAD = 8 }; /* edges that are fetched before they are looked at */

typedef struct cluster { /* named by one of its nodes, the root of a tree in `above` */
    double prize;        /* of its nodes */
    double moats;        /* grown by the clusters inside it */
    double since;        /* it grows; asleep: it sleeps */
    double grown;        /* around that node before then, by all clusters that it was in */
    double shift;        /* to be added to the heap's keys to make times */
    double queued;       /* the time that its first edge has in the queue */
    qp_heap heap;        /* of the parts around it: tag is the part's turn */
    uint32_t name;       /* in forest.inside; 0: the node is alone, and it is the node's */
    uint32_t size;       /* nodes, but for a node alone 0 */
    bool grows, root;
} cluster;

typedef struct above {
    double more; /* what has grown around it, less what has around `to` */
    uint32_t to; /* 1 + a node of the same cluster; 0: it names the cluster */
} above;

typedef struct wire { /* an edge, all that is asked of it in one place; part 2 e + i is its end i */
    uint32_t end[2];
    float cost;
    uint32_t turn[2]; /* times that a part was put in a heap, the last of which counts; 0: its node has no heap yet */
} wire;

typedef struct growth {
    const qp_pcst_graph *g;
    wire *wire;             /* m */
    uint32_t *start, *part; /* the parts of node v: part[start[v]] .. part[start[v + 1] - 1] */
    cluster *at;            /* n */
    above *above;           /* n */
    qp_heap queue;          /* of clusters: tag is the cluster's name then */
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

static uint32_t end_of(const growth *s, uint32_t part)
{
    return s->wire[part / 2].end[part % 2];
}

static uint32_t *turn_of(const growth *s, uint32_t part)
{
    return &s->wire[part / 2].turn[part % 2];
}

/* The cluster that node v is in, and how far the moats around v reach. Halves the way for the next one. */
static uint32_t cluster_of(growth *s, uint32_t v, double *reach)
{
    above *at = s->above;
    double sum = 0;
    for (uint32_t next; (next = at[v].to); v = next - 1) {
        if (at[next - 1].to) {
            at[v].more += at[next - 1].more;
            at[v].to = next = at[next - 1].to;
        }
        sum += at[v].more;
    }
    const cluster *c = &s->at[v];
    *reach = sum + c->grown + (c->grows ? s->now - c->since : 0);
    return v;
}

static uint32_t name_of(const growth *s, uint32_t c)
{
    return s->at[c].name ? s->at[c].name : c;
}

static void push(growth *s, double time, uint32_t what)
{
    if (!qp_heap_push(&s->queue, time, what, name_of(s, what & ~EDGE)))
        s->oom = true;
}

/* Puts part p in the heap of its cluster c; where it may be already does not count any more. */
static void put(growth *s, uint32_t c, uint32_t p, double time)
{
    if (!qp_heap_push(&s->at[c].heap, time - s->at[c].shift, p, ++*turn_of(s, p)))
        s->oom = true;
}

/* Has the growing cluster's first edge in the queue; parts that do not count, or have both ends in the cluster, go. An
 * entry of a later time may stay in the queue; when it comes it is not `queued`. */
static void queue_edge(growth *s, uint32_t c)
{
    cluster *at = &s->at[c];
    double reach;
    for (; at->heap.n; qp_heap_pop(&at->heap)) {
        qp_heap_item first = at->heap.at[0];
        if (first.tag != *turn_of(s, first.id) || cluster_of(s, end_of(s, first.id ^ 1), &reach) == c)
            continue;
        double time = first.key + at->shift;
        if (time < at->queued)
            push(s, at->queued = time, c | EDGE);
        return;
    }
}

/* Part p of growing cluster c waits for an edge that misses `rest` to cluster w, and the other part's time is set. */
static void wait(growth *s, uint32_t p, uint32_t c, uint32_t w, double rest)
{
    const cluster *other = &s->at[w];
    double time = s->now + (other->grows ? rest / 2 : rest);
    put(s, c, p, time);
    if (!*turn_of(s, p ^ 1) || other->root) /* the root's cluster never wakes */
        return;
    put(s, w, p ^ 1, other->grows ? time : other->since); /* asleep: due as soon as it wakes */
    if (other->grows)
        queue_edge(s, w);
}

/* Node v, without a prize and so without a moat, was taken in by growing cluster c: its edges wait from now on. */
static void open_node(growth *s, uint32_t v, uint32_t c)
{
    for (uint32_t i = s->start[v]; i < s->start[v + 1]; i++) {
        __builtin_prefetch(turn_of(s, s->part[i + AHEAD]));
        uint32_t p = s->part[i], w = end_of(s, p ^ 1);
        double cost = (double)s->wire[p / 2].cost, reach;
        if (w == v)
            continue;
        if (!*turn_of(s, p ^ 1)) { /* another such node, or the root: nothing has grown there */
            put(s, c, p, s->now + cost);
            continue;
        }
        w = cluster_of(s, w, &reach);
        if (w != c)
            wait(s, p, c, w, fmax(0, cost - reach));
    }
}

/* The cluster grows no more: its prize is spent, or it becomes part of another. */
static void stop(growth *s, uint32_t c)
{
    cluster *at = &s->at[c];
    at->grows = false;
    at->grown += s->now - at->since;
    at->moats += s->now - at->since;
    at->since = s->now;
    s->growing--;
}

/* The heaps of two clusters as one, in c. */
static void meld(growth *s, cluster *c, cluster *w)
{
    if (c->heap.n < w->heap.n) {
        qp_heap heap = c->heap;
        double shift = c->shift;
        c->heap = w->heap;
        c->shift = w->shift;
        w->heap = heap;
        w->shift = shift;
    }
    for (size_t i = 0; i < w->heap.n; i++) {
        qp_heap_item x = w->heap.at[i];
        if (x.tag == *turn_of(s, x.id) && !qp_heap_push(&c->heap, x.key + w->shift - c->shift, x.id, x.tag))
            s->oom = true;
    }
    qp_heap_free(&w->heap);
}

/* Makes one cluster of two that have stopped; the one with fewer nodes is hung below the other, which is returned. */
static uint32_t join(growth *s, uint32_t c, uint32_t w, uint32_t name)
{
    cluster *a = &s->at[c], *b = &s->at[w];
    if (a->size < b->size) {
        uint32_t swap = c;
        c = w;
        w = swap;
        a = &s->at[c];
        b = &s->at[w];
    }
    s->out.inside[name_of(s, c)] = s->out.inside[name_of(s, w)] = name;
    s->above[w] = (above){b->grown - a->grown, c + 1};
    a->size += b->size + !a->size + !b->size;
    a->prize += b->prize;
    a->moats += b->moats;
    a->root = a->root || b->root;
    a->since = s->now;
    a->name = name;
    a->queued = INFINITY;
    meld(s, a, b);
    return c;
}

static void merge(growth *s, uint32_t p, uint32_t c, uint32_t w)
{
    uint32_t i = s->out.n_merges++, v = end_of(s, p ^ 1);
    cluster *other = &s->at[w];
    bool asleep = !other->grows, fresh = !*turn_of(s, p ^ 1);
    s->out.merge[i] = (qp_pcst_merge){p / 2, asleep && !other->root ? name_of(s, w) : QP_NO_CLUSTER, v};
    stop(s, c);
    if (asleep)
        other->shift += s->now - other->since;
    else
        stop(s, w);
    c = join(s, c, w, s->g->n + i);
    if (s->at[c].root)
        return;
    s->at[c].grows = true;
    s->growing++;
    push(s, s->now + fmax(0, s->at[c].prize - s->at[c].moats), c);
    if (fresh)
        open_node(s, v, c);
    queue_edge(s, c);
}

/* The time of the cluster's first edge has come. */
static void edge_is_due(growth *s, uint32_t c)
{
    uint32_t p = qp_heap_pop(&s->at[c].heap).id;
    double cost = (double)s->wire[p / 2].cost, mine, theirs;
    uint32_t w = cluster_of(s, end_of(s, p ^ 1), &theirs);
    cluster_of(s, end_of(s, p), &mine);
    double rest = cost - mine - theirs;
    s->at[c].queued = INFINITY;
    if (rest <= EPS * cost || s->now + rest / 2 <= s->now) { /* too little to move the clock by is none */
        merge(s, p, c, w);
    } else {
        wait(s, p, c, w, rest);
        queue_edge(s, c);
    }
}

static void run(growth *s, uint32_t trees)
{
    while (s->growing > trees && s->queue.n && !s->oom) {
        qp_heap_item next = qp_heap_pop(&s->queue);
        uint32_t c = next.id & ~EDGE;
        if (!s->at[c].grows || next.tag != name_of(s, c) || (next.id & EDGE && next.key != s->at[c].queued))
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
            s->at[v] = (cluster){.prize = (double)g->prize[v], .queued = INFINITY, .grows = grows, .root = !grows};
        s->growing += grows;
    }
    for (uint32_t v = 0; v < g->n && !s->oom; v++) {
        if (!s->at[v].grows)
            continue;
        s->oom = !qp_heap_reserve(&s->at[v].heap, s->start[v + 1] - s->start[v]);
        for (uint32_t i = s->start[v]; i < s->start[v + 1] && !s->oom; i++) {
            uint32_t p = s->part[i], w = end_of(s, p ^ 1);
            double cost = (double)s->wire[p / 2].cost;
            if (w != v)
                put(s, v, p, s->at[w].grows ? cost / 2 : cost);
        }
        push(s, s->at[v].prize, v);
        queue_edge(s, v);
    }
}

/* The edges, and the parts of each node, rising. */
static void lay_wires(growth *s)
{
    const qp_pcst_graph *g = s->g;
    for (uint32_t e = 0; e < g->m; e++) {
        s->wire[e] = (wire){{g->from[e], g->to[e]}, g->cost[e], {0, 0}};
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
    s->part = calloc(2 * m + AHEAD, sizeof *s->part); /* read AHEAD of its end: zeros */
    s->wire = malloc((m + 1) * sizeof *s->wire);
    s->at = calloc(n + 1, sizeof *s->at); /* calloc: pages that growth does not reach cost nothing */
    s->above = calloc(n + 1, sizeof *s->above);
    s->out.inside = calloc(2 * n + 1, sizeof *s->out.inside);
    s->out.merge = malloc((n + 1) * sizeof *s->out.merge);
    s->out.good = calloc(n + 1, 1);
    return s->start && s->part && s->wire && s->at && s->above && s->out.inside && s->out.merge && s->out.good;
}

qp_code qp_pcst_grow(const qp_pcst_graph *g, uint32_t root, uint32_t trees, qp_pcst_forest *out, qp_err *err)
{
    growth s = {.g = g};
    s.oom = !make_room(&s);
    if (!s.oom) {
        lay_wires(&s);
        begin(&s, root);
        run(&s, root == QP_NO_ROOT ? trees : 0);
    }
    for (uint32_t v = 0; !s.oom && v < g->n; v++) {
        double reach;
        const cluster *c = &s.at[cluster_of(&s, v, &reach)];
        s.out.good[v] = c->grows || c->root;
    }
    for (uint32_t v = 0; s.at && v < g->n; v++)
        qp_heap_free(&s.at[v].heap);
    free(s.start);
    free(s.part);
    free(s.wire);
    free(s.at);
    free(s.above);
    qp_heap_free(&s.queue);
    if (s.oom) {
        qp_pcst_forest_free(&s.out);
        return qp_oom(err);
    }
    *out = s.out;
    return QP_OK;
}
