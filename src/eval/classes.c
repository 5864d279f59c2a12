/* Answers that are one of a few, labels or choices: what a right one adds to its class is known once all are there. */
#include "eval/evaluation.h"

/* The class of a question is its first accepted answer. */
static qp_str class_of(const qp_evaluation *e, uint32_t question)
{
    return e->judgements.at[e->asked[question]].answers[0];
}

static bool is_right(const qp_answered *a)
{
    return qp_measure_accuracy.of(&(qp_outcome){.answer = a}, UINT32_MAX) > 0;
}

static qp_code count(qp_map *map, qp_str class, qp_err *err)
{
    uint64_t *n = qp_map_put(map, class, NULL);
    if (n)
        ++*n;
    return n ? QP_OK : qp_oom(err);
}

static qp_code count_right(const qp_evaluation *e, qp_map *right, qp_err *err)
{
    qp_code code = QP_OK;
    for (uint32_t q = 0; q < e->n && !code; q++)
        if (e->judgements.at[e->asked[q]].n_answers)
            code = count(right, class_of(e, q), err);
    return code;
}

static qp_code count_said(const qp_evaluation *e, uint32_t contender, qp_map *said, qp_err *err)
{
    qp_code code = QP_OK;
    for (uint32_t q = 0; q < e->n && !code; q++) {
        const qp_answered *a = qp_trial_of(e, q, contender)->answer;
        if (a)
            code = count(said, is_right(a) ? class_of(e, q) : a->text, err);
    }
    return code;
}

static void put(qp_evaluation *e, uint32_t question, uint32_t contender, const qp_answered *a)
{
    double *value = e->value + (size_t)question * e->n_contenders * e->n_metrics;
    for (uint32_t m = 0; m < e->n_metrics; m++)
        if (e->metrics[m].measure->wants == QP_WANTS_CLASSES)
            value[qp_column_of(e, contender, m)] = e->metrics[m].measure->of(&(qp_outcome){.answer = a}, UINT32_MAX);
}

/* A right answer adds 1 / n to its class's recall, 2 / (n + p) to its F1, n questions being of the class and p answers
 * saying so; times N / L, for a mean over N questions is to be one over L classes. */
static qp_code measure(qp_evaluation *e, uint32_t contender, const qp_map *right, qp_err *err)
{
    qp_map *said = qp_map_new();
    qp_code code = said ? count_said(e, contender, said, err) : qp_oom(err);
    double by = (double)e->n / (double)qp_map_size(right);
    for (uint32_t q = 0; q < e->n && !code; q++) {
        const qp_answered *a = qp_trial_of(e, q, contender)->answer;
        if (!a || !is_right(a))
            continue;
        double n = (double)*qp_map_get(right, class_of(e, q)), p = (double)*qp_map_get(said, class_of(e, q));
        qp_answered weighed = *a;
        weighed.recalled = by / n;
        weighed.shared = by * 2 / (n + p);
        put(e, q, contender, &weighed);
    }
    qp_map_free(said);
    return code;
}

qp_code qp_classes_measure(qp_evaluation *e, qp_err *err)
{
    if (!qp_evaluation_wants(e, QP_WANTS_CLASSES))
        return QP_OK;
    qp_map *right = qp_map_new();
    qp_code code = right ? count_right(e, right, err) : qp_oom(err);
    for (uint32_t c = 0; c < e->n_methods && !code; c++)
        code = measure(e, c, right, err);
    qp_map_free(right);
    return code;
}
