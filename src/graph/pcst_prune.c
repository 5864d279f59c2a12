/* Pruning of the forest that growth made. Each works on the good nodes alone, numbered anew. */
#include <stdlib.h>
#include <string.h>

#include "graph/pcst_parts.h"

typedef struct twig { /* an edge of the forest as one of its ends sees it */
    uint32_t to, merge;
} twig;

typedef struct forest {
    uint32_t n;      /* good nodes, */
    uint32_t *node;  /* rising, */
    uint32_t *local; /* and where each stands there (others: anything) */
    uint32_t *start; /* n + 1 */
    twig *twig;
    uint32_t *order;            /* the nodes of one tree, each behind its parent */
    uint32_t *parent, *twig_up; /* in that tree: the root's own number; the twig from the parent */
    double *worth;              /* the best subtree below and with the node, its prizes less its costs */
    const qp_pcst_graph *g;
} forest;

static void forest_free(forest *f)
{
    free(f->node);
    free(f->local);
    free(f->start);
    free(f->twig);
    free(f->order);
    free(f->parent);
    free(f->twig_up);
    free(f->worth);
}

static void fill(forest *f, const qp_pcst_forest *grown, const uint8_t *kept_edge)
{
    const qp_pcst_graph *g = f->g;
    for (uint32_t i = 0; i < grown->n_merges; i++) {
        uint32_t e = grown->merge[i].edge;
        if (kept_edge[i]) {
            f->start[f->local[g->from[e]]]++;
            f->start[f->local[g->to[e]]]++;
        }
    }
    for (uint32_t v = 1; v <= f->n; v++)
        f->start[v] += f->start[v - 1];
    for (uint32_t i = grown->n_merges; i-- > 0;) {
        if (!kept_edge[i])
            continue;
        uint32_t e = grown->merge[i].edge, u = f->local[g->from[e]], v = f->local[g->to[e]];
        f->twig[--f->start[u]] = (twig){v, i};
        f->twig[--f->start[v]] = (twig){u, i};
    }
}

/* To be freed in either case. */
static qp_code forest_make(forest *f, const qp_pcst_graph *g, const qp_pcst_forest *grown, const qp_pcst_kept *kept,
                           qp_err *err)
{
    *f = (forest){.g = g};
    for (uint32_t v = 0; v < g->n; v++)
        f->n += kept->node[v];
    size_t n = f->n;
    f->node = malloc((n + 1) * sizeof *f->node);
    f->local = malloc(((size_t)g->n + 1) * sizeof *f->local);
    f->start = calloc(n + 1, sizeof *f->start);
    f->twig = malloc((2 * n + 1) * sizeof *f->twig);
    f->order = malloc((n + 1) * sizeof *f->order);
    f->parent = malloc((n + 1) * sizeof *f->parent);
    f->twig_up = malloc((n + 1) * sizeof *f->twig_up);
    f->worth = malloc((n + 1) * sizeof *f->worth);
    if (!f->node || !f->local || !f->start || !f->twig || !f->order || !f->parent || !f->twig_up || !f->worth)
        return qp_oom(err);
    for (uint32_t v = 0, i = 0; v < g->n; v++) {
        if (kept->node[v]) {
            f->node[i] = v;
            f->local[v] = i++;
        }
    }
    fill(f, grown, kept->edge);
    return QP_OK;
}

/* Writes the tree of `root` to order, parent and twig_up, without going to node `but`; how many nodes it has. */
static uint32_t walk(forest *f, uint32_t root, uint32_t but)
{
    uint32_t n = 0;
    f->order[n++] = root;
    f->parent[root] = root;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = f->order[i];
        for (uint32_t t = f->start[v]; t < f->start[v + 1]; t++) {
            uint32_t w = f->twig[t].to;
            if (w == f->parent[v] || w == but)
                continue;
            f->parent[w] = v;
            f->twig_up[w] = t;
            f->order[n++] = w;
        }
    }
    return n;
}

/* ---- Goemans and Williamson's ---- */

static void need(const qp_pcst_forest *grown, uint8_t *needed, uint32_t cluster)
{
    for (; !needed[cluster]; cluster = grown->inside[cluster]) {
        needed[cluster] = 1;
        if (!grown->inside[cluster])
            return;
    }
}

/* Backwards in time: an edge to a cluster that slept stays only if an edge that came later, and stays, needed the
 * cluster; else all that hangs on it goes. */
qp_code qp_pcst_prune_gw(const qp_pcst_graph *g, const qp_pcst_forest *grown, qp_pcst_kept *kept, qp_err *err)
{
    forest f;
    qp_code code = forest_make(&f, g, grown, kept, err);
    uint8_t *needed = code ? NULL : calloc(2 * (size_t)g->n + 1, 1);
    for (uint32_t i = grown->n_merges; needed && i-- > 0;) {
        qp_pcst_merge m = grown->merge[i];
        uint32_t u = g->from[m.edge], v = g->to[m.edge];
        if (!kept->edge[i])
            continue;
        if (!kept->node[u] || !kept->node[v]) { /* it went with a branch */
            kept->edge[i] = 0;
        } else if (m.asleep == QP_NO_CLUSTER || needed[m.asleep]) {
            need(grown, needed, u);
            need(grown, needed, v);
        } else {
            kept->edge[i] = 0;
            for (uint32_t n = walk(&f, f.local[m.asleep_node], f.local[u ^ v ^ m.asleep_node]); n-- > 0;)
                kept->node[f.node[f.order[n]]] = 0;
        }
    }
    if (!needed)
        code = qp_oom(err);
    free(needed);
    forest_free(&f);
    return code;
}

/* ---- strong ---- */

static double cost_up(const forest *f, const qp_pcst_forest *grown, uint32_t v)
{
    return (double)f->g->cost[grown->merge[f->twig[f->twig_up[v]].merge].edge];
}

/* What v brings its parent: nothing, if its subtree does not pay for the edge. */
static double gain(const forest *f, const qp_pcst_forest *grown, uint32_t v)
{
    double gain = f->worth[v] - cost_up(f, grown, v);
    return gain > 0 ? gain : 0;
}

static void weigh(forest *f, const qp_pcst_forest *grown, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        f->worth[f->order[i]] = (double)f->g->prize[f->node[f->order[i]]];
    for (uint32_t i = n; i-- > 1;)
        f->worth[f->parent[f->order[i]]] += gain(f, grown, f->order[i]);
}

/* The node of the walked tree from which the best subtree hangs, the first of equals: worth becomes what the whole tree
 * is worth when hung from each node, from its parent's value less its own share. */
static uint32_t best_root(forest *f, const qp_pcst_forest *grown, uint32_t n)
{
    uint32_t best = f->order[0];
    for (uint32_t i = 1; i < n; i++) {
        uint32_t v = f->order[i];
        double rest = f->worth[f->parent[v]] - gain(f, grown, v) - cost_up(f, grown, v);
        if (rest > 0)
            f->worth[v] += rest;
        if (f->worth[v] > f->worth[best])
            best = v;
    }
    return best;
}

/* Keeps what pays of the tree that hangs from the walk's root. */
static void cut(forest *f, const qp_pcst_forest *grown, uint32_t n, qp_pcst_kept *kept)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t v = f->order[i];
        if (kept->node[f->node[f->parent[v]]] && gain(f, grown, v) > 0)
            continue;
        kept->node[f->node[v]] = 0;
        kept->edge[f->twig[f->twig_up[v]].merge] = 0;
    }
}

qp_code qp_pcst_prune_strong(const qp_pcst_graph *g, uint32_t root, const qp_pcst_forest *grown, qp_pcst_kept *kept,
                             qp_err *err)
{
    forest f;
    qp_code code = forest_make(&f, g, grown, kept, err);
    uint8_t *done = code ? NULL : calloc((size_t)f.n + 1, 1);
    for (uint32_t v = 0; done && v < f.n; v++) {
        if (done[v])
            continue;
        uint32_t n = walk(&f, v, f.n), top;
        for (uint32_t i = 0; i < n; i++)
            done[f.order[i]] = 1;
        weigh(&f, grown, n);
        top = root == QP_NO_ROOT ? best_root(&f, grown, n) : f.local[root];
        walk(&f, top, f.n);
        weigh(&f, grown, n);
        cut(&f, grown, n, kept);
    }
    if (!code && !done)
        code = qp_oom(err);
    free(done);
    forest_free(&f);
    return code;
}
