/* Edges in order, out of the log into the file: columns, then rows both ways. */
#include <stdlib.h>

#include "quipu_op.h"
#include "store/links_parts.h"
#include "store/rows.h"

/* ---- columns ---- */

struct columns { /* on their way to the file */
    qp_links *l;
    qp_writer *file;
    qp_info *info;
    qp_rows across;
    uint32_t from[QP_LINKS_BLOCK], to[QP_LINKS_BLOCK], type[QP_LINKS_BLOCK];
    float weight[QP_LINKS_BLOCK];
    uint32_t n;
    uint64_t written;
    uint32_t out; /* nodes whose rows have begun */
    qp_ref *ref;  /* of each text that was put */
    size_t n_ref;
};

static void flush(struct columns *c)
{
    qp_writer_aside(c->file, QP_S_EDGE_FROM, c->from, c->n * sizeof *c->from);
    qp_writer_aside(c->file, QP_S_EDGE_TO, c->to, c->n * sizeof *c->to);
    qp_writer_aside(c->file, QP_S_EDGE_TYPE, c->type, c->n * sizeof *c->type);
    qp_writer_aside(c->file, QP_S_EDGE_WEIGHT, c->weight, c->n * sizeof *c->weight);
    c->n = 0;
}

/* That the edge has a text, and where; each text is kept once. */
static qp_code put_text(struct columns *c, uint32_t said, qp_err *err)
{
    uint32_t edge = (uint32_t)c->written;
    if (said >= c->n_ref) {
        size_t n = qp_map_size(c->l->texts) + 1;
        qp_ref *more = realloc(c->ref, 2 * n * sizeof *more);
        if (!more)
            return qp_oom(err);
        memset(more + c->n_ref, 0, (2 * n - c->n_ref) * sizeof *more);
        c->ref = more;
        c->n_ref = 2 * n;
    }
    qp_ref *ref = &c->ref[said];
    if (!ref->n) {
        qp_str text = qp_links_text(c->l, said);
        *ref = (qp_ref){qp_writer_aside(c->file, QP_S_STRINGS, text.at, text.n), text.n};
    }
    qp_writer_aside(c->file, QP_S_SAID_EDGE, &edge, sizeof edge);
    qp_writer_aside(c->file, QP_S_SAID, ref, sizeof *ref);
    c->info->said++;
    return QP_OK;
}

static void begin_rows(struct columns *c, uint32_t below)
{
    for (; c->out < below; c->out++)
        qp_writer_aside(c->file, QP_S_OUT, &c->written, sizeof c->written);
}

static qp_code put_link(struct columns *c, const struct link *is, qp_err *err)
{
    qp_code code = is->said ? put_text(c, is->said, err) : QP_OK;
    begin_rows(c, is->from + 1);
    c->from[c->n] = is->from;
    c->to[c->n] = is->to;
    c->type[c->n] = is->type;
    c->weight[c->n] = is->weight;
    c->info->crossing += qp_rows_across(&c->across, is->from, is->to, is->type);
    c->written++;
    if (++c->n == QP_LINKS_BLOCK)
        flush(c);
    return code;
}

static qp_code join_texts(qp_links *l, struct link *kept, const struct link *more, qp_err *err)
{
    qp_str a = qp_links_text(l, kept->said), b = qp_links_text(l, more->said);
    if (!a.n)
        kept->said = more->said;
    if (!a.n || !b.n || qp_str_has_lines(a, b))
        return QP_OK;
    qp_buf both = {0};
    qp_buf_fmt(&both, "%.*s\n%.*s", (int)a.n, a.at, (int)b.n, b.at);
    qp_code code = both.oom ? qp_oom(err) : qp_links_text_place(l, qp_buf_view(&both), &kept->said, err);
    qp_buf_free(&both);
    return code;
}

static qp_code put_all(struct columns *c, volatile const int *cancel, qp_err *err)
{
    qp_links_reading r = {.l = c->l};
    struct link kept, is;
    qp_code code = c->l->n ? qp_links_next(&r, &kept, err) : QP_OK;
    while (!code && r.at < c->l->n) {
        code = r.at % QP_LINKS_BLOCK ? QP_OK : qp_writer_stopped(cancel, err);
        code = code ? code : qp_links_next(&r, &is, err);
        if (!code && !qp_links_by_ends(&kept, &is)) {
            code = join_texts(c->l, &kept, &is, err);
        } else if (!code) {
            code = put_link(c, &kept, err);
            kept = is;
        }
    }
    return code || !c->l->n ? code : put_link(c, &kept, err);
}

static qp_code write_columns(struct columns *c, const qp_links_how *how, qp_err *err)
{
    static const qp_section in_order[] = {QP_S_SAID_EDGE, QP_S_SAID,        QP_S_EDGE_FROM, QP_S_EDGE_TO,
                                          QP_S_EDGE_TYPE, QP_S_EDGE_WEIGHT, QP_S_OUT};
    qp_code code = put_all(c, how->cancel, err);
    if (code)
        return code;
    qp_links *l = c->l;
    qp_scratch_close(l->log); /* their disk is wanted */
    qp_sorter_close(l->sorted);
    l->log = NULL;
    l->sorted = NULL;
    l->n = c->written;
    flush(c);
    begin_rows(c, how->nodes);
    qp_writer_aside(c->file, QP_S_OUT, &c->written, sizeof c->written);
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
        qp_writer_paste(c->file, in_order[i]);
    c->info->edges = c->written;
    return QP_OK;
}

/* What the log held is in the file now, and read from there. */
static qp_code map_columns(const struct columns *c, qp_err *err)
{
    qp_links *l = c->l;
    const void *from, *to, *type;
    qp_code code = qp_writer_map(c->file, QP_S_EDGE_FROM, &from, err);
    code = code ? code : qp_writer_map(c->file, QP_S_EDGE_TO, &to, err);
    code = code ? code : qp_writer_map(c->file, QP_S_EDGE_TYPE, &type, err);
    if (code)
        return code;
    l->from = from;
    l->to = to;
    l->type = type;
    return QP_OK;
}

/* ---- the whole ---- */

static uint32_t synonym_of(const qp_links *l, const qp_info *info)
{
    for (uint32_t t = 0; info->synonyms && t < info->types; t++)
        if (qp_str_eq(qp_links_type(l, t), QP_STR(QP_SYNONYM)))
            return t;
    return UINT32_MAX;
}

static qp_code write_rows(const struct columns *c, const qp_links_how *how, qp_err *err)
{
    qp_links *l = c->l;
    qp_rows rows = c->across;
    rows.nodes = how->nodes;
    rows.edges = l->n;
    rows.from = l->from;
    rows.to = l->to;
    rows.type = l->type;
    rows.memory = l->memory;
    rows.cancel = how->cancel;
    if (how->keep) {
        rows.kept = l->arcs = calloc((size_t)how->nodes + 1, sizeof *l->arcs);
        rows.kept_node = l->arc_node = malloc((2 * l->n + 1) * sizeof *l->arc_node);
        if (!l->arcs || !l->arc_node)
            return qp_oom(err);
    }
    return qp_rows_write(&rows, c->file, &c->info->arcs, err);
}

qp_code qp_links_write(qp_links *l, const qp_links_how *how, qp_writer *w, qp_info *info, qp_err *err)
{
    qp_code code = qp_links_write_types(l, w, info, err);
    code = code ? code : qp_links_sort(l, err);
    code = code ? code : qp_writer_stopped(how->cancel, err);
    struct columns *c = code ? NULL : calloc(1, sizeof *c);
    if (!c)
        return code ? code : qp_oom(err);
    c->l = l;
    c->file = w;
    c->info = info;
    c->across = (qp_rows){.entity = info->entity, .synonym = synonym_of(l, info)};
    code = write_columns(c, how, err);
    code = code ? code : map_columns(c, err);
    code = code ? code : write_rows(c, how, err);
    free(c->ref);
    free(c);
    return code;
}
