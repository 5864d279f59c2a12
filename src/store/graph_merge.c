#include "store/graph_merge.h"

#include <stdlib.h>

#include "base/str.h"
#include "store/limit.h"

struct part { /* one graph */
    qp_graph_row is;
    qp_graph_reader *entities;
    qp_graph_record now;
    bool more;
    uint32_t *number; /* of its entities, in the whole; null of the only graph: their own */
    uint64_t met;
    qp_str *relation;
};

struct qp_graph_merge {
    qp_store *store;
    const qp_merged *out;
    struct part *part;
    size_t n;
    uint32_t entities; /* so far */
    qp_buf text;
    qp_arena *mem;
};

static qp_code advance(struct part *p, qp_err *err)
{
    return qp_graph_next(p->entities, &p->now, &p->more, err);
}

static qp_code open_parts(qp_graph_merge *m, qp_err *err)
{
    qp_graph_row *rows;
    qp_code code = qp_store_graphs(m->store, &rows, &m->n, m->mem, err);
    m->part = code ? NULL : qp_new(m->mem, struct part, m->n + 1);
    if (!code && !m->part)
        code = qp_oom(err);
    for (size_t i = 0; !code && i < m->n; i++) {
        struct part *p = &m->part[i];
        p->is = rows[i];
        if (p->is.entities >= UINT32_MAX || p->is.relations >= UINT32_MAX)
            return qp_fail(err, QP_STORE, "truth.db: is damaged: a graph of %llu entities and %llu relations",
                           (unsigned long long)p->is.entities, (unsigned long long)p->is.relations);
        if (m->n > 1)
            p->number = malloc((p->is.entities + 1) * sizeof *p->number);
        code = p->number || m->n == 1 ? qp_graph_open(m->store, p->is.row, QP_GRAPH_ENTITIES, &p->entities, err)
                                      : qp_oom(err);
        if (!code)
            code = advance(p, err);
    }
    return code;
}

static int order(const qp_graph_record *a, const qp_graph_record *b)
{
    int scope = qp_str_cmp(a->scope, b->scope);
    return scope ? scope : qp_str_cmp(a->name, b->name);
}

/* The entity that comes first in any graph, out of all that have it. */
static qp_code merge_one(qp_graph_merge *m, const struct part *first, qp_err *err)
{
    qp_code code = QP_OK;
    qp_buf_clear(&m->text);
    qp_arena *mem = m->mem;
    qp_graph_record is = first->now; /* its strings move when its reader does */
    is.scope = qp_arena_str(mem, is.scope);
    is.name = qp_arena_str(mem, is.name);
    if (!is.scope.at || !is.name.at)
        return qp_oom(err);
    for (size_t i = 0; !code && i < m->n; i++) {
        struct part *p = &m->part[i];
        if (!p->more || order(&p->now, &is))
            continue;
        if (p->met >= p->is.entities)
            return qp_fail(err, QP_STORE, "truth.db: is damaged: a graph has more entities than it says");
        if (p->number)
            p->number[p->met] = m->entities;
        p->met++;
        if (p->now.text.n && !qp_str_has_lines(qp_buf_view(&m->text), p->now.text)) {
            if (m->text.n)
                qp_buf_char(&m->text, '\n');
            qp_buf_str(&m->text, p->now.text);
        }
        code = advance(p, err);
    }
    if (!code && m->text.oom)
        code = qp_oom(err);
    m->entities++;
    return !code && m->out->entity ? m->out->entity(m->out->ctx, is.scope, is.name, qp_buf_view(&m->text), err) : code;
}

static qp_code merge_entities(qp_graph_merge *m, qp_err *err)
{
    qp_arena *mine = m->mem;
    qp_code code = QP_OK;
    m->mem = qp_arena_new(); /* of one entity */
    for (struct part *first; m->mem && !code;) {
        first = NULL;
        for (size_t i = 0; i < m->n; i++)
            if (m->part[i].more && (!first || order(&m->part[i].now, &first->now) < 0))
                first = &m->part[i];
        if (!first)
            break;
        code = qp_limit_look(m->entities, "entities", err);
        code = code ? code : merge_one(m, first, err);
        qp_arena_reset(m->mem);
    }
    if (!m->mem)
        code = qp_oom(err);
    qp_arena_free(m->mem);
    m->mem = mine;
    return code;
}

static uint32_t number_of(const struct part *p, uint32_t entity)
{
    return p->number ? p->number[entity] : entity;
}

static qp_code read_relations(qp_graph_merge *m, struct part *p, qp_err *err)
{
    qp_graph_reader *r = NULL;
    qp_graph_record is;
    bool more = true;
    p->relation = qp_new(m->mem, qp_str, p->is.relations + 1);
    qp_code code = p->relation ? qp_graph_open(m->store, p->is.row, QP_GRAPH_RELATIONS, &r, err) : qp_oom(err);
    for (uint64_t i = 0; !code && more; i++) {
        code = qp_graph_next(r, &is, &more, err);
        if (code || !more)
            break;
        if (i == p->is.relations)
            code = qp_fail(err, QP_STORE, "truth.db: is damaged: a graph has more relations than it says");
        else if (!(p->relation[i] = qp_arena_str(m->mem, is.name)).at)
            code = qp_oom(err);
    }
    qp_graph_close(r);
    return code;
}

static qp_code give_edges(qp_graph_merge *m, struct part *p, qp_err *err)
{
    qp_graph_reader *r = NULL;
    qp_graph_record is;
    bool more = true;
    qp_code code = read_relations(m, p, err);
    if (!code)
        code = qp_graph_open(m->store, p->is.row, QP_GRAPH_TRIPLES, &r, err);
    while (!code) {
        code = qp_graph_next(r, &is, &more, err);
        if (code || !more)
            break;
        if (is.head >= p->met || is.tail >= p->met || is.relation >= p->is.relations || !p->relation[is.relation].at)
            code = qp_fail(err, QP_STORE, "truth.db: is damaged: a triple of a graph names what is not there");
        else
            code = m->out->edge(m->out->ctx, number_of(p, is.head), p->relation[is.relation], number_of(p, is.tail),
                                is.weight, is.text, err);
    }
    qp_graph_close(r);
    return code;
}

static qp_code give_mentions(qp_graph_merge *m, const struct part *p, qp_err *err)
{
    qp_graph_reader *r = NULL;
    qp_graph_record is;
    bool more = true;
    qp_code code = qp_graph_open(m->store, p->is.row, QP_GRAPH_MENTIONS, &r, err);
    while (!code) {
        code = qp_graph_next(r, &is, &more, err);
        if (code || !more)
            break;
        if (is.entity >= p->met)
            code = qp_fail(err, QP_STORE, "truth.db: is damaged: a graph mentions what is not there");
        else
            code = m->out->mention(m->out->ctx, number_of(p, is.entity), is.document, is.chunk, err);
    }
    qp_graph_close(r);
    return code;
}

qp_code qp_graph_merge_all(qp_store *s, const qp_merged *out, qp_err *err)
{
    qp_graph_merge m = {.store = s, .out = out, .mem = qp_arena_new()};
    qp_code code = m.mem ? open_parts(&m, err) : qp_oom(err);
    if (!code)
        code = merge_entities(&m, err);
    for (size_t i = 0; !code && out->edge && i < m.n; i++)
        code = give_edges(&m, &m.part[i], err);
    for (size_t i = 0; !code && out->mention && i < m.n; i++)
        code = give_mentions(&m, &m.part[i], err);
    for (size_t i = 0; m.part && i < m.n; i++) {
        qp_graph_close(m.part[i].entities);
        free(m.part[i].number);
    }
    qp_buf_free(&m.text);
    qp_arena_free(m.mem);
    return code;
}
