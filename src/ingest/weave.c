#include "ingest/weave.h"

#include <stdio.h>
#include <stdlib.h>

#include "ingest/weave_parts.h"
#include "ingest/writing.h"
#include "store/graph.h"

qp_code qp_weave_cut(qp_weave_work *w, const qp_passage *p, qp_err *err)
{
    qp_buf_clear(&w->text);
    if (p->title.n) {
        qp_buf_str(&w->text, p->title);
        qp_buf_text(&w->text, "\n\n");
    }
    qp_buf_str(&w->text, p->text);
    w->done++;
    qp_code code = w->text.oom ? qp_oom(err) : w->tell(w->ctx, w->done, w->total, err);
    return code ? code : qp_phrases_cut(w->phrases, qp_buf_view(&w->text), &w->word, &w->n_words, err);
}

/* ---- into the store ---- */

static int by_name(const void *a, const void *b, void *map)
{
    return qp_str_cmp(qp_map_key(map, *(const uint32_t *)a), qp_map_key(map, *(const uint32_t *)b));
}

/* The places of a map's keys in their order; order: which comes when. */
static qp_code rank_keys(const qp_map *map, uint32_t **order, uint32_t **rank, qp_err *err)
{
    size_t n = qp_map_size(map);
    *order = malloc((n + 1) * sizeof **order);
    *rank = malloc((n + 1) * sizeof **rank);
    if (!*order || !*rank)
        return qp_oom(err);
    for (size_t i = 0; i < n; i++)
        (*order)[i] = (uint32_t)i;
    if (n)
        qsort_r(*order, n, sizeof **order, by_name, (void *)(uintptr_t)map);
    for (size_t i = 0; i < n; i++)
        (*rank)[(*order)[i]] = (uint32_t)i;
    return QP_OK;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_place(struct place a, struct place b)
{
    int passage = compare(a.passage, b.passage);
    return passage ? passage : compare(a.from, b.from);
}

/* Where there are places, by passage: rows of documents tell their history. */
static int by_chunk(const void *a, const void *b)
{
    const struct mention *x = a, *y = b;
    int order = compare(x->entity, y->entity);
    order = order ? order : compare(x->at.passage, y->at.passage);
    order = order ? order : compare((uint64_t)x->document, (uint64_t)y->document);
    return order ? order : compare(x->chunk, y->chunk);
}

static int by_mention(const void *a, const void *b)
{
    int chunk = by_chunk(a, b);
    return chunk ? chunk : by_place(((const struct mention *)a)->at, ((const struct mention *)b)->at);
}

static int by_ends(const void *a, const void *b)
{
    const struct fact *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    if (x->tail != y->tail)
        return x->tail < y->tail ? -1 : 1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

static int by_fact(const void *a, const void *b)
{
    int ends = by_ends(a, b);
    return ends ? ends : by_place(((const struct fact *)a)->at, ((const struct fact *)b)->at);
}

/* Sorted; equal ones as one, at the first of their places, that weighs what they weigh together. */
static void join_facts(qp_weave_work *w)
{
    size_t n = 0;
    if (w->n_facts)
        qsort(w->fact, w->n_facts, sizeof *w->fact, by_fact);
    for (size_t i = 0; i < w->n_facts; i++)
        if (n && !by_ends(&w->fact[i], &w->fact[n - 1]))
            w->fact[n - 1].weight += w->fact[i].weight;
        else
            w->fact[n++] = w->fact[i];
    w->n_facts = n;
}

/* Of sorted ones an entity's first in each chunk; where its source says where it stands, what was found is none. */
static void join_mentions(qp_weave_work *w, const uint32_t *entities)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_mentions; i++) {
        const struct mention *m = &w->mention[i];
        bool told = !w->how->extract && m->at.to && entities[m->entity] < w->told;
        if (!told && (!n || by_chunk(m, &w->mention[n - 1])))
            w->mention[n++] = *m;
    }
    w->n_mentions = n;
}

static void unless_there(qp_weave_work *w, uint32_t head, uint32_t tail, uint32_t relation)
{
    const struct fact wanted = {.head = head, .tail = tail, .relation = relation};
    struct fact *f = bsearch(&wanted, w->fact, w->n_facts, sizeof *w->fact, by_ends);
    if (f)
        f->weight = 0;
}

/* "peripheral neuropathy (PN)" is one fact: what is abbreviated is not next to its short form besides. Facts are
 * sorted. */
static void drop_doubles(qp_weave_work *w, const uint32_t *rank)
{
    const uint64_t *abbreviated = qp_map_get(w->relations, QP_WEAVE_ABBREVIATED);
    const uint64_t *next_to = qp_map_get(w->relations, QP_WEAVE_NEXT_TO);
    size_t n = 0;
    for (size_t i = 0; abbreviated && next_to && i < w->n_facts; i++)
        if (w->fact[i].relation == rank[*abbreviated]) {
            unless_there(w, w->fact[i].head, w->fact[i].tail, rank[*next_to]);
            unless_there(w, w->fact[i].tail, w->fact[i].head, rank[*next_to]);
        }
    for (size_t i = 0; i < w->n_facts; i++)
        if (w->fact[i].weight > 0)
            w->fact[n++] = w->fact[i];
    w->n_facts = n;
}

/* Of the given entities only those that the texts mention. Mentions are sorted by entity. */
static qp_code put_all(qp_weave_work *w, qp_graph_put *put, const uint32_t *relations, const uint32_t *entities,
                       uint32_t *place, qp_err *err)
{
    qp_code code = QP_OK;
    uint32_t n = 0;
    for (size_t i = 0; !code && i < qp_map_size(w->relations); i++)
        code = qp_graph_relation(put, qp_map_key(w->relations, relations[i]), err);
    for (size_t i = 0, at = 0; !code && i < qp_map_size(w->names); i++) {
        bool mentioned = at < w->n_mentions && w->mention[at].entity == i;
        while (at < w->n_mentions && w->mention[at].entity == i)
            at++;
        place[i] = n;
        n += mentioned;
        if (mentioned)
            code = qp_graph_entity(put, QP_STR(""), qp_map_key(w->names, entities[i]), QP_STR(""), err);
    }
    for (size_t i = 0; !code && i < w->n_facts; i++)
        code = qp_graph_triple(put, place[w->fact[i].head], w->fact[i].relation, place[w->fact[i].tail],
                               w->fact[i].weight, QP_STR(""), err);
    for (size_t i = 0; !code && i < w->n_mentions; i++)
        code = qp_graph_mention(put, place[w->mention[i].entity], w->mention[i].document, w->mention[i].chunk, err);
    return code;
}

qp_code qp_weave_put_place(const qp_weave_work *w, qp_graph_put *put, qp_str text, struct place at, qp_err *err)
{
    const size_t digest = (size_t)at.passage * QP_WEAVE_DIGEST;
    const qp_str passage = qp_str_slice(qp_buf_view(&w->passages), digest, digest + QP_WEAVE_DIGEST);
    return at.to ? qp_graph_place(put, text, passage, at.from, at.to, err) : QP_OK;
}

/* A relation has the first of its facts' places; one that is called like an entity is that text. */
static qp_code put_relation_places(const qp_weave_work *w, qp_graph_put *put, const uint32_t *relations, qp_err *err)
{
    size_t n = qp_map_size(w->relations);
    struct place *first = calloc(n + 1, sizeof *first);
    qp_code code = first ? QP_OK : qp_oom(err);
    for (size_t i = 0; !code && i < w->n_facts; i++) {
        const struct fact *f = &w->fact[i];
        if (f->words.to && (!first[f->relation].to || by_place(f->words, first[f->relation]) < 0))
            first[f->relation] = f->words;
    }
    for (size_t i = 0; !code && i < n; i++) {
        qp_str name = qp_map_key(w->relations, relations[i]);
        if (!qp_map_get(w->names, name))
            code = qp_weave_put_place(w, put, name, first[i], err);
    }
    free(first);
    return code;
}

/* Where the graph's texts have their vectors from: the first passage that has them. Entities of other graphs are texts
 * of those. */
static qp_code put_places(const qp_weave_work *w, qp_graph_put *put, const uint32_t *relations,
                          const uint32_t *entities, qp_err *err)
{
    qp_buf text = {0};
    qp_code code = put_relation_places(w, put, relations, err);
    for (size_t i = 0; !code && i < w->n_mentions; i++) {
        const struct mention *m = &w->mention[i];
        if (entities[m->entity] >= w->given && (!i || m[-1].entity != m->entity))
            code = qp_weave_put_place(w, put, qp_map_key(w->names, entities[m->entity]), m->at, err);
    }
    for (size_t i = 0; !code && i < w->n_facts; i++) {
        const struct fact *f = &w->fact[i];
        qp_buf_clear(&text);
        qp_triple_text(&text, qp_map_key(w->names, entities[f->head]), qp_map_key(w->relations, relations[f->relation]),
                       qp_map_key(w->names, entities[f->tail]));
        code = text.oom ? qp_oom(err) : qp_weave_put_place(w, put, qp_buf_view(&text), f->at, err);
    }
    qp_buf_free(&text);
    return code;
}

static qp_code put_graph(qp_weave_work *w, qp_digest digest, qp_woven *out, qp_err *err)
{
    uint32_t *entities = NULL, *entity_rank = NULL, *relations = NULL, *relation_rank = NULL, *place = NULL;
    qp_graph_put *put = NULL;
    qp_code code = rank_keys(w->names, &entities, &entity_rank, err);
    code = code ? code : rank_keys(w->relations, &relations, &relation_rank, err);
    if (!code && !(place = malloc((qp_map_size(w->names) + 1) * sizeof *place)))
        code = qp_oom(err);
    for (size_t i = 0; !code && i < w->n_facts; i++) {
        struct fact *f = &w->fact[i];
        *f = (struct fact){
            entity_rank[f->head], entity_rank[f->tail], relation_rank[f->relation], f->weight, f->at, f->words};
    }
    for (size_t i = 0; !code && i < w->n_mentions; i++)
        w->mention[i].entity = entity_rank[w->mention[i].entity];
    if (!code) {
        join_facts(w);
        drop_doubles(w, relation_rank);
        if (w->n_mentions)
            qsort(w->mention, w->n_mentions, sizeof *w->mention, by_mention);
        code = qp_graph_begin(w->store, QP_WEAVE_SOURCE, qp_str_of(digest.hex), &put, NULL, err);
    }
    if (put) {
        if (w->how->places)
            code = qp_weave_given_places(w, put, entity_rank, err);
        join_mentions(w, entities);
        code = code ? code : put_all(w, put, relations, entities, place, err);
        if (!code && w->how->places)
            code = put_places(w, put, relations, entities, err);
        code = qp_graph_end(put, code, err);
    }
    *out = w->counts;
    out->entities = qp_map_size(w->names) - w->given;
    out->relations = qp_map_size(w->relations);
    out->triples = w->n_facts;
    out->mentions = w->n_mentions;
    free(entities);
    free(entity_rank);
    free(relations);
    free(relation_rank);
    free(place);
    return code;
}

/* ---- the whole ---- */

/* Are vectors of triples kept, given as many as these? Those drawn out of texts do not count: they may be yet to come. */
static qp_code look_at_facts(qp_weave_work *w, uint64_t given, qp_err *err)
{
    qp_str said;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_store_get(w->store, "triples", &said, mem, err) : qp_oom(err);
    if (!code)
        w->facts_too = qp_str_eq(said, QP_STR("yes")) || (!qp_str_eq(said, QP_STR("no")) && given <= QP_TRIPLES_AUTO);
    qp_arena_free(mem);
    return code;
}

static qp_code add_graph_digest(qp_weave_work *w, qp_digest *digest, bool *others, qp_err *err)
{
    qp_graph_row *rows = NULL;
    size_t n = 0;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_store_graphs(w->store, &rows, &n, mem, err) : qp_oom(err);
    qp_buf all = {0};
    uint64_t given = 0;
    *others = false;
    if (w->how->writer)
        qp_buf_fmt(&all, "%s %s ", w->how->writer->digest, qp_digest_of(qp_buf_view(&w->prompt)).hex);
    qp_buf_fmt(&all, "weave 3 %d %u %.17g %d %d %s%s", w->how->extract, w->how->b, w->how->tau, w->how->literal,
               w->how->spans, digest->hex, w->how->places ? " places" : "");
    for (size_t i = 0; !code && i < n; i++)
        if (!qp_str_eq(rows[i].source, QP_WEAVE_SOURCE)) {
            qp_buf_fmt(&all, " %lld", (long long)rows[i].row); /* a graph that is read anew has another row */
            *others = true;
            given += rows[i].triples;
        }
    code = code ? code : look_at_facts(w, given, err);
    if (*others && w->how->places)
        qp_buf_text(&all, w->facts_too ? " given places 1 facts" : " given places 1");
    if (!code && all.oom)
        code = qp_oom(err);
    *digest = qp_digest_of(qp_buf_view(&all));
    qp_buf_free(&all);
    qp_arena_free(mem);
    return code;
}

static qp_code draw(qp_weave_work *w, qp_err *err)
{
    qp_code code = qp_phrases_open(&w->phrases, err);
    if (!code && (!(w->names = qp_map_new()) || !(w->relations = qp_map_new()) || !(w->documents = qp_map_new())))
        code = qp_oom(err);
    code = code ? code : qp_weave_given(w, err);
    if (!code && w->how->extract)
        code = qp_weave_choose(w, err);
    return code ? code : qp_weave_find(w, err);
}

static void let_go(qp_weave_work *w)
{
    qp_phrases_close(w->phrases);
    qp_buf_free(&w->text);
    qp_buf_free(&w->scratch);
    qp_buf_free(&w->prompt);
    qp_buf_free(&w->wording);
    qp_arena_free(w->round);
    free(w->here);
    qp_table_free(&w->runs);
    qp_map_free(w->names);
    qp_map_free(w->relations);
    qp_map_free(w->documents);
    qp_buf_free(&w->passages);
    free(w->mention);
    free(w->fact);
}

qp_code qp_weave(qp_store *store, const qp_weaving *how,
                 qp_code (*tell)(void *ctx, uint64_t done, uint64_t total, qp_err *), void *ctx, qp_woven *out,
                 bool *same, qp_err *err)
{
    qp_weave_work w = {.store = store, .how = how, .tell = tell, .ctx = ctx};
    qp_digest digest;
    uint64_t chunks = 0;
    bool others = false;
    *out = (qp_woven){0};
    *same = false;
    static const char *const fields[] = {"text", "entities", NULL};
    qp_code code =
        how->extract && how->writer ? qp_writing_prompt(how->prompt, "relations.txt", fields, &w.prompt, err) : QP_OK;
    code = code ? code : qp_store_passages_digest(store, &digest, &chunks, err);
    code = code ? code : add_graph_digest(&w, &digest, &others, err);
    if (!code && (!chunks || (!how->extract && !others))) { /* nothing to draw from */
        uint64_t gone;
        let_go(&w);
        return qp_store_graph_prune(store, QP_WEAVE_SOURCE, NULL, 0, &gone, err);
    }
    code = code ? code : qp_store_graph_same(store, QP_WEAVE_SOURCE, qp_str_of(digest.hex), same, err);
    w.chunks = (double)chunks;
    w.total = (how->extract ? 3 : 1) * chunks;
    if (!code && !*same) {
        code = draw(&w, err);
        if (w.counts.unanswered) /* not what it is to be: drawn anew by the next run */
            digest = qp_digest_parts((qp_str[]){qp_str_of(digest.hex), QP_STR("unanswered")}, 2);
        code = code ? code : put_graph(&w, digest, out, err);
        if (!code && how->writer && !how->ask_nothing)
            code = qp_store_said_prune(store, err);
    }
    let_go(&w);
    return code;
}

static qp_code look_for(qp_store *store, bool drawn, bool *yes, qp_err *err)
{
    qp_graph_row *rows = NULL;
    size_t n = 0;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_store_graphs(store, &rows, &n, mem, err) : qp_oom(err);
    *yes = false;
    for (size_t i = 0; !code && i < n; i++)
        *yes |= qp_str_eq(rows[i].source, QP_WEAVE_SOURCE) == drawn;
    qp_arena_free(mem);
    return code;
}

qp_code qp_weave_there(qp_store *store, bool *yes, qp_err *err)
{
    return look_for(store, true, yes, err);
}

qp_code qp_weave_others(qp_store *store, bool *yes, qp_err *err)
{
    return look_for(store, false, yes, err);
}
