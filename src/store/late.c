/* Late interaction: passages by MaxSim over vectors of tokens that are kept in a few bits, searched as PLAID does
 * (Santhanam, Khattab, Potts, Zaharia, CIKM 2022, 4): passages that have a token at one of the centroids nearest to the
 * question's tokens are scored by their centroids alone, first by those that are near to any of the question's tokens,
 * the best of them by all of theirs; a quarter of those are unpacked and scored exactly.
 */
#include <math.h>

#include "base/vector.h"
#include "store/best.h"
#include "store/codec.h"
#include "store/mapped.h"

struct late {
    const qp_snapshot *s;
    const qp_probe *probe;
    const qp_token_rows *query;
    qp_codec codec;
    uint32_t probes, candidates, unpacked;
    float threshold;
    float *near;   /* centroids x the question's tokens: products */
    float *most;   /* of each centroid its largest */
    float *best;   /* of each of the question's tokens */
    float *row;    /* one unpacked */
    uint64_t *bit; /* of each candidate */
    bool damaged;
};

/* What PLAID takes for so many results (its table 2). */
static void settle(struct late *l, uint32_t k)
{
    const qp_probe *p = l->probe;
    l->probes = p->probes ? p->probes : k <= 10 ? 1 : k <= 100 ? 2 : 4;
    l->threshold = p->threshold != 0 ? p->threshold : k <= 10 ? .5f : k <= 100 ? .45f : .4f;
    l->candidates = p->candidates ? p->candidates : k <= 10 ? 256 : k <= 100 ? 1024 : 4096;
    l->unpacked = l->candidates / 4 > k ? l->candidates / 4 : k;
    l->candidates = l->candidates > k ? l->candidates : k;
    l->candidates = l->candidates < l->s->entity ? l->candidates : l->s->entity; /* there are no more */
    l->unpacked = l->unpacked < l->s->entity ? l->unpacked : l->s->entity;
}

/* ---- centroids ---- */

static void score_centroids(struct late *l)
{
    const qp_snapshot *s = l->s;
    for (uint32_t c = 0; c < s->centroids; c++) {
        float *near = l->near + (size_t)c * l->query->n, most = -INFINITY;
        for (uint32_t i = 0; i < l->query->n; i++) {
            near[i] =
                qp_dot(l->query->at + (size_t)i * s->token_dim, s->centroid + (size_t)c * s->token_dim, s->token_dim);
            most = near[i] > most ? near[i] : most;
        }
        l->most[c] = most;
    }
}

/* The passages at a centroid. */
static void mark(struct late *l, uint32_t c)
{
    const qp_learned_entry *e = &l->s->centroid_list[c];
    uint32_t n = 0, before = UINT32_MAX, node[QP_BLOCK];
    const qp_block_entry *b = e->df ? qp_postings_blocks(&l->s->centroid_of, e->block, e->df, &n) : NULL;
    l->damaged |= e->df && !b;
    for (uint32_t i = 0; i < n && !l->damaged; before = b[i++].last) {
        l->damaged = !qp_block_nodes(&l->s->centroid_of, &b[i], before, node);
        for (uint32_t j = 0; !l->damaged && j <= b[i].n; j++)
            if (node[j] < l->s->entity && (!l->probe->allow || l->probe->allow[node[j] / 64] >> (node[j] % 64) & 1))
                l->bit[node[j] / 64] |= UINT64_C(1) << (node[j] % 64);
    }
}

static qp_code find_candidates(struct late *l, qp_arena *a, qp_err *err)
{
    qp_best best;
    for (uint32_t i = 0; i < l->query->n; i++) {
        if (!qp_best_begin(&best, l->probes < l->s->centroids ? l->probes : l->s->centroids, a))
            return qp_oom(err);
        for (uint32_t c = 0; c < l->s->centroids; c++)
            qp_best_add(&best, c, l->near[(size_t)c * l->query->n + i]);
        for (uint32_t j = 0; j < best.n; j++)
            mark(l, best.at[j].id);
    }
    return QP_OK;
}

/* ---- passages ---- */

static bool tokens_of(struct late *l, uint32_t v, uint64_t *from, uint64_t *to)
{
    *from = l->s->token_start[v];
    *to = l->s->token_start[v + 1];
    bool lies = *from <= *to && *to <= l->s->info->tokens;
    l->damaged |= !lies;
    return lies;
}

/* By centroids, those below the threshold left out; a token of the question that none is near to adds nothing. */
static float by_centroids(struct late *l, uint32_t v, float threshold)
{
    uint64_t from, to;
    const uint32_t n = l->query->n;
    double sum = 0;
    if (!tokens_of(l, v, &from, &to))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        l->best[i] = -INFINITY;
    for (uint64_t t = from; t < to; t++) {
        uint32_t c = l->s->token_centroid[t];
        l->damaged |= c >= l->s->centroids;
        if (c >= l->s->centroids || l->most[c] < threshold)
            continue;
        const float *near = l->near + (size_t)c * n;
        for (uint32_t i = 0; i < n; i++)
            l->best[i] = near[i] > l->best[i] ? near[i] : l->best[i];
    }
    for (uint32_t i = 0; i < n; i++)
        sum += isfinite(l->best[i]) ? l->best[i] : 0;
    return (float)sum;
}

/* MaxSim over the unpacked vectors, a token at a time. */
static float exactly(struct late *l, uint32_t v)
{
    uint64_t from, to;
    const uint32_t n = l->query->n, dim = l->s->token_dim;
    double sum = 0;
    if (!tokens_of(l, v, &from, &to))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        l->best[i] = from < to ? -INFINITY : 0;
    for (uint64_t t = from; t < to; t++) {
        uint32_t c = l->s->token_centroid[t];
        if (c >= l->s->centroids) {
            l->damaged = true;
            return 0;
        }
        qp_codec_unpack(&l->codec, c, l->s->token_residual + t * qp_codec_bytes(dim), l->row);
        for (uint32_t i = 0; i < n; i++) {
            float dot = qp_dot(l->query->at + (size_t)i * dim, l->row, dim);
            l->best[i] = dot > l->best[i] ? dot : l->best[i];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        sum += l->best[i];
    return (float)sum;
}

/* The best of what is there; a passage without tokens, or of damaged ones, is none. */
static void offer(struct late *l, qp_best *best, uint32_t v, float score)
{
    if (isfinite(score) && l->s->token_start[v] < l->s->token_start[v + 1])
        qp_best_add(best, v, score);
}

static qp_code scan(struct late *l, qp_best *out)
{
    for (uint32_t v = 0; v < l->s->entity; v++)
        if (!l->probe->allow || l->probe->allow[v / 64] >> (v % 64) & 1)
            offer(l, out, v, exactly(l, v));
    return QP_OK;
}

static qp_code by_stages(struct late *l, qp_best *out, qp_arena *a, qp_err *err)
{
    qp_best pruned, whole;
    score_centroids(l);
    qp_code code = find_candidates(l, a, err);
    if (code || !qp_best_begin(&pruned, l->candidates, a) || !qp_best_begin(&whole, l->unpacked, a))
        return code ? code : qp_oom(err);
    for (uint32_t v = 0; v < l->s->entity; v++)
        if (l->bit[v / 64] >> (v % 64) & 1)
            offer(l, &pruned, v, by_centroids(l, v, l->threshold));
    for (uint32_t i = 0; i < pruned.n; i++)
        offer(l, &whole, pruned.at[i].id, by_centroids(l, pruned.at[i].id, -INFINITY));
    for (uint32_t i = 0; i < whole.n; i++)
        offer(l, out, whole.at[i].id, exactly(l, whole.at[i].id));
    return QP_OK;
}

qp_code qp_snapshot_late(const qp_snapshot *s, const qp_probe *probe, uint32_t k, qp_list *out, qp_arena *a,
                         qp_err *err)
{
    if (!probe->tokens || (probe->tokens->n && !probe->tokens->at))
        return qp_fail(
            err, QP_INPUT,
            "node.colbert is searched by the operator maxsim, which has the vectors of the question's tokens");
    const uint32_t n = probe->tokens->n;
    struct late l = {.s = s,
                     .probe = probe,
                     .query = probe->tokens,
                     .near = qp_new(a, float, (size_t)s->centroids *n + 1),
                     .most = qp_new(a, float, s->centroids + 1u),
                     .best = qp_new(a, float, n + 1u),
                     .row = qp_new(a, float, s->token_dim),
                     .bit = qp_new(a, uint64_t, s->entity / 64 + 1u)};
    qp_best best;
    if (!l.near || !l.most || !l.best || !l.row || !l.bit || !qp_best_begin(&best, k, a))
        return qp_oom(err);
    l.codec = (qp_codec){.dim = s->token_dim, .centroid = s->centroid};
    memcpy(l.codec.value, s->info->token_value, sizeof l.codec.value);
    settle(&l, k);
    qp_code code = probe->exact ? scan(&l, &best) : by_stages(&l, &best, a, err);
    *out = qp_best_end(&best);
    return !code && l.damaged ? qp_snapshot_damaged(s, "token.start", "a passage's tokens cannot be read", err) : code;
}
