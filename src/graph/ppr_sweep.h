/* Power iteration in one precision: included by ppr_exact.c with REAL and SUFFIX set. */
#define JOIN(a, b) a##b
#define NAMED(name, suffix) JOIN(name, suffix)
#define LOCAL(name) NAMED(name, SUFFIX)

typedef struct LOCAL(vectors) {
    REAL *s;        /* alpha x personalisation */
    REAL *x;        /* the iterate */
    REAL *share;    /* (1 - alpha) x(u) / weight of u's row: what an arc of u carries for each unit of its weight */
    REAL *share_to; /* the next one */
} LOCAL(vectors);

/* What v keeps of the iterate, and hands on. */
static inline void LOCAL(settle)(const exact *x, const LOCAL(vectors) * a, uint32_t v, double value, double *change,
                                 double *loose)
{
    double sum = qp_chain_sum(x->chain, v);
    *change += fabs(value - a->x[v]);
    a->x[v] = (REAL)value;
    a->share_to[v] = sum > 0 ? (REAL)(x->keep * value / sum) : 0;
    *loose += sum > 0 ? 0 : x->keep * value;
}

/* x(v) = alpha s(v) + (1 - alpha) sum over u of P(u,v) x(u): rows of the transpose, so that every sum has one writer. */
static qp_code LOCAL(pull)(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    (void)err;
    exact *x = ctx;
    const LOCAL(vectors) a = {x->vector[0], x->vector[1], x->vector[x->turn], x->vector[5 - x->turn]};
    const qp_csr *in = &x->chain->in;
    const uint32_t *target = in->target;
    const float *weight = in->weight;
    uint64_t all = in->start[in->n];
    double change = 0, loose = 0;
    for (uint32_t v = x->blocks.from[i]; v < x->blocks.from[i + 1]; v++) {
        double sum = 0;
        for (uint64_t e = in->start[v]; e < in->start[v + 1]; e++) {
            if (e + PPR_AHEAD < all)
                __builtin_prefetch(&a.share[target[e + PPR_AHEAD]]);
            sum += weight ? weight[e] * (double)a.share[target[e]] : a.share[target[e]];
        }
        LOCAL(settle)(x, &a, v, a.s[v] * x->restart + x->even + sum, &change, &loose);
    }
    x->part[i] = (part){change, loose};
    return QP_OK;
}

static void LOCAL(prepare)(exact *x, const ppr_run *run)
{
    uint32_t n = x->chain->out.n;
    const LOCAL(vectors) a = {x->vector[0], x->vector[1], x->vector[2], x->vector[2]};
    double change = 0;
    x->loose = 0;
    memset(a.s, 0, n * sizeof *a.s);
    memset(a.x, 0, n * sizeof *a.x);
    for (uint32_t i = 0; i < run->seeds.n; i++)
        a.s[run->seeds.node[i]] = (REAL)run->seeds.weight[i];
    for (uint32_t v = 0; v < n; v++)
        LOCAL(settle)(x, &a, v, a.s[v], &change, &x->loose);
}

static qp_code LOCAL(collect)(const exact *x, ppr_run *run, qp_err *err)
{
    const REAL *score = x->vector[1];
    uint32_t n = x->chain->out.n, positive = 0;
    qp_rank rank;
    for (uint32_t v = 0; v < n; v++)
        positive += score[v] > 0;
    qp_code code = ppr_rank(run, &rank, positive, err);
    if (code)
        return code;
    for (uint32_t v = 0; v < n; v++)
        if (score[v] > 0)
            qp_rank_add(&rank, v, score[v]);
    ppr_answer(run, &rank);
    return QP_OK;
}

#undef LOCAL
#undef NAMED
#undef JOIN
