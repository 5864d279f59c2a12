#include "base/sorter.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/scratch.h"

enum {
    LENGTH = sizeof(uint32_t), /* stands before a record, in memory and in a run */
    WORD = 7,                  /* bytes of a record that are compared at once */
    FEW = 16,                  /* sorted by insertion */
    LEAST_BUDGET = 4 << 10,
    LEAST_BUFFER = 4 << 10,
    OUT = 64 << 10 /* bytes that are written at once */
};

/* What is sorted is not the records but these: a word of the record (its next seven bytes, then how many there were, 8
 * where it goes on) above its place in memory. Byte order is the order of such words one after the other. */
typedef unsigned __int128 entry;

struct run { /* a sorted stretch of the file, and what is read of it */
    uint64_t from, to, at;
    char *buffer;
    size_t cap, begin, end; /* unread: buffer[begin, end) */
    qp_str head;            /* at null: used up */
};

struct qp_sorter {
    char *folder;
    char *room; /* records from below, entries from above, the newest lowest */
    size_t size, used, n;
    size_t next; /* of the entries, when nothing was spilled */
    bool sorted;
    qp_scratch *file; /* null: nothing was spilled yet */
    struct run *runs;
    size_t n_runs, cap_runs;
    uint32_t *heap; /* of runs by their heads; the first is the smallest */
    size_t n_heap;
    bool started; /* the first run's head was given out */
};

qp_code qp_sorter_open(const char *folder, size_t budget, qp_sorter **out, qp_err *err)
{
    qp_sorter *s = calloc(1, sizeof *s);

    if (!s)
        return qp_oom(err);
    s->size = (budget > LEAST_BUDGET ? budget : LEAST_BUDGET) / sizeof(entry) * sizeof(entry);
    s->folder = strdup(folder);
    s->room = malloc(s->size); /* the system gives pages as they are used */
    if (!s->folder || !s->room) {
        qp_sorter_close(s);
        return qp_oom(err);
    }
    *out = s;
    return QP_OK;
}

void qp_sorter_close(qp_sorter *s)
{
    if (!s)
        return;
    qp_scratch_close(s->file);
    for (size_t i = 0; i < s->n_runs; i++)
        free(s->runs[i].buffer);
    free(s->runs);
    free(s->heap);
    free(s->room);
    free(s->folder);
    free(s);
}

uint64_t qp_sorter_spilled(const qp_sorter *s)
{
    return s->file ? qp_scratch_size(s->file) : 0;
}

/* ---- in memory ---- */

static entry *entries(const qp_sorter *s)
{
    return (entry *)(void *)(s->room + s->size) - s->n;
}

static qp_str record_at(const qp_sorter *s, uint64_t place)
{
    uint32_t n;

    memcpy(&n, s->room + place, LENGTH);
    return (qp_str){s->room + place + LENGTH, n};
}

static uint64_t word_of(qp_str record, size_t depth)
{
    size_t rest = record.n - depth;
    uint64_t bytes = 0;

    memcpy(&bytes, record.at + depth, rest < WORD ? rest : WORD);
    return __builtin_bswap64(bytes) | (rest > WORD ? WORD + 1 : rest);
}

/* Quicksort; no two entries are equal. The pivots' places only decide how long it takes. */
static void sort_entries(entry *e, size_t n)
{
    uint64_t draw = n;

    while (n > FEW) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        entry pivot = e[(draw >> 33) % n];
        size_t low = 0, high = n - 1;
        for (;; low++, high--) {
            while (e[low] < pivot)
                low++;
            while (pivot < e[high])
                high--;
            if (low >= high)
                break;
            entry moved = e[low];
            e[low] = e[high];
            e[high] = moved;
        }
        size_t left = high + 1; /* [0, left) is not above the pivot, the rest not below it */
        if (left == n)
            left--; /* the pivot itself is last: it stands where it belongs */
        if (left < n - left) {
            sort_entries(e, left);
            e += left;
            n -= left;
        } else {
            sort_entries(e + left, n - left);
            n = left;
        }
    }
    for (size_t i = 1; i < n; i++) {
        entry moved = e[i];
        size_t at = i;
        for (; at && moved < e[at - 1]; at--)
            e[at] = e[at - 1];
        e[at] = moved;
    }
}

/* The end of the group that begins at `from`: entries with the same word. */
static size_t group_end(const entry *e, size_t from, size_t n)
{
    size_t to = from + 1;

    while (to < n && (uint64_t)(e[to] >> 64) == (uint64_t)(e[from] >> 64))
        to++;
    return to;
}

/* Sorts records that are equal in their first `depth` bytes: by the next word, then each group of those that are equal
 * in it and go on. The largest group is the loop's, so that the stack stays as low as log n however long the records
 * are. */
static void sort_records(const qp_sorter *s, entry *e, size_t n, size_t depth)
{
    while (n > 1) {
        uint64_t lowest = UINT64_MAX, highest = 0;
        size_t largest = 0, largest_n = 0;

        for (size_t i = 0; i < n; i++) {
            uint64_t place = (uint64_t)e[i], word = word_of(record_at(s, place), depth);
            lowest = word < lowest ? word : lowest;
            highest = word > highest ? word : highest;
            e[i] = (entry)word << 64 | place;
        }
        if (lowest != highest || (lowest & 0xFF) <= WORD)
            sort_entries(e, n);
        for (size_t from = 0, to; from < n; from = to) {
            to = group_end(e, from, n);
            if (((uint64_t)(e[from] >> 64) & 0xFF) > WORD && to - from > largest_n) {
                largest = from;
                largest_n = to - from;
            }
        }
        for (size_t from = 0, to; from < n; from = to) {
            to = group_end(e, from, n);
            if (((uint64_t)(e[from] >> 64) & 0xFF) > WORD && from != largest && to - from > 1)
                sort_records(s, e + from, to - from, depth + WORD);
        }
        e += largest;
        n = largest_n;
        depth += WORD;
    }
}

/* ---- runs ---- */

static qp_code spill(qp_sorter *s, qp_err *err)
{
    qp_code code = s->file ? QP_OK : qp_scratch_open(s->folder, OUT, &s->file, err);
    struct run *runs = code ? NULL : qp_array_room(s->runs, s->n_runs, &s->cap_runs, sizeof *runs);
    entry *e = entries(s);

    if (!runs)
        return code ? code : qp_oom(err);
    s->runs = runs;
    uint64_t from = qp_scratch_size(s->file);
    sort_records(s, e, s->n, 0);
    for (size_t i = 0; i < s->n && !code; i++) {
        qp_str r = record_at(s, (uint64_t)e[i]);
        code = qp_scratch_add(s->file, r.at - LENGTH, LENGTH + r.n, err);
    }
    s->runs[s->n_runs++] = (struct run){.from = from, .to = qp_scratch_size(s->file)};
    s->used = s->n = 0;
    return code;
}

qp_code qp_sorter_add(qp_sorter *s, qp_str record, qp_err *err)
{
    size_t need = LENGTH + record.n + sizeof(entry);

    if (record.n >= (size_t)1 << 31)
        return qp_fail(err, QP_INPUT, "a record of %zu bytes cannot be sorted; at most 2 GiB", record.n);
    if (s->n && need > s->size - s->used - s->n * sizeof(entry)) {
        qp_code code = spill(s, err);
        if (code)
            return code;
    }
    if (need > s->size) { /* alone it is more than the budget */
        size_t size = (need + sizeof(entry)) / sizeof(entry) * sizeof(entry);
        char *room = realloc(s->room, size);
        if (!room)
            return qp_oom(err);
        s->room = room;
        s->size = size;
    }
    uint32_t n = (uint32_t)record.n;
    memcpy(s->room + s->used, &n, LENGTH);
    if (n)
        memcpy(s->room + s->used + LENGTH, record.at, n);
    s->n++;
    *entries(s) = s->used;
    s->used += LENGTH + n;
    return QP_OK;
}

/* ---- reading ---- */

/* At least n unread bytes of a run in its buffer. */
static qp_code want_bytes(const qp_sorter *s, struct run *r, size_t n, qp_err *err)
{
    if (r->end - r->begin >= n)
        return QP_OK;
    if (n > r->cap) {
        char *grown = realloc(r->buffer, n);
        if (!grown)
            return qp_oom(err);
        r->buffer = grown;
        r->cap = n;
    }
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    size_t most = r->to - r->at < r->cap - r->end ? (size_t)(r->to - r->at) : r->cap - r->end;
    qp_code code = qp_scratch_read(s->file, r->at, r->buffer + r->end, most, err);
    r->end += most;
    r->at += most;
    return code || r->end >= n ? code : qp_fail(err, QP_STORE, "%s: a sorted run ends too early", s->folder);
}

static qp_code next_of_run(const qp_sorter *s, struct run *r, qp_err *err)
{
    uint32_t n;

    r->head = (qp_str){0};
    if (r->begin == r->end && r->at == r->to)
        return QP_OK;
    qp_code code = want_bytes(s, r, LENGTH, err);
    if (code)
        return code;
    memcpy(&n, r->buffer + r->begin, LENGTH);
    code = want_bytes(s, r, LENGTH + (size_t)n, err);
    if (code)
        return code;
    r->head = (qp_str){r->buffer + r->begin + LENGTH, n};
    r->begin += LENGTH + n;
    return QP_OK;
}

static bool comes_first(const qp_sorter *s, uint32_t a, uint32_t b)
{
    return qp_str_cmp(s->runs[a].head, s->runs[b].head) < 0;
}

static void sift(qp_sorter *s, size_t at)
{
    uint32_t moved = s->heap[at];

    for (size_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
        if (child + 1 < s->n_heap && comes_first(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!comes_first(s, s->heap[child], moved))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moved;
}

static qp_code start_merge(qp_sorter *s, qp_err *err)
{
    size_t share = s->size / s->n_runs;

    free(s->room);
    s->room = NULL;
    if (!s->heap)
        s->heap = calloc(s->n_runs, sizeof *s->heap);
    if (!s->heap)
        return qp_oom(err);
    s->n_heap = 0;
    for (size_t i = 0; i < s->n_runs; i++) {
        struct run *r = &s->runs[i];
        if (!r->buffer) {
            r->cap = share > LEAST_BUFFER ? share : LEAST_BUFFER;
            r->buffer = malloc(r->cap);
        }
        if (!r->buffer)
            return qp_oom(err);
        r->at = r->from;
        r->begin = r->end = 0;
        qp_code code = next_of_run(s, r, err);
        if (code)
            return code;
        s->heap[s->n_heap++] = (uint32_t)i; /* a run holds a record at least */
    }
    for (size_t i = s->n_heap / 2; i-- > 0;)
        sift(s, i);
    return QP_OK;
}

qp_code qp_sorter_sort(qp_sorter *s, qp_err *err)
{
    qp_code code = QP_OK;

    s->next = 0;
    s->started = false;
    if (!s->sorted && !s->n_runs)
        sort_records(s, entries(s), s->n, 0);
    else if (!s->sorted && s->n)
        code = spill(s, err);
    s->sorted = true;
    return code || !s->n_runs ? code : start_merge(s, err);
}

qp_code qp_sorter_next(qp_sorter *s, qp_str *record, qp_err *err)
{
    *record = (qp_str){0};
    if (!s->n_runs) {
        if (s->next < s->n)
            *record = record_at(s, (uint64_t)entries(s)[s->next++]);
        return QP_OK;
    }
    if (s->started && s->n_heap) { /* past the record that was given out last */
        struct run *r = &s->runs[s->heap[0]];
        qp_code code = next_of_run(s, r, err);
        if (code)
            return code;
        if (!r->head.at)
            s->heap[0] = s->heap[--s->n_heap];
        if (s->n_heap)
            sift(s, 0);
    }
    s->started = true;
    if (s->n_heap)
        *record = s->runs[s->heap[0]].head;
    return QP_OK;
}
