#include "store/inverted.h"

#include <stdlib.h>

#include "base/array.h"

struct growing { /* a term's postings: node - last node - 1 and count - 1, as varints */
    uint8_t *at;
    uint32_t n, cap;
    uint32_t df, last; /* last: the node it was met in last, + 1 */
};

struct qp_inverted {
    struct growing *term;
    size_t n, cap;
};

qp_inverted *qp_inverted_new(void)
{
    return calloc(1, sizeof(qp_inverted));
}

void qp_inverted_free(qp_inverted *v)
{
    for (size_t i = 0; v && i < v->n; i++)
        free(v->term[i].at);
    if (v)
        free(v->term);
    free(v);
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

static bool has_room(struct growing *t)
{
    if (t->cap - t->n >= 10) /* two numbers of at most five bytes */
        return true;
    uint32_t cap = t->cap + t->cap / 2 + 16;
    uint8_t *more = cap > t->cap ? realloc(t->at, cap) : NULL;
    if (!more)
        return false;
    t->at = more;
    t->cap = cap;
    return true;
}

bool qp_inverted_add(qp_inverted *v, uint32_t term, uint32_t node, uint32_t count)
{
    while (v->n <= term) {
        struct growing *more = qp_array_room(v->term, v->n, &v->cap, sizeof *more);
        if (!more)
            return false;
        v->term = more;
        v->term[v->n++] = (struct growing){0};
    }
    struct growing *t = &v->term[term];
    if (!has_room(t))
        return false;
    add_varint(t, node - t->last);
    add_varint(t, count - 1);
    t->last = node + 1;
    t->df++;
    return true;
}

uint32_t qp_inverted_df(const qp_inverted *v, uint32_t term)
{
    return term < v->n ? v->term[term].df : 0;
}

void qp_inverted_each(const qp_inverted *v, uint32_t term, qp_posting_fn posting, void *ctx)
{
    const uint8_t *from = term < v->n ? v->term[term].at : NULL;
    for (uint32_t i = 0, node = 0, n = qp_inverted_df(v, term); i < n; i++, node++) {
        node += read_varint(&from);
        posting(ctx, node, read_varint(&from) + 1);
    }
}

/* ---- blocks ---- */

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
static qp_block_entry encode(const uint32_t *lengths, const struct block *b, uint32_t before, qp_buf *out)
{
    uint32_t gap[QP_BLOCK], more[QP_BLOCK], widest = 0, most = 0, shortest = lengths ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < b->n; i++) {
        gap[i] = b->node[i] - before - 1;
        more[i] = b->tf[i] - 1;
        before = b->node[i];
        widest = gap[i] > widest ? gap[i] : widest;
        most = b->tf[i] > most ? b->tf[i] : most;
        if (lengths)
            shortest = lengths[b->node[i]] < shortest ? lengths[b->node[i]] : shortest;
    }
    qp_block_entry e = {0, before, most, shortest, (uint8_t)(b->n - 1), width(widest), most > 1 ? width(most - 1) : 0,
                        0};
    qp_buf_clear(out);
    add_numbers(out, gap, b->n, e.node_bytes);
    add_numbers(out, more, b->n, e.tf_bytes);
    return e;
}

struct writing {
    const uint32_t *lengths;
    qp_writer *file;
    qp_buf *blocks, bytes;
    struct block block;
    uint32_t before;
};

static void close_block(struct writing *w)
{
    if (!w->block.n)
        return;
    qp_block_entry e = encode(w->lengths, &w->block, w->before, &w->bytes);
    e.at = qp_writer_add(w->file, w->bytes.at, w->bytes.n) - w->bytes.n;
    w->blocks->oom |= w->bytes.oom;
    qp_buf_add(w->blocks, &e, sizeof e);
    w->before = e.last;
    w->block.n = 0;
}

static void add_to_block(void *ctx, uint32_t node, uint32_t count)
{
    struct writing *w = ctx;
    w->block.node[w->block.n] = node;
    w->block.tf[w->block.n++] = count;
    if (w->block.n == QP_BLOCK)
        close_block(w);
}

void qp_inverted_write(const qp_inverted *v, uint32_t term, const uint32_t *lengths, qp_writer *file, qp_buf *blocks)
{
    struct writing w = {.lengths = lengths, .file = file, .blocks = blocks, .before = UINT32_MAX};
    qp_inverted_each(v, term, add_to_block, &w);
    close_block(&w);
    qp_buf_free(&w.bytes);
}
