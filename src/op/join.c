/* The algebra: join. */
#include "op/idmap.h"
#include "op/ops.h"

static qp_list join(qp_query *q, qp_list a, qp_list b)
{
    qp_idmap seen = qp_idmap_in(q->mem);
    qp_hit *out = qp_new(q->mem, qp_hit, (size_t)a.n + b.n);
    uint32_t n = 0;
    for (uint64_t i = 0; out && i < (uint64_t)a.n + b.n; i++) {
        const qp_hit *h = i < a.n ? &a.at[i] : &b.at[i - a.n];
        bool added;
        if (!qp_idmap_put(&seen, h->id, 0, &added))
            out = NULL;
        else if (added)
            out[n++] = *h;
    }
    if (!out)
        qp_oom(&q->err);
    return (qp_list){out, out ? n : 0};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    qp_set out = in[0];
    (void)opt;
    for (int i = 1; i < n_in; i++) {
        out.nodes = join(q, out.nodes, in[i].nodes);
        out.edges = join(q, out.edges, in[i].edges);
    }
    return out;
}

const qp_op qp_op_join = {
    .name = "join",
    .help = "the first set, then what each further one adds, in order; scores stay as they are",
    .source = "FastInsight, Algorithm 1, line 6",
    .in_min = 1,
    .in_max = 8,
    .run = run,
};

qp_set qp_join(qp_query *q, qp_set a, qp_set b)
{
    return qp_run(q, &qp_op_join, (qp_set[]){a, b}, 2, NULL);
}
