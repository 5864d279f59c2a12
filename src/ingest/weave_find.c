/* Names, where they stand in the texts, and what relates them; see ingest/weave.h. */
#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"
#include "ingest/weave_parts.h"
#include "store/graph.h"

enum { MOST_ENTITIES = 1u << 30 };

/* ---- names ---- */

/* A name's words lead from run to run to it. */
static qp_code add_run(qp_weave_work *w, const qp_word *word, size_t n, uint32_t entity, qp_err *err)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        hash = qp_phrase_hash(hash, &word[i]);
        uint32_t *run = qp_table_put(&w->runs, hash, 0, NULL);
        if (!run)
            return qp_oom(err);
        if (i + 1 < n)
            *run |= 1;
        else if (!(*run >> 1)) /* else another graph's entity has this name but for case */
            *run |= 2 * (entity + 1);
    }
    return QP_OK;
}

uint32_t qp_weave_entity(const qp_weave_work *w, size_t at, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash = qp_phrase_hash(hash, &w->word[at + i]);
    const uint32_t *run = qp_table_get(&w->runs, hash);
    return run && *run >> 1 ? (*run >> 1) - 1 : UINT32_MAX;
}

qp_code qp_weave_name(qp_weave_work *w, qp_str name, const qp_word *word, size_t n, qp_err *err)
{
    bool added;
    uint64_t *slot = qp_map_put(w->names, name, &added);
    if (!slot)
        return qp_oom(err);
    if (added)
        *slot = qp_map_size(w->names) - 1;
    if (*slot >= MOST_ENTITIES)
        return qp_fail(err, QP_INPUT, "the texts hold more than %u entities: raise tau, or index with -o graph=links",
                       MOST_ENTITIES);
    return add_run(w, word, n, (uint32_t)*slot, err);
}

static qp_code add_mention(qp_weave_work *w, struct mention m, qp_err *err)
{
    struct mention *more = qp_array_room(w->mention, w->n_mentions, &w->cap_mentions, sizeof *more);
    if (!more)
        return qp_oom(err);
    w->mention = more;
    more[w->n_mentions++] = m;
    return QP_OK;
}

/* An entity whose source says where it stands; the document may be gone. */
static qp_code take_provenance(void *ctx, qp_str entity, int64_t document, uint32_t chunk, qp_err *err)
{
    qp_weave_work *w = ctx;
    bool added;
    uint64_t *slot = qp_map_put(w->names, entity, &added);
    if (!slot)
        return qp_oom(err);
    if (added)
        *slot = qp_map_size(w->names) - 1;
    const struct mention m = {(uint32_t)*slot, chunk, document, {.passage = UINT32_MAX}}; /* behind those found */
    return document ? add_mention(w, m, err) : QP_OK;
}

/* The shared graphs' entities, to be looked for in the texts: those of which nobody says where they stand, or the others,
 * for the place alone. */
static qp_code take_entities(qp_weave_work *w, int64_t row, bool told, qp_err *err)
{
    qp_graph_reader *r = NULL;
    qp_graph_record is;
    bool more = true;
    qp_code code = qp_graph_open(w->store, row, QP_GRAPH_ENTITIES, &r, err);
    while (!code) {
        code = qp_graph_next(r, &is, &more, err);
        if (code || !more)
            break;
        const uint64_t *there = qp_map_get(w->names, is.name);
        if (is.scope.n || (told ? !there || *there >= w->told : there != NULL)) /* an earlier graph may have it, too */
            continue;
        code = qp_phrases_cut(w->phrases, is.name, &w->word, &w->n_words, err);
        if (code || !w->n_words || w->n_words > QP_WEAVE_NAME || (w->n_words == 1 && w->word[0].stop))
            continue;
        code = qp_weave_name(w, is.name, w->word, w->n_words, err);
    }
    qp_graph_close(r);
    return code;
}

qp_code qp_weave_given(qp_weave_work *w, qp_err *err)
{
    qp_graph_row *rows = NULL;
    size_t n = 0;
    qp_arena *mem = qp_arena_new();
    qp_code code = mem ? qp_store_graphs(w->store, &rows, &n, mem, err) : qp_oom(err);
    code = code ? code : qp_store_provenance(w->store, take_provenance, w, err);
    w->told = (uint32_t)qp_map_size(w->names);
    for (size_t i = 0; !code && i < n; i++)
        if (!qp_str_eq(rows[i].source, QP_WEAVE_SOURCE))
            code = take_entities(w, rows[i].row, false, err);
    /* Last, so that no words lead elsewhere for it; where texts are drawn from it would be among what is drawn. */
    for (size_t i = 0; !code && w->how->places && !w->how->extract && w->told && i < n; i++)
        if (!qp_str_eq(rows[i].source, QP_WEAVE_SOURCE))
            code = take_entities(w, rows[i].row, true, err);
    w->given = (uint32_t)qp_map_size(w->names);
    qp_arena_free(mem);
    return code;
}

/* ---- where they stand, and what relates them ---- */

struct found { /* an entity among the words of a chunk */
    uint32_t entity, at, n;
};

/* The runs of words from i that are names; false at the end. An n-gram goes over no comma, a given name may. */
static bool next_name(const qp_weave_work *w, size_t i, size_t *n, uint64_t *hash, bool *parted, struct found *out)
{
    while (*n < QP_WEAVE_NAME && i + *n < w->n_words) {
        const qp_word *last = &w->word[i + *n];
        *parted |= *n && last->parted;
        if (*n && last->sentence != w->word[i].sentence)
            return false;
        *hash = qp_phrase_hash(*hash, last);
        ++*n;
        const uint32_t *run = qp_table_get(&w->runs, *hash);
        if (!run)
            return false;
        uint32_t entity = *run >> 1;
        bool more = *run & 1;
        if (entity && (!*parted || entity - 1 < w->given)) {
            *out = (struct found){entity - 1, (uint32_t)i, (uint32_t)*n};
            if (!more)
                *n = QP_WEAVE_NAME;
            return true;
        }
        if (!more)
            return false;
    }
    return false;
}

struct place qp_weave_place(const qp_weave_work *w, size_t first, size_t last)
{
    size_t from = w->word[first].from, to = w->word[last].to;
    if (!w->how->places)
        return (struct place){0};
    if (w->title && from >= w->title) { /* the text, behind a title and two line ends */
        from = from - w->title - 2 + w->text_at;
        to = to - w->title - 2 + w->text_at;
    } else if (!w->title) {
        from += w->text_at;
        to += w->text_at;
    }
    return (struct place){(uint32_t)(w->passages.n / QP_WEAVE_DIGEST) - 1, (uint32_t)from, (uint32_t)to};
}

/* The words between two entities, as they stand in the text, white space as one space. */
static qp_str words_between(qp_weave_work *w, const struct found *a, const struct found *b)
{
    size_t first = a->at + a->n, n = b->at - first;
    if (!n)
        return QP_WEAVE_NEXT_TO;
    n = n < QP_WEAVE_WORDS ? n : QP_WEAVE_WORDS;
    qp_str text = qp_str_slice(qp_buf_view(&w->text), w->word[first].from, w->word[first + n - 1].to);
    qp_buf_clear(&w->scratch);
    for (size_t i = 0; i < text.n; i++) {
        bool space = isspace((unsigned char)text.at[i]);
        if (!space)
            qp_buf_char(&w->scratch, text.at[i]);
        else if (w->scratch.n && w->scratch.at[w->scratch.n - 1] != ' ')
            qp_buf_char(&w->scratch, ' ');
    }
    return qp_buf_view(&w->scratch);
}

qp_code qp_weave_fact(qp_weave_work *w, uint32_t head, qp_str relation, uint32_t tail, struct place at,
                      struct place words, qp_err *err)
{
    bool added;
    uint64_t *slot = qp_map_put(w->relations, relation, &added);
    struct fact *more = qp_array_room(w->fact, w->n_facts, &w->cap_facts, sizeof *more);
    if (!slot || !more || w->scratch.oom)
        return qp_oom(err);
    if (added)
        *slot = qp_map_size(w->relations) - 1;
    w->fact = more;
    more[w->n_facts++] = (struct fact){head, tail, (uint32_t)*slot, 1, at, words};
    return QP_OK;
}

static qp_code note_here(qp_weave_work *w, uint32_t entity, qp_err *err)
{
    for (size_t i = 0; i < w->n_here; i++)
        if (w->here[i] == entity)
            return QP_OK;
    uint32_t *more = qp_array_room(w->here, w->n_here, &w->cap_here, sizeof *more);
    if (!more)
        return qp_oom(err);
    w->here = more;
    more[w->n_here++] = entity;
    return QP_OK;
}

/* What stands between two entities that follow one another relates them. */
static qp_code relate(qp_weave_work *w, const struct found *a, const struct found *b, qp_err *err)
{
    size_t first = a->at + a->n, n = b->at - first;
    return qp_weave_fact(w, a->entity, words_between(w, a, b), b->entity, qp_weave_place(w, a->at, b->at + b->n - 1),
                         n ? qp_weave_place(w, first, first + (n < QP_WEAVE_WORDS ? n : QP_WEAVE_WORDS) - 1)
                           : (struct place){0},
                         err);
}

/* The passage at hand gets a number. */
static qp_code number_passage(qp_weave_work *w, const qp_passage *p, qp_err *err)
{
    bool added;
    uint64_t *slot = qp_map_put(w->documents, p->key, &added);
    if (!slot)
        return qp_oom(err);
    if (added)
        *slot = w->passages.n / QP_WEAVE_DIGEST;
    *slot += 1ull << 32;
    qp_buf_str(&w->passages, p->digest);
    return w->passages.oom ? qp_oom(err) : QP_OK;
}

static qp_code begin_passage(qp_weave_work *w, const qp_passage *p, qp_err *err)
{
    w->n_here = 0;
    w->title = (uint32_t)p->title.n;
    w->text_at = p->text_at;
    qp_code code = w->how->places ? number_passage(w, p, err) : QP_OK;
    return code ? code : qp_weave_cut(w, p, err);
}

static qp_code find_in_chunk(void *ctx, const qp_passage *p, qp_err *err)
{
    qp_weave_work *w = ctx;
    struct found before = {UINT32_MAX, 0, 0};
    size_t free_from = 0; /* words before it are an entity of a relation already */
    qp_code code = begin_passage(w, p, err);
    for (size_t i = 0; !code && i < w->n_words; i++) {
        struct found name, longest = {.n = 0};
        uint64_t hash = 0;
        bool parted = false;
        for (size_t n = 0; !code && next_name(w, i, &n, &hash, &parted, &name); longest = name)
            code = add_mention(w,
                               (struct mention){name.entity, p->chunk, p->document,
                                                qp_weave_place(w, name.at, name.at + name.n - 1)},
                               err);
        if (code || !w->how->extract || !longest.n || i < free_from)
            continue;
        if (w->how->writer)
            code = note_here(w, longest.entity, err);
        else if (before.entity != UINT32_MAX && before.entity != longest.entity &&
                 w->word[before.at].sentence == w->word[i].sentence)
            code = relate(w, &before, &longest, err);
        before = longest;
        free_from = i + longest.n;
    }
    code = code ? code : qp_weave_aliases(w, true, err);
    return !code && w->how->writer ? qp_weave_ask(w, err) : code;
}

qp_code qp_weave_find(qp_weave_work *w, qp_err *err)
{
    qp_code code = qp_store_passages(w->store, find_in_chunk, w, err);
    code = code ? code : qp_weave_round(w, err);
    return code ? code : qp_weave_answered(w, err);
}
