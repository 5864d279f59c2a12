#include "store/precompute.h"

#include "base/thread.h"
#include "graph/leiden.h"
#include "graph/ppr.h"
#include "store/mapped.h"

static qp_code write_parts(const qp_chain *chain, volatile const int *cancel, qp_writer *w, qp_info *info, qp_err *err)
{
    const qp_leiden_options how = {.gamma = 1, .cancel = cancel};
    qp_partition p;
    double modularity;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_leiden(chain, &how, mem, &p, &modularity, err) : qp_oom(err);
    if (!code) {
        info->parts = p.n_parts;
        qp_writer_put(w, QP_S_PART, p.part, p.n * sizeof *p.part);
        qp_writer_put(w, QP_S_PART_START, p.start, ((size_t)p.n_parts + 1) * sizeof *p.start);
        qp_writer_put(w, QP_S_PART_MEMBER, p.member, p.n * sizeof *p.member);
    }
    qp_arena_free(mem);
    return code;
}

static qp_code write_walks(const qp_chain *chain, int threads, qp_writer *w, qp_info *info, qp_err *err)
{
    qp_ppr_walks made;
    qp_code code = qp_ppr_walks_make(chain, QP_WALK_ALPHA, QP_WALK_EPSILON, 0, threads, &made, err);
    if (!code && made.start[made.n]) {
        info->walk_stops = made.start[made.n];
        info->walk_alpha = made.alpha;
        info->walk_epsilon = made.epsilon;
        qp_writer_put(w, QP_S_WALKS, made.start, ((size_t)made.n + 1) * sizeof *made.start);
        qp_writer_put(w, QP_S_WALK_STOPS, made.stop, made.start[made.n] * sizeof *made.stop);
    }
    qp_ppr_walks_free(&made);
    return code;
}

qp_code qp_precompute(const qp_csr *graph, bool partition, bool walks, int threads, volatile const int *cancel,
                      qp_writer *w, qp_info *info, qp_err *err)
{
    qp_chain *chain = NULL;
    qp_code code = qp_chain_new(graph, NULL, &chain, err);
    if (!code && partition)
        code = write_parts(chain, cancel, w, info, err);
    code = code ? code : qp_writer_stopped(cancel, err);
    if (!code && walks)
        code = write_walks(chain, threads, w, info, err);
    qp_chain_free(chain);
    return code;
}

/* ---- read again: foreign numbers, looked at once ---- */

static bool parts_fit(const qp_snapshot *s)
{
    uint32_t parts = (uint32_t)s->info->parts;
    if (s->part_start[0] || s->part_start[parts] != s->nodes)
        return false;
    for (uint32_t p = 0; p < parts; p++) {
        uint32_t from = s->part_start[p], to = s->part_start[p + 1];
        if (from >= to || to > s->nodes)
            return false;
        for (uint32_t i = from; i < to; i++)
            if (s->part_member[i] >= s->nodes || s->part[s->part_member[i]] != p ||
                (i > from && s->part_member[i - 1] >= s->part_member[i]))
                return false;
    }
    return true; /* as many members as nodes, none twice: every node is in one */
}

static bool stops_fit(const qp_snapshot *s)
{
    bool fits = !s->walk[0] && s->walk[s->nodes] == s->info->walk_stops && s->info->walk_alpha > 0 &&
                s->info->walk_alpha < 1 && s->info->walk_epsilon > 0 && s->info->walk_epsilon < 1;
    for (uint32_t v = 0; fits && v < s->nodes; v++)
        fits = s->walk[v] <= s->walk[v + 1];
    for (uint64_t i = 0; fits && i < s->info->walk_stops; i++)
        fits = s->walk_stop[i] < s->nodes || s->walk_stop[i] == QP_PPR_ASTRAY;
    return fits;
}

static qp_code look_once(const qp_snapshot *s, const bool *seen, bool (*fits)(const qp_snapshot *), const char *section,
                         qp_err *err)
{
    if (__atomic_load_n(seen, __ATOMIC_ACQUIRE))
        return QP_OK;
    if (!fits(s))
        return qp_snapshot_damaged(s, section, "a number cannot be", err);
    __atomic_store_n((bool *)(uintptr_t)seen, true, __ATOMIC_RELEASE);
    return QP_OK;
}

qp_code qp_snapshot_parts(void *self, qp_parts *out, qp_err *err)
{
    const qp_snapshot *s = self;
    *out = (qp_parts){0};
    if (!s->info->parts)
        return QP_OK;
    qp_code code = look_once(s, &s->parts_seen, parts_fit, "part", err);
    if (!code)
        *out = (qp_parts){s->nodes, (uint32_t)s->info->parts, s->part, s->part_start, s->part_member};
    return code;
}

qp_code qp_snapshot_stops(void *self, qp_stops *out, qp_err *err)
{
    const qp_snapshot *s = self;
    *out = (qp_stops){0};
    if (!s->info->walk_stops)
        return QP_OK;
    qp_code code = look_once(s, &s->walks_seen, stops_fit, "walks", err);
    if (!code)
        *out = (qp_stops){s->info->walk_alpha, s->info->walk_epsilon, s->nodes, s->walk, s->walk_stop};
    return code;
}
