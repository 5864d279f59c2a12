#include "ingest/cut.h"

#include <stdlib.h>

#include "base/array.h"
#include "text/sentence.h"
#include "text/utf8.h"

enum { BATCH = 1024, LONGEST_PIECE = 2048, DEEPEST_HEADING = 6 };

struct piece { /* a sentence, or a part of one that is too long */
    size_t from, to;
    uint32_t units;
};

struct pieces {
    struct piece *at;
    size_t n, cap;
};

struct cutter {
    const qp_extract *x;
    const qp_cutting *how;
    qp_str text;
    struct pieces pieces;
    qp_chunk *chunks;
    uint32_t n, cap;
    uint32_t *parent; /* of each chunk: UINT32_MAX = none */
    /* the sections open at the place reached: heading text, and the first chunk that begins in each */
    qp_str open[DEEPEST_HEADING];
    uint32_t first[DEEPEST_HEADING];
    const qp_mark **structure; /* headings and pages, rising */
    size_t n_structure, passed;
    uint32_t page;
    qp_arena *mem;
};

static bool push(struct pieces *p, size_t from, size_t to)
{
    struct piece *grown = qp_array_room(p->at, p->n, &p->cap, sizeof *grown);
    if (!grown)
        return false;
    p->at = grown;
    p->at[p->n++] = (struct piece){from, to, 0};
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Where to part [from, to) near `near`: behind white space in the half before it, else at a character. */
static size_t part(qp_str s, size_t from, size_t near)
{
    for (size_t at = near; at > from + (near - from) / 2; at--)
        if (is_space(s.at[at - 1]))
            return at;
    size_t at = qp_utf8_floor(s, near);
    if (at <= from)
        for (at = near; at < s.n && (s.at[at] & 0xC0) == 0x80;)
            at++;
    return at;
}

static uint32_t words_in(qp_str s)
{
    uint32_t n = 0;
    bool inside = false;

    for (size_t i = 0; i < s.n; i++) {
        bool word = !is_space(s.at[i]);
        n += word && !inside;
        inside = word;
    }
    return n;
}

static qp_code measure(const struct cutter *c, struct piece *p, size_t n, qp_err *err)
{
    qp_str texts[BATCH];
    uint32_t tokens[BATCH];

    for (size_t i = 0; i < n; i += BATCH) {
        size_t m = n - i < BATCH ? n - i : BATCH;
        for (size_t k = 0; k < m; k++)
            texts[k] = qp_str_slice(c->text, p[i + k].from, p[i + k].to);
        if (c->how->unit == QP_TOKENS && c->how->counter) {
            qp_code code = c->how->counter->count(c->how->counter->self, texts, (uint32_t)m, tokens, err);
            if (code)
                return code;
        }
        for (size_t k = 0; k < m; k++)
            p[i + k].units = c->how->unit == QP_CHARS ? (uint32_t)qp_utf8_count(texts[k]) + 1 /* the space after it */
                             : c->how->counter        ? tokens[k]
                                                      : words_in(texts[k]);
    }
    return QP_OK;
}

/* Sentences of [from, to), the very long ones parted. */
static bool gather(struct cutter *c, size_t from, size_t to)
{
    qp_str s = {c->text.at, to};
    qp_span span;

    for (size_t at = from; qp_sentence_next(s, &at, &span);) {
        while (span.to - span.from > LONGEST_PIECE) {
            size_t cut = part(s, span.from, span.from + LONGEST_PIECE);
            if (!push(&c->pieces, span.from, cut))
                return false;
            span.from = cut;
        }
        if (span.to > span.from && !push(&c->pieces, span.from, span.to))
            return false;
    }
    return true;
}

/* Parts what alone is larger than a chunk, until nothing is. */
static qp_code fit(struct cutter *c, qp_err *err)
{
    struct pieces old = c->pieces, now = {0};
    bool again = true;

    while (again) {
        again = false;
        for (size_t i = 0; i < old.n; i++) {
            struct piece p = old.at[i];
            size_t middle = p.units > c->how->size ? part(c->text, p.from, p.from + (p.to - p.from + 1) / 2) : p.to;
            size_t before = now.n;
            bool ok = push(&now, p.from, middle > p.from && middle < p.to ? middle : p.to);
            if (middle > p.from && middle < p.to) {
                ok = ok && push(&now, middle, p.to);
                qp_code code = ok ? measure(c, now.at + before, 2, err) : QP_OK;
                if (code) {
                    free(old.at);
                    c->pieces = now;
                    return code;
                }
                again = true;
            } else if (ok) {
                now.at[before].units = p.units;
            }
            if (!ok) {
                free(old.at);
                c->pieces = now;
                return qp_oom(err);
            }
        }
        struct pieces swap = old;
        old = now;
        now = (struct pieces){swap.at, 0, swap.cap};
    }
    free(now.at);
    c->pieces = old;
    return QP_OK;
}

static bool find_structure(struct cutter *c)
{
    for (size_t i = 0; i < c->x->n_marks; i++)
        c->n_structure += c->x->marks[i].kind == QP_MARK_HEADING || c->x->marks[i].kind == QP_MARK_PAGE;
    c->structure = qp_new(c->mem, const qp_mark *, c->n_structure);
    for (size_t i = 0, n = 0; c->structure && i < c->x->n_marks; i++)
        if (c->x->marks[i].kind == QP_MARK_HEADING || c->x->marks[i].kind == QP_MARK_PAGE)
            c->structure[n++] = &c->x->marks[i];
    return c->structure;
}

/* Passes the headings and pages up to `at`: what is open then. */
static void pass_structure(struct cutter *c, size_t at)
{
    for (; c->passed < c->n_structure && c->structure[c->passed]->from <= at; c->passed++) {
        const qp_mark *m = c->structure[c->passed];
        if (m->kind == QP_MARK_PAGE) {
            c->page = m->level;
            continue;
        }
        uint32_t level = m->level < 1 ? 1 : m->level > DEEPEST_HEADING ? DEEPEST_HEADING : m->level;
        c->open[level - 1] = qp_str_trim(qp_str_slice(c->text, m->from, m->to));
        /* a heading inside the chunk before: its section begins there */
        c->first[level - 1] = c->n && m->from < c->chunks[c->n - 1].to ? c->n - 1 : UINT32_MAX;
        for (uint32_t deeper = level; deeper < DEEPEST_HEADING; deeper++) {
            c->open[deeper] = (qp_str){0};
            c->first[deeper] = UINT32_MAX;
        }
    }
}

/* "Chapter > Section": a heading that only repeats the title says nothing new. */
static qp_str heading_path(struct cutter *c)
{
    qp_buf path = {0};

    for (int i = 0; i < DEEPEST_HEADING; i++) {
        if (!c->open[i].n || qp_str_eq(c->open[i], c->x->title))
            continue;
        if (path.n)
            qp_buf_text(&path, " > ");
        qp_buf_str(&path, qp_str_slice(c->open[i], 0, qp_utf8_floor(c->open[i], 200)));
    }
    qp_str kept = {0};
    if (path.n) { /* one line: the index keeps it as such */
        for (size_t i = 0; i < path.n; i++)
            if (path.at[i] == '\n')
                path.at[i] = ' ';
        kept = qp_arena_str(c->mem, qp_buf_view(&path));
    }
    qp_buf_free(&path);
    return kept;
}

static uint32_t parent_of(struct cutter *c)
{
    uint32_t parent = UINT32_MAX;
    bool innermost = true;

    for (int i = DEEPEST_HEADING - 1; i >= 0; i--) {
        if (!c->open[i].n)
            continue;
        if (c->first[i] != UINT32_MAX && parent == UINT32_MAX)
            parent = c->first[i];
        if (innermost || c->first[i] == UINT32_MAX)
            c->first[i] = c->first[i] == UINT32_MAX ? c->n : c->first[i];
        innermost = false;
    }
    return parent;
}

static bool add_chunk(struct cutter *c, size_t from, size_t to, qp_str heading, uint32_t page, uint32_t parent)
{
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? 2 * c->cap : 16;
        qp_chunk *chunks = realloc(c->chunks, cap * sizeof *chunks);
        if (chunks)
            c->chunks = chunks;
        uint32_t *parents = realloc(c->parent, cap * sizeof *parents);
        if (parents)
            c->parent = parents;
        if (!chunks || !parents)
            return false;
        c->cap = cap;
    }
    c->chunks[c->n] = (qp_chunk){.from = from, .to = to, .page = page, .heading = heading};
    c->parent[c->n++] = parent;
    return true;
}

/* The first piece of the next chunk, given that this one is [first, end): back over at most `overlap` units, and over
 * no more than leaves room for a new piece. */
static size_t step_back(const struct cutter *c, size_t first, size_t end)
{
    uint32_t units = 0, fresh = c->pieces.at[end].units;
    uint32_t most = fresh >= c->how->size                    ? 0
                    : c->how->size - fresh < c->how->overlap ? c->how->size - fresh
                                                             : c->how->overlap;
    size_t next = end;

    while (next > first + 1 && units + c->pieces.at[next - 1].units <= most)
        units += c->pieces.at[--next].units;
    return next;
}

/* Does a heading stand between the ends of piece i - 1 and the begin of piece i? *at rises with i. */
static bool heads(const struct cutter *c, size_t *at, size_t i)
{
    while (*at < c->n_structure && c->structure[*at]->from < c->pieces.at[i - 1].to)
        (*at)++;
    for (size_t k = *at; k < c->n_structure && c->structure[k]->from <= c->pieces.at[i].from; k++)
        if (c->structure[k]->kind == QP_MARK_HEADING)
            return true;
    return false;
}

static bool pack(struct cutter *c)
{
    for (size_t first = 0; first < c->pieces.n;) {
        const struct piece *p = c->pieces.at;
        uint64_t units = p[first].units;
        size_t end = first + 1;

        pass_structure(c, p[first].from);
        qp_str heading = heading_path(c);
        uint32_t page = c->page, parent = parent_of(c);
        size_t ahead = c->passed;
        for (; end < c->pieces.n && units + p[end].units <= c->how->size; end++) {
            if (heads(c, &ahead, end) && units >= c->how->size / 4)
                break;
            units += p[end].units;
        }
        if (!add_chunk(c, p[first].from, p[end - 1].to, heading, page, parent))
            return false;
        /* A section repeats nothing of the one before: it begins with its heading. */
        first = end == c->pieces.n || !c->how->overlap || heads(c, &ahead, end) ? end : step_back(c, first, end);
    }
    return true;
}

/* The first chunk that reaches beyond `at`; the last one if none does. */
static uint32_t chunk_at(const struct cutter *c, size_t at)
{
    uint32_t low = 0, high = c->n - 1;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->chunks[mid].to > at)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static bool same_reference(const qp_reference *a, const qp_reference *b)
{
    return a->chunk == b->chunk && qp_str_eq(a->type, b->type) && qp_str_eq(a->target, b->target) &&
           qp_str_eq(a->anchor, b->anchor);
}

static qp_code add_marks(const struct cutter *c, qp_document *d, qp_err *err)
{
    size_t n = c->x->n_marks;
    qp_reference *refs = qp_new(c->mem, qp_reference, n + c->n);
    qp_str *anchors = qp_new(c->mem, qp_str, n);
    uint32_t *anchor_chunk = qp_new(c->mem, uint32_t, n), last_chunk = c->n - 1;

    if (!refs || !anchors || !anchor_chunk)
        return qp_oom(err);
    for (size_t i = 0; i < n; i++) {
        const qp_mark *m = &c->x->marks[i];
        if (m->kind == QP_MARK_ANCHOR) {
            anchors[d->n_anchors] = m->target;
            anchor_chunk[d->n_anchors++] = chunk_at(c, m->from);
        } else if (m->kind == QP_MARK_REFERENCE) {
            uint32_t chunk = m->level                             ? QP_WHOLE
                             : qp_str_eq(m->type, QP_STR("next")) ? last_chunk
                                                                  : chunk_at(c, m->from);
            qp_reference r = {.chunk = chunk, .type = m->type, .target = m->target, .anchor = m->anchor, .weight = 1};
            bool there = false; /* the same twice in a row is common; resolving drops what is left of it */
            for (uint32_t k = d->n_references; k > 0 && d->n_references - k < 8 && !there; k--)
                there = same_reference(&refs[k - 1], &r);
            if (!there)
                refs[d->n_references++] = r;
        }
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->parent[i] != UINT32_MAX) {
            qp_str anchor = qp_arena_fmt(c->mem, "@%u", c->parent[i]);
            if (!anchor.at)
                return qp_oom(err);
            refs[d->n_references++] =
                (qp_reference){.chunk = i, .type = QP_STR("parent"), .anchor = anchor, .weight = 1};
        }
    d->references = refs;
    d->anchors = anchors;
    d->anchor_chunk = anchor_chunk;
    return QP_OK;
}

static qp_code cut(struct cutter *c, qp_document *d, qp_err *err)
{
    qp_code code = QP_OK;

    for (int i = 0; i < DEEPEST_HEADING; i++)
        c->first[i] = UINT32_MAX;
    if (!find_structure(c))
        return qp_oom(err);
    if (c->how->unit == QP_WHOLE_TEXT) {
        qp_str trimmed = qp_str_trim(c->text);
        pass_structure(c, 0);
        if (trimmed.n && !add_chunk(c, (size_t)(trimmed.at - c->text.at), (size_t)(trimmed.at - c->text.at) + trimmed.n,
                                    (qp_str){0}, c->page, UINT32_MAX))
            return qp_oom(err);
    } else {
        if (!gather(c, 0, c->text.n))
            return qp_oom(err);
        code = measure(c, c->pieces.at, c->pieces.n, err);
        code = code ? code : fit(c, err);
        if (!code && !pack(c))
            return qp_oom(err);
    }
    if (!code && !c->n) {
        if (!c->x->title.n)
            return qp_fail(err, QP_INPUT, "there is no text in it");
        if (!add_chunk(c, 0, 0, (qp_str){0}, 0, UINT32_MAX))
            return qp_oom(err);
    }
    return code ? code : add_marks(c, d, err);
}

qp_code qp_cut(const qp_extract *x, const qp_cutting *how, qp_document *d, qp_arena *mem, qp_err *err)
{
    struct cutter c = {.x = x, .how = how, .text = qp_buf_view(&x->text), .mem = mem};
    qp_code code = x->oom || x->text.oom || x->meta.oom ? qp_oom(err) : cut(&c, d, err);

    if (!code) {
        qp_chunk *chunks = qp_new(mem, qp_chunk, c.n);
        if (chunks) {
            memcpy(chunks, c.chunks, c.n * sizeof *chunks);
            d->chunks = chunks;
            d->n_chunks = c.n;
            d->text = c.text;
            d->title = x->title;
        } else {
            code = qp_oom(err);
        }
    }
    free(c.pieces.at);
    free(c.chunks);
    free(c.parent);
    return code;
}
