/* Which n-grams of the texts are entities; see ingest/weave.h. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "ingest/weave_parts.h"

struct gram {
    uint64_t hash;
    uint32_t at, n; /* its words */
};

struct choosing {
    qp_weave_work *w;
    struct gram *gram; /* of the chunk at hand */
    size_t n, cap;
    qp_table df; /* of each n-gram */
};

static int by_hash(const void *a, const void *b)
{
    const struct gram *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* All n-grams of the chunk that could be entities, sorted by hash. */
static qp_code list_grams(struct choosing *c, const qp_passage *p, qp_err *err)
{
    const qp_weave_work *w = c->w;
    qp_code code = qp_weave_cut(c->w, p, err);
    c->n = 0;
    for (size_t i = 0; !code && i < w->n_words; i++) {
        uint64_t hash = 0;
        bool letter = false;
        for (uint32_t n = 1; n <= w->how->b && i + n <= w->n_words; n++) {
            const qp_word *last = &w->word[i + n - 1];
            if (n > 1 && last->parted)
                break;
            hash = qp_phrase_hash(hash, last);
            letter |= !last->number;
            if (w->word[i].stop || last->stop || !letter || (n == 1 && last->folded.n < 2))
                continue;
            struct gram *more = qp_array_room(c->gram, c->n, &c->cap, sizeof *more);
            if (!more)
                return qp_oom(err);
            c->gram = more;
            more[c->n++] = (struct gram){hash, (uint32_t)i, n};
        }
    }
    if (!code && c->n)
        qsort(c->gram, c->n, sizeof *c->gram, by_hash);
    return code;
}

static size_t same_from(const struct choosing *c, size_t i)
{
    size_t n = 1;
    while (i + n < c->n && c->gram[i + n].hash == c->gram[i].hash)
        n++;
    return n;
}

static qp_code count_chunk(void *ctx, const qp_passage *p, qp_err *err)
{
    struct choosing *c = ctx;
    qp_code code = list_grams(c, p, err);
    for (size_t i = 0; !code && i < c->n; i += same_from(c, i)) {
        uint32_t *df = qp_table_put(&c->df, c->gram[i].hash, 0, NULL);
        if (df)
            ++*df;
        else
            code = qp_oom(err);
    }
    return code;
}

static double er_of(const struct choosing *c, uint64_t hash, size_t count)
{
    const qp_weave_work *w = c->w;
    const uint32_t *df = qp_table_get(&c->df, hash);
    return (double)count / ((double)w->n_words * log(w->chunks + 1)) * log((w->chunks + 1) / ((df ? *df : 0) + 1.0));
}

qp_code qp_weave_keep(qp_weave_work *w, size_t at, size_t n, qp_err *err)
{
    if (qp_weave_entity(w, at, n) != UINT32_MAX)
        return QP_OK;
    qp_buf_clear(&w->scratch);
    qp_phrase_name(&w->word[at], n, &w->scratch);
    return w->scratch.oom ? qp_oom(err) : qp_weave_name(w, qp_buf_view(&w->scratch), &w->word[at], n, err);
}

static bool capital_at(const qp_weave_work *w, size_t i)
{
    return i < w->n_words && w->word[i].capital && !w->word[i].stop;
}

/* A run of capitals that no longer one holds. One word at the start of a sentence may be any word. */
static bool is_name(const qp_weave_work *w, const struct gram *g)
{
    const qp_word *word = &w->word[g->at];
    size_t end = g->at + g->n;
    for (uint32_t i = 0; i < g->n; i++)
        if (!word[i].capital && !word[i].stop)
            return false;
    bool longer = (g->at && !word->parted && capital_at(w, g->at - 1)) || (capital_at(w, end) && !w->word[end].parted);
    return !longer && (g->n > 1 || !word->first);
}

/* Of the equal n-grams from i on, `count` of them, in a chunk whose heaviest weighs `unit`. */
static bool is_entity(const struct choosing *c, size_t i, size_t count, double unit)
{
    const qp_weaving *how = c->w->how;
    bool heavy = unit > 0 && er_of(c, c->gram[i].hash, count) / unit > how->tau, name = false;
    if (how->spans == QP_WEAVE_NGRAMS)
        return heavy;
    for (size_t k = i; k < i + count && !name; k++)
        name = is_name(c->w, &c->gram[k]);
    const uint32_t *df = qp_table_get(&c->df, c->gram[i].hash);
    return name || (how->spans == QP_WEAVE_BOTH && heavy && (count > 1 || (df && *df > 1)));
}

static qp_code choose_from_chunk(void *ctx, const qp_passage *p, qp_err *err)
{
    struct choosing *c = ctx;
    double largest = 0;
    qp_code code = list_grams(c, p, err);
    for (size_t i = 0, n; !code && i < c->n; i += n) {
        n = same_from(c, i);
        largest = fmax(largest, er_of(c, c->gram[i].hash, n));
    }
    for (size_t i = 0, n; !code && i < c->n; i += n) {
        n = same_from(c, i);
        if (is_entity(c, i, n, c->w->how->literal ? 1 : largest))
            code = qp_weave_keep(c->w, c->gram[i].at, c->gram[i].n, err);
    }
    return code ? code : qp_weave_aliases(c->w, false, err);
}

qp_code qp_weave_choose(qp_weave_work *w, qp_err *err)
{
    struct choosing c = {.w = w};
    qp_code code = qp_store_passages(w->store, count_chunk, &c, err);
    code = code ? code : qp_store_passages(w->store, choose_from_chunk, &c, err);
    qp_table_free(&c.df);
    free(c.gram);
    return code;
}
