/* O_gm: LeSeGR. Messages over the candidates' contextual citation graph, then v_q . H_i (CG-RAG, 4.3, Algorithm 1). */
#include "op/lesegr.h"

#include "model/trained.h"
#include "op/idmap.h"
#include "op/ops.h"

static const qp_opt opts[] = {QP_LESEGR_OPTIONS(qp_lesegr_opt, ), {0}};

/* The weights that the options ask for; null: untrained. */
static const qp_lesegr *weights_of(qp_query *q, const qp_lesegr_opt *o)
{
    const qp_lesegr *model = NULL;
    const char *sparse = NULL;
    if (!strcmp(o->encoder, "none"))
        return NULL;
    if (q->trained && q->embedder)
        qp_trained_lesegr(q->trained, o->encoder, q->graph->dim, q->embedder->digest, &model, &sparse, &q->err);
    else if (strcmp(o->encoder, "auto"))
        qp_fail(&q->err, QP_MODEL, "lesegr: encoder %s was asked for, and there is no folder with weights", o->encoder);
    if (q->err.code != QP_OK)
        return NULL;
    if (model && strcmp(sparse, o->sparse))
        q->note = "the weights of LeSeGR were trained with another sparse signal than they are used with";
    if (!model)
        q->note = "LeSeGR is untrained: `quipu train lesegr --dataset DIR` fits it to labelled questions";
    return model;
}

/* Scores by place. */
static const float *scores_of(qp_query *q, const qp_context *c, const qp_lesegr_opt *o)
{
    const qp_lesegr *model = weights_of(q, o);
    const float *score = NULL;
    if (q->err.code)
        return NULL;
    if (model) {
        qp_lesegr_score(model, &c->candidates, q->threads > 1 ? q->threads : 1, &score, q->mem, &q->err);
        return score;
    }
    float *own = qp_new(q->mem, float, c->candidates.graph.n + 1u);
    if (!own)
        return qp_oom(&q->err), NULL;
    qp_lesegr_untrained(&c->candidates, (uint32_t)o->layers, q->graph->dim, own, q->mem, &q->err);
    return q->err.code == QP_OK ? own : NULL;
}

/* Hits keep how they were reached. */
static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_lesegr_opt *o = opt;
    qp_context c;
    (void)n_in;
    if (!qp_lesegr_context(q, in[0].nodes, o, &c))
        return (qp_set){0};
    uint32_t n = c.candidates.graph.n;
    const float *score = scores_of(q, &c, o);
    qp_hit *hits = score ? qp_new(q->mem, qp_hit, n + 1u) : NULL;
    if (!hits)
        return qp_oom(&q->err), (qp_set){0};
    for (uint32_t i = 0; i < n; i++)
        hits[i] = (qp_hit){c.node[i], QP_NO_ID, score[i], NULL};
    for (uint32_t i = 0; i < in[0].nodes.n; i++) {
        const qp_hit *h = &in[0].nodes.at[i];
        uint32_t at = qp_context_place(&c, h->id);
        if (at != QP_NO_ID) {
            hits[at].via = h->via;
            hits[at].from = h->from;
        }
    }
    return (qp_set){.nodes = qp_list_sorted(q, hits, n, n), .edges = qp_overlay(q, c.edge, c.n_edges)};
}

const qp_op qp_op_lesegr = {
    .name = "lesegr",
    .help = "scores candidates by messages over the citations between them, sparse and dense signals in each message; "
            "those citations are its edges",
    .source = "CG-RAG, 4.3, Algorithm 1",
    .opts = opts,
    .opt_size = sizeof(qp_lesegr_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .asks = qp_lesegr_asks,
};

unsigned qp_lesegr_asks(const void *opt)
{
    const qp_lesegr_opt *o = opt;
    return QP_NEEDS_EMBEDDER | (*o->sparse == 's' ? QP_NEEDS_SPARSE : 0);
}
