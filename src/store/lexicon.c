#include "store/lexicon.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "store/inverted.h"
#include "text/terms.h"

struct qp_lexicon {
    qp_terms *words;
    qp_map *ids;
    qp_inverted *postings;
    uint32_t *tf; /* of each term in the node at hand */
    size_t tf_cap;
    uint32_t *touched; /* terms of the node at hand */
    size_t n_touched, touched_cap;
    uint32_t *lengths; /* up to the last node with a term: entities may all be without */
    size_t nodes, n_lengths, lengths_cap;
    uint32_t length; /* of the node at hand */
    bool oom;
};

double qp_tfidf_idf(uint64_t nodes, uint64_t df)
{
    return 1 + log((1.0 + (double)nodes) / (1.0 + (double)df));
}

double qp_tfidf_weight(uint32_t tf, double idf)
{
    return (1 + log(tf)) * idf;
}

qp_code qp_lexicon_new(const char *language, qp_lexicon **out, qp_err *err)
{
    qp_lexicon *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l || !(l->ids = qp_map_new()) || !(l->postings = qp_inverted_new())) {
        qp_lexicon_free(l);
        return qp_oom(err);
    }
    qp_code code = qp_terms_open(language, &l->words, err);
    if (code)
        qp_lexicon_free(l);
    else
        *out = l;
    return code;
}

void qp_lexicon_free(qp_lexicon *l)
{
    if (!l)
        return;
    qp_terms_close(l->words);
    qp_map_free(l->ids);
    qp_inverted_free(l->postings);
    free(l->tf);
    free(l->touched);
    free(l->lengths);
    free(l);
}

static void count_term(void *ctx, qp_str term, size_t from, size_t to)
{
    (void)from;
    (void)to;
    qp_lexicon *l = ctx;
    bool added;
    uint64_t *slot = l->oom ? NULL : qp_map_put(l->ids, term, &added);
    if (slot && added)
        *slot = qp_map_size(l->ids) - 1;
    uint32_t *tf = slot ? qp_array_room(l->tf, *slot, &l->tf_cap, sizeof *tf) : NULL;
    uint32_t *touched = tf ? qp_array_room(l->touched, l->n_touched, &l->touched_cap, sizeof *touched) : NULL;
    l->tf = tf ? tf : l->tf;
    if (tf && added)
        tf[*slot] = 0;
    if (!touched) {
        l->oom = true;
        return;
    }
    l->touched = touched;
    if (!tf[*slot]++)
        touched[l->n_touched++] = (uint32_t)*slot;
    l->length++;
}

void qp_lexicon_add(qp_lexicon *l, qp_str text)
{
    qp_terms_each(l->words, text, count_term, l);
}

qp_code qp_lexicon_end(qp_lexicon *l, qp_err *err)
{
    while (l->length && l->n_lengths <= l->nodes) {
        uint32_t *lengths = qp_array_room(l->lengths, l->n_lengths, &l->lengths_cap, sizeof *lengths);
        if (!lengths)
            return qp_oom(err);
        l->lengths = lengths;
        lengths[l->n_lengths++] = 0;
    }
    for (size_t i = 0; !l->oom && i < l->n_touched; i++) {
        uint32_t term = l->touched[i];
        l->oom = !qp_inverted_add(l->postings, term, (uint32_t)l->nodes, l->tf[term]);
        l->tf[term] = 0;
    }
    if (l->oom)
        return qp_oom(err);
    if (l->length)
        l->lengths[l->nodes] = l->length;
    l->nodes++;
    l->length = 0;
    l->n_touched = 0;
    return QP_OK;
}

/* ---- writing ---- */

static int by_name(const void *a, const void *b, void *ids)
{
    return qp_str_cmp(qp_map_key(ids, *(const uint32_t *)a), qp_map_key(ids, *(const uint32_t *)b));
}

struct squares { /* of each node's tf-idf length; passages and entities have statistics of their own */
    double *at, idf[2];
    uint32_t entity; /* the first */
};

struct passages { /* of a term's nodes */
    uint32_t n, entity;
};

static void count_passage(void *ctx, uint32_t node, uint32_t tf)
{
    struct passages *p = ctx;
    (void)tf;
    p->n += node < p->entity;
}

static void add_square(void *ctx, uint32_t node, uint32_t tf)
{
    struct squares *s = ctx;
    double weight = qp_tfidf_weight(tf, s->idf[node >= s->entity]);
    s->at[node] += weight * weight;
}

static void add_zeros(qp_writer *w, size_t n)
{
    static const uint32_t none[1024]; /* 0 as a length and as a norm */
    for (; n; n -= n < 1024 ? n : 1024)
        qp_writer_add(w, none, (n < 1024 ? n : 1024) * sizeof *none);
}

const qp_lexical_sections qp_lexical_texts = {QP_S_TERMS, QP_S_BLOCKS, QP_S_POSTINGS, QP_S_LENGTHS, QP_S_NORMS};
const qp_lexical_sections qp_lexical_expanded = {QP_S_EXPANDED_TERMS, QP_S_EXPANDED_BLOCKS, QP_S_EXPANDED_POSTINGS,
                                                 QP_S_EXPANDED_LENGTHS, QP_SECTIONS};

static void write_lengths(const qp_lexicon *l, qp_writer *w, qp_section lengths, uint64_t entity, qp_lexical_info *info)
{
    qp_writer_put(w, lengths, l->lengths, l->n_lengths * sizeof *l->lengths);
    add_zeros(w, l->nodes - l->n_lengths);
    for (size_t v = 0; v < l->n_lengths; v++) {
        info->words += l->lengths[v];
        info->passage_words += v < entity ? l->lengths[v] : 0;
    }
}

static void write_norms(const qp_lexicon *l, qp_writer *w, qp_section norms, const double *squares)
{
    qp_writer_begin(w, norms);
    for (size_t v = 0; v < l->n_lengths; v++) {
        float norm = (float)sqrt(squares[v]);
        qp_writer_add(w, &norm, sizeof norm);
    }
    add_zeros(w, l->nodes - l->n_lengths);
}

qp_code qp_lexicon_write(qp_lexicon *l, const qp_lexical_sections *to, uint64_t entity, qp_writer *w,
                         qp_lexical_info *info, qp_err *err)
{
    size_t n = qp_map_size(l->ids);
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    double *squares = calloc(l->n_lengths + 1, sizeof *squares);
    qp_buf terms = {0}, blocks = {0};
    for (size_t i = 0; order && i < n; i++)
        order[i] = (uint32_t)i;
    if (order && squares) {
        qsort_r(order, n, sizeof *order, by_name, l->ids);
        qp_writer_begin(w, to->postings);
        for (size_t i = 0; i < n; i++) {
            qp_str name = qp_map_key(l->ids, order[i]);
            uint32_t df = qp_inverted_df(l->postings, order[i]);
            struct passages with = {.entity = (uint32_t)entity};
            qp_inverted_each(l->postings, order[i], count_passage, &with);
            struct squares sum = {squares,
                                  {qp_tfidf_idf(entity, with.n), qp_tfidf_idf(l->nodes - entity, df - with.n)},
                                  with.entity};
            qp_term_entry e = {{qp_writer_aside(w, QP_S_STRINGS, name.at, name.n), name.n},
                               blocks.n / sizeof(qp_block_entry),
                               df,
                               with.n};
            qp_buf_add(&terms, &e, sizeof e);
            qp_inverted_write(l->postings, order[i], l->lengths, w, &blocks);
            if (to->norms != QP_SECTIONS)
                qp_inverted_each(l->postings, order[i], add_square, &sum);
        }
        qp_writer_put(w, to->terms, terms.at, terms.n);
        qp_writer_put(w, to->blocks, blocks.at, blocks.n);
        write_lengths(l, w, to->lengths, entity, info);
        if (to->norms != QP_SECTIONS)
            write_norms(l, w, to->norms, squares);
    }
    info->terms = n;
    info->blocks = blocks.n / sizeof(qp_block_entry);
    bool oom = !order || !squares || terms.oom || blocks.oom;
    free(order);
    free(squares);
    qp_buf_free(&terms);
    qp_buf_free(&blocks);
    return oom ? qp_oom(err) : QP_OK;
}
