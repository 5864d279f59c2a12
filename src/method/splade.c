/* Learned sparse search: terms weighted by a model (SPLADE, Formal et al. 2021), where the index has been made with
 * one. */
#include "method/first.h"
#include "method/methods.h"

typedef struct splade_opt {
    int64_t top;
} splade_opt;

static const qp_opt opts[] = {QP_TOP_OPTION(splade_opt), {0}};

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const splade_opt *o = opt;
    (void)in, (void)n_in;
    return qp_search(q, "node.splade", (uint32_t)o->top);
}

const qp_op qp_method_splade = {
    .name = "splade",
    .help = "learned sparse search, on an index made with --sparse MODEL",
    .source = "FastInsight, 4.1.1 (SPLADE); Formal, Piwowarski, Clinchant, SIGIR 2021",
    .opts = opts,
    .opt_size = sizeof(splade_opt),
    .run = run,
    .needs = QP_NEEDS_SPARSE,
};
