/* Running a pipeline: its steps in order, and repeat, which runs steps again while a set is still to change. */
#include "op/ops.h"
#include "op/pipeline.h"

typedef struct frame { /* one run */
    qp_query *q;
    const char *opt; /* the pipeline's options */
    qp_set set[QP_SETS_MAX];
} frame;

static int64_t number(const frame *f, qp_number n)
{
    return n.option ? *(const int64_t *)(f->opt + n.option->offset) : n.n;
}

static bool holds(const frame *f, qp_condition c)
{
    int64_t size = f->set[c.set].nodes.n, than = number(f, c.than);
    switch (c.how) {
    case QP_LT: return size < than;
    case QP_LE: return size <= than;
    case QP_GT: return size > than;
    case QP_GE: return size >= than;
    case QP_EQ: return size == than;
    case QP_NE: return size != than;
    default: return true;
    }
}

/* The step's options with the pipeline's in their places; null after an error. */
static void *bound(frame *f, const qp_stage *s)
{
    char *opt = qp_arena_alloc(f->q->mem, s->op->opt_size);
    if (!opt) {
        qp_oom(&f->q->err);
        return NULL;
    }
    memcpy(opt, s->opt, s->op->opt_size);
    for (uint32_t i = 0; i < s->n_bindings; i++) {
        const qp_binding *b = &s->binding[i];
        memcpy(opt + b->to->offset, f->opt + b->from->offset, b->to->type == QP_BOOL ? sizeof(bool) : sizeof(int64_t));
    }
    return opt;
}

static void run_op(frame *f, const qp_stage *s)
{
    qp_set in[QP_INPUTS_MAX];
    for (int i = 0; i < s->n_in; i++)
        in[i] = f->set[s->in[i]];
    void *opt = bound(f, s);
    if (opt)
        f->set[0] = f->set[s->as] = qp_run(f->q, s->op, in, s->n_in, opt);
}

static void run_stages(frame *f, qp_stages stages);

/* A round that leaves the watched set as large as it was is the last: the next one would find the same. */
static void repeat(frame *f, const qp_stage *s)
{
    int64_t times = number(f, s->times);
    int watched = s->go_on.how != QP_ALWAYS ? s->go_on.set : s->until.how != QP_ALWAYS ? s->until.set : -1;
    for (int64_t i = 0; i < times && holds(f, s->go_on) && !qp_query_over(f->q, "repeat"); i++) {
        uint32_t size = watched < 0 ? 0 : f->set[watched].nodes.n;
        run_stages(f, s->body);
        if (s->until.how != QP_ALWAYS && holds(f, s->until))
            break;
        if (watched >= 0 && f->set[watched].nodes.n == size)
            break;
    }
}

static void run_stages(frame *f, qp_stages stages)
{
    for (uint32_t i = 0; i < stages.n && f->q->err.code == QP_OK; i++) {
        const qp_stage *s = &stages.at[i];
        if (!holds(f, s->when))
            continue;
        if (s->op)
            run_op(f, s);
        else
            repeat(f, s);
    }
}

qp_set qp_pipeline_run(qp_query *q, const qp_op *op, const qp_set *in, int n_in, const void *opt)
{
    const qp_pipeline *p = op->self;
    const qp_walk_choice *walk = opt;
    qp_walk outer = q->walk;
    frame f = {.q = q, .opt = opt};
    for (int i = 0; i < n_in; i++)
        f.set[i + 1] = in[i];
    q->walk = qp_query_walk(q, walk->edges, walk->direction);
    run_stages(&f, p->stages);
    q->walk = outer;
    return f.set[0];
}

/* What a repeat may say; its values are conditions and numbers of the pipeline, not an options struct. */
static const qp_opt opts[] = {{"while", "a condition tested before each round, as ret < 100: a set's size", QP_TEXT, 0,
                               NULL, 0, 0, NULL},
                              {"until", "a condition tested after each round", QP_TEXT, 0, NULL, 0, 0, NULL},
                              {"times", "how many rounds at most", QP_INT, 0, "10000", 1, QP_ROUNDS_MAX, NULL},
                              {"do", "the steps", QP_TEXT, 0, NULL, 0, 0, NULL},
                              {0}};

const qp_op qp_op_repeat = {
    .name = "repeat",
    .help =
        "in a pipeline: steps, again and again; ends too when a round leaves the condition's set as large as it was",
    .source = "FastInsight, Algorithm 1, line 3",
    .opts = opts,
};
