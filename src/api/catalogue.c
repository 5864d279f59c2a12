/* What there is, as JSON: from the same tables that fill the options. */
#include <math.h>
#include <yyjson.h>

#include "train/train.h"
#include "api/bench.h"
#include "eval/evaluation.h"
#include "ingest/ingest.h"
#include "method/method.h"
#include "eval/measure.h"
#include "op/op.h"
#include "op/ops.h"

static const char *const types[] = {
    [QP_BOOL] = "bool", [QP_INT] = "int", [QP_FLOAT] = "float", [QP_TEXT] = "text", [QP_ENUM] = "enum"};

/* A bound; JSON has no infinity. */
static void add_bound(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, double x)
{
    if (isinf(x))
        yyjson_mut_obj_add_str(doc, to, key, "inf");
    else
        yyjson_mut_obj_add_real(doc, to, key, x);
}

static void add_options(yyjson_mut_doc *doc, yyjson_mut_val *to, const qp_op *op)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "options");
    for (const qp_opt *o = op->opts; o && o->name; o++) {
        yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, v, "name", o->name);
        yyjson_mut_obj_add_str(doc, v, "help", o->help);
        yyjson_mut_obj_add_str(doc, v, "type", types[o->type]);
        if (o->standard)
            yyjson_mut_obj_add_str(doc, v, "default", o->standard);
        if (o->type == QP_INT || o->type == QP_FLOAT) {
            add_bound(doc, v, "min", o->min);
            add_bound(doc, v, "max", o->max);
        }
        if (o->type == QP_ENUM)
            yyjson_mut_obj_add_str(doc, v, "choices", o->choices);
    }
}

static void add_needs(yyjson_mut_doc *doc, yyjson_mut_val *to, unsigned needs)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "needs");
    if (needs & QP_NEEDS_EMBEDDER)
        yyjson_mut_arr_add_str(doc, list, "embedder");
    if (needs & QP_NEEDS_RANKER)
        yyjson_mut_arr_add_str(doc, list, "reranker");
    if (needs & QP_NEEDS_WRITER)
        yyjson_mut_arr_add_str(doc, list, "writer");
    if (needs & QP_LIKES_WRITER)
        yyjson_mut_arr_add_str(doc, list, "writer, where one is named");
    if (needs & QP_NEEDS_SPARSE)
        yyjson_mut_arr_add_str(doc, list, "sparse encoder");
    if (needs & QP_NEEDS_ATTENTION)
        yyjson_mut_arr_add_str(doc, list, "attention heads");
}

/* With its options as they are by themselves. */
static unsigned needs_of(const qp_op *op)
{
    qp_arena *mem = qp_arena_new();
    const void *opt = mem && op->opts ? qp_options_new(op, NULL, 0, mem, NULL) : NULL;
    unsigned needs = opt ? qp_op_needs(op, opt) : op->needs;
    qp_arena_free(mem);
    return needs;
}

static void add_op(yyjson_mut_doc *doc, yyjson_mut_val *list, const qp_op *op)
{
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, v, "name", op->name);
    yyjson_mut_obj_add_str(doc, v, "help", op->help);
    yyjson_mut_obj_add_str(doc, v, "paper", op->source);
    yyjson_mut_obj_add_int(doc, v, "reads", op->in_max);
    add_needs(doc, v, needs_of(op));
    add_options(doc, v, op);
}

static void add_measures(yyjson_mut_doc *doc, yyjson_mut_val *list)
{
    for (const qp_measure *const *m = qp_measures(); *m; m++) {
        yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, v, "name", (*m)->name);
        yyjson_mut_obj_add_str(doc, v, "help", (*m)->help);
        yyjson_mut_obj_add_str(doc, v, "definition", (*m)->definition);
        yyjson_mut_obj_add_str(doc, v, "paper", (*m)->citation);
        yyjson_mut_obj_add_bool(doc, v, "cut", (*m)->cut);
    }
}

qp_code qp_catalogue(const char *what, char **json, qp_err *err)
{
    const qp_op *const index[] = {qp_ingest_options(), NULL}, *const eval[] = {&qp_plan_options, NULL},
                       *const bench[] = {&qp_benchmark_options, NULL}, *const repeat[] = {&qp_op_repeat, NULL},
                       *const train[] = {&qp_lesson_options, NULL};
    const qp_op *const *const all[][2] = {{qp_methods(), NULL}, {qp_ops(), repeat}, {index, NULL}, {eval, NULL},
                                          {bench, NULL},        {train, NULL},      {NULL, NULL}};
    static const char *const names[] = {"methods", "ops", "index", "eval", "bench", "train", "measures"};
    size_t at = 0;
    while (at < sizeof names / sizeof *names && strcmp(names[at], what) != 0)
        at++;
    if (at == sizeof names / sizeof *names)
        return qp_fail(err, QP_USAGE, "the catalogue has methods, ops, index, eval, bench, train and measures, no '%s'",
                       what);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    if (!list) {
        yyjson_mut_doc_free(doc);
        return qp_oom(err);
    }
    yyjson_mut_doc_set_root(doc, list);
    for (int part = 0; part < 2; part++)
        for (const qp_op *const *op = all[at][part]; op && *op; op++)
            add_op(doc, list, *op);
    if (!all[at][0])
        add_measures(doc, list);
    *json = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
    yyjson_mut_doc_free(doc);
    return *json ? QP_OK : qp_oom(err);
}
