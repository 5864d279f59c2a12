#include "answer/label.h"

#include <yyjson.h>

#include "base/arena.h"
#include "base/err.h"
#include "op/choose.h"

enum { MOST = 64 }; /* candidates */

typedef struct candidates {
    qp_query *q;
    qp_label at[MOST];
    uint32_t n;
} candidates;

static void add(candidates *c, yyjson_val *value, const qp_hit *hit)
{
    char number[32];
    qp_str text = {yyjson_get_str(value), yyjson_get_len(value)};
    if (yyjson_is_num(value)) {
        snprintf(number, sizeof number, "%.17g", yyjson_get_num(value));
        text = qp_str_of(number);
    }
    text = qp_str_trim(text);
    for (uint32_t i = 0; i < c->n; i++)
        if (qp_str_eq(c->at[i].text, text))
            return;
    if (!text.n || c->n == MOST)
        return;
    text = qp_arena_str(c->q->mem, text);
    if (text.at)
        c->at[c->n++] = (qp_label){text, hit->id, hit->score};
    else
        qp_oom(&c->q->err);
}

static void read_labels(candidates *c, qp_str meta, const char *field, const qp_hit *hit)
{
    yyjson_doc *doc = meta.n > 2 ? yyjson_read(meta.at, meta.n, 0) : NULL;
    yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), field), *item;
    size_t i, n;
    if (yyjson_is_str(value) || yyjson_is_num(value))
        add(c, value, hit);
    yyjson_arr_foreach(value, i, n, item)
        add(c, item, hit);
    yyjson_doc_free(doc);
}

static bool collect(candidates *c, qp_list nodes, const char *field)
{
    const qp_view *g = c->q->graph;
    for (uint32_t i = 0; i < nodes.n && c->q->err.code == QP_OK; i++) {
        qp_about about;
        if (!g->about(g->self, &nodes.at[i].id, 1, &about, c->q->mem, &c->q->err))
            read_labels(c, about.meta, field, &nodes.at[i]);
    }
    return c->q->err.code == QP_OK;
}

/* The writer's choice to the front. */
static void ask_writer(candidates *c)
{
    qp_str text[MOST];
    uint32_t n_chosen;
    for (uint32_t i = 0; i < c->n; i++)
        text[i] = c->at[i].text;
    const qp_choice choice = {.standard = "classify.txt", .k = 1};
    const uint32_t *chosen = qp_choose(c->q, &choice, text, c->n, &n_chosen);
    if (!chosen || !n_chosen)
        return;
    qp_label first = c->at[*chosen];
    memmove(c->at + 1, c->at, *chosen * sizeof *c->at);
    c->at[0] = first;
}

qp_code qp_label_choose(qp_query *q, qp_set found, const char *field, qp_labelled *out, qp_err *err)
{
    candidates *c = qp_new(q->mem, candidates, 1);
    if (!c)
        return qp_oom(err);
    c->q = q;
    field = field ? field : "label";
    *out = (qp_labelled){0};
    if (collect(c, found.nodes, field) && !c->n)
        return qp_fail(err, QP_NONE,
                       "none of the %u passages found carries a '%.40s': index records that have this field, or name "
                       "another with --label",
                       found.nodes.n, field);
    bool written = q->writer && q->writer->generate && c->n > 1;
    if (q->err.code == QP_OK && written)
        ask_writer(c);
    *out = (qp_labelled){c->at, c->n, written};
    return q->err.code == QP_OK ? QP_OK : qp_fail(err, q->err.code, "%s", q->err.message);
}
