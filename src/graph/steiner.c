/* As the paper has it, with three differences.
 *
 * The search stops early. While it spreads, all nodes nearer than r are settled, so an edge that is not known yet has
 * an end v at d(v) >= r. As d(u) + c(u,v) >= d(v), the connection d(u) + c(u,v) + d(v) that it closes costs 2 r or
 * more: the known connections up to 2 r can go through Kruskal's algorithm, and when the terminals are joined, the rest
 * of the graph does not matter.
 *
 * It stops early in a graph that falls apart, too. Cells that have touched make a region; a region of which nothing is
 * left to settle is a whole component, whose connections are all known. Once one region is left, and its terminals are
 * joined, the rest of it does not matter.
 *
 * When two sets of terminals are left, and have touched, what joins them is a shortest path from one to the other, and
 * the smaller looks for it alone: it walks where the other has not settled, up to its border. With the other's nodes
 * settled up to r0, an end v that is not known yet has d(v) >= r and is r0 or more from the other, so connections up to
 * r + r0 are known. A terminal that lies far out would else have all others settle half the way to it, which is the
 * whole graph where there are hubs.
 *
 * Step 4. With one shortest-path tree in each cell the paths form a tree already, whose leaves are terminals. We take
 * the minimum spanning tree of ALL edges among its nodes (Kou, Markowsky and Berman's step) and cut the leaves that are
 * no terminals, which can only make it cheaper.
 */
#include "graph/steiner.h"

#include <math.h>

#include "graph/components.h"
#include "graph/sets.h"
#include "graph/wave.h"

typedef struct bridge { /* an edge between two cells */
    uint32_t from;
    uint64_t arc;
} bridge;

struct region { /* of cells that have touched; by terminal number, what it says holds at its root */
    uint32_t root;
    uint32_t open;  /* nodes that are reached and not settled */
    uint32_t apart; /* sets of cells in it */
};

typedef struct growth {
    qp_wave wave;
    const qp_toll *toll;  /* or null */
    uint32_t *set, apart; /* of the cells, by terminal number; sets that are left */
    struct region *region;
    uint32_t n_open; /* regions with nodes to settle */
    bool alone;      /* two sets were left: only this one, named by its smallest number, still grows, */
    uint32_t lone;
    uint32_t *done; /* nodes that are settled, before that */
    size_t n_done, done_cap;
    double border; /* the other settled what is nearer */
    bridge *met;   /* connections that were found, */
    size_t n_met, met_cap;
    qp_heap queue;  /* by what they cost */
    uint32_t *node; /* of the paths, each once; n_nodes */
    size_t n_nodes, nodes_cap;
} growth;

static void growth_end(growth *s)
{
    qp_wave_end(&s->wave);
    qp_heap_free(&s->queue);
    free(s->met);
    free(s->set);
    free(s->region);
    free(s->node);
    free(s->done);
}

static struct region *region_of(growth *s, uint32_t v)
{
    uint32_t at = s->wave.at[v].origin - 1;
    while (s->region[at].root != at)
        at = s->region[at].root = s->region[s->region[at].root].root;
    return &s->region[at];
}

/* What v, just settled, is about to reach: nodes that nobody had, and other regions. */
static void touch(growth *s, uint32_t v)
{
    const qp_csr *g = s->wave.g;
    struct region *own = region_of(s, v);
    own->open--;
    s->n_open--; /* counted again below, if it still is */
    for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
        uint32_t u = g->target[a];
        bool again = a > g->start[v] && g->target[a - 1] == u;
        struct region *other = s->wave.at[u].origin ? region_of(s, u) : NULL;
        own->open += !other && !again;
        if (!other || other == own)
            continue;
        s->n_open -= other->open > 0;
        other->open += own->open;
        other->apart += own->apart;
        own->root = other->root;
        own = other;
    }
    s->n_open += own->open > 0;
}

/* Notes the edges by which v, just settled, touches other cells. */
static qp_code meet(growth *s, uint32_t v, qp_err *err)
{
    const qp_csr *g = s->wave.g;
    const float *cost = s->wave.cost;
    const qp_spot *at = s->wave.at;
    for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++) {
        const qp_spot *u = &at[g->target[a]];
        if (!u->settled || u->origin == at[v].origin ||
            qp_sets_find(s->set, u->origin - 1) == qp_sets_find(s->set, at[v].origin - 1u))
            continue;
        bridge *met = qp_array_room(s->met, s->n_met, &s->met_cap, sizeof *met);
        if (!met)
            return qp_oom(err);
        s->met = met;
        if (s->n_met == UINT32_MAX)
            return qp_fail(err, QP_INPUT, "over %u edges lie between the terminals' cells", UINT32_MAX);
        double length = at[v].cost + (cost ? (double)cost[a] : 1) + u->cost;
        if (!qp_heap_push(&s->queue, length, (uint32_t)s->n_met, 0))
            return qp_oom(err);
        met[s->n_met++] = (bridge){v, a};
    }
    return QP_OK;
}

static bool append(uint32_t **to, size_t *n, size_t *cap, uint32_t v)
{
    uint32_t *more = qp_array_room(*to, *n, cap, sizeof *more);
    if (!more)
        return false;
    *to = more;
    more[(*n)++] = v;
    return true;
}

static bool add_node(growth *s, uint32_t v)
{
    return append(&s->node, &s->n_nodes, &s->nodes_cap, v);
}

/* Adds the path from v back to its terminal, the terminal, which is there, left out. */
static bool add_way(growth *s, uint32_t v)
{
    for (const qp_spot *at = s->wave.at; at[v].arc != QP_NO_ARC; v = at[v].from)
        if (!add_node(s, v))
            return false;
    return true;
}

/* Kruskal's algorithm on the connections that cost at most `most`. */
static qp_code join(growth *s, double most, qp_err *err)
{
    while (s->apart > 1 && s->queue.n && s->queue.at[0].key <= most) {
        bridge b = s->met[qp_heap_pop(&s->queue).id];
        uint32_t to = s->wave.g->target[b.arc];
        if (!qp_sets_unite(s->set, s->wave.at[b.from].origin - 1u, s->wave.at[to].origin - 1u))
            continue;
        s->apart--;
        region_of(s, to)->apart--;
        if (!add_way(s, b.from) || !add_way(s, to))
            return qp_oom(err);
    }
    return QP_OK;
}

static bool is_lone(void *ctx, uint32_t number)
{
    growth *s = ctx;
    return qp_sets_find(s->set, number) == s->lone;
}

/* Of the two sets that are left the one with fewer terminals goes on by itself, if they have touched: then it
 * arrives. */
static qp_code go_alone(growth *s, const uint32_t *terminal, uint32_t n, double border, qp_err *err)
{
    uint32_t first = qp_sets_find(s->set, 0), second = first, n_first = 0;
    if (region_of(s, terminal[0])->apart < 2)
        return QP_OK;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t set = qp_sets_find(s->set, i);
        n_first += set == first;
        second = set == first ? second : set;
    }
    s->alone = true;
    s->lone = 2 * n_first <= n ? first : second;
    s->border = border;
    qp_code code = qp_wave_keep(&s->wave, is_lone, s, err);
    for (size_t i = 0; i < s->n_done && !code; i++) /* what the other had reached is free again */
        if (is_lone(s, s->wave.at[s->done[i]].origin - 1u))
            code = qp_wave_spread(&s->wave, s->done[i], err);
    return code;
}

/* Steps 1 to 3: the nodes of the paths that join the terminals, these first; terminals rise, each once. */
static qp_code grow(growth *s, const uint32_t *terminal, uint32_t n, qp_err *err)
{
    qp_code code = QP_OK;
    s->set = malloc((n + (size_t)1) * sizeof *s->set);
    s->region = malloc((n + (size_t)1) * sizeof *s->region);
    if (!s->set || !s->region)
        return qp_oom(err);
    qp_sets_begin(s->set, n);
    s->apart = s->n_open = n;
    for (uint32_t i = 0; !code && i < n; i++) {
        s->region[i] = (struct region){i, 1, 1};
        code = qp_wave_start(&s->wave, terminal[i], i, err);
        if (!code && !add_node(s, terminal[i]))
            code = qp_oom(err);
    }
    for (uint32_t v; !code && s->apart > 1 && qp_wave_next(&s->wave, &v);) {
        double reached = s->wave.at[v].cost;
        code = join(s, reached + (s->alone ? s->border : reached), err);
        if (!s->alone && s->n_open == 1 && region_of(s, v)->apart == 1)
            break;
        if (!s->alone)
            touch(s, v);
        if (!code && !s->alone && !append(&s->done, &s->n_done, &s->done_cap, v))
            code = qp_oom(err);
        if (!code && s->toll)
            code = s->toll->row(s->toll->ctx, v, err);
        if (!code)
            code = qp_wave_spread(&s->wave, v, err);
        if (!code)
            code = meet(s, v, err);
        if (!code && s->apart == 2 && !s->alone && reached > 0) /* all terminals are settled */
            code = go_alone(s, terminal, n, reached, err);
    }
    return code ? code : join(s, INFINITY, err);
}

/* ---- step 4, and 5: on the few nodes of the paths, numbered anew ---- */

typedef struct edge {
    double cost;
    uint64_t arc; /* in the whole graph */
    uint32_t from, to;
} edge;

typedef struct end {        /* of tree edges: a node */
    uint32_t degree, edges; /* edges: the numbers of its tree edges, all of them xor-ed */
    bool terminal;
} end;

typedef struct tree {
    qp_induced all;
    edge *edge; /* first every edge among the nodes, then those of the tree */
    uint32_t n_edges;
    end *end; /* per node */
} tree;

static int cheaper(const void *x, const void *y)
{
    const edge *a = x, *b = y;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->arc > b->arc) - (a->arc < b->arc);
}

static int rising_arc(const void *x, const void *y)
{
    const edge *a = x, *b = y;
    return (a->arc > b->arc) - (a->arc < b->arc);
}

/* The minimum spanning forest of the nodes. */
static qp_code span(tree *t, const float *cost, qp_arena *mem, qp_err *err)
{
    const qp_csr *g = &t->all.graph;
    uint32_t *set = qp_new(mem, uint32_t, g->n), n = 0, kept = 0;
    t->edge = qp_new(mem, edge, g->start[g->n]);
    t->end = qp_new(mem, end, g->n);
    if (!set || !t->edge || !t->end)
        return qp_oom(err);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint64_t a = g->start[v]; a < g->start[v + 1]; a++)
            if (v < g->target[a])
                t->edge[n++] = (edge){cost ? (double)cost[t->all.arc[a]] : 1, t->all.arc[a], v, g->target[a]};
    qsort(t->edge, n, sizeof *t->edge, cheaper);
    qp_sets_begin(set, g->n);
    for (uint32_t i = 0; i < n; i++) {
        edge e = t->edge[i];
        if (!qp_sets_unite(set, e.from, e.to))
            continue;
        t->end[e.from].degree++;
        t->end[e.to].degree++;
        t->end[e.from].edges ^= kept;
        t->end[e.to].edges ^= kept;
        t->edge[kept++] = e;
    }
    t->n_edges = kept;
    return QP_OK;
}

/* Takes leaves that are no terminals off, until there are none: a taken edge has arc QP_NO_ARC. */
static void prune(tree *t)
{
    for (uint32_t i = 0; i < t->all.graph.n; i++) {
        for (uint32_t v = i; t->end[v].degree == 1 && !t->end[v].terminal;) {
            uint32_t leaf = t->end[v].edges;
            edge *e = &t->edge[leaf];
            uint32_t other = e->from == v ? e->to : e->from;
            t->end[v].degree = 0;
            t->end[other].degree--;
            t->end[other].edges ^= leaf;
            e->arc = QP_NO_ARC;
            v = other;
        }
    }
}

static qp_code write_out(tree *t, qp_steiner *out, qp_arena *mem, qp_err *err)
{
    uint32_t n = t->all.graph.n;
    uint64_t *arc = qp_new(mem, uint64_t, t->n_edges);
    uint32_t *from = qp_new(mem, uint32_t, t->n_edges), *node = qp_new(mem, uint32_t, n);
    if (!arc || !from || !node)
        return qp_oom(err);
    qsort(t->edge, t->n_edges, sizeof *t->edge, rising_arc); /* those taken off come last */
    for (uint32_t i = 0; i < t->n_edges && t->edge[i].arc != QP_NO_ARC; i++) {
        arc[i] = t->edge[i].arc;
        from[i] = t->all.node[t->edge[i].from];
        out->cost += t->edge[i].cost;
        out->n_arcs++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (t->end[i].terminal || t->end[i].degree)
            node[out->n_nodes++] = t->all.node[i];
    out->arc = arc;
    out->from = from;
    out->node = node;
    return QP_OK;
}

static qp_code finish(const growth *s, const uint32_t *terminal, uint32_t n, qp_steiner *out, qp_arena *mem,
                      qp_err *err)
{
    tree t = {0};
    qp_code code = qp_induce(s->wave.g, s->node, (uint32_t)s->n_nodes, &t.all, mem, err);
    if (!code)
        code = span(&t, s->wave.cost, mem, err);
    if (code)
        return code;
    for (uint32_t i = 0, v = 0; i < n; i++) { /* both rise */
        while (t.all.node[v] != terminal[i])
            v++;
        t.end[v].terminal = true;
    }
    prune(&t);
    return write_out(&t, out, mem, err);
}

qp_code qp_steiner_tree(const qp_csr *g, const float *cost, const uint32_t *terminal, uint32_t n, qp_steiner *out,
                        qp_arena *mem, qp_err *err)
{
    return qp_steiner_tolled(g, cost, NULL, terminal, n, out, mem, err);
}

qp_code qp_steiner_tolled(const qp_csr *g, const float *cost, const qp_toll *toll, const uint32_t *terminal, uint32_t n,
                          qp_steiner *out, qp_arena *mem, qp_err *err)
{
    growth s = {.toll = toll};
    uint32_t *sorted = NULL;
    qp_code code = qp_distinct(g, terminal, &n, &sorted, mem, err);
    if (!code)
        code = qp_wave_begin(&s.wave, g, cost, err);
    if (!code)
        code = grow(&s, sorted, n, err);
    *out = (qp_steiner){.trees = s.apart};
    if (!code)
        code = finish(&s, sorted, n, out, mem, err);
    growth_end(&s);
    return code;
}
