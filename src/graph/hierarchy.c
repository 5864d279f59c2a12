#include "graph/hierarchy.h"

#include <stdlib.h>
#include <string.h>

typedef struct parting {
    const qp_csr *g;
    const qp_leiden_options *how;
    qp_arena *scratch;
    uint32_t *member, *leaf, *place; /* place: of a node among those of the community at hand */
    qp_community *at;
    uint32_t n_at, cap;
    qp_err *err;
} parting;

static bool add(parting *p, qp_community c)
{
    if (p->n_at == p->cap) {
        uint32_t cap = 2 * p->cap + 64;
        qp_community *more = realloc(p->at, cap * sizeof *more);
        if (!more)
            return !qp_oom(p->err);
        p->at = more;
        p->cap = cap;
    }
    for (uint32_t i = c.from; i < c.to; i++)
        p->leaf[p->member[i]] = p->n_at;
    p->at[p->n_at++] = c;
    return true;
}

/* The arcs between the nodes member[from..to), as a graph of its own; null after an error. */
static const qp_csr *inside(parting *p, uint32_t from, uint32_t to)
{
    uint32_t n = to - from;
    uint64_t room = 0, m = 0;
    for (uint32_t i = from; i < to; i++) {
        p->place[p->member[i]] = i - from;
        room += p->g->start[p->member[i] + 1] - p->g->start[p->member[i]];
    }
    qp_csr *out = qp_new(p->scratch, qp_csr, 1);
    uint64_t *start = qp_new(p->scratch, uint64_t, (size_t)n + 1);
    uint32_t *target = qp_new(p->scratch, uint32_t, room + 1);
    float *weight = p->g->weight ? qp_new(p->scratch, float, room + 1) : NULL;
    if (!out || !start || !target || (p->g->weight && !weight)) {
        qp_oom(p->err);
        return NULL;
    }
    for (uint32_t i = from; i < to; i++) { /* members rise, so their places do */
        uint32_t v = p->member[i];
        for (uint64_t a = p->g->start[v]; a < p->g->start[v + 1]; a++) {
            uint32_t at = p->place[p->g->target[a]];
            if (at >= n || p->member[from + at] != p->g->target[a])
                continue;
            if (weight)
                weight[m] = p->g->weight[a];
            target[m++] = at;
        }
        start[i - from + 1] = m;
    }
    *out = (qp_csr){n, start, target, weight};
    return out;
}

/* Shares the nodes of member[from..to) out to the parts that Leiden finds among them; one part alone is none. */
static qp_code part(parting *p, uint32_t parent, uint32_t from, uint32_t to)
{
    qp_chain *chain = NULL;
    qp_partition parts = {0};
    qp_arena_reset(p->scratch);
    const qp_csr *g = inside(p, from, to);
    uint32_t *before = g ? qp_new(p->scratch, uint32_t, (size_t)(to - from) + 1) : NULL;
    if (g && !before)
        qp_oom(p->err);
    qp_code code = before ? qp_chain_new(g, NULL, &chain, p->err) : p->err->code;
    if (!code)
        code = qp_leiden(chain, p->how, p->scratch, &parts, NULL, p->err);
    qp_chain_free(chain);
    if (code || (parts.n_parts < 2 && parent != QP_NO_COMMUNITY))
        return code;
    memcpy(before, p->member + from, (to - from) * sizeof *before);
    for (uint32_t i = 0; i < to - from; i++)
        p->member[from + i] = before[parts.member[i]];
    uint32_t level = parent == QP_NO_COMMUNITY ? 0 : p->at[parent].level + 1;
    for (uint32_t i = 0; i < parts.n_parts; i++)
        if (!add(p, (qp_community){parent, level, from + parts.start[i], from + parts.start[i + 1]}))
            return p->err->code;
    return QP_OK;
}

static qp_code part_all(parting *p, uint32_t largest)
{
    for (uint32_t v = 0; v < p->g->n; v++)
        p->member[v] = v;
    qp_code code = p->g->n ? part(p, QP_NO_COMMUNITY, 0, p->g->n) : QP_OK;
    for (uint32_t i = 0; !code && i < p->n_at; i++)
        if (p->at[i].to - p->at[i].from > largest)
            code = part(p, i, p->at[i].from, p->at[i].to);
    return code;
}

qp_code qp_hierarchy_make(const qp_csr *g, uint32_t largest, const qp_leiden_options *how, qp_arena *mem,
                          qp_hierarchy *out, qp_err *err)
{
    qp_err unread = {0};
    parting p = {.g = g,
                 .how = how,
                 .scratch = qp_arena_new(),
                 .member = qp_new(mem, uint32_t, (size_t)g->n + 1),
                 .leaf = qp_new(mem, uint32_t, (size_t)g->n + 1),
                 .place = calloc((size_t)g->n + 1, sizeof *p.place),
                 .err = err ? err : &unread};
    bool room = p.scratch && p.member && p.leaf && p.place;
    qp_code code = room ? part_all(&p, largest) : qp_oom(p.err);
    qp_community *at = code ? NULL : qp_new(mem, qp_community, (size_t)p.n_at + 1);
    if (!code && !at)
        code = qp_oom(p.err);
    if (at && p.n_at)
        memcpy(at, p.at, p.n_at * sizeof *at);
    *out = code ? (qp_hierarchy){0} : (qp_hierarchy){g->n, p.n_at, at, p.member, p.leaf};
    qp_arena_free(p.scratch);
    free(p.place);
    free(p.at);
    return code;
}
