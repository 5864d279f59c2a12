/* Conjugate gradients in one precision: included by ppr_conjugate.c with REAL and SUFFIX set. */
#define JOIN(a, b) a##b
#define NAMED(name, suffix) JOIN(name, suffix)
#define LOCAL(name) NAMED(name, SUFFIX)

typedef struct LOCAL(vectors) {
    REAL *share; /* 1 / weight of the row */
    REAL *z;     /* the iterate */
    REAL *r;     /* residual: what starts at the nodes - (D - (1 - alpha) A) z */
    REAL *p;     /* the direction of the next step */
    REAL *q;     /* (D - (1 - alpha) A) p */
} LOCAL(vectors);

static LOCAL(vectors) LOCAL(vectors_of)(const conjugate *x)
{
    return (LOCAL(vectors)){x->vector[0], x->vector[1], x->vector[2], x->vector[3], x->vector[4]};
}

static inline double LOCAL(along)(const qp_csr *g, const REAL *p, uint64_t e)
{
    return g->weight ? g->weight[e] * (double)p[g->target[e]] : p[g->target[e]];
}

/* What comes along the arcs of SIDE rows, all as long: side by side, for one sum would wait for each of its terms. */
static inline void LOCAL(add_side)(const qp_csr *g, const REAL *p, const uint32_t *row, double *sum)
{
    uint64_t at[SIDE];
    for (int i = 0; i < SIDE; i++) {
        at[i] = g->start[row[i]];
        sum[i] = 0;
    }
    uint32_t length = length_of(g, row[0]);
    for (uint32_t e = 0; e < length; e++)
        for (int i = 0; i < SIDE; i++)
            sum[i] += LOCAL(along)(g, p, at[i] + e);
}

/* Of one row; `far`: what the rows after it read is on its way to the cache. */
static inline double LOCAL(add_one)(const qp_csr *g, const REAL *p, uint32_t v, bool far)
{
    uint64_t e = g->start[v], end = g->start[v + 1], all = g->start[g->n];
    double sum[SIDE] = {0};
    for (; e + SIDE <= end; e += SIDE)
        for (uint64_t i = 0; i < SIDE; i++) {
            if (far && e + i + PPR_AHEAD < all)
                __builtin_prefetch(&p[g->target[e + i + PPR_AHEAD]]);
            sum[i] += LOCAL(along)(g, p, e + i);
        }
    for (; e < end; e++)
        sum[0] += LOCAL(along)(g, p, e);
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* q, of a block. */
static qp_code LOCAL(sweep)(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    (void)err;
    conjugate *x = ctx;
    const LOCAL(vectors) a = LOCAL(vectors_of)(x);
    const qp_csr *g = &x->chain->out;
    uint32_t to = x->blocks.from[i + 1], one = 0;
    double along = 0, sum[SIDE];
    for (uint32_t j = x->blocks.from[i], rows; j < to; j += rows) {
        const uint32_t *row = x->order ? x->order + j : &one;
        one = j;
        rows = x->order && are_alike(g, row, to - j) ? SIDE : 1;
        if (rows == SIDE)
            LOCAL(add_side)(g, a.p, row, sum);
        else
            sum[0] = LOCAL(add_one)(g, a.p, *row, !x->order);
        for (uint32_t k = 0; k < rows; k++) {
            uint32_t v = row[k];
            a.q[v] = (REAL)(weight_of(x->chain, v) * a.p[v] - x->keep * sum[k]);
            along += (double)a.p[v] * a.q[v];
        }
    }
    x->part[i] = (part){.along = along};
    return QP_OK;
}

/* z and r, of a block. */
static qp_code LOCAL(step)(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    (void)err;
    conjugate *x = ctx;
    const LOCAL(vectors) a = LOCAL(vectors_of)(x);
    const REAL step = (REAL)x->step;
    double residual[LANES] = {0}, square[LANES] = {0};
    for (uint32_t v = x->blocks.from[i]; v < x->blocks.from[i + 1]; v += LANES) {
        uint32_t n = x->blocks.from[i + 1] - v < LANES ? x->blocks.from[i + 1] - v : LANES;
        for (uint32_t k = 0; k < n; k++) {
            a.z[v + k] += step * a.p[v + k];
            REAL r = a.r[v + k] -= step * a.q[v + k];
            residual[k] += fabs((double)r);
            square[k] += (double)r * r * a.share[v + k];
        }
    }
    x->part[i] = (part){0};
    for (int k = 0; k < LANES; k++) {
        x->part[i].residual += residual[k];
        x->part[i].square += square[k];
    }
    return QP_OK;
}

/* p, of a block. */
static qp_code LOCAL(turn)(void *ctx, int worker, size_t i, qp_err *err)
{
    (void)worker;
    (void)err;
    const conjugate *x = ctx;
    const LOCAL(vectors) a = LOCAL(vectors_of)(x);
    const REAL turn = (REAL)x->turn;
    for (uint32_t v = x->blocks.from[i]; v < x->blocks.from[i + 1]; v++)
        a.p[v] = a.r[v] * a.share[v] + turn * a.p[v];
    return QP_OK;
}

/* From z = 0. */
static part LOCAL(prepare)(conjugate *x, const qp_seeds *from, double seeds, double even)
{
    const LOCAL(vectors) a = LOCAL(vectors_of)(x);
    part sum = {0};
    for (uint32_t v = 0; v < x->chain->out.n; v++)
        a.r[v] = (REAL)even;
    for (uint32_t i = 0; i < from->n; i++)
        a.r[from->node[i]] += (REAL)(seeds * from->weight[i]);
    for (uint32_t v = 0; v < x->chain->out.n; v++) {
        a.share[v] = (REAL)(1 / weight_of(x->chain, v));
        a.z[v] = 0;
        a.p[v] = a.r[v] * a.share[v];
        sum.residual += a.r[v];
        sum.square += (double)a.r[v] * a.p[v];
    }
    return sum;
}

static qp_code LOCAL(collect)(const conjugate *x, ppr_run *run, qp_err *err)
{
    const LOCAL(vectors) a = LOCAL(vectors_of)(x);
    uint32_t n = x->chain->out.n, positive = 0;
    qp_rank rank;
    for (uint32_t v = 0; v < n; v++)
        positive += a.z[v] > 0;
    qp_code code = ppr_rank(run, &rank, positive, err);
    if (code)
        return code;
    for (uint32_t v = 0; v < n; v++)
        if (a.z[v] > 0)
            qp_rank_add(&rank, v, a.z[v] * weight_of(x->chain, v));
    ppr_answer(run, &rank);
    return QP_OK;
}

#undef LOCAL
#undef NAMED
#undef JOIN
