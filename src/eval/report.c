/* The evaluation as JSON. */
#include <math.h>
#include <stdlib.h>
#include <yyjson.h>

#include "eval/evaluation.h"
#include "store/snapshot.h"
#include "text/json.h"

typedef yyjson_mut_doc json_doc;
typedef yyjson_mut_val json;

/* JSON has no NaN: null. */
static json *real_or_null(json_doc *doc, double x)
{
    return isfinite(x) ? yyjson_mut_real(doc, x) : yyjson_mut_null(doc);
}

static json *interval(json_doc *doc, qp_interval i)
{
    json *out = yyjson_mut_obj(doc);

    yyjson_mut_obj_add_val(doc, out, "mean", real_or_null(doc, i.mean));
    yyjson_mut_obj_add_val(doc, out, "low", real_or_null(doc, i.low));
    yyjson_mut_obj_add_val(doc, out, "high", real_or_null(doc, i.high));
    return out;
}

static json *metrics(const qp_evaluation *e, const qp_draws *draws, json_doc *doc, uint32_t contender, double *scratch)
{
    json *out = yyjson_mut_obj(doc);

    for (uint32_t m = 0; m < e->n_metrics; m++)
        yyjson_mut_obj_add_val(doc, out, e->metrics[m].name,
                               interval(doc, qp_draws_mean(draws, qp_column_of(e, contender, m), scratch)));
    return out;
}

static json *latency(const qp_evaluation *e, json_doc *doc, uint32_t contender, double *scratch)
{
    json *out = yyjson_mut_obj(doc);

    for (int s = 0; s < QP_STAGES; s++) {
        json *one = yyjson_mut_obj(doc);

        yyjson_mut_obj_add_real(doc, one, "p50", qp_evaluation_ms(e, contender, (qp_stage)s, .5, scratch));
        yyjson_mut_obj_add_real(doc, one, "p95", qp_evaluation_ms(e, contender, (qp_stage)s, .95, scratch));
        yyjson_mut_obj_add_val(doc, out, qp_stage_names[s], one);
    }
    return out;
}

static json *settings(json_doc *doc, const qp_contender *c)
{
    json *out = yyjson_mut_obj(doc);

    for (size_t i = 0; i < c->n_settings; i++)
        yyjson_mut_obj_add_str(doc, out, c->settings[i].key, c->settings[i].value);
    return out;
}

static void add_failures(const qp_evaluation *e, json_doc *doc, json *out, uint32_t contender)
{
    const char *first;
    uint32_t n = qp_evaluation_failures(e, contender, &first);

    yyjson_mut_obj_add_uint(doc, out, "failures", n);
    if (first)
        yyjson_mut_obj_add_str(doc, out, "first_failure", first);
}

static json *contender(const qp_evaluation *e, json_doc *doc, uint32_t number, double *scratch)
{
    const qp_contender *c = &e->contenders[number];
    json *out = yyjson_mut_obj(doc);
    double with_recall, with_misstr;

    yyjson_mut_obj_add_str(doc, out, "name", c->name);
    yyjson_mut_obj_add_str(doc, out, "method", c->method);
    yyjson_mut_obj_add_val(doc, out, "options", settings(doc, c));
    yyjson_mut_obj_add_val(doc, out, "metrics", metrics(e, &e->draws, doc, number, scratch));
    if (!c->run_file) {
        yyjson_mut_obj_add_val(doc, out, "latency_ms", latency(e, doc, number, scratch));
        yyjson_mut_obj_add_real(doc, out, "model_passes", qp_evaluation_passes(e, number));
    }
    add_failures(e, doc, out, number);
    if (qp_evaluation_correlate(e, number, &with_recall, &with_misstr)) {
        json *of = yyjson_mut_obj_add_obj(doc, out, "recall_gain_correlation");

        yyjson_mut_obj_add_str(doc, of, "first", e->plan.start);
        yyjson_mut_obj_add_val(doc, of, "recall@10", real_or_null(doc, with_recall));
        yyjson_mut_obj_add_val(doc, of, "misstr@10", real_or_null(doc, with_misstr));
    }
    return out;
}

/* Each group by itself: its questions, and each method's metrics over them. */
static void add_groups(const qp_evaluation *e, json_doc *doc, json *root, double *scratch)
{
    json *all = e->n_groups ? yyjson_mut_obj_add_arr(doc, root, "groups") : NULL;

    for (uint32_t g = 0; g < e->n_groups; g++) {
        json *one = yyjson_mut_arr_add_obj(doc, all), *list;
        yyjson_mut_obj_add_str(doc, one, "by", e->plan.by);
        yyjson_mut_obj_add_strn(doc, one, "value", e->groups[g].value.at, e->groups[g].value.n);
        yyjson_mut_obj_add_uint(doc, one, "questions", e->groups[g].n);
        list = yyjson_mut_obj_add_arr(doc, one, "methods");
        for (uint32_t c = 0; c < e->n_contenders; c++) {
            json *method = yyjson_mut_arr_add_obj(doc, list);
            yyjson_mut_obj_add_str(doc, method, "name", e->contenders[c].name);
            yyjson_mut_obj_add_val(doc, method, "metrics", metrics(e, &e->groups[g].draws, doc, c, scratch));
        }
    }
}

/* Every pair on one metric; Holm's correction is over the pairs. */
static bool differences(const qp_evaluation *e, json_doc *doc, json *out, uint32_t metric, double *scratch)
{
    uint32_t n = e->n_contenders, pairs = n * (n - 1) / 2, at = 0;
    double *p = malloc(2 * ((size_t)pairs + 1) * sizeof *p), *holm = p ? p + pairs : NULL;

    if (!p)
        return false;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            p[at++] = qp_draws_p(&e->draws, qp_column_of(e, a, metric), qp_column_of(e, b, metric));
    memcpy(holm, p, pairs * sizeof *p);
    qp_holm(holm, pairs);
    at = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++, at++) {
            json *one = yyjson_mut_arr_add_obj(doc, out);
            qp_interval d =
                qp_draws_difference(&e->draws, qp_column_of(e, a, metric), qp_column_of(e, b, metric), scratch);

            yyjson_mut_obj_add_str(doc, one, "a", e->contenders[a].name);
            yyjson_mut_obj_add_str(doc, one, "b", e->contenders[b].name);
            yyjson_mut_obj_add_str(doc, one, "metric", e->metrics[metric].name);
            yyjson_mut_obj_add_real(doc, one, "difference", d.mean);
            yyjson_mut_obj_add_real(doc, one, "low", d.low);
            yyjson_mut_obj_add_real(doc, one, "high", d.high);
            yyjson_mut_obj_add_real(doc, one, "p", p[at]);
            yyjson_mut_obj_add_real(doc, one, "p_holm", holm[at]);
        }
    free(p);
    return true;
}

static void add_facts(const qp_evaluation *e, json_doc *doc, json *root)
{
    const qp_bench_ctx *c = e->ctx;

    yyjson_mut_obj_add_str(doc, root, "dataset", e->dataset);
    yyjson_mut_obj_add_uint(doc, root, "questions", e->n);
    yyjson_mut_obj_add_uint(doc, root, "questions_in_dataset", e->judgements.n);
    yyjson_mut_obj_add_uint(doc, root, "documents", qp_snapshot_documents(c->snapshot));
    yyjson_mut_obj_add_str(doc, root, "task", e->plan.task);
    yyjson_mut_obj_add_str(doc, root, "split", e->plan.split);
    yyjson_mut_obj_add_uint(doc, root, "seed", e->options->seed);
    yyjson_mut_obj_add_uint(doc, root, "depth", e->depth);
    yyjson_mut_obj_add_uint(doc, root, "draws", e->draws.n);
    yyjson_mut_obj_add_str(doc, root, "embedder", c->embedder ? c->embedder->name : "");
    yyjson_mut_obj_add_str(doc, root, "ranker", c->ranker ? c->ranker->name : "");
    yyjson_mut_obj_add_str(doc, root, "writer", c->writer ? c->writer->name : "");
    yyjson_mut_obj_add_str(doc, root, "judge", c->judge ? c->judge->name : "");
    if (qp_evaluation_wants(e, QP_WANTS_JUDGE))
        yyjson_mut_obj_add_str(doc, root, "judge_prompts", "judge-accuracy.txt, judge-covers.txt, judge-supports.txt");
    if (qp_evaluation_wants(e, QP_WANTS_RIVAL)) {
        yyjson_mut_obj_add_str(doc, root, "win_prompt", e->plan.win_prompt ? e->plan.win_prompt : "judge-better.txt");
        yyjson_mut_obj_add_str(doc, root, "win_against", e->contenders[0].name);
    }
    yyjson_mut_obj_add_bool(doc, root, "shared", e->plan.share);
    yyjson_mut_obj_add_int(doc, root, "jobs", e->plan.jobs);
}

char *qp_report_json(const qp_evaluation *e, qp_err *err)
{
    json_doc *doc = yyjson_mut_doc_new(NULL);
    double *scratch = malloc(((size_t)e->draws.n + e->n + 1) * sizeof *scratch);
    bool fine = doc && scratch;
    char *text = NULL;

    if (fine) {
        json *root = yyjson_mut_obj(doc), *list, *pairs;

        yyjson_mut_doc_set_root(doc, root);
        add_facts(e, doc, root);
        list = yyjson_mut_obj_add_arr(doc, root, "methods");
        for (uint32_t c = 0; c < e->n_contenders; c++)
            yyjson_mut_arr_append(list, contender(e, doc, c, scratch));
        add_groups(e, doc, root, scratch);
        pairs = yyjson_mut_obj_add_arr(doc, root, "differences");
        for (uint32_t m = 0; m < e->n_metrics && fine && strcmp(e->plan.compare, "none") != 0; m++)
            fine = differences(e, doc, pairs, m, scratch);
    }
    if (fine)
        text = qp_json_text(doc, true);
    if (!text)
        qp_oom(err);
    yyjson_mut_doc_free(doc);
    free(scratch);
    return text;
}
