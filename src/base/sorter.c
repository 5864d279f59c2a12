#include "base/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

enum {
    LENGTH = sizeof(uint32_t), /* stands before a record, in memory and in a run */
    WORD = 7,                  /* bytes of a record that are compared at once */
    FEW = 16,                  /* sorted by insertion */
    LEAST_BUDGET = 4 << 10,
    LEAST_BUFFER = 4 << 10,
    OUT = 64 << 10
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
    int fd;
    uint64_t written;
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
    s->fd = -1;
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
    if (s->fd >= 0)
        close(s->fd);
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
    return s->written;
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

/* Sorts records that are equal in their first `depth` bytes: by the next word, then each group of those that are equal in
 * it and go on. The largest group is the loop's, so that the stack stays as low as log n however long the records are. */
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

static qp_code write_failed(const qp_sorter *s, const char *what, int why, qp_err *err)
{
    return qp_fail(err, QP_STORE, "%s: %s a temporary file for sorting, after %llu MB: %s; make room there", s->folder,
                   what, (unsigned long long)(s->written >> 20), strerror(why));
}

static qp_code open_file(qp_sorter *s, qp_err *err)
{
    char path[4096];

    s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd >= 0)
        return QP_OK;
    if (snprintf(path, sizeof path, "%s/quipu-sort-XXXXXX", s->folder) >= (int)sizeof path)
        return write_failed(s, "cannot make", ENAMETOOLONG, err);
    s->fd = mkostemp(path, O_CLOEXEC); /* a file system without files that have no name */
    if (s->fd < 0)
        return write_failed(s, "cannot make", errno, err);
    unlink(path);
    return QP_OK;
}

static qp_code write_bytes(qp_sorter *s, const char *at, size_t n, qp_err *err)
{
    while (n) {
        ssize_t wrote = pwrite(s->fd, at, n, (off_t)s->written);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return write_failed(s, "cannot write", wrote ? errno : ENOSPC, err);
        at += wrote;
        n -= (size_t)wrote;
        s->written += (uint64_t)wrote;
    }
    return QP_OK;
}

static qp_code spill(qp_sorter *s, qp_err *err)
{
    qp_code code = s->fd < 0 ? open_file(s, err) : QP_OK;
    struct run *runs = code ? NULL : qp_array_room(s->runs, s->n_runs, &s->cap_runs, sizeof *runs);
    char *out = runs ? malloc(OUT) : NULL;
    size_t n = 0;
    entry *e = entries(s);

    if (runs)
        s->runs = runs;
    if (!out)
        return code ? code : qp_oom(err);
    s->runs[s->n_runs] = (struct run){.from = s->written};
    sort_records(s, e, s->n, 0);
    for (size_t i = 0; i < s->n && !code; i++) {
        qp_str r = record_at(s, (uint64_t)e[i]);
        if (n && LENGTH + r.n > OUT - n) {
            code = write_bytes(s, out, n, err);
            n = 0;
        }
        if (!code && LENGTH + r.n > OUT) {
            code = write_bytes(s, r.at - LENGTH, LENGTH + r.n, err);
        } else {
            memcpy(out + n, r.at - LENGTH, LENGTH + r.n);
            n += LENGTH + r.n;
        }
    }
    code = code ? code : write_bytes(s, out, n, err);
    free(out);
    s->runs[s->n_runs++].to = s->written;
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
    while (r->end < n) {
        size_t most = r->to - r->at < r->cap - r->end ? (size_t)(r->to - r->at) : r->cap - r->end;
        ssize_t got = pread(s->fd, r->buffer + r->end, most, (off_t)r->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return qp_fail(err, QP_STORE, "%s: cannot read back what was written for sorting: %s", s->folder,
                           got ? strerror(errno) : "it ends too early");
        r->end += (size_t)got;
        r->at += (uint64_t)got;
    }
    return QP_OK;
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
