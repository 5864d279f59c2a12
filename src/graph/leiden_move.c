/* Moving and refining: what a round of Leiden does to one level. Gains are of 2m Q / 2: moving v, alone, into c gains
 * to(c) - gamma k_v total(c) / 2m. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "graph/leiden_level.h"

enum { LOOK = 65536 };

/* The community that v gains most by, v taken out of its own; of equals its own, then the smallest. */
static uint32_t best_for(leiden *l, double k, uint32_t own, uint32_t n_near, uint32_t empty)
{
    uint32_t best = own;
    double most = l->to[own] - l->gamma * k * l->total[own] / l->two_m;
    for (uint32_t i = 0; i < n_near; i++) {
        uint32_t c = l->near[i];
        double gain = l->to[c] - l->gamma * k * l->total[c] / l->two_m;
        if (gain > most || (gain == most && best != own && c < best)) {
            most = gain;
            best = c;
        }
    }
    return most < 0 && l->size[own] ? empty : best;
}

static void join(leiden *l, uint32_t c, double k)
{
    l->total[c] += k;
    l->size[c]++;
}

static void leave(leiden *l, uint32_t c, double k)
{
    l->size[c]--;
    l->total[c] = l->size[c] ? l->total[c] - k : 0;
}

/* A number that no community has: there is one, because the community that v has just left keeps other nodes. */
static uint32_t find_empty(const leiden *l, uint32_t n, uint32_t *from)
{
    while (l->size[*from])
        *from = *from + 1 == n ? 0 : *from + 1;
    return *from;
}

qp_code leiden_move(leiden *l, const leiden_level *at, uint32_t *community, bool *moved, qp_err *err)
{
    uint32_t n = at->g.n, head = 0, free_from = 0;
    memset(l->total, 0, n * sizeof *l->total);
    memset(l->size, 0, n * sizeof *l->size);
    memset(l->waits, true, n * sizeof *l->waits);
    for (uint32_t v = 0; v < n; v++)
        join(l, community[v], at->k[v]);
    leiden_shuffle(l, n);
    *moved = false;
    for (uint64_t waiting = n, visits = 0; waiting; waiting--, visits++) {
        uint32_t v = l->order[head], own = community[v];
        head = head + 1 == n ? 0 : head + 1;
        l->waits[v] = false;
        uint32_t near = leiden_look(l, at, v, community, NULL);
        leave(l, own, at->k[v]);
        uint32_t best = best_for(l, at->k[v], own, near, UINT32_MAX);
        leiden_forget(l, near);
        if (best == UINT32_MAX)
            best = find_empty(l, n, &free_from);
        join(l, best, at->k[v]);
        if (visits % LOOK == 0 && qp_cancelled(l->cancel))
            return qp_fail(err, QP_STOPPED, "Leiden was cancelled");
        if (best == own)
            continue;
        community[v] = best;
        *moved = true;
        for (uint64_t e = at->g.start[v]; e < at->g.start[v + 1]; e++) {
            uint32_t u = at->g.target[e];
            if (community[u] == best || l->waits[u] || u == v)
                continue;
            l->waits[u] = true;
            l->order[(head + waiting - 1) % n] = u;
            waiting++;
        }
    }
    return QP_OK;
}

/* What a set of volume k in a community of volume `all` must send to the rest of it to count as well connected. */
static bool is_well_connected(const leiden *l, double outward, double k, double all)
{
    return outward >= l->gamma * k * (all - k) / l->two_m;
}

/* One of the near refined communities, with probability proportional to exp(gain / theta), none that loses. */
static uint32_t draw(leiden *l, uint32_t v, double k, double all, uint32_t n_near)
{
    const double *volume = l->volume, theta = l->theta;
    double most = 0, sum = 1; /* staying alone gains 0 */
    uint32_t chosen = v;
    for (uint32_t i = 0; i < n_near; i++) {
        uint32_t c = l->near[i];
        double gain = l->to[c] - l->gamma * k * volume[c] / l->two_m;
        if (gain < 0 || c == v || !is_well_connected(l, l->outward[c], volume[c], all))
            continue;
        /* a running draw: it takes over with its share of all so far; the sums are scaled to the largest gain */
        if (gain > most) {
            sum *= exp((most - gain) / theta);
            most = gain;
        }
        double share = exp((gain - most) / theta);
        sum += share;
        if (qp_random_unit(&l->random) * sum < share)
            chosen = c;
    }
    return chosen;
}

static void merge(leiden *l, uint32_t v, uint32_t c, double k)
{
    l->refined[v] = c;
    l->outward[c] += l->outward[v] - 2 * l->to[c];
    l->volume[c] += k;
    l->size[c]++;
    l->size[v] = 0;
}

/* Every node alone, and what it sends to the rest of its community. */
static void start_alone(leiden *l, const leiden_level *at, const uint32_t *community)
{
    for (uint32_t v = 0; v < at->g.n; v++) {
        l->refined[v] = v;
        l->size[v] = 1;
        l->volume[v] = at->k[v];
        l->outward[v] = 0;
        for (uint64_t e = at->g.start[v]; e < at->g.start[v + 1]; e++)
            if (at->g.target[e] != v && community[at->g.target[e]] == community[v])
                l->outward[v] += at->g.weight ? at->g.weight[e] : 1;
    }
}

qp_code leiden_refine(leiden *l, const leiden_level *at, const uint32_t *community, qp_err *err)
{
    uint32_t n = at->g.n;
    start_alone(l, at, community);
    leiden_shuffle(l, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = l->order[i];
        double all = l->total[community[v]], k = at->k[v];
        if (l->refined[v] != v || l->size[v] != 1 || !is_well_connected(l, l->outward[v], k, all))
            continue;
        uint32_t near = leiden_look(l, at, v, l->refined, community);
        uint32_t c = draw(l, v, k, all, near);
        if (c != v)
            merge(l, v, c, k);
        leiden_forget(l, near);
        if (i % LOOK == 0 && qp_cancelled(l->cancel))
            return qp_fail(err, QP_STOPPED, "Leiden was cancelled");
    }
    return QP_OK;
}
