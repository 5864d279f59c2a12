/* Groups of questions: a mean over all of them hides what a method is good at. */
#include <yyjson.h>

#include "eval/evaluation.h"

/* The field as text; empty: it is not there, or no plain value. */
static qp_str value_of(const qp_question *q, const char *field, qp_arena *mem)
{
    yyjson_doc *doc = q->record.n ? yyjson_read(q->record.at, q->record.n, 0) : NULL;
    yyjson_val *v = doc ? yyjson_obj_get(yyjson_doc_get_root(doc), field) : NULL;
    size_t n = 0;
    char *json = yyjson_is_num(v) || yyjson_is_bool(v) ? yyjson_val_write(v, 0, &n) : NULL;
    qp_str out = yyjson_is_str(v) ? qp_arena_str(mem, (qp_str){yyjson_get_str(v), yyjson_get_len(v)})
                 : json           ? qp_arena_str(mem, (qp_str){json, n})
                                  : QP_STR("");

    free(json);
    yyjson_doc_free(doc);
    return out;
}

qp_code qp_groups_make(qp_evaluation *e, qp_err *err)
{
    bool any = false;

    if (!e->plan.by)
        return QP_OK;
    if (qp_evaluation_wants(e, QP_WANTS_CLASSES))
        return qp_fail(err, QP_INPUT,
                       "-o by=%s: macro_recall and macro_f1 are means over classes, not over groups of questions",
                       e->plan.by);
    e->groups = qp_new(e->mem, qp_group, e->n);
    e->group_of = qp_new(e->mem, uint32_t, e->n);
    if (!e->groups || !e->group_of)
        return qp_oom(err);
    for (uint32_t q = 0; q < e->n; q++) {
        qp_str value = value_of(&e->judgements.at[e->asked[q]], e->plan.by, e->mem);
        uint32_t g = 0;
        if (!value.at)
            return qp_oom(err);
        any |= value.n > 0;
        while (g < e->n_groups && !qp_str_eq(e->groups[g].value, value))
            g++;
        if (g == e->n_groups)
            e->groups[e->n_groups++] = (qp_group){.value = value};
        e->groups[g].n++;
        e->group_of[q] = g;
    }
    return any ? QP_OK
               : qp_fail(err, QP_INPUT, "-o by=%s: no question of %s has that field, or it is no plain value",
                         e->plan.by, e->dataset);
}

qp_code qp_groups_draw(qp_evaluation *e, uint32_t draws, qp_err *err)
{
    const uint32_t columns = e->n_contenders * e->n_metrics;
    qp_code code = QP_OK;

    for (uint32_t g = 0; g < e->n_groups && !code; g++) {
        qp_group *group = &e->groups[g];
        double *row = qp_new(e->mem, double, (size_t)group->n *columns), *value = row;
        if (!row)
            return qp_oom(err);
        for (uint32_t q = 0; q < e->n; q++)
            if (e->group_of[q] == g) {
                memcpy(row, e->value + (size_t)q * columns, columns * sizeof *row);
                row += columns;
            }
        code = qp_draws_make(value, group->n, columns, draws, e->options->seed, e->ctx->threads, &group->draws, e->mem,
                             err);
    }
    return code;
}
