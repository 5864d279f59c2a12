/* While nodes are added, each term's postings grow as a list of variable-length numbers (about two bytes a posting), so
 * that the whole index fits in memory; writing turns them into blocks.
 */
#include "store/lexicon.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "text/terms.h"

struct growing { /* a term's postings: node - last node - 1 and tf - 1, as varints */
    uint8_t *at;
    uint32_t n, cap;
    uint32_t df, last; /* last: the node it was met in last, + 1 */
    uint32_t tf;       /* in that node, so far */
};

struct qp_lexicon {
    qp_terms *words;
    qp_map *ids;
    struct growing *terms;
    size_t terms_cap;
    uint32_t *touched; /* terms of the node at hand */
    size_t n_touched, touched_cap;
    uint32_t *lengths;
    size_t nodes, nodes_cap;
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
    if (!l || !(l->ids = qp_map_new())) {
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
    for (size_t i = 0; l->ids && i < qp_map_size(l->ids); i++)
        if (i < l->terms_cap)
            free(l->terms[i].at);
    qp_terms_close(l->words);
    qp_map_free(l->ids);
    free(l->terms);
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
    struct growing *terms = slot ? qp_array_room(l->terms, *slot, &l->terms_cap, sizeof *terms) : NULL;
    uint32_t *touched = terms ? qp_array_room(l->touched, l->n_touched, &l->touched_cap, sizeof *touched) : NULL;
    l->terms = terms ? terms : l->terms;
    if (terms && added)
        terms[*slot] = (struct growing){0};
    if (!touched) {
        l->oom = true;
        return;
    }
    l->touched = touched;
    struct growing *t = &l->terms[*slot];
    if (!t->tf)
        l->touched[l->n_touched++] = (uint32_t)*slot;
    t->tf++;
    l->length++;
}

void qp_lexicon_add(qp_lexicon *l, qp_str text)
{
    qp_terms_each(l->words, text, count_term, l);
}

static void add_varint(struct growing *t, uint32_t value)
{
    for (; value >= 128; value >>= 7)
        t->at[t->n++] = (uint8_t)(value | 128);
    t->at[t->n++] = (uint8_t)value;
}

static uint32_t read_varint(const uint8_t **at)
{
    uint32_t value = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static bool close_term(struct growing *t, uint32_t node)
{
    if (t->cap - t->n < 10) { /* two numbers of at most five bytes */
        uint32_t cap = t->cap + t->cap / 2 + 16;
        uint8_t *more = cap > t->cap ? realloc(t->at, cap) : NULL;
        if (!more)
            return false;
        t->at = more;
        t->cap = cap;
    }
    add_varint(t, node - t->last);
    add_varint(t, t->tf - 1);
    t->last = node + 1;
    t->df++;
    t->tf = 0;
    return true;
}

qp_code qp_lexicon_end(qp_lexicon *l, qp_err *err)
{
    if (l->nodes >= UINT32_MAX)
        return qp_fail(err, QP_STORE, "an index holds at most %u passages: index into several folders", UINT32_MAX);
    uint32_t *lengths = qp_array_room(l->lengths, l->nodes, &l->nodes_cap, sizeof *lengths);
    l->oom |= !lengths;
    l->lengths = lengths ? lengths : l->lengths;
    for (size_t i = 0; !l->oom && i < l->n_touched; i++)
        l->oom = !close_term(&l->terms[l->touched[i]], (uint32_t)l->nodes);
    if (l->oom)
        return qp_oom(err);
    l->lengths[l->nodes++] = l->length;
    l->length = 0;
    l->n_touched = 0;
    return QP_OK;
}

/* ---- writing ---- */

struct block { /* postings on their way into a block */
    uint32_t node[QP_BLOCK], tf[QP_BLOCK], n;
};

static uint8_t width(uint32_t largest)
{
    return largest < 1u << 8 ? 1 : largest < 1u << 16 ? 2 : 4;
}

static void add_numbers(qp_buf *out, const uint32_t *number, uint32_t n, uint8_t bytes)
{
    for (uint32_t i = 0; bytes && i < n; i++)
        qp_buf_add(out, &number[i], bytes); /* little endian: the low bytes come first */
}

/* Encodes a block whose first node follows `before` (UINT32_MAX: none). */
static qp_block_entry encode(const qp_lexicon *l, const struct block *b, uint32_t before, qp_buf *out)
{
    uint32_t gap[QP_BLOCK], more[QP_BLOCK], widest = 0, most = 0, shortest = UINT32_MAX;
    for (uint32_t i = 0; i < b->n; i++) {
        gap[i] = b->node[i] - before - 1;
        more[i] = b->tf[i] - 1;
        before = b->node[i];
        widest = gap[i] > widest ? gap[i] : widest;
        most = b->tf[i] > most ? b->tf[i] : most;
        shortest = l->lengths[b->node[i]] < shortest ? l->lengths[b->node[i]] : shortest;
    }
    qp_block_entry e = {0, before, most, shortest, (uint8_t)(b->n - 1), width(widest), most > 1 ? width(most - 1) : 0,
                        0};
    qp_buf_clear(out);
    add_numbers(out, gap, b->n, e.node_bytes);
    add_numbers(out, more, b->n, e.tf_bytes);
    return e;
}

static int by_name(const void *a, const void *b, void *ids)
{
    return qp_str_cmp(qp_map_key(ids, *(const uint32_t *)a), qp_map_key(ids, *(const uint32_t *)b));
}

/* One term's blocks, and its share of each node's tf-idf length. */
static void write_term(const qp_lexicon *l, const struct growing *t, double idf, double *squares, qp_writer *w,
                       qp_buf *blocks, qp_buf *bytes)
{
    const uint8_t *from = t->at;
    struct block b = {.n = 0};
    uint32_t node = 0, before = UINT32_MAX;
    for (uint32_t i = 0; i < t->df; i++) {
        node += read_varint(&from);
        b.node[b.n] = node;
        b.tf[b.n] = read_varint(&from) + 1;
        double weight = qp_tfidf_weight(b.tf[b.n++], idf);
        squares[node++] += weight * weight;
        if (b.n == QP_BLOCK || i + 1 == t->df) {
            qp_block_entry e = encode(l, &b, before, bytes);
            e.at = qp_writer_add(w, bytes->at, bytes->n) - bytes->n;
            qp_buf_add(blocks, &e, sizeof e);
            before = e.last;
            b.n = 0;
        }
    }
}

static void write_nodes(const qp_lexicon *l, qp_writer *w, const double *squares, qp_info *info)
{
    qp_writer_put(w, QP_S_LENGTHS, l->lengths, l->nodes * sizeof *l->lengths);
    qp_writer_begin(w, QP_S_NORMS);
    for (size_t v = 0; v < l->nodes; v++) {
        float norm = (float)sqrt(squares[v]);
        qp_writer_add(w, &norm, sizeof norm);
        info->words += l->lengths[v];
    }
}

qp_code qp_lexicon_write(qp_lexicon *l, qp_writer *w, qp_buf *strings, qp_info *info, qp_err *err)
{
    size_t n = qp_map_size(l->ids);
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    double *squares = calloc(l->nodes ? l->nodes : 1, sizeof *squares);
    qp_buf terms = {0}, blocks = {0}, bytes = {0};
    for (size_t i = 0; order && i < n; i++)
        order[i] = (uint32_t)i;
    if (order && squares) {
        qsort_r(order, n, sizeof *order, by_name, l->ids);
        qp_writer_begin(w, QP_S_POSTINGS);
        for (size_t i = 0; i < n; i++) {
            const struct growing *t = &l->terms[order[i]];
            qp_str name = qp_map_key(l->ids, order[i]);
            qp_term_entry e = {{strings->n, name.n}, blocks.n / sizeof(qp_block_entry), t->df, 0};
            qp_buf_str(strings, name);
            qp_buf_add(&terms, &e, sizeof e);
            write_term(l, t, qp_tfidf_idf(l->nodes, t->df), squares, w, &blocks, &bytes);
        }
        qp_writer_put(w, QP_S_TERMS, terms.at, terms.n);
        qp_writer_put(w, QP_S_BLOCKS, blocks.at, blocks.n);
        write_nodes(l, w, squares, info);
    }
    info->terms = n;
    info->blocks = blocks.n / sizeof(qp_block_entry);
    bool oom = !order || !squares || terms.oom || blocks.oom || bytes.oom || strings->oom;
    free(order);
    free(squares);
    qp_buf_free(&terms);
    qp_buf_free(&blocks);
    qp_buf_free(&bytes);
    return oom ? qp_oom(err) : QP_OK;
}
