/* Where entities and facts of other graphs stand in the texts, to have their vectors from there; see ingest/weave.h. */
#include <stdlib.h>

#include "ingest/weave_parts.h"

struct span { /* of the mentions, which are in order of entity, passage and place; empty: it stands nowhere */
    const struct mention *at, *end;
};

struct known { /* an entity of the graph at hand */
    qp_str name;
    struct span stands;
};

struct given {
    qp_weave_work *w;
    qp_graph_put *put;
    const uint32_t *rank; /* of an entity, as in mentions */
    const qp_graph_row *graph;
    struct known *entity;
    qp_str *relation;
    qp_arena *mem; /* of the graph at hand */
    qp_buf text;
};

/* ---- spans of mentions ---- */

/* The first that is not before this entity and passage. */
static const struct mention *not_before(struct span s, uint64_t entity, uint64_t passage)
{
    const uint64_t wanted = (entity << 32) + passage;
    while (s.at < s.end) {
        const struct mention *middle = s.at + (s.end - s.at) / 2;
        if (((uint64_t)middle->entity << 32) + middle->at.passage < wanted)
            s.at = middle + 1;
        else
            s.end = middle;
    }
    return s.at;
}

static struct span of_entity(const qp_weave_work *w, uint32_t entity)
{
    const struct span all = {w->mention, w->mention + w->n_mentions};
    const struct span rest = {not_before(all, entity, 0), all.end};
    return (struct span){rest.at, not_before(rest, entity + 1u, 0)};
}

/* Of one entity's, those in passages [from, to). */
static struct span within(struct span s, uint64_t from, uint64_t to)
{
    if (s.at == s.end)
        return s;
    s.at = not_before(s, s.at->entity, from);
    s.end = s.at < s.end ? not_before(s, s.at->entity, to) : s.end;
    return s;
}

/* The first of one entity's, of which there are some, in this passage or after it; it is near, as a rule. */
static const struct mention *forward(struct span s, uint32_t passage)
{
    const uint32_t entity = s.at->entity;
    ptrdiff_t step = 1;
    for (; step < s.end - s.at && s.at[step].at.passage < passage; step *= 2)
        s.at += step;
    if (step < s.end - s.at)
        s.end = s.at + step;
    return not_before(s, entity, passage);
}

static struct place around(struct place a, struct place b)
{
    return (struct place){a.passage, a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

static bool is_less(struct place a, struct place b)
{
    return a.to && (!b.to || a.to - a.from < b.to - b.from);
}

/* The least that holds both, of equal ones the first; nowhere if no passage does. */
static struct place least_around(struct span a, struct span b)
{
    struct place least = {0};
    while (a.at < a.end && b.at < b.end) {
        const struct place x = a.at->at, y = b.at->at;
        const struct place both = x.passage == y.passage && x.to && y.to ? around(x, y) : (struct place){0};
        if (is_less(both, least))
            least = both;
        if (x.passage < y.passage)
            a.at = forward(a, y.passage);
        else if (y.passage < x.passage)
            b.at = forward(b, x.passage);
        else if (x.from < y.from)
            a.at++;
        else
            b.at++;
    }
    return least;
}

/* ---- the graph at hand ---- */

/* Its words lead to the entity that was looked for, which has them in letters of another case perhaps. */
static qp_code take_entity(struct given *g, uint64_t i, const qp_graph_record *is, qp_err *err)
{
    qp_weave_work *w = g->w;
    struct known *out = &g->entity[i];
    qp_code code = is->scope.n ? QP_OK : qp_phrases_cut(w->phrases, is->name, &w->word, &w->n_words, err);
    const uint32_t found = code || is->scope.n ? UINT32_MAX : qp_weave_entity(w, 0, w->n_words);
    if (found == UINT32_MAX)
        return code;
    *out = (struct known){qp_arena_str(g->mem, is->name), of_entity(w, g->rank[found])};
    if (!out->name.at)
        return qp_oom(err);
    /* One of which more is said is found by that, too. */
    return is->text.n || out->stands.at == out->stands.end
               ? QP_OK
               : qp_weave_put_place(w, g->put, is->name, out->stands.at->at, err);
}

static qp_code take_relation(struct given *g, uint64_t i, const qp_graph_record *is, qp_err *err)
{
    g->relation[i] = qp_arena_str(g->mem, is->name);
    return g->relation[i].at ? QP_OK : qp_oom(err);
}

/* In the documents that it is said to be from, if one of them is there; else anywhere. */
static struct place find_fact(const struct given *g, const struct known *head, const struct known *tail,
                              qp_str documents)
{
    struct place least = {0};
    bool there = false;
    for (qp_str rest = documents; rest.n;) {
        const uint64_t *passages = qp_map_get(g->w->documents, qp_str_split(rest, '\n', &rest));
        if (!passages)
            continue;
        const uint64_t from = (uint32_t)*passages, to = from + (*passages >> 32);
        const struct place here = least_around(within(head->stands, from, to), within(tail->stands, from, to));
        least = is_less(here, least) ? here : least;
        there = true;
    }
    return there ? least : least_around(head->stands, tail->stands);
}

static qp_code take_fact(struct given *g, uint64_t i, const qp_graph_record *is, qp_err *err)
{
    if (is->head >= g->graph->entities || is->tail >= g->graph->entities || is->relation >= g->graph->relations)
        return qp_fail(err, QP_STORE, "truth.db: is damaged: a triple of a graph names what is not there");
    const struct known *head = &g->entity[is->head], *tail = &g->entity[is->tail];
    const struct place at = find_fact(g, head, tail, is->documents);
    (void)i;
    if (!at.to)
        return QP_OK;
    qp_buf_clear(&g->text);
    qp_triple_text(&g->text, head->name, g->relation[is->relation], tail->name);
    return g->text.oom ? qp_oom(err) : qp_weave_put_place(g->w, g->put, qp_buf_view(&g->text), at, err);
}

static qp_code take_all(struct given *g, qp_graph_kind kind, uint64_t most,
                        qp_code (*take)(struct given *, uint64_t, const qp_graph_record *, qp_err *), qp_err *err)
{
    qp_graph_reader *r = NULL;
    qp_graph_record is;
    bool more = true;
    qp_code code = qp_graph_open(g->w->store, g->graph->row, kind, &r, err);
    for (uint64_t i = 0; !code; i++) {
        code = qp_graph_next(r, &is, &more, err);
        if (code || !more)
            break;
        code = i < most ? take(g, i, &is, err)
                        : qp_fail(err, QP_STORE, "truth.db: is damaged: a graph has more parts than it says");
    }
    qp_graph_close(r);
    return code;
}

static qp_code take_graph(struct given *g, const qp_graph_row *graph, qp_err *err)
{
    qp_arena_reset(g->mem);
    g->graph = graph;
    g->entity = qp_new(g->mem, struct known, graph->entities + 1);
    g->relation = qp_new(g->mem, qp_str, graph->relations + 1);
    qp_code code = g->entity && g->relation ? QP_OK : qp_oom(err);
    code = code ? code : take_all(g, QP_GRAPH_ENTITIES, graph->entities, take_entity, err);
    if (code || !g->w->facts_too)
        return code;
    code = take_all(g, QP_GRAPH_RELATIONS, graph->relations, take_relation, err);
    return code ? code : take_all(g, QP_GRAPH_TRIPLES, graph->triples, take_fact, err);
}

qp_code qp_weave_given_places(qp_weave_work *w, qp_graph_put *put, const uint32_t *rank, qp_err *err)
{
    struct given g = {.w = w, .put = put, .rank = rank, .mem = qp_arena_new()};
    qp_graph_row *rows = NULL;
    size_t n = 0;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem && g.mem ? qp_store_graphs(w->store, &rows, &n, mem, err) : qp_oom(err);
    for (size_t i = 0; !code && i < n; i++)
        if (!qp_str_eq(rows[i].source, QP_WEAVE_SOURCE))
            code = take_graph(&g, &rows[i], err);
    qp_buf_free(&g.text);
    qp_arena_free(g.mem);
    qp_arena_free(mem);
    return code;
}
