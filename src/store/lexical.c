/* Lexical search: BM25 and tf-idf over blocked postings.
 *
 * BM25 is Lucene's: idf = ln(1 + (N - df + .5) / (df + .5)), score = sum idf tf / (tf + k1 (1 - b + b dl / avgdl)); the
 * constant factor k1 + 1 is left out, lengths are exact, a word that stands twice in the question counts twice. Tf-idf
 * is the cosine of scikit-learn's vectors (lexicon.h).
 *
 * MaxScore over windows of nodes (Turtle and Flood, 1995; block bounds as in Ding and Suel, 2011): in a window, each
 * term's blocks bound what it can add. Terms that together cannot lift a node into the best k are only looked up for
 * nodes that the others found. Scores are sums of whole numbers (2^-36 each), so they do not depend on the order in
 * which terms are added, and skipping changes no result.
 */
#include <math.h>

#include "store/best.h"
#include "base/array.h"
#include "store/lexicon.h"
#include "store/mapped.h"

enum { WINDOW = 2048 };
#define UNIT 0x1p36 /* a question of six million words stays below 2^63 */

struct wanted { /* a term of the question */
    const qp_block_entry *block;
    uint32_t n_blocks;
    uint32_t now;  /* first block that may matter from here on */
    double weight; /* how often it stands in the question, times its idf */
    double idf;
    int64_t bound; /* most it can add in this window */
    uint32_t held; /* block whose nodes and tfs are at hand; UINT32_MAX: none */
    uint32_t node[QP_BLOCK], tf[QP_BLOCK];
};

struct lexical {
    const qp_snapshot *s;
    const qp_probe *probe;
    bool tfidf, damaged;
    double base, slope;   /* BM25: tf / (tf + base + slope dl) */
    struct wanted **term; /* sorted by bound within a window */
    uint32_t n;
    uint32_t lookups; /* terms [0, lookups) are only looked up in this window */
    int64_t sum[WINDOW];
    uint64_t found[WINDOW / 64];
    qp_best best;
};

static int64_t gain(const struct lexical *l, const struct wanted *t, uint32_t node, uint32_t tf)
{
    double x;
    if (l->tfidf)
        x = t->weight * qp_tfidf_weight(tf, t->idf) / l->s->norm[node];
    else
        x = t->weight * tf / (tf + l->base + l->slope * l->s->length[node]);
    if (!(x > 0))
        return 0;
    return (int64_t)((x < t->weight ? x : t->weight) * UNIT + .5); /* more is rounding, or a damaged norm */
}

/* Rises with tf and falls with length; a cosine's part is at most its weight in the question. */
static int64_t block_bound(const struct lexical *l, const struct wanted *t, const qp_block_entry *b)
{
    double x = t->weight;
    if (!l->tfidf)
        x *= b->most / (b->most + l->base + l->slope * b->shortest);
    return (int64_t)(x * UNIT + 1);
}

static bool hold(struct lexical *l, struct wanted *t, uint32_t block)
{
    if (t->held == block)
        return true;
    t->held = block;
    if (qp_block_nodes(l->s, &t->block[block], block ? t->block[block - 1].last : UINT32_MAX, t->node) &&
        qp_block_tfs(l->s, &t->block[block], t->tf))
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
static int64_t enter(struct lexical *l, uint32_t from, uint32_t to)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct wanted *t = l->term[i];
        while (t->now < t->n_blocks && t->block[t->now].last < from)
            t->now++;
        t->bound = 0;
        for (uint32_t b = t->now; b < t->n_blocks && (b == t->now || t->block[b - 1].last + 1 < to); b++) {
            int64_t bound = block_bound(l, t, &t->block[b]);
            t->bound = bound > t->bound ? bound : t->bound;
            if (t->block[b].last >= to)
                break;
        }
        total += t->bound;
    }
    qsort(l->term, l->n, sizeof *l->term, by_bound);
    return total;
}

static void add_up(struct lexical *l, struct wanted *t, uint32_t from, uint32_t to)
{
    for (uint32_t b = t->now; b < t->n_blocks && (b == t->now || t->block[b - 1].last + 1 < to); b++) {
        if (!hold(l, t, b))
            return;
        uint32_t n = t->block[b].n + 1u;
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
static int64_t look_up(struct lexical *l, struct wanted *t, uint32_t node)
{
    while (t->now < t->n_blocks && t->block[t->now].last < node)
        t->now++;
    if (t->now == t->n_blocks || !hold(l, t, t->now))
        return 0;
    uint32_t low = 0, high = t->block[t->now].n + 1u;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (t->node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= t->block[t->now].n && t->node[low] == node ? gain(l, t, node, t->tf[low]) : 0;
}

/* The largest sum that, as a float, does not beat the worst of the best k: rounding is monotonic, so nothing that would
 * be kept is skipped. */
static int64_t bar(const qp_best *best)
{
    return qp_best_full(best) ? (int64_t)((double)best->at[0].score * UNIT) : -1;
}

static void settle(struct lexical *l, uint32_t node, int64_t sum, int64_t rest)
{
    int64_t least = bar(&l->best);
    for (uint32_t i = l->lookups; i-- > 0 && sum + rest > least;) {
        rest -= l->term[i]->bound;
        sum += look_up(l, l->term[i], node);
    }
    if (sum + rest > least)
        qp_best_add(&l->best, node, (float)((double)sum / UNIT));
}

static void window(struct lexical *l, uint32_t from, uint32_t to)
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
            if (!l->probe->allow || l->probe->allow[node / 64] >> (node % 64) & 1)
                settle(l, node, l->sum[at], rest);
            l->sum[at] = 0;
        }
        l->found[word] = 0;
    }
}

/* ---- the question ---- */

struct terms_found {
    const qp_snapshot *s;
    uint32_t *term;
    size_t n, cap;
    bool oom;
};

static void take_term(void *ctx, qp_str name, size_t from, size_t to)
{
    (void)from;
    (void)to;
    struct terms_found *f = ctx;
    uint32_t term = qp_snapshot_term(f->s, name);
    if (term == UINT32_MAX || f->oom)
        return;
    uint32_t *more = qp_array_room(f->term, f->n, &f->cap, sizeof *more);
    if (!more) {
        f->oom = true;
        return;
    }
    f->term = more;
    f->term[f->n++] = term;
}

static int rising(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double idf_of(const struct lexical *l, uint32_t df)
{
    double n = l->s->nodes;
    return l->tfidf ? qp_tfidf_idf(l->s->nodes, df) : log(1 + (n - df + .5) / (df + .5));
}

/* The question's distinct terms with their weights; of tf-idf, those of the unit vector. */
static qp_code begin(struct lexical *l, uint32_t *term, size_t n, qp_arena *a, qp_err *err)
{
    if (!n)
        return QP_OK;
    qsort(term, n, sizeof *term, rising);
    l->term = qp_new(a, struct wanted *, n);
    if (!l->term)
        return qp_oom(err);
    double square = 0;
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && term[i + same] == term[i];)
            same++;
        struct wanted *t = qp_arena_alloc(a, sizeof *t);
        if (!t)
            return qp_oom(err);
        uint32_t df = l->s->term[term[i]].df;
        t->block = qp_snapshot_blocks(l->s, term[i], &t->n_blocks);
        if (!t->block || df > l->s->nodes)
            return qp_snapshot_damaged(l->s, "terms", "a term's postings lie outside", err);
        t->idf = idf_of(l, df);
        t->weight = l->tfidf ? qp_tfidf_weight((uint32_t)same, t->idf) : (double)same * t->idf;
        t->held = UINT32_MAX;
        square += t->weight * t->weight;
        l->term[l->n++] = t;
    }
    for (uint32_t i = 0; l->tfidf && i < l->n; i++)
        l->term[i]->weight /= sqrt(square);
    return QP_OK;
}

static qp_code run(struct lexical *l, uint32_t k, qp_list *out, qp_arena *a, qp_err *err)
{
    const qp_snapshot *s = l->s;
    bool standard = l->probe->k1 == 0 && l->probe->b == 0;
    double k1 = standard ? 1.2 : l->probe->k1, b = standard ? .75 : l->probe->b;
    if (!(k1 >= 0) || !(b >= 0) || b > 1)
        return qp_fail(err, QP_INPUT, "BM25 wants k1 of at least 0 and b from 0 to 1, not k1=%g b=%g", k1, b);
    l->base = k1 * (1 - b);
    l->slope = s->info->words ? k1 * b * s->nodes / (double)s->info->words : 0;
    if (!qp_best_begin(&l->best, k, a))
        return qp_oom(err);
    for (uint32_t from = 0; k && l->n && from < s->nodes; from += WINDOW) {
        window(l, from, s->nodes - from < WINDOW ? s->nodes : from + WINDOW);
        if (from > UINT32_MAX - WINDOW)
            break;
    }
    *out = qp_best_end(&l->best);
    return l->damaged ? qp_snapshot_damaged(s, "postings", "a block cannot be read", err) : QP_OK;
}

qp_code qp_snapshot_lexical(qp_snapshot *s, const qp_probe *probe, bool tfidf, uint32_t k, qp_list *out, qp_arena *a,
                            qp_err *err)
{
    struct terms_found found = {.s = s};
    qp_terms *words;
    qp_code code = qp_snapshot_take_words(s, &words, err);
    if (code)
        return code;
    qp_terms_each(words, probe->text, take_term, &found);
    qp_snapshot_give_words(s, words);
    struct lexical *l = qp_arena_alloc(a, sizeof *l);
    code = !l || found.oom ? qp_oom(err) : QP_OK;
    if (!code) {
        *l = (struct lexical){.s = s, .probe = probe, .tfidf = tfidf};
        code = begin(l, found.term, found.n, a, err);
    }
    free(found.term);
    return code ? code : run(l, k, out, a, err);
}
