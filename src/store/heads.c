/* Attention heads: cosines of one head's outputs, nodes from their codes, edges from their types. A code's scale times
 * its length is the output's norm. */
#include <math.h>
#include <stdlib.h>

#include "base/vector.h"
#include "store/best.h"
#include "store/dot.h"
#include "store/mapped.h"

static qp_code no_heads(qp_err *err)
{
    return qp_fail(err, QP_INPUT, "the index has no attention heads: index with --heads MODEL");
}

qp_code qp_snapshot_heads(const qp_snapshot *s, bool nodes, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    size_t width = (size_t)s->heads * s->head_dim;
    if (!width)
        return no_heads(err);
    for (uint32_t i = 0; i < n; i++, out += width) {
        if (ids[i] >= (nodes ? s->nodes : s->edges))
            return qp_fail(err, QP_BUG, "view: the heads of %s %u are asked for", nodes ? "node" : "edge", ids[i]);
        if (!nodes && s->edge_type[ids[i]] >= s->types)
            return qp_snapshot_damaged(s, "edge.type", "an edge's type does not exist", err);
        if (!nodes) {
            memcpy(out, s->type_head + s->edge_type[ids[i]] * width, width * sizeof *out);
            continue;
        }
        for (uint32_t h = 0; h < s->heads; h++) {
            const int8_t *code = s->head_code + ids[i] * width + (size_t)h * s->head_dim;
            float scale = s->head_scale[(size_t)ids[i] * s->heads + h];
            for (uint32_t j = 0; j < s->head_dim; j++)
                out[(size_t)h * s->head_dim + j] = scale * code[j];
        }
    }
    return QP_OK;
}

static bool allowed(const qp_probe *p, uint32_t node)
{
    return !p->allow || p->allow[node / 64] >> (node % 64) & 1;
}

static void search_nodes(const qp_snapshot *s, qp_range r, const qp_probe *p, const int8_t *asked, qp_best *best)
{
    size_t width = (size_t)s->heads * s->head_dim;
    double length = sqrt((double)qp_dot_i8(asked, asked, s->head_dim));
    for (uint32_t v = r.from; v < r.to; v++) {
        const int8_t *code = s->head_code + v * width + (size_t)p->head_number * s->head_dim;
        if (!allowed(p, v) || s->head_scale[(size_t)v * s->heads + p->head_number] == 0)
            continue;
        double own = sqrt((double)qp_dot_i8(code, code, s->head_dim));
        qp_best_add(best, v, own > 0 && length > 0 ? (float)(qp_dot_i8(asked, code, s->head_dim) / (own * length)) : 0);
    }
}

/* An edge is worth what its type is: the first that may be walked stands for its type, or equals would crowd out the
 * rest. */
static qp_code search_edges(const qp_snapshot *s, const qp_probe *p, qp_best *best, qp_arena *a, qp_err *err)
{
    size_t width = (size_t)s->heads * s->head_dim;
    bool *met = qp_new(a, bool, s->types + 1u);
    if (!met)
        return qp_oom(err);
    double length = sqrt((double)qp_dot(p->head, p->head, s->head_dim));
    for (uint32_t e = 0, t; e < s->edges; e++) {
        t = s->edge_type[e];
        if (t >= s->types || met[t] || s->edge_from[e] >= s->nodes || s->edge_to[e] >= s->nodes ||
            !allowed(p, s->edge_from[e]) || !allowed(p, s->edge_to[e]))
            continue;
        const float *v = s->type_head + t * width + (size_t)p->head_number * s->head_dim;
        double own = sqrt((double)qp_dot(v, v, s->head_dim));
        met[t] = true;
        qp_best_add(best, e, own > 0 && length > 0 ? (float)(qp_dot(p->head, v, s->head_dim) / (own * length)) : 0);
    }
    return QP_OK;
}

qp_code qp_snapshot_head_search(const qp_snapshot *s, qp_range r, const qp_probe *p, bool nodes, uint32_t k,
                                qp_list *out, qp_arena *a, qp_err *err)
{
    qp_best best;
    if (!s->heads || p->head_number >= s->heads || !p->head)
        return no_heads(err);
    int8_t *asked = qp_new(a, int8_t, s->head_dim + 1u);
    if (!asked || !qp_best_begin(&best, k, a))
        return qp_oom(err);
    qp_code code = QP_OK;
    if (nodes) {
        qp_quantise(p->head, s->head_dim, asked);
        search_nodes(s, r, p, asked, &best);
    } else {
        code = search_edges(s, p, &best, a, err);
    }
    *out = qp_best_end(&best);
    return code;
}
