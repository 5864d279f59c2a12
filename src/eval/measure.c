#include "eval/measure.h"

#include <stdio.h>
#include <stdlib.h>

static const qp_measure *const table[] = {
    &qp_measure_ndcg,
    &qp_measure_ndcg_bin,
    &qp_measure_recall,
    &qp_measure_recall_cap,
    &qp_measure_p,
    &qp_measure_hit,
    &qp_measure_mrr,
    &qp_measure_map,
    &qp_measure_tr,
    &qp_measure_misstr,
    &qp_measure_em,
    &qp_measure_f1,
    &qp_measure_answer_hit,
    &qp_measure_entity_f1,
    &qp_measure_rouge_l,
    &qp_measure_rouge_l_f,
    &qp_measure_evidence,
    &qp_measure_acc,
    &qp_measure_cov,
    &qp_measure_fs,
    &qp_measure_win,
    &qp_measure_cite_p,
    &qp_measure_cite_r,
    &qp_measure_cite_ok,
    &qp_measure_accuracy,
    &qp_measure_macro_recall,
    &qp_measure_macro_f1,
    &qp_measure_sub_recall,
    &qp_measure_sub_f1,
    &qp_measure_sub_nodes,
    &qp_measure_sub_edges,
    &qp_measure_sub_components,
    &qp_measure_context_tokens,
    &qp_measure_path_recall,
    &qp_measure_set_hit,
    &qp_measure_set_f1,
    NULL,
};
enum { MEASURES = sizeof table / sizeof *table - 1 };

const qp_measure *const *qp_measures(void)
{
    return table;
}

static const qp_measure *find(qp_str name, qp_err *err)
{
    const char *names[MEASURES], *near;
    char text[32];

    for (int i = 0; i < MEASURES; i++) {
        names[i] = table[i]->name;
        if (qp_str_eq(name, qp_str_of(names[i])))
            return table[i];
    }
    snprintf(text, sizeof text, "%.*s", (int)(name.n < 31 ? name.n : 31), name.n ? name.at : "");
    near = qp_nearest(text, names, MEASURES);
    qp_fail(err, QP_INPUT, "no measure is called '%s'%s%s%s; `quipu help eval` lists them", text,
            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    return NULL;
}

static qp_code parse_one(qp_str text, uint32_t depth, qp_metric *out, qp_err *err)
{
    qp_str cut, name = qp_str_split(text, '@', &cut);
    uint64_t k = 0;

    *out = (qp_metric){.k = UINT32_MAX};
    if (!(out->measure = find(name, err)))
        return QP_INPUT;
    snprintf(out->name, sizeof out->name, "%.*s", (int)text.n, text.at);
    if (!cut.at)
        return QP_OK;
    for (size_t i = 0; i < cut.n && k < UINT32_MAX; i++) {
        if (cut.at[i] < '0' || cut.at[i] > '9')
            k = UINT32_MAX;
        else
            k = 10 * k + (uint64_t)(cut.at[i] - '0');
    }
    if (!out->measure->cut || !cut.n || k == 0 || k >= UINT32_MAX)
        return qp_fail(err, QP_INPUT, "'%.*s': wanted %s", (int)text.n, text.at,
                       out->measure->cut ? "a measure and a rank above 0, as in ndcg@10" : "this measure without @k");
    if (k > depth)
        return qp_fail(err, QP_INPUT, "'%.*s' looks at %llu ranks, the runs are %u deep; try --top %llu", (int)text.n,
                       text.at, (unsigned long long)k, depth, (unsigned long long)k);
    out->k = (uint32_t)k;
    return QP_OK;
}

qp_code qp_metrics_parse(const char *list, uint32_t depth, const qp_metric **out, uint32_t *n, qp_arena *mem,
                         qp_err *err)
{
    uint32_t cap = 1;
    qp_metric *metrics;

    for (const char *c = list; *c; c++)
        cap += *c == ',';
    metrics = qp_new(mem, qp_metric, cap);
    if (!metrics)
        return qp_oom(err);
    *n = 0;
    for (qp_str rest = qp_str_of(list); rest.at;) {
        qp_str one = qp_str_trim(qp_str_split(rest, ',', &rest));
        qp_code code = one.n < sizeof metrics->name
                           ? parse_one(one, depth, &metrics[*n], err)
                           : qp_fail(err, QP_INPUT, "no measure has so long a name: '%.40s...'", one.at);

        if (code != QP_OK)
            return code;
        ++*n;
    }
    *out = metrics;
    return QP_OK;
}
