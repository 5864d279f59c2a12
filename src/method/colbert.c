/* Late interaction (ColBERT): every token of the question is compared with every token of a passage. */
#include "method/methods.h"
#include "op/ops.h"

static const qp_opt opts[] = {QP_MAXSIM_OPTIONS(qp_maxsim_opt),
                              {"top", "how many nodes are returned", QP_INT, offsetof(qp_maxsim_opt, k), "10", 1, 1e6,
                               NULL},
                              {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    (void)in, (void)n_in;
    return qp_run(q, &qp_op_maxsim, NULL, 0, opt);
}

const qp_op qp_method_colbert = {
    .name = "colbert",
    .help = "late interaction over vectors of tokens, on an index made with -o tokens=yes",
    .source = "Khattab, Zaharia, SIGIR 2020; Santhanam, Khattab, Potts, Zaharia, CIKM 2022 (PLAID)",
    .opts = opts,
    .opt_size = sizeof(qp_maxsim_opt),
    .run = run,
    .needs = QP_NEEDS_EMBEDDER,
};
