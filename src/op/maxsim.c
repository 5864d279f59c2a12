/* O_vs: the best nodes by late interaction. */
#include "op/ops.h"

static const qp_opt opts[] = {QP_MAXSIM_OPTIONS(qp_maxsim_opt),
                              {"k", "how many nodes", QP_INT, offsetof(qp_maxsim_opt, k), "10", 1, 1e9, NULL},
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const qp_maxsim_opt *o = opt;
    qp_list found = {0};
    (void)in, (void)n_in;
    const qp_probe probe = {.text = q->text,
                            .tokens = qp_query_tokens(q),
                            .probes = (uint32_t)o->probes,
                            .candidates = (uint32_t)o->candidates,
                            .threshold = (float)o->threshold,
                            .exact = o->exact,
                            .allow = q->allow};
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, "node.colbert", &probe, (uint32_t)o->k, &found, q->mem, &q->err);
    return qp_set_of(found);
}

const qp_op qp_op_maxsim = {
    .name = "maxsim",
    .help = "the best passages by late interaction: each of the question's tokens with the passage's nearest",
    .source = "ColBERT (Khattab, Zaharia 2020), PLAID (Santhanam, Khattab, Potts, Zaharia 2022)",
    .opts = opts,
    .opt_size = sizeof(qp_maxsim_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
