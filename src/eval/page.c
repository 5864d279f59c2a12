/* The evaluation as one HTML page: tables and plots, nothing fetched from elsewhere. */
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "eval/evaluation.h"
#include "eval/plot.h"
#include "store/snapshot.h"

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light "
    "dark;--ink:#1c2128;--soft:#667085;--line:#e4e7ec;--back:#fff;--panel:#f8f9fb;--good:#067647;"
    "--bad:#b42318}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#98a2b3;--line:#2b3138;--back:#14171a;--panel:#"
    "1b1f24;"
    "--good:#47cd89;--bad:#f97066}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:1080px;margin:2.5rem "
    "auto;"
    "padding:0 1.25rem}\n"
    "h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}p{margin:.3rem 0;color:var(--soft)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.4rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{font-weight:600;color:var(--soft);font-size:.82rem}th:first-child,td:first-child{text-align:left}\n"
    "td small{display:block;color:var(--soft);font-size:.74rem}td.best{font-weight:700}\n"
    "td.better{color:var(--good)}td.worse{color:var(--bad)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(560px,1fr));gap:1rem}\n"
    "svg{width:100%;background:var(--panel);border-radius:8px}svg text{font:12px "
    "system-ui,sans-serif;fill:var(--soft)}\n"
    "svg .title{font-weight:600;font-size:13px;fill:var(--ink)}svg .grid{stroke:var(--line)}\n"
    "svg polyline{fill:none;stroke-width:2}svg line[class^=c]{stroke-width:1.5;opacity:.5}\n"
    ".c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#cc79a7}.c4{stroke:#b8860b}.c5{stroke:#3d9bd1}"
    ".c6{stroke:#7f7f7f}.c7{stroke:#6a3d9a}\n"
    "svg text.c0,.c0.dot{fill:#0072b2}svg text.c1,.c1.dot{fill:#d55e00}svg text.c2,.c2.dot{fill:#009e73}"
    "svg text.c3,.c3.dot{fill:#cc79a7}svg text.c4,.c4.dot{fill:#b8860b}svg text.c5,.c5.dot{fill:#3d9bd1}"
    "svg text.c6,.c6.dot{fill:#7f7f7f}svg text.c7,.c7.dot{fill:#6a3d9a}svg text.name{stroke:none;font-weight:600}\n"
    "details{margin:.6rem 0}summary{cursor:pointer;color:var(--soft)}\n"
    "</style>\n";

static void heading(qp_buf *out, const qp_evaluation *e)
{
    const char *name = strrchr(e->dataset, '/');
    const qp_bench_ctx *c = e->ctx;

    name = name && name[1] ? name + 1 : e->dataset;
    qp_buf_text(out, "<!doctype html><html lang=en><meta charset=utf-8>"
                     "<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>");
    qp_html_text(out, name);
    qp_buf_text(out, ": evaluation</title>\n");
    qp_buf_text(out, style);
    qp_buf_text(out, "<h1>");
    qp_html_text(out, name);
    qp_buf_fmt(out, "</h1><p>%u of %u questions", e->n, e->judgements.n);
    if (strcmp(e->plan.split, "all") != 0)
        qp_buf_fmt(out, " (the %s half)", e->plan.split);
    qp_buf_fmt(out, ", %u documents, seed %llu. ", qp_snapshot_documents(c->snapshot),
               (unsigned long long)e->options->seed);
    qp_buf_text(out, "Embedder: ");
    qp_html_text(out, c->embedder ? c->embedder->name : "none");
    qp_buf_text(out, ". Reranker: ");
    qp_html_text(out, c->ranker ? c->ranker->name : "none");
    if (c->judge) {
        qp_buf_text(out, ". Judge: ");
        qp_html_text(out, c->judge->name);
    }
    if (qp_evaluation_wants(e, QP_WANTS_RIVAL)) {
        qp_buf_text(out, ", win against ");
        qp_html_text(out, e->contenders[0].name);
        qp_buf_text(out, " by ");
        qp_html_text(out, e->plan.win_prompt ? e->plan.win_prompt : "judge-better.txt");
    }
    qp_buf_fmt(out, ". Intervals: 95%%, bootstrap over questions, %u draws. Quipu " QUIPU_VERSION ".</p>\n",
               e->draws.n);
}

static void name_cell(qp_buf *out, const qp_evaluation *e, uint32_t contender)
{
    qp_buf_text(out, "<tr><td>");
    qp_html_text(out, e->contenders[contender].name);
    qp_buf_text(out, "</td>");
}

static void metric_table(qp_buf *out, const qp_evaluation *e, double *scratch)
{
    qp_buf_text(out, "<h2>Quality</h2><div class=wide><table><tr><th>method</th>");
    for (uint32_t m = 0; m < e->n_metrics; m++) {
        qp_buf_text(out, "<th title=\"");
        qp_html_text(out, e->metrics[m].measure->definition);
        qp_buf_fmt(out, "\">%s</th>", e->metrics[m].name);
    }
    qp_buf_text(out, "</tr>\n");
    for (uint32_t c = 0; c < e->n_contenders; c++) {
        name_cell(out, e, c);
        for (uint32_t m = 0; m < e->n_metrics; m++) {
            qp_interval i = qp_draws_mean(&e->draws, qp_column_of(e, c, m), scratch);
            bool best = true;

            for (uint32_t other = 0; other < e->n_contenders; other++)
                best &= qp_draws_average(&e->draws, qp_column_of(e, other, m)) <= i.mean;
            qp_buf_fmt(out, "<td%s>%.3f<small>%.3f&ndash;%.3f</small></td>", best ? " class=best" : "", i.mean, i.low,
                       i.high);
        }
        qp_buf_text(out, "</tr>\n");
    }
    qp_buf_text(out, "</table></div>\n");
}

static void time_table(qp_buf *out, const qp_evaluation *e, double *scratch)
{
    qp_buf_text(out, "<h2>Time of a question, milliseconds</h2><div class=wide><table><tr><th>method</th>");
    for (int s = 0; s < QP_STAGES; s++)
        qp_buf_fmt(out, "<th>%s p50</th><th>p95</th>", qp_stage_names[s]);
    qp_buf_text(out, "<th>passes</th></tr>\n");
    for (uint32_t c = 0; c < e->n_methods; c++) {
        name_cell(out, e, c);
        for (int s = 0; s < QP_STAGES; s++)
            qp_buf_fmt(out, "<td>%.2f</td><td>%.2f</td>", qp_evaluation_ms(e, c, (qp_stage)s, .5, scratch),
                       qp_evaluation_ms(e, c, (qp_stage)s, .95, scratch));
        qp_buf_fmt(out, "<td>%.1f</td></tr>\n", qp_evaluation_passes(e, c));
    }
    qp_buf_text(out, "</table></div>\n");
    if (e->plan.share)
        qp_buf_text(out, "<p>What several methods ask of the models was computed once; each method is charged what it "
                         "would have taken alone.</p>\n");
}

/* Mean recall after each rank. */
static void recall_curves(qp_buf *out, const qp_evaluation *e, double *scratch)
{
    qp_series *series = calloc(e->n_contenders, sizeof *series);
    double *y = calloc((size_t)e->n_contenders * e->depth, sizeof *y);

    if (!series || !y)
        out->oom = true;
    for (uint32_t k = 0; k < e->depth; k++)
        scratch[k] = k + 1;
    for (uint32_t c = 0; !out->oom && c < e->n_contenders; c++) {
        double *row = y + (size_t)c * e->depth;

        for (uint32_t q = 0; q < e->n; q++) {
            const qp_question *question = &e->judgements.at[e->asked[q]];
            qp_ranking r = qp_trial_of(e, q, c)->ranking;

            for (uint32_t i = 0; i < r.n && question->relevant; i++)
                if (qp_question_grade(question, r.at[i].document) > 0)
                    row[i] += 1.0 / question->relevant / e->n;
        }
        for (uint32_t i = 1; i < e->depth; i++)
            row[i] += row[i - 1];
        series[c] = (qp_series){.name = e->contenders[c].name, .x = scratch, .y = row, .n = e->depth};
    }
    if (!out->oom)
        qp_plot_draw(out,
                     &(qp_plot){"Recall over k", "k, documents returned", "recall", true, series, e->n_contenders});
    free(series);
    free(y);
}

static void quality_against_time(qp_buf *out, const qp_evaluation *e, double *scratch)
{
    qp_series *series = calloc(e->n_methods + 1u, sizeof *series);
    double *point = calloc(4 * ((size_t)e->n_methods + 1), sizeof *point);

    if (!series || !point)
        out->oom = true;
    for (uint32_t c = 0; !out->oom && c < e->n_methods; c++) {
        double *p = point + 4 * (size_t)c;
        qp_interval i = qp_draws_mean(&e->draws, qp_column_of(e, c, 0), scratch);

        p[0] = fmax(qp_evaluation_ms(e, c, QP_TOTAL, .5, scratch), 1e-3);
        p[1] = i.mean;
        p[2] = i.low;
        p[3] = i.high;
        series[c] = (qp_series){e->contenders[c].name, p, p + 1, p + 2, p + 3, 1};
    }
    if (!out->oom)
        qp_plot_draw(out, &(qp_plot){"Quality against time", "median time of a question, ms", e->metrics[0].name, true,
                                     series, e->n_methods});
    free(series);
    free(point);
}

/* All pairs on one metric: which differences are more than chance. */
static void difference_table(qp_buf *out, const qp_evaluation *e, uint32_t metric, double *scratch)
{
    qp_buf_fmt(out,
               "<details%s><summary>%s</summary><div class=wide><table><tr><th>a</th><th "
               "style=\"text-align:left\">b</th><th>a - b</th>"
               "<th>95%%</th><th>p</th></tr>\n",
               metric == 0 ? " open" : "", e->metrics[metric].name);
    for (uint32_t a = 0; a < e->n_contenders; a++)
        for (uint32_t b = a + 1; b < e->n_contenders; b++) {
            uint32_t x = qp_column_of(e, a, metric), y = qp_column_of(e, b, metric);
            qp_interval d = qp_draws_difference(&e->draws, x, y, scratch);
            const char *which = d.low > 0 ? " class=better" : d.high < 0 ? " class=worse" : "";

            name_cell(out, e, a);
            qp_buf_text(out, "<td style=\"text-align:left\">");
            qp_html_text(out, e->contenders[b].name);
            qp_buf_fmt(out, "</td><td%s>%+.4f</td><td>%+.4f to %+.4f</td><td>%.4f</td></tr>\n", which, d.mean, d.low,
                       d.high, qp_draws_p(&e->draws, x, y));
        }
    qp_buf_text(out, "</table></div></details>\n");
}

qp_code qp_report_page(const qp_evaluation *e, const char *path, qp_err *err)
{
    qp_buf out = {0};
    double *scratch = malloc(((size_t)e->draws.n + e->n + e->depth) * sizeof *scratch);
    qp_code code = scratch ? QP_OK : qp_oom(err);

    if (code == QP_OK) {
        heading(&out, e);
        metric_table(&out, e, scratch);
        qp_buf_text(&out, "<h2>Plots</h2><div class=plots>\n");
        recall_curves(&out, e, scratch);
        if (e->n_methods)
            quality_against_time(&out, e, scratch);
        qp_buf_text(&out, "</div>\n");
        if (e->n_methods)
            time_table(&out, e, scratch);
        qp_buf_text(&out,
                    "<h2>Differences</h2><p>Paired over questions: bootstrap interval, two-sided randomisation test, "
                    "not corrected for the number of pairs (the JSON has Holm's correction).</p>\n");
        for (uint32_t m = 0; m < e->n_metrics && strcmp(e->plan.compare, "none") != 0; m++)
            difference_table(&out, e, m, scratch);
        qp_buf_text(&out, "</html>\n");
        code = out.oom ? qp_oom(err) : qp_file_write(path, qp_buf_view(&out), err);
    }
    qp_buf_free(&out);
    free(scratch);
    return code;
}
