#include "graph/leiden.h"

#include <stdlib.h>
#include <string.h>

#include "graph/leiden_level.h"
#include "graph/rank.h"

static void drop_scratch(leiden *l)
{
    free(l->to);
    free(l->total);
    free(l->volume);
    free(l->outward);
    free(l->near);
    free(l->order);
    free(l->size);
    free(l->refined);
    free(l->waits);
}

static qp_code make_scratch(leiden *l, uint32_t n, qp_err *err)
{
    size_t room = (size_t)n + 1;
    l->to = calloc(room, sizeof *l->to);
    l->total = malloc(room * sizeof *l->total);
    l->volume = malloc(room * sizeof *l->volume);
    l->outward = malloc(room * sizeof *l->outward);
    l->near = malloc(room * sizeof *l->near);
    l->order = malloc(room * sizeof *l->order);
    l->size = malloc(room * sizeof *l->size);
    l->refined = malloc(room * sizeof *l->refined);
    l->waits = malloc(room * sizeof *l->waits);
    bool all = l->to && l->total && l->volume && l->outward && l->near && l->order && l->size && l->refined && l->waits;
    return all ? QP_OK : qp_oom(err);
}

static void drop_level(leiden_level *level)
{
    if (level->owned) {
        free((void *)level->g.start);
        free((void *)level->g.target);
        free((void *)level->g.weight);
        free(level->k);
    }
    *level = (leiden_level){0};
}

/* Nodes of the lowest level that share a community and a path inside it keep sharing one, others do not: apart they
 * gain, as no arc joins them. */
static void part_the_apart(leiden *l, const qp_csr *g, uint32_t *community)
{
    uint32_t *label = l->refined, *stack = l->order, n_labels = 0;
    memset(label, 0xff, g->n * sizeof *label);
    for (uint32_t s = 0; s < g->n; s++) {
        if (label[s] != UINT32_MAX)
            continue;
        uint32_t n = 0;
        label[s] = n_labels;
        for (stack[n++] = s; n;) {
            uint32_t v = stack[--n];
            for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++) {
                uint32_t u = g->target[e];
                if (label[u] == UINT32_MAX && community[u] == community[v]) {
                    label[u] = n_labels;
                    stack[n++] = u;
                }
            }
        }
        n_labels++;
    }
    memcpy(community, label, g->n * sizeof *label);
}

typedef struct climb {
    uint32_t *node;      /* of the lowest level: which node of this level it is in */
    uint32_t *community; /* of the nodes of this level */
    uint32_t *above;     /* of the nodes of the next */
} climb;

/* Steps up to the level whose nodes are the refined communities of this one. */
static qp_code step_up(leiden *l, climb *c, uint32_t n, uint32_t n_parts, leiden_level *level, qp_err *err)
{
    leiden_level above;
    for (uint32_t v = 0; v < level->g.n; v++)
        c->above[l->refined[v]] = c->community[v];
    for (uint32_t v = 0; v < n; v++)
        c->node[v] = l->refined[c->node[v]];
    qp_code code = leiden_rise(l, level, n_parts, &above, err);
    drop_level(level);
    *level = above;
    if (code)
        return code;
    memcpy(c->community, c->above, n_parts * sizeof *c->above);
    leiden_number(l, c->community, n_parts);
    return QP_OK;
}

/* One iteration (Algorithm A.2, Leiden), from the partition `part` into it. */
static qp_code iterate(leiden *l, climb *c, const leiden_level *lowest, uint32_t *part, bool *moved, qp_err *err)
{
    uint32_t n = lowest->g.n;
    leiden_level level = *lowest;
    bool above = false;
    memcpy(c->community, part, n * sizeof *part);
    for (uint32_t v = 0; v < n; v++)
        c->node[v] = v;
    qp_code code = leiden_move(l, &level, c->community, moved, err);
    while (code == QP_OK) {
        code = leiden_refine(l, &level, c->community, err);
        uint32_t n_parts = code == QP_OK ? leiden_number(l, l->refined, level.g.n) : level.g.n;
        if (n_parts == level.g.n)
            break;
        code = step_up(l, c, n, n_parts, &level, err);
        if (code == QP_OK)
            code = leiden_move(l, &level, c->community, &above, err);
        *moved |= above;
    }
    for (uint32_t v = 0; code == QP_OK && v < n; v++)
        part[v] = c->community[c->node[v]];
    drop_level(&level);
    if (code == QP_OK) {
        part_the_apart(l, &lowest->g, part);
        leiden_number(l, part, n);
    }
    return code;
}

static qp_code run(leiden *l, const leiden_level *lowest, uint32_t iterations, uint32_t *part, qp_err *err)
{
    enum { MOST = 100 };
    uint32_t n = lowest->g.n;
    climb c = {malloc(((size_t)n + 1) * sizeof *c.node), malloc(((size_t)n + 1) * sizeof *c.community),
               malloc(((size_t)n + 1) * sizeof *c.above)};
    qp_code code = c.node && c.community && c.above ? QP_OK : qp_oom(err);
    bool moved = true;
    for (uint32_t i = 0; code == QP_OK && moved && i < (iterations ? iterations : MOST); i++)
        code = iterate(l, &c, lowest, part, &moved, err);
    free(c.node);
    free(c.community);
    free(c.above);
    return code;
}

/* Parts by size: the rank of each, then its members. */
static qp_code list_parts(const uint32_t *part, uint32_t n, qp_arena *mem, qp_partition *made, qp_err *err)
{
    uint32_t n_parts = 0;
    for (uint32_t v = 0; v < n; v++) /* numbered by their first node, so a new one is always the next */
        n_parts += part[v] == n_parts;
    uint32_t *of = qp_new(mem, uint32_t, n), *member = qp_new(mem, uint32_t, n);
    uint32_t *start = qp_new(mem, uint32_t, (size_t)n_parts + 1), *size = qp_new(mem, uint32_t, n_parts);
    qp_rank by_size;
    if (!of || !member || !start || !size || qp_rank_init(&by_size, n_parts, mem, NULL))
        return qp_oom(err);
    for (uint32_t v = 0; v < n; v++)
        size[part[v]]++;
    for (uint32_t p = 0; p < n_parts; p++)
        qp_rank_add(&by_size, p, size[p]);
    qp_rank_sort(&by_size);
    for (uint32_t i = 0; i < n_parts; i++) {
        start[i + 1] = start[i] + size[by_size.at[i].node];
        size[by_size.at[i].node] = i; /* from here on its number */
    }
    for (uint32_t v = 0; v < n; v++)
        of[v] = size[part[v]];
    memset(size, 0, n_parts * sizeof *size);
    for (uint32_t v = 0; v < n; v++)
        member[start[of[v]] + size[of[v]]++] = v;
    *made = (qp_partition){n, n_parts, of, start, member};
    return QP_OK;
}

qp_code qp_modularity(const qp_chain *chain, const uint32_t *part, double gamma, double *q, qp_err *err)
{
    const qp_csr *g = &chain->out;
    double *total = calloc((size_t)g->n + 1, sizeof *total), inside = 0;
    if (!total)
        return qp_oom(err);
    for (uint32_t v = 0; v < g->n; v++) {
        total[part[v]] += qp_chain_sum(chain, v);
        for (uint64_t e = g->start[v]; e < g->start[v + 1]; e++)
            if (part[g->target[e]] == part[v])
                inside += g->weight ? g->weight[e] : 1;
    }
    *q = inside / chain->volume;
    for (uint32_t v = 0; v < g->n; v++)
        *q -= gamma * (total[v] / chain->volume) * (total[v] / chain->volume);
    if (!(chain->volume > 0))
        *q = 0;
    free(total);
    return QP_OK;
}

qp_code qp_leiden(const qp_chain *chain, const qp_leiden_options *o, qp_arena *mem, qp_partition *made,
                  double *modularity, qp_err *err)
{
    uint32_t n = chain->out.n;
    *made = (qp_partition){0};
    if (!chain->undirected || !(o->gamma > 0 && o->gamma < 1e9))
        return qp_fail(err, QP_USAGE, "leiden: wants an undirected graph and a resolution above 0, not %g", o->gamma);
    leiden l = {.two_m = chain->volume > 0 ? chain->volume : 1,
                .gamma = o->gamma,
                .random = qp_random_seed(o->random),
                .cancel = o->cancel};
    l.theta = .01 * l.two_m / (double)(chain->out.start[n] + 1);
    leiden_level lowest = {.g = chain->out, .k = malloc(((size_t)n + 1) * sizeof *lowest.k)};
    uint32_t *part = malloc(((size_t)n + 1) * sizeof *part);
    qp_code code = make_scratch(&l, n, err);
    if (code == QP_OK && (!lowest.k || !part))
        code = qp_oom(err);
    for (uint32_t v = 0; code == QP_OK && v < n; v++) {
        lowest.k[v] = qp_chain_sum(chain, v);
        part[v] = v;
    }
    if (code == QP_OK)
        code = run(&l, &lowest, o->iterations, part, err);
    if (code == QP_OK)
        code = list_parts(part, n, mem, made, err);
    if (code == QP_OK && modularity)
        code = qp_modularity(chain, part, o->gamma, modularity, err);
    drop_scratch(&l);
    free(lowest.k);
    free(part);
    return code;
}
