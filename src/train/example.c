#include "train/example.h"

#include "base/clock.h"
#include "base/random.h"
#include "eval/judgements.h"
#include "op/ops.h"

enum { GOLD_CHUNKS = 16 };

typedef struct reading {
    const qp_teacher *t;
    qp_map *documents; /* numbers are the snapshot's, then those of strangers */
    qp_judgements judged;
    qp_arena *mem; /* of what stays */
} reading;

static qp_code number_documents(reading *r, qp_err *err)
{
    r->documents = qp_map_new();
    if (!r->documents)
        return qp_oom(err);
    for (uint32_t d = 0; d < qp_snapshot_documents(r->t->snapshot); d++)
        if (qp_document_number(r->documents, qp_snapshot_document_key(r->t->snapshot, d)) == QP_NO_ID)
            return qp_oom(err);
    return QP_OK;
}

static bool is_labelled(const reading *r, const qp_question *q)
{
    for (uint32_t i = 0; i < q->relevant; i++)
        if (q->gold[i] < qp_snapshot_documents(r->t->snapshot))
            return true;
    return false;
}

static bool is_gold(const reading *r, const qp_question *q, qp_id node)
{
    uint32_t document = qp_snapshot_document_of(r->t->snapshot, node);
    return document != QP_NO_ID && qp_question_grade(q, document) > 0;
}

/* The chunks of the question's documents, as hits. */
static qp_set gold_of(const reading *r, const qp_question *question, qp_query *q)
{
    qp_hit *hits = qp_new(q->mem, qp_hit, (size_t)question->relevant * GOLD_CHUNKS + 1);
    uint32_t n = 0;
    if (!hits)
        qp_oom(&q->err);
    for (uint32_t i = 0; hits && i < question->relevant; i++) {
        qp_id first = 0;
        uint32_t chunks = 0;
        if (question->gold[i] < qp_snapshot_documents(r->t->snapshot))
            qp_snapshot_document_nodes(r->t->snapshot, question->gold[i], &first, &chunks);
        for (uint32_t k = 0; k < chunks && k < GOLD_CHUNKS; k++)
            hits[n++] = (qp_hit){first + k, QP_NO_ID, 0, NULL};
    }
    return qp_set_of((qp_list){hits, n});
}

static void *kept(const reading *r, const void *from, size_t bytes)
{
    void *to = qp_arena_alloc(r->mem, bytes + 1);
    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

/* What stays of a context once its question is over. */
static qp_code keep(const reading *r, const qp_question *question, const qp_context *c, qp_example *out, qp_err *err)
{
    const qp_csr *g = &c->candidates.graph;
    uint32_t dim = qp_snapshot_view(r->t->snapshot)->dim;
    *out = (qp_example){.id = qp_arena_str(r->mem, question->id), .n = g->n, .scene = c->candidates};
    bool *gold = qp_new(r->mem, bool, g->n + 1u);
    out->node = kept(r, c->node, g->n * sizeof *c->node);
    out->scene.graph.start = kept(r, g->start, ((size_t)g->n + 1) * sizeof *g->start);
    out->scene.graph.target = kept(r, g->target, g->start[g->n] * sizeof *g->target);
    out->scene.delta = c->candidates.delta ? kept(r, c->candidates.delta, g->n * sizeof(float)) : NULL;
    out->scene.query = kept(r, c->candidates.query, dim * sizeof(float));
    out->scene.vector = NULL;
    out->gold = gold;
    if (!gold || !out->node || !out->scene.graph.start || !out->scene.graph.target || !out->scene.query ||
        (c->candidates.delta && !out->scene.delta) || !out->id.at)
        return qp_oom(err);
    for (uint32_t i = 0; i < g->n; i++)
        out->n_gold += gold[i] = is_gold(r, question, c->node[i]);
    return QP_OK;
}

static qp_code make(const reading *r, const qp_question *question, bool fit, qp_example *out, qp_err *err)
{
    qp_query q;
    qp_context context;
    qp_code code = qp_query_begin(&q, question->text, err);
    if (code)
        return code;
    q.graph = qp_snapshot_view(r->t->snapshot);
    q.embedder = r->t->embedder;
    q.sparse = r->t->sparse;
    q.cancel = r->t->watch->cancel;
    q.walk = qp_query_walk(&q, r->t->candidates->lesegr.edges, "both");
    qp_set c = qp_cgrag_candidates(&q, (qp_set){0}, r->t->candidates);
    if (fit)
        c = qp_join(&q, c, gold_of(r, question, &q));
    if (q.err.code == QP_OK && qp_lesegr_context(&q, c.nodes, &r->t->candidates->lesegr, &context))
        code = keep(r, question, &context, out, err);
    else
        code = qp_fail(err, q.err.code, "question '%.*s': %s", (int)question->id.n, question->id.at, q.err.message);
    qp_query_end(&q);
    return code;
}

static void shuffle(uint32_t *at, uint32_t n, uint64_t seed)
{
    qp_random random = qp_random_seed(seed);
    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t j = i + (uint32_t)qp_random_below(&random, n - i), other = at[i];
        at[i] = at[j];
        at[j] = other;
    }
}

static void tell(const qp_watch *w, uint32_t done, uint32_t total, double start)
{
    if (w->progress)
        w->progress(w->user, &(qp_progress){.stage = "candidates",
                                            .done = done,
                                            .total = total,
                                            .seconds = (qp_now_ms() - start) / 1000});
}

static qp_code make_all(const reading *r, const uint32_t *asked, uint32_t n, qp_examples *out, qp_err *err)
{
    qp_code code = QP_OK;
    double start = qp_now_ms();
    out->n_held = n / 5 ? n / 5 : 1;
    out->n_fit = n - out->n_held;
    out->fit = qp_new(r->mem, qp_example, n);
    if (!out->fit)
        return qp_oom(err);
    out->held = out->fit + out->n_fit;
    for (uint32_t i = 0; i < n && !code; i++) {
        code = make(r, &r->judged.at[asked[i]], i < out->n_fit, &out->fit[i], err);
        tell(r->t->watch, i + 1, n, start);
    }
    return code;
}

static qp_code choose(const reading *r, const char *dataset, qp_examples *out, qp_err *err)
{
    uint32_t *asked = qp_new(r->mem, uint32_t, r->judged.n + 1u), n = 0;
    if (!asked)
        return qp_oom(err);
    for (uint32_t i = 0; i < r->judged.n; i++)
        if (is_labelled(r, &r->judged.at[i]))
            asked[n++] = i;
        else
            out->strangers++;
    shuffle(asked, n, r->t->seed);
    uint32_t share = (uint32_t)(r->t->share * n + .5);
    if (share < 2)
        return qp_fail(err, QP_INPUT,
                       "%s: at least 2 questions with labels in this index were wanted, one to learn from and one to "
                       "hold back; %u of %u are, a share of %g leaves %u",
                       dataset, n, r->judged.n, r->t->share, share);
    return make_all(r, asked, share, out, err);
}

qp_code qp_examples_read(const char *dataset, const qp_teacher *t, qp_examples *out, qp_arena *mem, qp_err *err)
{
    reading r = {.t = t, .mem = mem};
    *out = (qp_examples){0};
    qp_code code = number_documents(&r, err);
    if (!code)
        code = qp_judgements_read(dataset, NULL, false, r.documents, mem, &r.judged, err);
    if (!code) {
        code = choose(&r, dataset, out, err);
        qp_judgements_free(&r.judged);
    }
    qp_map_free(r.documents);
    return code;
}

qp_code qp_example_load(const qp_example *e, const qp_view *view, qp_candidates *out, qp_arena *mem, qp_err *err)
{
    float *vectors = qp_new(mem, float, (size_t)e->n * view->dim + 1);
    *out = e->scene;
    out->vector = vectors;
    return vectors ? view->vectors(view->self, "node.dense", e->node, e->n, vectors, err) : qp_oom(err);
}
