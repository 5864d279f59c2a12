#include "op/reports.h"

#include <stdlib.h>
#include <yyjson.h>

#include "base/array.h"
#include "base/shelf.h"
#include "base/thread.h"
#include "op/ops.h"

typedef struct found {
    qp_report *at; /* malloc's */
    size_t n, cap;
} found;

static void drop(void *thing)
{
    found *f = thing;
    free(f->at);
    free(f);
}

/* The document's id is looked at first: a passage of another one costs a comparison. */
static bool is_report(const qp_about *a, qp_report *out)
{
    if (!qp_str_starts(a->document, QP_STR("report:")))
        return false;
    yyjson_doc *doc = yyjson_read(a->meta.at ? a->meta.at : "", a->meta.n, YYJSON_READ_NOFLAG);
    yyjson_val *number = yyjson_obj_get(yyjson_doc_get_root(doc), "community");
    yyjson_val *level = yyjson_obj_get(yyjson_doc_get_root(doc), "level");
    char key[32];
    snprintf(key, sizeof key, "report:%lld", (long long)yyjson_get_sint(number));
    bool is = yyjson_is_int(number) && yyjson_is_uint(level) && yyjson_get_uint(level) < UINT32_MAX &&
              qp_str_eq(a->document, qp_str_of(key));
    *out = (qp_report){.number = yyjson_get_sint(number), .level = (uint32_t)yyjson_get_uint(level)};
    yyjson_doc_free(doc);
    return is;
}

/* A report's passages come one after the other. */
static qp_code take(found *f, qp_id node, const qp_about *about, qp_err *err)
{
    qp_report *last = f->n ? &f->at[f->n - 1] : NULL, r;
    if (!is_report(about, &r))
        return QP_OK;
    if (last && last->to == node && last->number == r.number) {
        last->to++;
        return QP_OK;
    }
    qp_report *grown = qp_array_room(f->at, f->n, &f->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    r.from = node;
    r.to = node + 1;
    f->at = grown;
    f->at[f->n++] = r;
    return QP_OK;
}

static int largest_first(const void *a, const void *b)
{
    const qp_report *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static qp_code find(const qp_query *q, found *f, qp_err *err)
{
    enum { ROWS = 1024 };
    const qp_view *g = q->graph;
    uint32_t passages = g->entity < g->nodes ? g->entity : 0; /* no entities, no communities of them */
    qp_arena *scratch = qp_arena_new();
    qp_about *about = calloc(ROWS, sizeof *about);
    qp_code code = scratch && about ? QP_OK : qp_oom(err);
    for (uint32_t from = 0, n; !code && from < passages; from += n) {
        qp_id ids[ROWS];
        n = passages - from < ROWS ? passages - from : ROWS;
        for (uint32_t i = 0; i < n; i++)
            ids[i] = from + i;
        qp_arena_reset(scratch);
        code = g->about(g->self, ids, n, about, scratch, err);
        for (uint32_t i = 0; !code && i < n; i++)
            code = take(f, ids[i], &about[i], err);
        if (!code && qp_cancelled(q->cancel))
            code = qp_fail(err, QP_STOPPED, "stopped among reports by the caller");
    }
    if (f->n)
        qsort(f->at, f->n, sizeof *f->at, largest_first);
    free(about);
    qp_arena_free(scratch);
    return code;
}

static qp_code make(void *ctx, void **thing, qp_err *err)
{
    found *f = calloc(1, sizeof *f);
    qp_code code = f ? find(ctx, f, err) : qp_oom(err);
    if (!code)
        *thing = f;
    else if (f)
        drop(f);
    return code;
}

bool qp_query_reports(qp_query *q, qp_reports *out)
{
    static const qp_shelf_kind kind = {make, drop};
    void *thing;
    bool kept;
    *out = (qp_reports){0};
    if (qp_query_over(q, "reports") || qp_shelf_get(q->graph->shelf, &kind, "", 0, q, &thing, &kept, &q->err))
        return false;
    *out = (qp_reports){((found *)thing)->at, (uint32_t)((found *)thing)->n, thing, kept};
    return true;
}

void qp_reports_done(qp_reports *r)
{
    if (r->made && !r->kept)
        drop(r->made);
    *r = (qp_reports){0};
}

/* ---- reading ---- */

const uint64_t *qp_reports_beside(qp_query *q, const qp_reports *r)
{
    size_t words = q->graph->nodes / 64 + 1;
    uint64_t *bits = r->n ? qp_new(q->mem, uint64_t, words) : NULL;
    if (!r->n)
        return q->allow;
    if (!bits) {
        qp_oom(&q->err);
        return NULL;
    }
    if (q->allow)
        memcpy(bits, q->allow, (q->graph->nodes + 63) / 64 * sizeof *bits);
    else
        memset(bits, 0xff, words * sizeof *bits);
    for (uint32_t i = 0; i < r->n; i++)
        for (qp_id v = r->at[i].from; v < r->at[i].to; v++)
            bits[v / 64] &= ~(UINT64_C(1) << (v % 64));
    return bits;
}

static qp_id *passages_of(qp_query *q, const qp_report *r)
{
    qp_id *ids = qp_new(q->mem, qp_id, r->to - r->from);
    if (!ids)
        qp_oom(&q->err);
    for (uint32_t i = 0; ids && i < r->to - r->from; i++)
        ids[i] = r->from + i;
    return ids;
}

/* Passages overlap: of each what the ones before it did not have. */
static void join(qp_buf *out, const qp_about *about, const qp_str *text, uint32_t n)
{
    uint64_t told = about[0].from;
    for (uint32_t i = 0; i < n; i++) {
        size_t own = (size_t)(about[i].to - about[i].from);
        if (about[i].to <= told || own > text[i].n)
            continue;
        if (about[i].from > told)
            qp_buf_char(out, '\n');
        size_t skip = about[i].from < told ? (size_t)(told - about[i].from) : 0;
        qp_buf_str(out, qp_str_slice(text[i], text[i].n - own + skip, text[i].n));
        told = about[i].to;
    }
}

qp_str qp_report_text(qp_query *q, const qp_report *r)
{
    uint32_t n = r->to - r->from;
    const qp_id *ids = passages_of(q, r);
    qp_about *about = qp_new(q->mem, qp_about, n);
    qp_str *text = qp_new(q->mem, qp_str, n), out = {0};
    qp_buf joined = {0};
    if (!ids || !about || !text) {
        qp_oom(&q->err);
        return (qp_str){"", 0};
    }
    if (q->graph->about(q->graph->self, ids, n, about, q->mem, &q->err) ||
        q->graph->text(q->graph->self, QP_NODE, ids, n, text, q->mem, &q->err))
        return (qp_str){"", 0};
    join(&joined, about, text, n);
    if (!joined.oom)
        out = qp_arena_str(q->mem, joined.n ? qp_buf_view(&joined) : QP_STR(""));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&joined);
    return out.at ? out : (qp_str){"", 0};
}

bool qp_report_vector(qp_query *q, const qp_report *r, float *sum)
{
    uint32_t n = r->to - r->from, dim = q->graph->dim;
    const qp_id *ids = passages_of(q, r);
    float *row = qp_new(q->mem, float, (size_t)n *dim + 1);
    if (!ids || !row)
        return !qp_oom(&q->err);
    if (q->graph->vectors(q->graph->self, "node.dense", ids, n, row, &q->err))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0; d < dim; d++)
            sum[d] += row[(size_t)i * dim + d];
    return true;
}
