#include <stdlib.h>

#include "base/clock.h"
#include "ingest/graph_parts.h"
#include "store/limit.h"

enum {
    LOOK = 1 << 14, /* records between two looks */
    BLOCK = 1024,   /* triples read at once */
    TRIPLE = 16,    /* bytes of a triple's record: head, tail, relation, weight, the highest byte of each first, as the
                       order of weights from 0 up is that of their bits; then its text, a NUL and its document */
    SAME = 12       /* of them what makes two triples one */
};

qp_code qp_build_look(qp_build *b, qp_err *err)
{
    return ++b->looked % LOOK ? QP_OK : qp_tell_step(&b->tell, false, err);
}

/* Entities out, and for each number that one had in a dictionary a record: dictionary, number, place. */
static qp_code put_entities(qp_build *b, qp_sorter *named, qp_sorter *places, const qp_build_out *out,
                            qp_build_counts *counts, qp_err *err)
{
    qp_str r;
    qp_code code = qp_sorter_sort(named, err);

    while (!code) {
        code = qp_sorter_next(named, &r, err);
        if (code || !r.at)
            break;
        qp_named_record e = qp_named_parse(r);
        code = qp_limit_look(counts->entities, "entities", err);
        code = code ? code : out->entity(out->ctx, e.scope, e.name, e.text, err);
        for (size_t i = 0; i < e.mentions.n && !code; i += 8) {
            char place[12];
            memcpy(place, e.mentions.at + i, 8);
            qp_key_put32(place + 8, (uint32_t)counts->entities);
            code = qp_sorter_add(places, (qp_str){place, sizeof place}, err);
        }
        counts->entities++;
        code = code ? code : qp_build_look(b, err);
    }
    return code;
}

/* The places of a dictionary's numbers. */
static qp_code load_places(const qp_build *b, size_t dictionary, qp_sorter *places, uint32_t *table, qp_err *err)
{
    const struct dictionary *d = &b->dictionaries[dictionary];
    qp_str r;

    for (uint32_t i = 0; i < d->mentioned; i++) {
        qp_code code = qp_sorter_next(places, &r, err);
        if (code)
            return code;
        if (r.n != 12 || qp_key_get32(r.at) != dictionary || qp_key_get32(r.at + 4) >= d->names)
            return qp_fail(err, QP_BUG, "a name of dictionary %zu has no place", dictionary);
        table[qp_key_get32(r.at + 4)] = qp_key_get32(r.at + 8);
    }
    return QP_OK;
}

static void key_of(char key[TRIPLE], const struct logged *t, const uint32_t *table, const uint32_t *relation)
{
    uint32_t weight;

    memcpy(&weight, &t->weight, sizeof weight);
    qp_key_put32(key, table[t->head]);
    qp_key_put32(key + 4, table[t->tail]);
    qp_key_put32(key + 8, relation[t->relation]);
    qp_key_put32(key + 12, weight);
}

struct texts { /* those that waited, read along with their triples */
    const qp_scratch *from;
    uint64_t at;
    struct said next;
};

/* The next one's triple; UINT64_MAX: there is none. */
static qp_code look_ahead(struct texts *t, qp_err *err)
{
    t->next.triple = UINT64_MAX;
    if (!t->from || t->at >= qp_scratch_size(t->from))
        return QP_OK;
    qp_code code = qp_scratch_read(t->from, t->at, &t->next, sizeof t->next, err);
    t->at += sizeof t->next;
    return code;
}

/* Appends what is said of this triple, if anything is. */
static qp_code take_text(struct texts *t, uint64_t triple, qp_buf *out, qp_err *err)
{
    if (t->next.triple != triple)
        return QP_OK;
    char *text = qp_buf_room(out, (size_t)t->next.n);
    qp_code code = text ? qp_scratch_read(t->from, t->at, text, (size_t)t->next.n, err) : qp_oom(err);
    out->n += code ? 0 : (size_t)t->next.n;
    t->at += t->next.n;
    return code ? code : look_ahead(t, err);
}

/* Triples as they waited to places, a dictionary at a time. */
static qp_code place_triples(qp_build *b, qp_sorter *places, const uint32_t *relation, qp_sorter *sorted, qp_err *err)
{
    struct logged block[BLOCK];
    struct texts texts = {.from = b->said};
    uint64_t at = 0;
    qp_code code = qp_sorter_sort(places, err);

    code = code ? code : look_ahead(&texts, err);
    for (size_t i = 0; i < b->n_dictionaries && !code; i++) {
        const struct dictionary *d = &b->dictionaries[i];
        uint32_t *table = calloc((size_t)d->names + 1, sizeof *table);
        code = table ? load_places(b, i, places, table, err) : qp_oom(err);
        for (uint64_t left = d->triples; left && !code;) {
            size_t n = left < BLOCK ? (size_t)left : BLOCK;
            code = qp_scratch_read(b->log, at, block, n * sizeof *block, err);
            for (size_t j = 0; j < n && !code; j++) {
                char key[TRIPLE];
                key_of(key, &block[j], table, relation);
                qp_buf_clear(&b->record);
                qp_buf_add(&b->record, key, TRIPLE);
                code = take_text(&texts, at / sizeof *block + j, &b->record, err);
                if (!code)
                    code = b->record.oom ? qp_oom(err) : qp_sorter_add(sorted, qp_buf_view(&b->record), err);
                code = code ? code : qp_build_look(b, err);
            }
            at += n * sizeof *block;
            left -= n;
        }
        free(table);
    }
    return code;
}

struct joined { /* what is said of equal triples */
    qp_buf text, documents;
    size_t last; /* where the last of these begins */
};

static qp_code put_triple(const char key[TRIPLE], struct joined *said, const qp_build_out *out, qp_build_counts *counts,
                          qp_err *err)
{
    uint32_t bits = qp_key_get32(key + 12);
    float weight;

    memcpy(&weight, &bits, sizeof weight);
    counts->triples++;
    counts->self_loops += !memcmp(key, key + 4, 4);
    if (said->documents.n) {
        qp_buf_char(&said->text, 0);
        qp_buf_str(&said->text, qp_buf_view(&said->documents));
    }
    if (said->text.oom)
        return qp_oom(err);
    return out->triple(out->ctx, qp_key_get32(key), qp_key_get32(key + 8), qp_key_get32(key + 4), weight,
                       qp_buf_view(&said->text), err);
}

/* Texts of equal triples, each once. */
static qp_code join_text(qp_buf *all, qp_str text, qp_build_counts *counts, qp_err *err)
{
    if (!text.n || qp_str_has_lines(qp_buf_view(all), text))
        return QP_OK;
    bool cut = all->n + 1 + text.n > QP_BUILD_TEXT;
    counts->texts_cut += cut;
    if (all->n && !cut)
        qp_buf_char(all, '\n');
    if (!cut)
        qp_buf_str(all, text);
    return all->oom ? qp_oom(err) : QP_OK;
}

/* Documents of equal triples; those of one text come in order, each is kept once. */
static qp_code join_document(struct joined *said, qp_str document, qp_err *err)
{
    qp_buf *all = &said->documents;
    if (!document.n || all->n + 1 + document.n > QP_BUILD_TEXT ||
        qp_str_eq(qp_str_slice(qp_buf_view(all), said->last, all->n), document))
        return QP_OK;
    if (all->n)
        qp_buf_char(all, '\n');
    said->last = all->n;
    qp_buf_str(all, document);
    return all->oom ? qp_oom(err) : QP_OK;
}

static qp_code join_said(struct joined *all, qp_str said, qp_build_counts *counts, qp_err *err)
{
    qp_str document, text = qp_str_split(said, 0, &document);
    qp_code code = join_text(&all->text, text, counts, err);
    return code ? code : join_document(all, document, err);
}

/* Of equal ones the last, which is the heaviest. */
static qp_code put_triples(qp_build *b, qp_sorter *sorted, const qp_build_out *out, qp_build_counts *counts,
                           qp_err *err)
{
    char before[TRIPLE] = {0};
    bool any = false;
    qp_str r;
    struct joined said = {0};
    qp_code code = qp_sorter_sort(sorted, err);

    while (!code) {
        code = qp_sorter_next(sorted, &r, err);
        if (code || !r.at)
            break;
        b->tell.done++;
        if (any && memcmp(before, r.at, SAME)) {
            code = put_triple(before, &said, out, counts, err);
            qp_buf_clear(&said.text);
            qp_buf_clear(&said.documents);
            said.last = 0;
        } else {
            counts->duplicates += any;
        }
        any = true;
        code = code ? code : join_said(&said, qp_str_slice(r, TRIPLE, r.n), counts, err);
        memcpy(before, r.at, TRIPLE);
        code = code ? code : qp_build_look(b, err);
    }
    code = code || !any ? code : put_triple(before, &said, out, counts, err);
    qp_buf_free(&said.text);
    qp_buf_free(&said.documents);
    return code;
}

static qp_code put_provenance(qp_build *b, const qp_build_out *out, qp_err *err)
{
    uint32_t n[2];
    qp_code code = QP_OK;

    for (uint64_t at = 0; !code && b->provenance && out->provenance && at < qp_scratch_size(b->provenance);) {
        code = qp_scratch_read(b->provenance, at, n, sizeof n, err);
        qp_buf_clear(&b->record);
        char *both = code ? NULL : qp_buf_room(&b->record, (size_t)n[0] + n[1]);
        if (!code && !both)
            code = qp_oom(err);
        code = code ? code : qp_scratch_read(b->provenance, at + sizeof n, both, (size_t)n[0] + n[1], err);
        if (!code) {
            code = out->provenance(out->ctx, (qp_str){both, n[0]}, (qp_str){both + n[0], n[1]}, err);
            at += sizeof n + n[0] + n[1];
        }
        code = code ? code : qp_build_look(b, err);
    }
    return code;
}

qp_code qp_build_finish(qp_build *b, const qp_build_out *out, qp_build_counts *counts, qp_err *err)
{
    qp_sorter *named = NULL, *places = NULL, *sorted = NULL;
    uint32_t *relation = calloc(b->n_relations + 1, sizeof *relation);
    qp_code code = relation ? QP_OK : qp_oom(err);

    *counts = (qp_build_counts){.texts_cut = b->texts_cut};
    b->tell.began = qp_now_ms();
    b->tell.total = b->triples;
    code = code ? code : qp_build_turn(b, err);
    code = code ? code : qp_build_name(b, &named, counts, err);
    code = code ? code : qp_build_relations(b, relation, out, counts, err);
    code = code ? code : qp_sorter_open(b->folder, b->budget / 4, &places, err);
    code = code ? code : put_entities(b, named, places, out, counts, err);
    if (named)
        counts->spilled += qp_sorter_spilled(named);
    qp_sorter_close(named);
    code = code ? code : qp_sorter_open(b->folder, b->budget / 2, &sorted, err);
    code = code ? code : place_triples(b, places, relation, sorted, err);
    if (places)
        counts->spilled += qp_sorter_spilled(places) + qp_scratch_on_disk(b->log);
    qp_sorter_close(places);
    qp_scratch_close(b->log); /* its disk is wanted */
    b->log = NULL;
    code = code ? code : put_triples(b, sorted, out, counts, err);
    code = code ? code : put_provenance(b, out, err);
    if (sorted)
        counts->spilled += qp_sorter_spilled(sorted);
    qp_sorter_close(sorted);
    free(relation);
    return code ? code : qp_tell_step(&b->tell, true, err);
}
