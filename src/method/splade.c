/* Learned sparse search: terms weighted by a model (SPLADE, Formal et al. 2021), where the index has been made with one. */
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
    qp_set found = qp_search(q, "node.splade", (uint32_t)o->top);
    if (q->err.code == QP_INPUT) { /* the view knows no such index */
        q->err.code = QP_OK;
        qp_fail(
            &q->err, QP_MODEL,
            "splade needs an index with learned term weights (node.splade) and this one has none: no model that gives "
            "them is configured; ask with -m bm25 or -m hybrid");
    }
    return found;
}

const qp_op qp_method_splade = {
    .name = "splade",
    .help = "learned sparse search, on an index that a term-weighting model made",
    .source = "FastInsight, 4.1.1 (SPLADE); Formal, Piwowarski, Clinchant, SIGIR 2021",
    .opts = opts,
    .opt_size = sizeof(splade_opt),
    .run = run,
};
