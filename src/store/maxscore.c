#include "store/maxscore.h"

#include <math.h>
#include <stdlib.h>

#include "store/best.h"
#include "store/lexicon.h"

enum { WINDOW = 2048 };
#define UNIT 0x1p36 /* a question of six million words stays below 2^63 */

struct wanted { /* a term of the question */
    qp_asked is;
    uint32_t now;  /* first block that may matter from here on */
    int64_t bound; /* most it can add in this window */
    uint32_t held; /* block whose nodes and tfs are at hand; UINT32_MAX: none */
    uint32_t node[QP_BLOCK], tf[QP_BLOCK];
};

struct search {
    const qp_snapshot *s;
    const qp_postings *p;
    qp_scoring how;
    const uint64_t *allow;
    bool damaged;
    struct wanted **term; /* sorted by bound within a window */
    uint32_t n;
    uint32_t lookups; /* terms [0, lookups) are only looked up in this window */
    int64_t sum[WINDOW];
    uint64_t found[WINDOW / 64];
    qp_best best;
};

static const double most_impact = 256; /* a sum over 2^18 terms then stays below 2^63 */

static int64_t gain(const struct search *l, const struct wanted *t, uint32_t node, uint32_t tf)
{
    double x = t->is.weight, most = x;
    switch (l->how.gain) {
    case QP_GAIN_BM25: x *= tf / (tf + l->how.base + l->how.slope * l->how.length[node]); break;
    case QP_GAIN_TFIDF: x *= qp_tfidf_weight(tf, t->is.idf) / l->how.norm[node]; break;
    case QP_GAIN_IMPACT:
        x *= (double)tf / QP_IMPACT;
        most = most_impact;
        break;
    }
    if (!(x > 0))
        return 0;
    return (int64_t)((x < most ? x : most) * UNIT + .5); /* more is rounding, or a damaged number */
}

/* Rises with tf and falls with length; a cosine's part is at most its weight in the question. */
static int64_t block_bound(const struct search *l, const struct wanted *t, const qp_block_entry *b)
{
    double x = t->is.weight;
    if (l->how.gain == QP_GAIN_BM25)
        x *= b->most / (b->most + l->how.base + l->how.slope * b->shortest);
    else if (l->how.gain == QP_GAIN_IMPACT)
        x = fmin(x * b->most / QP_IMPACT, most_impact);
    return (int64_t)(x * UNIT + 1);
}

static bool hold(struct search *l, struct wanted *t, uint32_t block)
{
    if (t->held == block)
        return true;
    t->held = block;
    if (qp_block_nodes(l->p, &t->is.block[block], block ? t->is.block[block - 1].last : UINT32_MAX, t->node) &&
        qp_block_tfs(l->p, &t->is.block[block], t->tf))
        return true;
    t->held = UINT32_MAX;
    l->damaged = true;
    return false;
}

static int by_bound(const void *a, const void *b)
{
    int64_t x = (*(struct wanted *const *)a)->bound, y = (*(struct wanted *const *)b)->bound;
    return (x > y) - (x < y);
}

/* Moves to the window and bounds each term there; terms are then ordered by bound, smallest first. */
static int64_t enter(struct search *l, uint32_t from, uint32_t to)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct wanted *t = l->term[i];
        while (t->now < t->is.n_blocks && t->is.block[t->now].last < from)
            t->now++;
        t->bound = 0;
        for (uint32_t b = t->now; b < t->is.n_blocks && (b == t->now || t->is.block[b - 1].last + 1 < to); b++) {
            int64_t bound = block_bound(l, t, &t->is.block[b]);
            t->bound = bound > t->bound ? bound : t->bound;
            if (t->is.block[b].last >= to)
                break;
        }
        total += t->bound;
    }
    qsort(l->term, l->n, sizeof *l->term, by_bound);
    return total;
}

static void add_up(struct search *l, struct wanted *t, uint32_t from, uint32_t to)
{
    for (uint32_t b = t->now; b < t->is.n_blocks && (b == t->now || t->is.block[b - 1].last + 1 < to); b++) {
        if (!hold(l, t, b))
            return;
        uint32_t n = t->is.block[b].n + 1u;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = t->node[i] - from; /* wraps above the window for nodes before it */
            if (at >= to - from)
                continue;
            l->sum[at] += gain(l, t, t->node[i], t->tf[i]);
            l->found[at / 64] |= UINT64_C(1) << (at % 64);
        }
    }
}

/* What a term adds to one node; nodes are asked for in rising order within a window. */
static int64_t look_up(struct search *l, struct wanted *t, uint32_t node)
{
    while (t->now < t->is.n_blocks && t->is.block[t->now].last < node)
        t->now++;
    if (t->now == t->is.n_blocks || !hold(l, t, t->now))
        return 0;
    uint32_t low = 0, high = t->is.block[t->now].n + 1u;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (t->node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= t->is.block[t->now].n && t->node[low] == node ? gain(l, t, node, t->tf[low]) : 0;
}

/* The largest sum that, as a float, does not beat the worst of the best k: rounding is monotonic, so nothing that would
 * be kept is skipped. */
static int64_t bar(const qp_best *best)
{
    return qp_best_full(best) ? (int64_t)((double)best->at[0].score * UNIT) : -1;
}

static void settle(struct search *l, uint32_t node, int64_t sum, int64_t rest)
{
    int64_t least = bar(&l->best);
    for (uint32_t i = l->lookups; i-- > 0 && sum + rest > least;) {
        rest -= l->term[i]->bound;
        sum += look_up(l, l->term[i], node);
    }
    if (sum + rest > least)
        qp_best_add(&l->best, node, (float)((double)sum / UNIT));
}

static void window(struct search *l, uint32_t from, uint32_t to)
{
    int64_t total = enter(l, from, to), rest = 0, least = bar(&l->best);
    if (!total || total <= least)
        return;
    for (l->lookups = 0; l->lookups < l->n && rest + l->term[l->lookups]->bound <= least; l->lookups++)
        rest += l->term[l->lookups]->bound;
    for (uint32_t i = l->lookups; i < l->n; i++)
        if (l->term[i]->bound)
            add_up(l, l->term[i], from, to);
    for (uint32_t word = 0; word < WINDOW / 64; word++) {
        for (uint64_t bits = l->found[word]; bits; bits &= bits - 1) {
            uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(bits), node = from + at;
            if (!l->allow || l->allow[node / 64] >> (node % 64) & 1)
                settle(l, node, l->sum[at], rest);
            l->sum[at] = 0;
        }
        l->found[word] = 0;
    }
}

static qp_code begin(struct search *l, const qp_asked *asked, uint32_t n, uint32_t k, qp_arena *a, qp_err *err)
{
    l->term = qp_new(a, struct wanted *, n + 1u);
    if (!l->term || !qp_best_begin(&l->best, k, a))
        return qp_oom(err);
    for (; l->n < n; l->n++) {
        struct wanted *t = qp_arena_alloc(a, sizeof *t);
        if (!t)
            return qp_oom(err);
        t->is = asked[l->n];
        t->held = UINT32_MAX;
        l->term[l->n] = t;
    }
    return QP_OK;
}

qp_code qp_maxscore(const qp_snapshot *s, qp_range r, const qp_postings *p, qp_scoring how, const qp_asked *asked,
                    uint32_t n, const uint64_t *allow, uint32_t k, qp_list *out, qp_arena *a, qp_err *err)
{
    struct search *l = qp_arena_alloc(a, sizeof *l);
    if (!l)
        return qp_oom(err);
    *l = (struct search){.s = s, .p = p, .how = how, .allow = allow};
    qp_code code = begin(l, asked, n, k, a, err);
    if (code)
        return code;
    for (uint32_t from = r.from; k && n && from < r.to; from += WINDOW) {
        window(l, from, r.to - from < WINDOW ? r.to : from + WINDOW);
        if (from > UINT32_MAX - WINDOW)
            break;
    }
    *out = qp_best_end(&l->best);
    return l->damaged ? qp_snapshot_damaged(s, "postings", "a block cannot be read", err) : QP_OK;
}
