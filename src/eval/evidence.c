#include "eval/evidence.h"

#include "base/hash.h"
#include "text/stop.h"
#include "text/terms.h"

enum { STEMS = 256 };

struct stems { /* of a statement, each once; or of a passage, looked up among those */
    uint64_t at[STEMS];
    bool met[STEMS];
    uint32_t n, found;
};

static void collect(void *ctx, qp_str term, size_t from, size_t to)
{
    struct stems *s = ctx;
    uint64_t hash = qp_hash64(term);
    (void)from, (void)to;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i] == hash)
            return;
    if (s->n < STEMS && !qp_is_stop_word(term))
        s->at[s->n++] = hash;
}

static void meet(void *ctx, qp_str term, size_t from, size_t to)
{
    struct stems *s = ctx;
    uint64_t hash = qp_hash64(term);
    (void)from, (void)to;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i] == hash && !s->met[i]) {
            s->met[i] = true;
            s->found++;
        }
}

static uint32_t first_that_bears(qp_terms *terms, qp_str statement, const qp_str *text, uint32_t n)
{
    struct stems s = {.n = 0};
    qp_terms_each(terms, statement, collect, &s);
    for (uint32_t i = 0; s.n && i < n; i++) {
        s.found = 0;
        memset(s.met, 0, sizeof s.met);
        qp_terms_each(terms, text[i], meet, &s);
        if (s.found >= QP_EVIDENCE_SHARE * s.n)
            return i;
    }
    return UINT32_MAX;
}

qp_evidenced *qp_evidence_find(qp_query *q, qp_list hits, uint32_t depth, const qp_str *statement, uint32_t n,
                               qp_arena *mem, qp_err *err)
{
    qp_evidenced *out = qp_new(mem, qp_evidenced, 1);
    uint32_t *first = qp_new(mem, uint32_t, n + 1u), m = hits.n < depth ? hits.n : depth;
    qp_id *ids = qp_new(q->mem, qp_id, m + 1u);
    qp_str *text = qp_new(q->mem, qp_str, m + 1u);
    qp_terms *terms = NULL;
    if (!out || !first || !ids || !text) {
        qp_oom(err);
        return NULL;
    }
    for (uint32_t i = 0; i < m; i++)
        ids[i] = hits.at[i].id;
    if (q->graph->text(q->graph->self, QP_NODE, ids, m, text, q->mem, err) || qp_terms_open("en", &terms, err))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        first[i] = first_that_bears(terms, statement[i], text, m);
    qp_terms_close(terms);
    *out = (qp_evidenced){first, n};
    return out;
}

static double evidence(const qp_outcome *o, uint32_t k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; o->evidence && i < o->evidence->n; i++)
        n += o->evidence->first[i] < k;
    return o->evidence && o->evidence->n ? (double)n / o->evidence->n : 0;
}

const qp_measure qp_measure_evidence = {
    .name = "evidence",
    .help = "share of the statements that the answer rests on which a passage found bears out",
    .definition =
        "|statements with 0.8 of their stems in one of the first k passages| / |statements|; stop words left out",
    .citation = "ours; GraphRAG-Bench asks a model for its evidence recall",
    .wants = QP_WANTS_EVIDENCE,
    .cut = true,
    .of = evidence,
};
