#include "op/communities.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/shelf.h"
#include "op/ops.h"
#include "op/prompt.h"

enum { NAMES = 3, RELATIONS = QP_REPORT_RELATIONS };

typedef struct kept {
    qp_arena *mem;
    qp_communities what;
    pthread_mutex_t lock;
    char **report; /* written ones, malloc's; null: not yet */
} kept;

typedef struct asking {
    qp_query *q;
    const qp_reports *given; /* null: Leiden's */
    qp_walk walk;
    uint32_t largest;
    uint64_t seed;
} asking;

static void drop(void *thing)
{
    kept *k = thing;
    for (uint32_t i = 0; k->report && i < k->what.parts.n_at; i++)
        free(k->report[i]);
    free(k->report);
    pthread_mutex_destroy(&k->lock);
    qp_arena_free(k->mem);
    free(k);
}

/* The walk's arcs between entities, over places. */
static qp_code arcs_of(const asking *a, qp_id first, qp_csr *out, qp_arena *mem, qp_err *err)
{
    const qp_view *g = a->q->graph;
    qp_arcs all;
    qp_code code = g->arcs(g->self, a->walk, &all, mem, err);
    if (code)
        return code;
    uint32_t n = g->nodes - first;
    uint64_t *start = qp_new(mem, uint64_t, (size_t)n + 1), m = 0;
    uint32_t *target = qp_new(mem, uint32_t, all.start[all.n] - all.start[first] + 1);
    if (!start || !target)
        return qp_oom(err);
    for (uint32_t v = 0; v < n; v++) {
        for (uint64_t j = all.start[first + v]; j < all.start[first + v + 1]; j++)
            if (all.node[j] >= first)
                target[m++] = all.node[j] - first;
        start[v + 1] = m;
    }
    *out = (qp_csr){n, start, target, NULL};
    return QP_OK;
}

static uint32_t degree(const qp_csr *g, uint32_t v)
{
    return (uint32_t)(g->start[v + 1] - g->start[v]);
}

/* ---- those that were given ---- */

/* All entities of a report's passages, which are there to the first. Edges between entities and passages are one type
 * among perhaps too many to be walked apart: all are walked. */
static qp_code members_of(const qp_view *g, const qp_report *r, qp_adj *out, qp_arena *mem, qp_err *err)
{
    return g->adjacent(g->self, &r->from, 1, (qp_walk){UINT64_MAX, QP_BOTH, true}, out, mem, err);
}

/* Reports come largest first, so what an entity was in until then is what the smaller one is part of. */
static qp_code take_given(const asking *a, kept *k, uint32_t n, qp_err *err)
{
    const qp_reports *given = a->given;
    qp_arena *scratch = qp_arena_new();
    uint32_t *leaf = qp_new(k->mem, uint32_t, (size_t)n + 1);
    qp_community *at = qp_new(k->mem, qp_community, given->n + 1u);
    qp_report *reports = qp_new(k->mem, qp_report, given->n + 1u);
    qp_code code = scratch && leaf && at && reports ? QP_OK : qp_oom(err);
    if (!code)
        memset(leaf, 0xff, n * sizeof *leaf);
    for (uint32_t i = 0; !code && i < given->n; i++) {
        qp_adj in;
        qp_arena_reset(scratch);
        reports[i] = given->at[i];
        at[i] = (qp_community){.parent = QP_NO_COMMUNITY, .level = given->at[i].level};
        code = members_of(a->q->graph, &given->at[i], &in, scratch, err);
        for (uint32_t j = 0, first = 1; !code && j < in.start[1]; j++) {
            if (in.node[j] < k->what.first)
                continue;
            uint32_t *is = &leaf[in.node[j] - k->what.first];
            if (first)
                at[i].parent = *is;
            first = 0;
            *is = i;
        }
    }
    k->what.parts = (qp_hierarchy){.n = n, .n_at = given->n, .at = at, .leaf = leaf};
    k->what.given = reports;
    qp_arena_free(scratch);
    return code;
}

/* ---- what each community's report tells ---- */

typedef struct telling {
    const qp_hierarchy *parts;
    uint32_t *n, *all;
    qp_id *relation;
    uint32_t *joined; /* of each relation the degrees of its ends together */
} telling;

/* Keeps the best joined, of equals the smaller id. */
static void tell(telling *t, uint32_t community, qp_id edge, uint32_t joined)
{
    qp_id *at = t->relation + (size_t)community * RELATIONS;
    uint32_t *of = t->joined + (size_t)community * RELATIONS, i = t->n[community];
    t->all[community]++;
    if (i == RELATIONS && (of[i - 1] > joined || (of[i - 1] == joined && at[i - 1] < edge)))
        return;
    i = i < RELATIONS ? t->n[community]++ : i - 1;
    for (; i && (of[i - 1] < joined || (of[i - 1] == joined && at[i - 1] > edge)); i--) {
        of[i] = of[i - 1];
        at[i] = at[i - 1];
    }
    of[i] = joined;
    at[i] = edge;
}

/* A relation is told of every community that holds both its ends: from the smaller one's up, as far as they meet. */
static void tell_of_all(telling *t, uint32_t a, uint32_t b, qp_id edge, uint32_t joined)
{
    uint32_t x = t->parts->leaf[a], y = t->parts->leaf[b];
    if (x == QP_NO_COMMUNITY || y == QP_NO_COMMUNITY)
        return;
    while (x != y) {
        uint32_t *deeper = t->parts->at[x].level >= t->parts->at[y].level ? &x : &y;
        *deeper = t->parts->at[*deeper].parent;
        if (*deeper == QP_NO_COMMUNITY)
            return;
    }
    for (; x != QP_NO_COMMUNITY; x = t->parts->at[x].parent)
        tell(t, x, edge, joined);
}

static qp_code tell_all(const asking *a, const qp_csr *arcs, kept *k, qp_err *err)
{
    enum { ROWS = 1024 };
    const qp_view *g = a->q->graph;
    const qp_hierarchy *parts = &k->what.parts;
    size_t room = (size_t)parts->n_at * RELATIONS + 1;
    qp_arena *scratch = qp_arena_new();
    telling t = {parts, qp_new(k->mem, uint32_t, parts->n_at + 1u), qp_new(k->mem, uint32_t, parts->n_at + 1u),
                 qp_new(k->mem, qp_id, room), calloc(room, sizeof *t.joined)};
    qp_code code = scratch && t.n && t.all && t.relation && t.joined ? QP_OK : qp_oom(err);
    for (uint32_t from = 0, n; !code && from < arcs->n; from += n) {
        qp_id ids[ROWS];
        qp_adj rows;
        qp_arena_reset(scratch);
        n = arcs->n - from < ROWS ? arcs->n - from : ROWS;
        for (uint32_t i = 0; i < n; i++)
            ids[i] = k->what.first + from + i;
        code = g->incident(g->self, ids, n, a->walk, &rows, scratch, err);
        for (uint32_t i = 0; !code && i < n; i++)
            for (uint32_t j = rows.start[i]; j < rows.start[i + 1]; j++)
                if (rows.node[j] > ids[i]) {
                    uint32_t to = rows.node[j] - k->what.first;
                    tell_of_all(&t, from + i, to, rows.edge[j], degree(arcs, from + i) + degree(arcs, to));
                }
        if (!code && a->q->cancel && *a->q->cancel)
            code = qp_fail(err, QP_STOPPED, "stopped among communities by the caller");
    }
    k->what.relations = t.n;
    k->what.relation = t.relation;
    k->what.all = t.all;
    free(t.joined);
    qp_arena_free(scratch);
    return code;
}

static qp_code make(void *ctx, void **thing, qp_err *err)
{
    const asking *a = ctx;
    const qp_view *g = a->q->graph;
    const qp_leiden_options how = {.gamma = 1, .random = a->seed, .cancel = a->q->cancel};
    kept *k = calloc(1, sizeof *k);
    qp_csr arcs;
    if (!k)
        return qp_oom(err);
    pthread_mutex_init(&k->lock, NULL);
    k->mem = qp_arena_new();
    k->what.made = k;
    k->what.first = g->entity < g->nodes ? g->entity : 0;
    qp_code code = k->mem ? arcs_of(a, k->what.first, &arcs, k->mem, err) : qp_oom(err);
    if (!code)
        code = a->given ? take_given(a, k, arcs.n, err)
                        : qp_hierarchy_make(&arcs, a->largest, &how, k->mem, &k->what.parts, err);
    if (!code)
        code = tell_all(a, &arcs, k, err);
    if (!code && !(k->report = calloc((size_t)k->what.parts.n_at + 1, sizeof *k->report)))
        code = qp_oom(err);
    if (code)
        drop(k);
    else
        *thing = k;
    return code;
}

bool qp_query_communities(qp_query *q, const qp_reports *given, uint32_t largest, uint64_t seed, qp_communities *out)
{
    static const qp_shelf_kind kind = {make, drop};
    asking a = {q, given, {q->walk.types, QP_BOTH, q->walk.across}, largest, seed};
    const char *writer = q->writer && q->writer->digest ? q->writer->digest : "";
    struct { /* whose reports these are, too */
        uint64_t types, seed, writer;
        uint32_t largest;
        uint16_t across, given;
    } key = {a.walk.types, seed, qp_hash64(qp_str_of(writer)), largest, a.walk.across, given != NULL};
    void *thing;
    bool kept_there;
    *out = (qp_communities){0};
    if (qp_query_over(q, "communities") ||
        qp_shelf_get(q->graph->shelf, &kind, &key, sizeof key, &a, &thing, &kept_there, &q->err))
        return false;
    *out = ((kept *)thing)->what;
    out->kept = kept_there;
    return true;
}

void qp_communities_done(qp_communities *c)
{
    if (c->made && !c->kept)
        drop(c->made);
    *c = (qp_communities){0};
}

/* ---- reading ---- */

uint32_t qp_community_at(const qp_communities *c, uint32_t place, uint32_t level)
{
    uint32_t i = c->parts.leaf[place];
    while (i != QP_NO_COMMUNITY && c->parts.at[i].level > level)
        i = c->parts.at[i].parent;
    return i;
}

const uint64_t *qp_communities_at(qp_query *q, const qp_communities *c, uint32_t level)
{
    uint64_t *bits = qp_new(q->mem, uint64_t, c->parts.n_at / 64 + 1);
    if (!bits)
        qp_oom(&q->err);
    for (uint32_t v = 0; bits && v < c->parts.n; v++) {
        uint32_t i = qp_community_at(c, v, level);
        if (i != QP_NO_COMMUNITY)
            bits[i / 64] |= UINT64_C(1) << (i % 64);
    }
    return bits;
}

/* The entities that most of the report's relations are about: the first ones told. */
static void add_names(qp_query *q, qp_buf *text, const qp_link *link, uint32_t n)
{
    qp_id named[NAMES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * n && count < NAMES; i++) {
        qp_id id = i % 2 ? link[i / 2].to : link[i / 2].from;
        qp_about about;
        bool known = false;
        for (uint32_t j = 0; j < count; j++)
            known |= named[j] == id;
        if (known || q->graph->about(q->graph->self, &id, 1, &about, q->mem, &q->err))
            continue;
        qp_buf_fmt(text, "%s%.*s", count ? ", " : "Community of ", (int)about.name.n, about.name.at);
        named[count++] = id;
    }
    qp_buf_text(text, ":\n");
}

static qp_str drawn(qp_query *q, const qp_communities *c, uint32_t community)
{
    const qp_id *edge = c->relation + (size_t)community * RELATIONS;
    uint32_t n = c->relations[community];
    qp_link link[RELATIONS];
    qp_str line[RELATIONS];
    qp_buf text = {0};
    if (!n || q->graph->link(q->graph->self, edge, n, link, &q->err) ||
        q->graph->text(q->graph->self, QP_TRIPLE, edge, n, line, q->mem, &q->err))
        return (qp_str){"", 0};
    add_names(q, &text, link, n);
    for (uint32_t i = 0; i < n; i++) {
        qp_buf_str(&text, line[i]);
        qp_buf_char(&text, '\n');
    }
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&text);
    return q->err.code == QP_OK ? out : (qp_str){"", 0};
}

/* What another question had written, or null. */
static char **written_before(qp_query *q, const qp_communities *c, uint32_t community, qp_str *report)
{
    kept *k = c->made;
    pthread_mutex_lock(&k->lock);
    char **at = &k->report[community];
    *report = *at ? qp_arena_str(q->mem, qp_str_of(*at)) : (qp_str){0};
    pthread_mutex_unlock(&k->lock);
    return at;
}

qp_str qp_community_report(qp_query *q, const qp_communities *c, uint32_t community, bool written)
{
    if (c->given)
        return qp_report_text(q, &c->given[community]);
    qp_str report, items = drawn(q, c, community);
    if (!written || !items.n)
        return items;
    char **at = written_before(q, c, community, &report);
    if (report.at)
        return report;
    qp_str prompt = qp_prompt(q, NULL, "lego-report.txt", &(qp_field){"items", items}, 1);
    report = q->err.code == QP_OK ? qp_write(q, prompt, (qp_sampling){.max_tokens = 512}) : (qp_str){"", 0};
    kept *k = c->made;
    pthread_mutex_lock(&k->lock);
    if (q->err.code == QP_OK && !*at)
        *at = strndup(report.at, report.n);
    pthread_mutex_unlock(&k->lock);
    return report;
}
