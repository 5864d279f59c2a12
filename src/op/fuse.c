/* Two rankings into one: reciprocal ranks (Cormack, Clarke, Buettcher 2009) or weighted, min-max scaled scores. */
#include "op/idmap.h"
#include "op/ops.h"

typedef struct fuse_opt {
    const char *how;
    double weight, c;
    int64_t k;
    bool only;
} fuse_opt;

static const qp_opt opts[] = {{"how", "minmax: scores scaled to 0..1 in each set; rrf: 1/(c + rank)", QP_ENUM,
                               offsetof(fuse_opt, how), "minmax", 0, 0, "minmax|rrf"},
                              {"weight", "share of the first set; the second has the rest", QP_FLOAT,
                               offsetof(fuse_opt, weight), "0.5", 0, 1, NULL},
                              {"c", "rrf: how little the first ranks stand out", QP_FLOAT, offsetof(fuse_opt, c), "60",
                               0, 1e6, NULL},
                              {"k", "how many nodes stay; 0 = all", QP_INT, offsetof(fuse_opt, k), "0", 0, 1e9, NULL},
                              {"only", "keep the nodes of the first set alone", QP_BOOL, offsetof(fuse_opt, only),
                               "false", 0, 0, NULL},
                              {0}};

typedef struct scale {
    float low, high;
} scale;

static scale scale_of(qp_list l)
{
    scale s = {l.n ? l.at[0].score : 0, l.n ? l.at[0].score : 0};
    for (uint32_t i = 1; i < l.n; i++) {
        s.low = l.at[i].score < s.low ? l.at[i].score : s.low;
        s.high = l.at[i].score > s.high ? l.at[i].score : s.high;
    }
    return s;
}

/* What rank i of a list is worth. A list whose scores are all equal says that its nodes are equally good: 1. */
static double worth(const fuse_opt *o, qp_list l, scale s, uint32_t i)
{
    if (*o->how == 'r')
        return 2 / (o->c + i + 1); /* weight .5 gives the published sum of 1/(c + rank) */
    return s.high > s.low ? ((double)l.at[i].score - s.low) / ((double)s.high - s.low) : 1;
}

/* Adds a list to the sums, kept in the hits' scores. A node that a list does not hold gets nothing from it. */
static uint32_t add(qp_query *q, const fuse_opt *o, qp_list l, double weight, bool old, qp_idmap *at, qp_hit *out,
                    double *sum, uint32_t n)
{
    scale s = scale_of(l);
    for (uint32_t i = 0; i < l.n; i++) {
        if (old && !qp_idmap_get(at, l.at[i].id))
            continue;
        bool added;
        const uint32_t *slot = qp_idmap_put(at, l.at[i].id, n, &added);
        if (!slot) {
            qp_oom(&q->err);
            return 0;
        }
        if (added)
            out[n++] = l.at[i];
        sum[*slot] += weight * worth(o, l, s, i);
    }
    return n;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const fuse_opt *o = opt;
    qp_list a = in[0].nodes, b = in[1].nodes;
    qp_idmap at = qp_idmap_in(q->mem);
    qp_hit *out = qp_new(q->mem, qp_hit, (size_t)a.n + b.n);
    double *sum = qp_new(q->mem, double, (size_t)a.n + b.n);
    uint32_t n = 0;
    (void)n_in;
    if (!out || !sum) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    n = add(q, o, a, o->weight, false, &at, out, sum, n);
    n = add(q, o, b, 1 - o->weight, o->only, &at, out, sum, n);
    for (uint32_t i = 0; i < n; i++)
        out[i].score = (float)sum[i];
    return qp_set_of(qp_list_sorted(q, out, n, o->k ? (uint32_t)o->k : n));
}

const qp_op qp_op_fuse = {
    .name = "fuse",
    .help = "two rankings into one, by scaled scores or by ranks",
    .source = "Cormack, Clarke, Buettcher, SIGIR 2009 (rrf); minmax: AGRAG's hybrid retrieval with scaled parts",
    .opts = opts,
    .opt_size = sizeof(fuse_opt),
    .in_min = 2,
    .in_max = 2,
    .run = run,
};

qp_set qp_fuse(qp_query *q, qp_set a, qp_set b, const char *how, float weight, uint32_t k)
{
    return qp_run(q, &qp_op_fuse, (qp_set[]){a, b}, 2, &(fuse_opt){how, weight, 60, k, false});
}

qp_set qp_mix(qp_query *q, qp_set a, qp_set b, float weight)
{
    return qp_run(q, &qp_op_fuse, (qp_set[]){a, b}, 2, &(fuse_opt){"minmax", weight, 60, 0, true});
}
