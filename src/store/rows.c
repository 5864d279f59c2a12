/* Nodes are taken a range at a time, as many as there is memory for the edges into them: two scans of the columns put
 * those in rows, and the rows out are where the columns are. So memory decides how often the columns are read, and
 * nothing else. */
#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16, NODE_COSTS = sizeof(uint64_t), EDGE_COSTS = 2 * sizeof(uint32_t), LOOK = 4096 };

struct range {
    uint32_t from, to; /* nodes */
    uint64_t edges;    /* into them */
};

struct rows {
    const qp_rows *is;
    qp_writer *file;
    uint64_t *in;          /* starts of the range's rows */
    uint32_t *edge, *tail; /* incoming edges, and where they come from */
    uint64_t out;          /* the first edge out of the node at hand */
    uint32_t *row;         /* its neighbours */
    size_t row_room;
    uint64_t in_before, arcs, kept;
};

/* ---- ranges ---- */

static uint32_t bucket_width(const qp_rows *r)
{
    return r->nodes / BUCKETS + 1;
}

static uint64_t *count_buckets(const qp_rows *r)
{
    uint64_t *count = calloc(BUCKETS, sizeof *count);
    uint32_t width = bucket_width(r);
    for (uint64_t e = 0; count && e < r->edges; e++)
        count[r->to[e] / width]++;
    return count;
}

/* As many buckets as fit, one at least. */
static struct range next_range(const qp_rows *r, const uint64_t *count, uint32_t from)
{
    uint32_t width = bucket_width(r);
    struct range is = {from, from, 0};
    size_t used = 0;
    for (uint32_t b = from / width; is.to < r->nodes; b++) {
        uint32_t n = width < r->nodes - is.to ? width : r->nodes - is.to;
        used += n * (size_t)NODE_COSTS + count[b] * EDGE_COSTS;
        if (is.to > from && used > r->memory)
            break;
        is.to += n;
        is.edges += count[b];
    }
    return is;
}

static qp_code gather(struct rows *s, struct range a, qp_err *err)
{
    const qp_rows *r = s->is;
    uint32_t n = a.to - a.from;
    s->in = calloc((size_t)n + 1, sizeof *s->in);
    s->edge = malloc((a.edges + 1) * sizeof *s->edge);
    s->tail = malloc((a.edges + 1) * sizeof *s->tail);
    if (!s->in || !s->edge || !s->tail)
        return qp_oom(err);
    for (uint64_t e = 0; e < r->edges; e++)
        if (r->to[e] - a.from < n)
            s->in[r->to[e] - a.from + 1]++;
    for (uint32_t v = 0; v < n; v++)
        s->in[v + 1] += s->in[v];
    for (uint64_t e = 0; e < r->edges; e++) /* in[] moves to its rows' ends, ... */
        if (r->to[e] - a.from < n) {
            uint64_t at = s->in[r->to[e] - a.from]++;
            s->edge[at] = (uint32_t)e;
            s->tail[at] = r->from[e];
        }
    memmove(s->in + 1, s->in, n * sizeof *s->in); /* ... which are the next rows' starts */
    s->in[0] = 0;
    return QP_OK;
}

static void let_go(struct rows *s)
{
    free(s->in);
    free(s->edge);
    free(s->tail);
    s->in = NULL;
    s->edge = s->tail = NULL;
}

/* ---- neighbours ---- */

struct sides { /* of a node: edges out [out, out_end), places in the range's rows in [in, in_end) */
    uint32_t node;
    uint64_t out, out_end, in, in_end;
};

/* Distinct neighbours, but over what is only walked across, if they are not wanted: both rows rise, so they are
 * merged. */
static uint32_t neighbours(const struct rows *s, struct sides at, bool across, uint32_t *row)
{
    const qp_rows *r = s->is;
    uint32_t count = 0, last = at.node;
    for (;;) {
        while (!across && at.out < at.out_end && qp_rows_across(r, at.node, r->to[at.out], r->type[at.out]))
            at.out++;
        while (!across && at.in < at.in_end && qp_rows_across(r, s->tail[at.in], at.node, r->type[s->edge[at.in]]))
            at.in++;
        if (at.out == at.out_end && at.in == at.in_end)
            return count;
        uint32_t x = at.out < at.out_end ? r->to[at.out] : UINT32_MAX;
        uint32_t y = at.in < at.in_end ? s->tail[at.in] : UINT32_MAX;
        uint32_t next = x < y ? x : y;
        at.out += x == next;
        at.in += y == next;
        if (next != at.node && next != last)
            row[count++] = next;
        last = next;
    }
}

static struct sides sides_of(const struct rows *s, struct range a, uint32_t v)
{
    const qp_rows *r = s->is;
    struct sides at = {v, s->out, s->out, s->in[v - a.from], s->in[v - a.from + 1]};
    while (at.out_end < r->edges && r->from[at.out_end] == v)
        at.out_end++;
    return at;
}

static qp_code write_node(struct rows *s, const struct sides *at, qp_err *err)
{
    const qp_rows *r = s->is;
    uint64_t most = at->out_end - at->out + at->in_end - at->in, in = s->in_before + at->in;
    if (most > s->row_room) {
        uint32_t *more = realloc(s->row, 2 * most * sizeof *more);
        if (!more)
            return qp_oom(err);
        s->row = more;
        s->row_room = 2 * most;
    }
    uint32_t n = neighbours(s, *at, true, s->row);
    qp_writer_aside(s->file, QP_S_IN, &in, sizeof in);
    qp_writer_aside(s->file, QP_S_BOTH, &s->arcs, sizeof s->arcs);
    qp_writer_aside(s->file, QP_S_BOTH_NODE, s->row, n * sizeof *s->row);
    s->arcs += n;
    if (r->kept)
        r->kept[at->node + 1] = s->kept += neighbours(s, *at, false, r->kept_node + s->kept);
    return QP_OK;
}

static qp_code write_range(struct rows *s, struct range a, qp_err *err)
{
    qp_code code = gather(s, a, err);
    for (uint32_t v = a.from; v < a.to && !code; v++) {
        struct sides at = sides_of(s, a, v);
        code = write_node(s, &at, err);
        s->out = at.out_end;
        if (!code && v % LOOK == 0)
            code = qp_writer_stopped(s->is->cancel, err);
    }
    if (!code)
        qp_writer_aside(s->file, QP_S_IN_EDGE, s->edge, a.edges * sizeof *s->edge);
    s->in_before += a.edges;
    let_go(s);
    return code;
}

qp_code qp_rows_write(const qp_rows *r, qp_writer *w, uint64_t *arcs, qp_err *err)
{
    struct rows s = {.is = r, .file = w};
    uint64_t *count = count_buckets(r);
    qp_code code = count ? QP_OK : qp_oom(err);
    for (uint32_t from = 0; from < r->nodes && !code;) {
        struct range a = next_range(r, count, from);
        code = write_range(&s, a, err);
        from = a.to;
    }
    qp_writer_aside(w, QP_S_IN, &s.in_before, sizeof s.in_before);
    qp_writer_aside(w, QP_S_BOTH, &s.arcs, sizeof s.arcs);
    static const qp_section in_order[] = {QP_S_IN, QP_S_IN_EDGE, QP_S_BOTH_NODE, QP_S_BOTH};
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order && !code; i++)
        qp_writer_paste(w, in_order[i]);
    *arcs = s.arcs;
    free(count);
    free(s.row);
    return code;
}
