/* Lexical search: BM25 and tf-idf over blocked postings.
 *
 * BM25 is Lucene's: idf = ln(1 + (N - df + .5) / (df + .5)), score = sum idf tf / (tf + k1 (1 - b + b dl / avgdl)); the
 * constant factor k1 + 1 is left out, lengths are exact, a word that stands twice in the question counts twice. Tf-idf
 * is the cosine of scikit-learn's vectors (lexicon.h).
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sorted.h"
#include "store/lexicon.h"
#include "store/maxscore.h"

struct terms_found {
    const qp_snapshot *s;
    const qp_lexical *in;
    uint32_t *term;
    size_t n, cap;
    bool oom;
};

static void take_term(void *ctx, qp_str name, size_t from, size_t to)
{
    (void)from;
    (void)to;
    struct terms_found *f = ctx;
    uint32_t term = qp_snapshot_find(f->s, &f->in->term->name, sizeof *f->in->term, f->in->terms, name);
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

/* What is searched: passages alone or entities alone, with statistics of their own. */
struct searched {
    const qp_lexical *in;
    qp_range range;
    uint32_t n;     /* nodes */
    uint64_t words; /* of them */
    bool entities;
};

static struct searched searched_of(const qp_snapshot *s, const qp_lexical *in, qp_range r)
{
    bool entities = r.from == s->entity;
    uint64_t words = entities ? in->sums->words - in->sums->passage_words : in->sums->passage_words;
    return (struct searched){in, r, r.to - r.from, words, entities};
}

static uint32_t df_of(const struct searched *in, const qp_term_entry *e)
{
    if (e->passages > e->df) /* damaged */
        return 0;
    return in->entities ? e->df - e->passages : e->passages;
}

static double idf_of(const struct searched *in, bool tfidf, uint32_t df)
{
    double n = in->n;
    return tfidf ? qp_tfidf_idf(in->n, df) : log(1 + (n - df + .5) / (df + .5));
}

/* The question's distinct terms with their weights; of tf-idf, those of the unit vector. */
static qp_code weigh(const qp_snapshot *s, const struct searched *in, bool tfidf, uint32_t *term, size_t n,
                     qp_asked **out, uint32_t *n_out, qp_arena *a, qp_err *err)
{
    qp_asked *asked = qp_new(a, qp_asked, n + 1);
    double square = 0;
    uint32_t distinct = 0;
    if (!asked)
        return qp_oom(err);
    if (n)
        qsort(term, n, sizeof *term, qp_by_u32);
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && term[i + same] == term[i];)
            same++;
        const qp_term_entry *e = &in->in->term[term[i]];
        uint32_t df = df_of(in, e);
        if (!df)
            continue;
        qp_asked *t = &asked[distinct++];
        t->block = qp_postings_blocks(&in->in->of, e->block, e->df, &t->n_blocks);
        if (!t->block)
            return qp_snapshot_damaged(s, "terms", "a term's postings lie outside", err);
        t->idf = idf_of(in, tfidf, df);
        t->weight = tfidf ? qp_tfidf_weight((uint32_t)same, t->idf) : (double)same * t->idf;
        square += t->weight * t->weight;
    }
    for (uint32_t i = 0; tfidf && i < distinct; i++)
        asked[i].weight /= sqrt(square);
    *out = asked;
    *n_out = distinct;
    return QP_OK;
}

static qp_code scoring_of(const struct searched *in, const qp_probe *probe, bool tfidf, qp_scoring *out, qp_err *err)
{
    bool standard = probe->k1 == 0 && probe->b == 0;
    double k1 = standard ? 1.2 : probe->k1, b = standard ? .75 : probe->b;
    if (!(k1 >= 0) || !(b >= 0) || b > 1)
        return qp_fail(err, QP_INPUT, "BM25 wants k1 of at least 0 and b from 0 to 1, not k1=%g b=%g", k1, b);
    *out = (qp_scoring){tfidf ? QP_GAIN_TFIDF : QP_GAIN_BM25, k1 * (1 - b),
                        in->words ? k1 * b * in->n / (double)in->words : 0, in->in->length, in->in->norm};
    return QP_OK;
}

qp_code qp_snapshot_lexical(qp_snapshot *s, const qp_lexical *l, qp_range r, const qp_probe *probe, bool tfidf,
                            uint32_t k, qp_list *out, qp_arena *a, qp_err *err)
{
    const struct searched in = searched_of(s, l, r);
    struct terms_found found = {.s = s, .in = l};
    qp_scoring how;
    qp_asked *asked = NULL;
    uint32_t n = 0;
    qp_terms *words;
    qp_code code = scoring_of(&in, probe, tfidf, &how, err);
    if (!code)
        code = qp_snapshot_take_words(s, &words, err);
    if (code)
        return code;
    qp_terms_each(words, probe->text, take_term, &found);
    qp_snapshot_give_words(s, words);
    code = found.oom ? qp_oom(err) : weigh(s, &in, tfidf, found.term, found.n, &asked, &n, a, err);
    free(found.term);
    return code ? code : qp_maxscore(s, r, &l->of, how, asked, n, probe->allow, k, out, a, err);
}
