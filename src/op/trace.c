/* What ran, on how much, and where the time went. */
#include <stdlib.h>

#include "base/clock.h"
#include "op/op.h"

static const char *const kinds[] = {"embed", "rank", "write"};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct mark { /* what a step began with */
    double ms, model_ms;
    uint32_t passes, cut;
} mark;

struct qp_trace {
    qp_step *steps;
    mark *marks;
    uint32_t n, cap;
    double ms[KINDS];
};

qp_trace *qp_trace_new(void)
{
    return calloc(1, sizeof(qp_trace));
}

void qp_trace_free(qp_trace *t)
{
    if (!t)
        return;
    free(t->steps);
    free(t->marks);
    free(t);
}

const qp_step *qp_trace_steps(const qp_trace *t, uint32_t *n)
{
    *n = t->n;
    return t->steps;
}

static int kind_of(const char *which)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i], which) == 0)
            return i;
    return -1;
}

double qp_trace_model_ms(const qp_trace *t, const char *which)
{
    int kind = kind_of(which);
    return kind < 0 ? 0 : t->ms[kind];
}

void qp_trace_add_model_ms(qp_query *q, const char *which, double ms)
{
    int kind = kind_of(which);
    if (q->trace && kind >= 0)
        q->trace->ms[kind] += ms;
}

static double model_ms(const qp_trace *t)
{
    double sum = 0;
    for (int i = 0; i < KINDS; i++)
        sum += t->ms[i];
    return sum;
}

static bool grow(qp_trace *t)
{
    uint32_t cap = t->cap ? t->cap * 2 : 32;
    qp_step *steps = realloc(t->steps, cap * sizeof *steps);
    if (steps)
        t->steps = steps;
    mark *marks = realloc(t->marks, cap * sizeof *marks);
    if (marks)
        t->marks = marks;
    if (!steps || !marks)
        return false;
    t->cap = cap;
    return true;
}

uint32_t qp_trace_open(qp_query *q, const qp_op *op, const void *opt, uint32_t in)
{
    qp_trace *t = q->trace;
    if (!t)
        return 0;
    if (t->n == t->cap && !grow(t)) {
        qp_oom(&q->err);
        return UINT32_MAX;
    }
    qp_step *s = &t->steps[t->n];
    *s = (qp_step){.name = op->name, .depth = q->depth, .in = in};
    qp_options_print(op, opt, s->options, sizeof s->options);
    t->marks[t->n] = (mark){qp_now_ms(), model_ms(t), q->model_passes, q->paths_cut};
    return t->n++;
}

void qp_trace_close(qp_query *q, uint32_t step, uint32_t out)
{
    qp_trace *t = q->trace;
    if (!t || step >= t->n)
        return;
    qp_step *s = &t->steps[step];
    const mark *m = &t->marks[step];
    s->out = out;
    s->ms = qp_now_ms() - m->ms;
    s->model_ms = model_ms(t) - m->model_ms;
    s->model_passes = q->model_passes - m->passes;
    s->paths_cut = q->paths_cut - m->cut;
}
