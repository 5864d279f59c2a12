/* Learned sparse search: the inner product of question and passage over terms that a model weighted (SPLADE: Formal,
 * Piwowarski, Clinchant, SIGIR 2021). */
#include <math.h>

#include "store/maxscore.h"

qp_code qp_snapshot_learned(const qp_snapshot *s, qp_range r, const qp_probe *probe, uint32_t k, qp_list *out,
                            qp_arena *a, qp_err *err)
{
    const qp_sparse *q = probe->terms;
    if (!q)
        return qp_fail(err, QP_BUG, "view: node.splade is searched without terms");
    qp_asked *asked = qp_new(a, qp_asked, q->n + 1u);
    uint32_t n = 0;
    if (!asked)
        return qp_oom(err);
    for (uint32_t i = 0; i < q->n; i++) {
        const qp_learned_entry *e = q->term[i] < s->learned_terms ? &s->learned[q->term[i]] : NULL;
        if (!e || (i && q->term[i] <= q->term[i - 1]) || !isfinite(q->weight[i]))
            return qp_fail(err, QP_MODEL,
                           "term %u of the question is not one of the %u that the index has, or not in "
                           "order: ask with the sparse encoder the index was made with",
                           q->term[i], s->learned_terms);
        if (!e->df)
            continue;
        asked[n] = (qp_asked){.weight = q->weight[i]};
        asked[n].block = qp_postings_blocks(&s->learned_of, e->block, e->df, &asked[n].n_blocks);
        if (!asked[n++].block)
            return qp_snapshot_damaged(s, "learned", "a term's postings lie outside", err);
    }
    return qp_maxscore(s, r, &s->learned_of, (qp_scoring){.gain = QP_GAIN_IMPACT}, asked, n, probe->allow, k, out, a,
                       err);
}
